package configs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a document. The parser's time rises with the square of the keys of one table, and it recurses without a
// limit of its own. A rig of a hundred humanoids fits: a servo in one line has 15 tokens.
const (
	maxBytes  = 1 << 20
	maxTokens = 40_000
	maxDepth  = 32
)

// kind is what a node is. Texts are what YAML 1.2 calls strings, so that yes and no are texts, not booleans.
type kind uint8

const (
	null kind = iota // also what stands in for a value that the reader refused
	text
	number
	boolean
	list
	table
)

// node is one value of a document, free of everything a config does not need.
type node struct {
	kind  kind
	text  string // of a text, number or boolean: as written, quotes resolved
	items []*node
	keys  []*key // in the order of the file; no name twice
	at    place
}

// key is one entry of a table.
type key struct {
	name  string
	at    place
	value *node
}

// key returns the entry called name, or nil.
func (n *node) key(name string) *key {
	for _, k := range n.keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

// set gives n the entry name, in place of the one it has.
func (n *node) set(name string, value *node) {
	if k := n.key(name); k != nil {
		k.at, k.value = value.at, value
		return
	}
	n.keys = append(n.keys, &key{name, value.at, value})
}

// String is the value as a fault shows it.
func (n *node) String() string {
	switch n.kind {
	case text:
		return quote(n.text)
	case number, boolean:
		return n.text
	case list:
		return "a list"
	case table:
		return "a table"
	}
	return "nothing"
}

// quote bounds what a fault repeats of a document.
func quote(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) > longest {
		return fmt.Sprintf("%q...", string([]rune(s)[:longest]))
	}
	return fmt.Sprintf("%q", s)
}

// reader makes a tree of a document and collects the faults of its form.
type reader struct {
	source string
	fixed  *place // where everything is said to stand, for the values of options
	faults *Faults
}

// read parses one document. It returns nil only where nothing can be made of it, and then there is a fault.
func (r *reader) read(data []byte) *node {
	whole := place{source: r.source}
	refuse := func(at place, got, rule string) *node {
		r.faults.Add(faultAt("", at, got, rule, ""))
		return nil
	}
	if len(data) > maxBytes {
		return refuse(whole, fmt.Sprintf("more than %d bytes", maxBytes), "a config of at most 1 MiB")
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return refuse(whole, "bytes that are no text", "UTF-8")
	}
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if tk, got, rule := excess(tokens); tk != nil {
		return refuse(r.place(tk), got, rule)
	}
	file, err := parse(tokens)
	if err != nil {
		at, what := whole, err.Error()
		var located interface { // goccy's errors show their source with their text; a fault has a place instead
			GetMessage() string
			GetToken() *token.Token
		}
		if errors.As(err, &located) {
			at, what = r.place(located.GetToken()), located.GetMessage()
		}
		return refuse(at, "a syntax error: "+strings.ReplaceAll(what, "\n", " "), "YAML")
	}
	var body ast.Node
	for i, doc := range file.Docs {
		if i == 0 {
			body = doc.Body
			continue
		}
		refuse(r.place(doc.Start), fmt.Sprintf("%d documents", len(file.Docs)), "one")
		break
	}
	return r.node(body, "", whole)
}

// parse keeps a panic of the library from its caller: a config is hostile input, and the library is not ours.
func parse(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// excess finds the token at which a document goes beyond the bounds, before the parser recurses into it. Nesting by
// indentation needs none: its depth costs the square in bytes.
func excess(tokens token.Tokens) (at *token.Token, got, rule string) {
	count, flow, run, line := 0, 0, 0, 0
	for _, tk := range tokens {
		if tk.Position != nil && tk.Position.Line != line {
			line, run = tk.Position.Line, 0
		}
		switch tk.Type {
		case token.CommentType:
			continue
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			run++
		case token.MappingValueType:
			if flow <= 0 { // a block key on a line of its own; inside braces there may be any number
				run++
			}
		}
		if count++; count > maxTokens {
			return tk, fmt.Sprintf("more than %d tokens", maxTokens), "a smaller config"
		}
		if flow > maxDepth || run > maxDepth {
			return tk, fmt.Sprintf("more than %d levels", maxDepth), "less nesting"
		}
	}
	return nil, "", ""
}

// place is where tk stands.
func (r *reader) place(tk *token.Token) place {
	switch {
	case r.fixed != nil:
		return *r.fixed
	case tk == nil || tk.Position == nil:
		return place{source: r.source}
	}
	return place{r.source, tk.Position.Line, tk.Position.Column}
}

// node converts n, which stands at path. Tables take the place of their key, above: their own token is a colon.
func (r *reader) node(n ast.Node, path Path, above place) *node {
	at := above
	if n != nil {
		at = r.place(n.GetToken())
	}
	refuse := func(got, fix string) { r.faults.Add(faultAt(path, at, got, "a plain value", fix)) }
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return &node{at: above}
	case *ast.StringNode:
		return &node{kind: text, text: n.Value, at: at}
	case *ast.LiteralNode:
		return &node{kind: text, text: n.Value.Value, at: at}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &node{kind: number, text: n.GetToken().Value, at: at}
	case *ast.BoolNode:
		return &node{kind: boolean, text: n.GetToken().Value, at: at}
	case *ast.SequenceNode:
		l := &node{kind: list, at: above}
		for i, item := range n.Values {
			p := path.Index(i)
			l.items = append(l.items, r.node(item, p, r.start(item, above)))
		}
		return l
	case *ast.MappingValueNode:
		return r.table([]*ast.MappingValueNode{n}, path, above)
	case *ast.MappingNode:
		return r.table(n.Values, path, above)
	case *ast.AnchorNode:
		// What hangs on the anchor is read all the same, so that its own faults are seen in the same run.
		refuse("an anchor", "write the value where it is used")
		return r.node(n.Value, path, above)
	case *ast.AliasNode:
		refuse("an alias", "write the value itself")
	case *ast.TagNode:
		refuse("a tag "+quote(n.Start.Value), "leave the tag out")
		return r.node(n.Value, path, above)
	default:
		refuse("a "+strings.ToLower(n.Type().String()), "")
	}
	return &node{at: at}
}

// start is the place of the first key of an item that is a table, and of the item itself else.
func (r *reader) start(item ast.Node, above place) place {
	switch n := item.(type) {
	case nil:
		return above
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			return r.place(n.Values[0].Key.GetToken())
		}
	case *ast.MappingValueNode:
		return r.place(n.Key.GetToken())
	}
	return r.place(item.GetToken())
}

// table makes a table of entries. Anything but a plain word as a key is refused and left out.
func (r *reader) table(entries []*ast.MappingValueNode, path Path, above place) *node {
	t := &node{kind: table, at: above}
	seen := map[string]place{}
	for _, e := range entries {
		at := r.place(e.Key.GetToken())
		name, ok := keyName(e.Key)
		if !ok {
			got := "a key that is no word"
			if e.Key.IsMergeKey() {
				got = "a merge key"
			}
			r.faults.Add(faultAt(path, at, got, "a plain key", ""))
			continue
		}
		// The first one counts from here on; which was meant nobody can tell, and the config is refused anyway.
		p := path.Key(name)
		if first, twice := seen[name]; twice {
			r.faults.Add(faultAt(p, at, "the key a second time", "each key once", fmt.Sprintf("the first is in line %d", first.line)))
			continue
		}
		seen[name] = at
		t.keys = append(t.keys, &key{name, at, r.node(e.Value, p, at)})
	}
	return t
}

// keyName is the word that k is. Numbers and the like are words here: a joint may be called 1.
func keyName(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}
