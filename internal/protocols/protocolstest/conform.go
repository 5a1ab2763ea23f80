package protocolstest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Status is how a system's message is served on a kind of body.
type Status string

// The statuses.
const (
	Supported Status = "supported" // as the protocol's document specifies, or its own clients expect
	Original  Status = "original"  // as the original program did, where the document says less or something else
	Differs   Status = "differs"   // otherwise; the row says why
	Refused   Status = "refused"   // answered by an error, or counted and logged; the row says why
)

// Row is a message that one side sends.
type Row struct {
	Message string
	From    string // "client", "server" or "both"
	// Proof matches the source of the tests that prove it: a line of a transcript, a call. Each test of the package is
	// searched with the tables, constants and variables that it names.
	Proof string
	// In are the tests that Proof counts in, by their names; "" = all.
	In string
	Note
}

// Note is what distinguishes a row from one that is supported on all bodies.
type Note struct {
	Sim    Status   // the zero value is Supported
	Others Status   // on emulated and real bodies; the zero value is Sim
	Real   Status   // on real bodies; the zero value is Others
	Why    string   // of Differs and Refused
	Tests  []string // further ones; of another package with its path: "cli.TestPyro"
}

// maxTests is how many tests of a row the page names.
const maxTests = 3

var updatePages = flag.Bool("update", false, "write docs/conformance.md")

// Conform checks the part of docs/conformance.md with the heading system against the rows: that each has a test which
// contains its proof, and that each note belongs to a row. root is the path of the module's root.
func Conform(t *testing.T, root, system, about string, rows []Row, notes map[string]Note) {
	t.Helper()
	tests := sources(t, ".")
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", system, about)
	fmt.Fprintf(&b, "| message | from | sim | emulated | real | why | tests |\n| --- | --- | --- | --- | --- | --- "+
		"| --- |\n")
	used := map[string]bool{}
	for _, r := range rows {
		if n, ok := notes[r.Message]; ok {
			used[r.Message], r.Note = true, n
		}
		row(t, &b, root, tests, &r)
	}
	for name := range notes {
		if !used[name] {
			t.Errorf("%s: note of %q: no such message", system, name)
		}
	}
	Section(t, filepath.Join(root, "docs", "conformance.md"), system, b.String())
}

// row appends the row.
func row(t *testing.T, b *strings.Builder, root string, tests []testSource, r *Row) {
	t.Helper()
	kinds := [3]Status{r.Sim, r.Others, r.Real}
	for i, last := 0, Supported; i < len(kinds); i++ {
		if kinds[i] == "" {
			kinds[i] = last
		}
		last = kinds[i]
	}
	names := slices.Clone(r.Tests)
	for _, name := range r.Tests {
		if !exists(t, root, tests, name) {
			t.Errorf("%s of the %s: test %s: not found", r.Message, r.From, name)
		}
	}
	if r.Proof != "" {
		proof, in := regexp.MustCompile("(?m)"+r.Proof), regexp.MustCompile(r.In)
		for _, s := range tests {
			if len(names) < maxTests && in.MatchString(s.name) && proof.MatchString(s.text) &&
				!slices.Contains(names, s.name) {
				names = append(names, s.name)
			}
		}
	}
	if len(names) == 0 {
		t.Errorf("%s of the %s: no test contains %s", r.Message, r.From, r.Proof)
	}
	if why := slices.ContainsFunc(kinds[:], func(s Status) bool { return s == Differs || s == Refused }); why &&
		r.Why == "" {
		t.Errorf("%s of the %s: got no reason, want why it is %v", r.Message, r.From, kinds)
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", r.Message, r.From, kinds[0], kinds[1], kinds[2], r.Why,
		strings.Join(names, ", "))
}

// Sentences checks the part of docs/conformance.md with that heading, and that each test exists. Each of the list is a
// document's section, what it says, how that is kept where it is not word by word, and the tests.
func Sentences(t *testing.T, root, heading string, list [][4]string) {
	t.Helper()
	tests := sources(t, ".")
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n| section | the document | how | tests |\n| --- | --- | --- | --- |\n", heading)
	for _, s := range list {
		for name := range strings.SplitSeq(s[3], ", ") {
			if !exists(t, root, tests, name) {
				t.Errorf("%s: %q: test %s: not found", heading, s[1], name)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s[0], s[1], s[2], s[3])
	}
	Section(t, filepath.Join(root, "docs", "conformance.md"), heading, b.String())
}

// Section checks the part of a page under its heading, or writes it with -update.
func Section(t *testing.T, page, heading, want string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut("\n"+string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s: no heading %q", page, heading)
	}
	part := "## " + heading + "\n" + after
	if i := strings.Index(after, "\n## "); i >= 0 {
		part = "## " + heading + "\n" + after[:i+1]
	}
	want = strings.TrimRight(want, "\n") + "\n"
	if strings.TrimRight(part, "\n")+"\n" == want {
		return
	}
	if !*updatePages {
		t.Errorf("%s: %s is not what the tables say (try: go test -run TestConformance -update)", page, heading)
		return
	}
	if strings.Contains(after, "\n## ") {
		want += "\n"
	}
	if err := os.WriteFile(page, []byte(strings.Replace(string(text), part, want, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// testSource is a test with the source of all that it names.
type testSource struct{ name, text string }

// exists reports whether a test of this package or, with its path before a dot, of another one exists.
func exists(t *testing.T, root string, tests []testSource, name string) bool {
	t.Helper()
	if i := strings.LastIndex(name, "."); i >= 0 {
		tests, name = sources(t, filepath.Join(root, name[:i])), name[i+1:]
	}
	return slices.ContainsFunc(tests, func(s testSource) bool { return s.name == name })
}

// sources are the tests of a folder.
func sources(t *testing.T, dir string) []testSource {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: got no tests, %v", dir, err)
	}
	var tests []testSource
	values, decls := map[string]string{}, map[string]ast.Node{}
	texts := map[string]*ast.FuncDecl{}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		// what checks the page proves nothing
		proves := filepath.Base(name) != "conform_test.go"
		of := func(n ast.Node) string {
			if !proves {
				return ""
			}
			return string(source[n.Pos()-1 : n.End()-1])
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests, texts[f.Name.Name] = append(tests, testSource{f.Name.Name, of(f)}), f
			}
			if g, ok := d.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					v, ok := s.(*ast.ValueSpec)
					for _, id := range valueNames(v, ok) {
						values[id], decls[id] = of(v), v
					}
				}
			}
		}
	}
	slices.SortStableFunc(tests, func(a, b testSource) int { // transcripts first
		return strings.Count(b.name, "Transcript") - strings.Count(a.name, "Transcript")
	})
	for i := range tests {
		if tests[i].text == "" {
			continue
		}
		tests[i].text += named(texts[tests[i].name], values, decls, map[string]bool{})
	}
	return tests
}

func valueNames(v *ast.ValueSpec, ok bool) (names []string) {
	if ok {
		for _, id := range v.Names {
			names = append(names, id.Name)
		}
	}
	return names
}

// named is the source of the constants and variables that n names, and of those that they name.
func named(n ast.Node, values map[string]string, decls map[string]ast.Node, seen map[string]bool) string {
	var b strings.Builder
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && values[id.Name] != "" && !seen[id.Name] {
			seen[id.Name] = true
			b.WriteString("\n" + values[id.Name] + named(decls[id.Name], values, decls, seen))
		}
		return true
	})
	return b.String()
}
