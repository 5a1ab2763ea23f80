package yaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a document, measured with goccy/go-yaml 1.19.2: a byte of text costs its lexer 100 bytes of memory, a mark
// 600, and a table of 10,000 keys its parser half a second. A rig of a hundred humanoids and a calibration of 4096 rows
// fit.
const (
	MaxBytes = 384 << 10
	maxMarks = 30 << 10 // punctuation that may begin or end a token
	maxDepth = 32       // tables and lists in each other
	maxKeys  = 200      // of one table
	maxKey   = 128      // bytes of a key: the parser repeats it in the path of every value below
	maxOdd   = 200      // anchors, aliases, tags, directives and documents; one is a fault
)

// ReadFile returns the content of a file that Read refuses if it is longer than MaxBytes: then it is one byte longer.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxBytes+1))
}

// WriteFile writes data to path by way of a temporary file, so that path is never half written.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // removed already after a success
	_, err = f.Write(data)
	err = cmp.Or(err, f.Chmod(0o644), f.Sync())
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// Open returns the built-in file called name, or else the file at path, and what faults call it.
func Open(builtin func(string) ([]byte, error), name, path string) (data []byte, source string, err error) {
	if data, err := builtin(name); err == nil {
		return data, name, nil
	}
	data, err = ReadFile(path)
	return data, path, err
}

// refusal is why a document is not parsed, and where.
type refusal struct {
	at        *token.Token // nil: the whole document
	got, rule string
}

// markup is how a file in XML begins, with the name of its first element.
var markup = regexp.MustCompile(`^(?:\x{FEFF})?\s*(?:<[?!][^>]*>\s*)*<([A-Za-z_][A-Za-z0-9_:.-]*)[\s/>]`)

// parse makes the library's tree of data, which is within the bounds.
func parse(data []byte) (*ast.File, *refusal) {
	switch {
	case len(data) > MaxBytes:
		return nil, &refusal{nil, fmt.Sprintf("more than %d bytes", MaxBytes), "a file of at most 384 KiB"}
	case markup.Match(data):
		return nil, &refusal{nil, fmt.Sprintf("XML, <%.40s>", markup.FindSubmatch(data)[1]),
			"YAML; a robot file in XML (URDF) goes to model: of an agent"}
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, &refusal{nil, "bytes that are not text", "UTF-8"}
	case marks(data) > maxMarks:
		return nil, &refusal{nil, fmt.Sprintf("more than %d punctuation marks", maxMarks), "a smaller file"}
	}
	return recovered(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
}

// marks counts the bytes that may begin or end a token. Those in comments and quotes count too: finding out which is
// which is the lexer's work, whose cost this bounds.
func marks(data []byte) (n int) {
	for i, c := range data {
		switch c {
		case '[', ']', '{', '}', ',', ':', '#', '\'', '"', '&', '*', '!', '?', '|', '>', '%', '@', '`', '\n', '\r':
			n++
		case '-':
			if i+1 == len(data) || data[i+1] <= ' ' {
				n++
			}
		}
	}
	return n
}

// recovered is parse's second half. It makes a refusal of a panic of the library, some malformed documents cause one.
func recovered(text string) (file *ast.File, no *refusal) {
	defer func() {
		if p := recover(); p != nil {
			file, no = nil, &refusal{nil, fmt.Sprintf("a syntax error: %v", p), "YAML"}
		}
	}()
	tokens := lexer.Tokenize(text)
	if no := excess(tokens); no != nil {
		return nil, no
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return file, nil
	}
	no = &refusal{rule: "YAML"}
	// the text of the library's errors shows the source, at any cost; a fault has a place instead
	var located interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if errors.As(err, &located) {
		no.at, no.got = located.GetToken(), located.GetMessage()
	} else {
		no.got = err.Error()
	}
	no.got = "a syntax error: " + strings.ReplaceAll(no.got, "\n", " ")
	return nil, no
}

// level is a table or list that is open at a token.
type level struct {
	column int // of its keys or dashes; 0 inside brackets
	keys   int
}

// excess finds the token at which a document exceeds the bounds, before the parser recurses into it.
func excess(tokens token.Tokens) *refusal {
	var open []level
	odd := 0
	// In block style a level begins right of the one above and ends at a token left of its column.
	enter := func(column int) {
		for len(open) > 0 && open[len(open)-1].column > column {
			open = open[:len(open)-1]
		}
		if n := len(open); n == 0 || open[n-1].column < column && open[n-1].column > 0 {
			open = append(open, level{column: column})
		}
	}
	for i, tk := range tokens {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			open = append(open, level{})
		case token.MappingEndType, token.SequenceEndType:
			if n := len(open); n > 0 && open[n-1].column == 0 {
				open = open[:n-1]
			}
		case token.SequenceEntryType, token.MappingKeyType:
			enter(tk.Position.Column)
		case token.MappingValueType:
			at := tk.Position
			if i > 0 {
				key := tokens[i-1]
				if len(key.Value) > maxKey {
					return &refusal{key, fmt.Sprintf("a key of %d bytes", len(key.Value)),
						fmt.Sprintf("at most %d", maxKey)}
				}
				if key.Position.Line == at.Line {
					at = key.Position
				}
			}
			enter(at.Column)
			top := &open[len(open)-1]
			if top.keys++; top.keys > maxKeys {
				return &refusal{tk, fmt.Sprintf("more than %d keys in a table", maxKeys), "fewer"}
			}
		case token.AnchorType, token.AliasType, token.TagType, token.DirectiveType, token.DocumentHeaderType,
			token.DocumentEndType:
			if odd++; odd > maxOdd {
				return &refusal{tk, fmt.Sprintf("more than %d anchors, aliases, tags and documents", maxOdd),
					"one document without them"}
			}
		}
		if len(open) > maxDepth {
			return &refusal{tk, fmt.Sprintf("more than %d levels", maxDepth), "less nesting"}
		}
	}
	return nil
}
