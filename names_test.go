package halyard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What other programs can import is a promise. These bounds only fall: a new name needs a user outside this module, and
// an old one to go for it.
const (
	maxNames    = 1484
	maxPackages = 53
)

func TestPublicNames(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.Name}} {{.ImportPath}} {{.Dir}} {{join .GoFiles " "}}`,
		"./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	names, packages := 0, 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if words[0] == "main" || strings.Contains(words[1], "/internal/") {
			continue
		}
		here := 0
		for _, file := range words[3:] {
			tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(words[2], file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			here += exported(tree)
		}
		t.Logf("%4d %s", here, words[1])
		names, packages = names+here, packages+1
	}
	t.Logf("%d names in %d public packages", names, packages)
	if names > maxNames || packages > maxPackages {
		t.Errorf("public face: got %d names in %d packages, want at most %d in %d (see: go test -v -run "+
			"TestPublicNames .)",
			names, packages, maxNames, maxPackages)
	}
}

// exported counts the types, functions, constants and variables of a file that other packages can name.
func exported(file *ast.File) int {
	count := 0
	add := func(name *ast.Ident) {
		if name.IsExported() {
			count++
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(name)
					}
				}
			}
		}
	}
	return count
}
