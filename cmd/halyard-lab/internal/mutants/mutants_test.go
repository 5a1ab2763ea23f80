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
		"a/a.go": "package a\n\nconst Limit = 3\n\nconst spare = 4\n\nfunc Spare() int { return spare }\n",
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestLimit(t *testing.T) {\n\tif Limit != 3 " +
			"{\n\t\tt.Error(Limit)\n\t}\n}\n",
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
	for _, c := range []struct{ from, to, outcome, by string }{
		{"Limit = 3", "Limit = 5", Noticed, "./a TestLimit"},
		{"spare = 4", "spare = 5", Survived, ""},
		{"const", "var", Stale, `a/a.go: got "const" 2 times, want once`},
		{"Limit = 9", "Limit = 5", Stale, `a/a.go: got "Limit = 9" 0 times, want once`},
		{"return spare", "return none", Stale, "a/a.go:7:27: undefined: none"},
	} {
		got, err := r.Try(t.Context(), &Mutant{File: "a/a.go", Breaks: "a limit", From: c.from, To: c.to})
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
