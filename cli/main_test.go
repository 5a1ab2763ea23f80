package cli

import (
	"os"
	"testing"
)

// TestMain lets the tests' binary be the command itself, which starts itself as its supervisor and its worker. The rigs
// of all tests have their control sockets in a folder of their own: tests in parallel name their rigs.
func TestMain(m *testing.M) {
	if os.Getenv("HALYARD_TEST_COMMAND") != "" {
		dieOnSignal(os.Getenv("HALYARD_TEST_DEATH"))
		Main(nil)
	}
	dir, err := os.MkdirTemp("", "halyard")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_RUNTIME_DIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
