package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Variable is the environment variable that chooses one of several errors that were combined in a build, by its number.
const Variable = "HALYARD_MUTANT"

// combined is a file whose functions hold many errors, of which Variable chooses one at run time: one build tries all.
type combined struct {
	name, pkg string
	text      string
	fset      *token.FileSet
	file      *ast.File
	errors    map[*ast.FuncDecl][]string // what stands before the body
}

// combine puts the errors of list into their files. texts are the changed files, by their path below root, and a file
// of each package that reads Variable. in are the numbers of the errors that are in them: one outside of functions, as
// a constant, is not, nor one that does not fit the source.
func combine(root string, list []Mutant) (texts map[string]string, in map[int]bool, err error) {
	texts, in = map[string]string{}, map[int]bool{}
	files := map[string]*combined{}
	for i := range list {
		m := &list[i]
		if _, err := m.Apply(root); err != nil {
			continue
		}
		f := files[m.File]
		if f == nil {
			if f, err = readFile(root, m.File); err != nil {
				return nil, nil, err
			}
			files[m.File] = f
		}
		in[i] = f.add(i, m)
	}
	for name, f := range files {
		texts[name] = f.build()
		texts[filepath.Join(filepath.Dir(name), "mutant_now.go")] = fmt.Sprintf(
			"package %s\n\nimport \"os\"\n\nvar mutantNow = os.Getenv(%q)\n", f.pkg, Variable)
	}
	return texts, in, nil
}

func readFile(root, name string) (*combined, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	f := &combined{name: name, text: string(text), fset: token.NewFileSet(), errors: map[*ast.FuncDecl][]string{}}
	if f.file, err = parser.ParseFile(f.fset, name, text, 0); err != nil {
		return nil, err
	}
	f.pkg = f.file.Name.Name
	return f, nil
}

func (f *combined) offset(p token.Pos) int { return f.fset.Position(p).Offset }

// add puts error i into the function that holds its text; false: no function does.
func (f *combined) add(i int, m *Mutant) bool {
	at := strings.Index(f.text, m.From)
	for _, d := range f.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || at <= f.offset(fn.Body.Lbrace) || at+len(m.From) > f.offset(fn.Body.Rbrace) {
			continue
		}
		begin, end := f.offset(fn.Body.Lbrace)+1, f.offset(fn.Body.Rbrace)
		body := f.text[begin:at] + m.To + f.text[at+len(m.From):end]
		if fn.Type.Results == nil {
			body += "\nreturn"
		}
		f.errors[fn] = append(f.errors[fn], fmt.Sprintf("\n//line mutant-%d:1\nif mutantNow == \"%d\" {%s\n}", i, i,
			body))
		return true
	}
	return false
}

// build is the text with all errors.
func (f *combined) build() string {
	text := f.text
	for _, d := range slices.Backward(f.file.Decls) {
		if fn, ok := d.(*ast.FuncDecl); ok && f.errors[fn] != nil {
			at := f.offset(fn.Body.Lbrace) + 1
			line := fmt.Sprintf("\n//line %s:%d\n", filepath.Base(f.name), f.fset.Position(fn.Body.Lbrace).Line)
			text = text[:at] + strings.Join(f.errors[fn], "") + line + text[at:]
		}
	}
	return text
}
