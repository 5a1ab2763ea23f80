package halyard_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// A module of its own adds a servo vendor, a sensor and a protocol, one file and one row each, opens a config of them,
// scans and drives the emulated vendor; with arguments it is the command halyard with these rows.
func TestExtension(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module of its own")
	}
	// It uses our requirements and go.sum, so that a new dependency needs neither a change of it nor the network: what
	// they name need not be looked for in go.mod files that were never downloaded.
	mod := filepath.Join(t.TempDir(), "go.mod")
	own, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	requires := strings.Join(regexp.MustCompile(`(?ms)^require \(.*?^\)$`).FindAllString(string(own), -1), "\n")
	for to, from := range map[string][2]string{mod: {"testdata/extension/go.mod", requires + "\n"},
		strings.TrimSuffix(mod, "mod") + "sum": {"go.sum"}} {
		b, err := os.ReadFile(from[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, append(b, from[1]...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(t.TempDir(), "acme")
	build := exec.Command("go", "build", "-mod=mod", "-modfile="+mod, "-o", program, ".")
	build.Dir, build.Env = "testdata/extension", append(os.Environ(), "GOPROXY=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Dir, c.Env = "testdata/extension", append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		return c
	}
	out, err := command().CombinedOutput()
	const want = "found id 4 acme-20 7400 mV <nil>\narm at 0.5 rad\ngauge: 7.4 V\nlines: arm is somewhere: true\n"
	if err != nil || string(out) != want {
		t.Errorf("got %v\n%s, want\n%s", err, out, want)
	}
	t.Run("command", func(t *testing.T) { extendedCommand(t, command) })
}

// extendedCommand: the command that a program makes of its rows knows them in its sub-commands, also on a line.
func extendedCommand(t *testing.T, command func(args ...string) *exec.Cmd) {
	dir := filepath.Join(t.TempDir(), "d")
	emulate := command("emulate", "rig.yaml", "--dir", dir)
	if runtime.GOOS != "linux" {
		t.Skip("emulated lines are pseudo-terminals of Linux")
	}
	shown, err := emulate.StdoutPipe()
	if err == nil {
		err = emulate.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		emulate.Process.Signal(os.Interrupt)
		emulate.Wait()
	})
	for line := bufio.NewScanner(shown); line.Scan() && !strings.HasPrefix(line.Text(), "line"); {
	}
	line := filepath.Join(dir, "line")
	for _, c := range []struct{ args, want string }{
		{"validate rig.yaml", ""},
		{"list rig.yaml", "line id 4 acme-20"},
		{"plan rig.yaml", "line   acme"},
		{"doctor rig.yaml --body emulated", "voltage"},
		{"scan " + line + " --protocol acme --baud 115200", "acme-20"},
		{"registers read " + line + " --id 4 --protocol acme --baud 115200 present_voltage", "present_voltage"},
		{"setup " + line + " --id 4 --new-id 5 --protocol acme --baud 115200", "acme-20"},
		{"scan " + line + " --protocol acme --baud 115200", "5   acme-20"},
	} {
		run := command(strings.Fields(c.args)...)
		var said strings.Builder
		run.Stderr = &said
		if out, err := run.Output(); err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: got %v\n%s%s, want %q", c.args, err, out, &said, c.want)
		}
	}
}
