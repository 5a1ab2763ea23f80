// Package strict reads YAML files that people write and others may have tampered with: unknown keys are faults, what
// would stall or crash the parser is refused, and one fault does not hide the others.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// ErrEmpty says that the file has no document.
var ErrEmpty = errors.New("got an empty file")

// maxNesting is how deep brackets may nest; the files of this project need five.
const maxNesting = 16

// Read decodes a file of at most most bytes into a struct, strictly; where that fails for its keys or types, leniently
// after the fault, so that whatever can be read can be checked all the same. ok is false when nothing could be read.
func Read[T any](b []byte, most int, into *T) (fault error, ok bool) {
	if len(b) > most {
		return fmt.Errorf("got %d bytes, want at most %d", len(b), most), false
	}
	if err := tame(b); err != nil {
		return err, false
	}
	err := decode(b, into, yaml.Strict())
	switch {
	case err == nil:
		return nil, true
	case errors.Is(err, io.EOF):
		return ErrEmpty, false
	}
	fault = errors.New(strings.TrimSpace(yaml.FormatError(err, false, false)))
	var empty T
	*into = empty
	return fault, decode(b, into) == nil
}

// tame refuses what takes goccy/go-yaml 1.19.2 minutes to read: aliases of aliases of aliases, whose size is exponential,
// and brackets thousands deep.
func tame(b []byte) (err error) {
	defer recovered(&err)
	var depth int
	for _, t := range lexer.Tokenize(string(b)) {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return fmt.Errorf("line %d: got %q, want no anchor and no alias", t.Position.Line, t.Value)
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > maxNesting {
				return fmt.Errorf("line %d: got brackets more than %d deep", t.Position.Line, maxNesting)
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
	}
	return nil
}

// decode reads one YAML document. Some malformed ones make goccy/go-yaml 1.19.2 panic (model's testdata/fuzz keeps one),
// which a file that somebody edits must not do to a running rig.
func decode(b []byte, into any, options ...yaml.DecodeOption) (err error) {
	defer recovered(&err)
	return yaml.NewDecoder(bytes.NewReader(b), options...).Decode(into)
}

// recovered makes an error of a panic of the parser.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("yaml: got %v, want a document", r)
	}
}
