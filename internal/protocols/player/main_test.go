package player

import (
	"os"
	"testing"
)

// TestMain gives the rigs of this package's tests a folder of control sockets of their own: a rig of the same name may
// run elsewhere on this machine.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "halyard")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_RUNTIME_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
