package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/command"
)

// runApp runs a command line.
func runApp(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := &command.Program{Host: command.Host{In: strings.NewReader(""), Out: &stdout, Err: &stderr}}
	code = p.Run(t.Context(), newRoot, args)
	return code, stdout.String(), stderr.String()
}

// TestMain lets the tests' binary be the command itself, which starts itself as its worker.
func TestMain(m *testing.M) {
	if os.Getenv("HALYARD_TEST_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}
