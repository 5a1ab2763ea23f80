package halyard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A module of its own adds a servo vendor, a sensor and a protocol, one file and one row each, opens a config of them,
// scans and drives the emulated vendor.
func TestExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module of its own")
	}
	// It uses our go.sum, so that a new dependency needs neither a change of it nor the network.
	mod := filepath.Join(t.TempDir(), "go.mod")
	for from, to := range map[string]string{"testdata/extension/go.mod": mod, "go.sum": strings.TrimSuffix(mod, "mod") +
		"sum"} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", "-mod=mod", "-modfile="+mod, ".")
	run.Dir, run.Env = "testdata/extension",
		append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "XDG_RUNTIME_DIR="+t.TempDir())
	out, err := run.CombinedOutput()
	const want = "found id 4 acme-20 7400 mV <nil>\narm at 0.5 rad\ngauge: 7.4 V\nlines: arm is somewhere: true\n"
	if err != nil || string(out) != want {
		t.Errorf("got %v\n%s, want\n%s", err, out, want)
	}
}
