package mutants

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Mutant is one error: the text From, which stands once in File, becomes To.
type Mutant struct {
	File, Breaks string
	From, To     string
}

//go:embed list.txt
var list string

// All returns the errors of list.txt.
func All() ([]Mutant, error) { return Parse(list) }

// Parse reads mutants, separated by empty lines, with # before a comment:
//
//	hal/stop.go: a stop is not latched
//	- r.latched = true
//	+ r.latched = false
//
// Lines after "- " are the text that stands once in the file, a part of a line or whole lines with their indentation;
// those after "+ " replace it.
func Parse(text string) (all []Mutant, err error) {
	for n, block := range strings.Split(text, "\n\n") {
		var m Mutant
		var from, to []string
		for line := range strings.Lines(block) {
			line = strings.TrimSuffix(line, "\n")
			switch file, breaks, titled := strings.Cut(line, ": "); {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "- "):
				from = append(from, line[2:])
			case strings.HasPrefix(line, "+"):
				to = append(to, strings.TrimPrefix(line[1:], " "))
			case titled && m.File == "":
				m.File, m.Breaks = file, breaks
			default:
				return nil, fmt.Errorf("mutants: block %d: got %q, want a line with FILE: text, \"- \" or \"+ \"", n+1,
					line)
			}
		}
		m.From, m.To = strings.Join(from, "\n"), strings.Join(to, "\n")
		switch {
		case m.File == "" && m.From == "":
			continue // only comments
		case m.File == "" || m.Breaks == "" || m.From == "" || m.From == m.To:
			return nil, fmt.Errorf("mutants: block %d: got %+v, want a file, what breaks, and two different texts", n+1,
				m)
		}
		all = append(all, m)
	}
	return all, nil
}

// Apply returns the changed text of the file below root. An error says that the tree has changed since the mutant was
// written.
func (m *Mutant) Apply(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(b), m.From); n != 1 {
		return "", fmt.Errorf("%s: got %q %d times, want once", m.File, m.From, n)
	}
	return strings.Replace(string(b), m.From, m.To, 1), nil
}
