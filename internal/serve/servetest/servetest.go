// Package servetest serves configs for tests that come as a client does.
package servetest

import (
	"context"
	"testing"

	"github.com/halyard-robotics/halyard"
)

// Serve opens cfg and its servers, which it returns, and runs it until the test ends. Its control socket is the test's
// own.
func Serve(t testing.TB, cfg *halyard.Config, with ...halyard.Option) (*halyard.System, []halyard.Server) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	sys, err := halyard.Open(cfg, with...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	})
	servers, err := sys.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- sys.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return sys, servers
}
