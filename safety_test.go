package halyard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs/safety.md names a test for each of the 22 findings, and each test that it names, there and in its other tables,
// exists.
func TestDocsSafetyNamesItsTests(t *testing.T) {
	page, err := os.ReadFile("docs/safety.md")
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{} // "dir TestName"
	parsed := map[string]bool{}
	tests := func(dir string) {
		if parsed[dir] {
			return
		}
		parsed[dir] = true
		files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
		if len(files) == 0 {
			t.Errorf("docs/safety.md: %s: no tests there", dir)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					has[dir+" "+fn.Name.Name] = true
				}
			}
		}
	}
	_, table, found := strings.Cut(string(page), "\n## The audit's findings and their tests\n")
	if !found {
		t.Fatal("docs/safety.md: got no table of findings")
	}
	name := regexp.MustCompile("`([\\w/-]+)`|(Test\\w+)")
	next := 1
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| [^|]* \| (.*) \|$`).FindAllStringSubmatch(table, -1) {
		if want := strconv.Itoa(next); row[1] != want {
			t.Errorf("finding %s: want %s", row[1], want)
		}
		next++
		dir, n := "", 0
		for _, m := range name.FindAllStringSubmatch(row[2], -1) {
			if m[1] != "" {
				dir = m[1]
				tests(dir)
			} else if n++; !has[dir+" "+m[2]] {
				t.Errorf("finding %s: %s has no %s", row[1], dir, m[2])
			}
		}
		if n == 0 {
			t.Errorf("finding %s: no test", row[1])
		}
	}
	if next != 23 {
		t.Errorf("got %d findings, want 22", next-1)
	}
	tests(".")                        // the law's
	tests("internal/serve/dashboard") // the doors'
	tests("internal/protocols/ws")
	// A promise names the tests by their numbers' row, or in full.
	for _, m := range regexp.MustCompile(`Test\w+`).FindAllString(strings.Split(string(page), "\n## The audit's")[0],
		-1) {
		number, short := strings.CutPrefix(m, "TestSafety")
		ok := short && len(number) == 2 && strings.Contains(table, "| "+strings.TrimPrefix(number, "0")+" |")
		for full := range has {
			ok = ok || strings.HasSuffix(full, " "+m)
		}
		if !ok {
			t.Errorf("promises: no test %s", m)
		}
	}
}

// Each goroutine that serves clients defers hal.Rig.Contain: a panic there stops the robots and not the process.
func TestServersContainPanics(t *testing.T) {
	checked := 0
	for _, top := range []string{"protocols", "internal/protocols", "internal/serve", "internal/control"} {
		err := filepath.WalkDir(filepath.FromSlash(top), func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			switch filepath.Base(path) {
			case "protocolstest", "shell", "testdata": // of tests and clients
				return filepath.SkipDir
			}
			checked += containedIn(t, path)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 18 {
		t.Errorf("got %d goroutines, want those of all servers", checked)
	}
}

// containedIn checks the goroutines of the package in dir, and counts them.
func containedIn(t *testing.T, dir string) (n int) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	set := token.NewFileSet()
	var parsed []*ast.File
	methods := map[string][]*ast.BlockStmt{}
	for _, file := range files {
		if base := filepath.Base(file); strings.HasSuffix(base, "_test.go") ||
			base == "lines.go" /* of emulators, which have no rig */ ||
			base == "servetest.go" /* of tests, which show a panic */ || strings.HasPrefix(base, "client") ||
			strings.HasPrefix(base, "video_client") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, f)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				methods[fn.Name.Name] = append(methods[fn.Name.Name], fn.Body)
			}
		}
	}
	contains := func(b *ast.BlockStmt) bool {
		for _, s := range b.List {
			if d, ok := s.(*ast.DeferStmt); ok {
				switch f := d.Call.Fun.(type) {
				case *ast.SelectorExpr:
					if strings.EqualFold(f.Sel.Name, "contain") {
						return true
					}
				case *ast.Ident:
					if f.Name == "contain" {
						return true
					}
				}
			}
		}
		return false
	}
	check := func(what ast.Expr, at token.Pos) {
		var bodies []*ast.BlockStmt // of a method's name, one must
		switch f := what.(type) {
		case *ast.FuncLit:
			bodies = append(bodies, f.Body)
		case *ast.SelectorExpr:
			bodies = methods[f.Sel.Name]
		case *ast.Ident:
			bodies = methods[f.Name]
		}
		if n++; !slices.ContainsFunc(bodies, contains) {
			t.Errorf("%s: a goroutine that does not defer hal.Rig.Contain", set.Position(at))
		}
	}
	for _, f := range parsed {
		ast.Inspect(f, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.GoStmt:
				check(x.Call.Fun, x.Pos())
			case *ast.CallExpr:
				sel, ok := x.Fun.(*ast.SelectorExpr)
				if !ok || sel.Sel.Name != "Go" || len(x.Args) != 1 {
					break
				}
				switch x.Args[0].(type) {
				case *ast.FuncLit, *ast.SelectorExpr: // a sync.WaitGroup's
					check(x.Args[0], x.Pos())
				}
			}
			return true
		})
	}
	return n
}
