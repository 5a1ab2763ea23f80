package mutants

import (
	"os"
	"path/filepath"
	"testing"
)

// The list is read whole, and names each error once.
func TestList(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Errorf("got %d errors, want 100", len(all))
	}
	seen := map[string]bool{}
	for _, m := range all {
		if name := m.File + ": " + m.Breaks; seen[name] {
			t.Errorf("%s: twice", name)
		} else {
			seen[name] = true
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"hal/a.go: x", "hal/a.go: x\n- a\n+ a", "- a\n+ b", "hal/a.go: x\na\n- a\n+ b"} {
		if list, err := Parse(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, list)
		}
	}
}

// module writes a module whose only test wants Limit to be 3.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module limits\n\ngo 1.26\n",
		"a/a.go": "package a\n\nconst Limit = 3\n\nconst spare = 4\n\nconst Idle = 6\n\nfunc Spare() int { return " +
			"spare }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestLimit(t *testing.T) {\n\tif Limit != 3 " +
			"{\n\t\tt.Error(Limit)\n\t}\n}\n\nfunc TestSpare(t *testing.T) {\n\tif Spare() != 4 " +
			"{\n\t\tt.Error()\n\t}\n}\n",
	} {
		path := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An error that a test notices names the test; one that no test notices survives; text that is not there once or does
// not compile is stale. The tree stays as it was.
func TestTry(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module of its own")
	}
	t.Setenv("GOFLAGS", "")
	r := Runner{Root: module(t)}
	cases := []struct{ from, to, outcome, by string }{
		{"Limit = 3", "Limit = 5", Noticed, "./a TestLimit"},
		{"Idle = 6", "Idle = 5", Survived, ""},
		{"const", "var", Stale, `a/a.go: got "const" 3 times, want once`},
		{"Limit = 9", "Limit = 5", Stale, `a/a.go: got "Limit = 9" 0 times, want once`},
		{"return spare", "return none", Stale, "undefined: none"},
		{"return spare", "return 5", Noticed, "./a TestSpare"},
		{"return spare", "return spare + 0", Survived, ""},
	}
	var list []Mutant
	for _, c := range cases {
		list = append(list, Mutant{File: "a/a.go", Breaks: "a limit", From: c.from, To: c.to})
	}
	defer r.Close()
	if err := r.Prepare(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if r.in[0] || r.in[1] || !r.in[5] || !r.in[6] {
		t.Errorf("got %v in the build for all, want those inside functions", r.in)
	}
	for i, c := range cases {
		got, err := r.Try(t.Context(), i)
		if err != nil || got.Outcome != c.outcome || filepath.Base(got.By) != filepath.Base(c.by) {
			t.Errorf("%s: got %+v, %v; want %s by %s", c.to, got, err, c.outcome, c.by)
		}
	}
}

func TestPackages(t *testing.T) {
	for file, want := range map[string]string{"hal/stop.go": "./hal", "servo/vesc/link.go": "./servo/vesc",
		"sim/sim.go": "./sim"} {
		if got := Packages(file); len(got) == 0 || got[0] != want {
			t.Errorf("%s: got %v, want %s first", file, got, want)
		}
	}
}
