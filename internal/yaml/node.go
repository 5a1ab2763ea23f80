package yaml

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Kind is what a node is. Texts are what YAML 1.2 calls strings: yes and no are texts, not booleans.
type Kind uint8

// The kinds.
const (
	Null Kind = iota // also a value that was refused
	Text
	Number
	Bool
	List
	Table
)

// Node is one value of a document.
type Node struct {
	Kind  Kind
	Text  string // of a text, number or boolean: as written, quotes resolved
	Items []*Node
	Keys  []*Key // in the order of the file; no name twice
	At    Place
}

// Key is one entry of a table.
type Key struct {
	Name  string
	At    Place
	Value *Node
}

// Place is where something was written.
type Place struct {
	Source       string // the file, or the option that set the value
	Line, Column int    // from 1; 0: not in a file
}

// Key returns the entry called name, or nil.
func (n *Node) Key(name string) *Key {
	for _, k := range n.Keys {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Set gives n the entry name, in place of the one it has.
func (n *Node) Set(name string, value *Node) {
	if k := n.Key(name); k != nil {
		k.At, k.Value = value.At, value
		return
	}
	n.Keys = append(n.Keys, &Key{name, value.At, value})
}

// find returns the node at path, or the nearest one above that the document has.
func (n *Node) find(path Path) (at *Node, whole bool) {
	steps, err := path.Steps()
	for _, s := range steps {
		if k := n.Key(s.Key); s.Index < 0 && k != nil {
			n = k.Value
		} else if s.Index >= 0 && s.Index < len(n.Items) {
			n = n.Items[s.Index]
		} else {
			return n, false
		}
	}
	return n, err == nil
}

// String is the value as a fault shows it.
func (n *Node) String() string {
	switch n.Kind {
	case Text:
		return Quote(n.Text)
	case Number, Bool:
		return n.Text
	case List:
		return "a list"
	case Table:
		return "a table"
	}
	return "nothing"
}

// Quote bounds what a fault repeats of a document.
func Quote(s string) string {
	const longest = 60
	if utf8.RuneCountInString(s) > longest {
		return fmt.Sprintf("%q...", string([]rune(s)[:longest]))
	}
	return fmt.Sprintf("%q", s)
}

// reader makes nodes of the library's tree.
type reader struct {
	*Document
	fixed *Place // of all nodes, for the values of options
}

// trail is the way to a node; its path is made for faults only.
type trail struct {
	up    *trail
	key   string
	index int
}

func (s *trail) path() Path {
	switch {
	case s == nil:
		return ""
	case s.index >= 0:
		return s.up.path().Index(s.index)
	}
	return s.up.path().Key(s.key)
}

// place is where tk stands.
func (r *reader) place(tk *token.Token) Place {
	switch {
	case r.fixed != nil:
		return *r.fixed
	case tk == nil || tk.Position == nil:
		return Place{Source: r.Source}
	}
	return Place{r.Source, tk.Position.Line, tk.Position.Column}
}

func (r *reader) refuse(way *trail, at Place, got, rule, fix string) {
	if !r.Faults.full() {
		r.fault(way.path(), at, got, rule, fix)
	}
}

// document makes the tree of data; nil if absent, which is a fault.
func (r *reader) document(data []byte) *Node {
	file, no := parse(data)
	if no != nil {
		r.fault("", r.place(no.at), no.got, no.rule, "")
		return nil
	}
	var body ast.Node
	for i, doc := range file.Docs {
		if i == 0 {
			body = doc.Body
			continue
		}
		r.fault("", r.place(doc.Start), fmt.Sprintf("%d documents", len(file.Docs)), "one", "")
		break
	}
	return r.node(body, nil, r.place(nil))
}

// node converts n. Tables take the place of their key, above: their own token is a colon.
func (r *reader) node(n ast.Node, way *trail, above Place) *Node {
	at := above
	if n != nil {
		at = r.place(n.GetToken())
	}
	const rule = "a plain value"
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return &Node{At: above}
	case *ast.StringNode:
		if n.Token.Type == token.StringType && isNumber(n.Value) {
			return &Node{Kind: Number, Text: n.Value, At: at}
		}
		return &Node{Kind: Text, Text: n.Value, At: at}
	case *ast.LiteralNode:
		return &Node{Kind: Text, Text: n.Value.Value, At: at}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return &Node{Kind: Number, Text: n.GetToken().Value, At: at}
	case *ast.BoolNode:
		return &Node{Kind: Bool, Text: n.GetToken().Value, At: at}
	case *ast.SequenceNode:
		l := &Node{Kind: List, At: above}
		for i, item := range n.Values {
			l.Items = append(l.Items, r.node(item, &trail{way, "", i}, r.start(item, above)))
		}
		return l
	case *ast.MappingValueNode:
		return r.table([]*ast.MappingValueNode{n}, way, above)
	case *ast.MappingNode:
		return r.table(n.Values, way, above)
	case *ast.AnchorNode:
		// The value of the anchor is read all the same, so that its own faults are seen in the same run.
		r.refuse(way, at, "an anchor", rule, "write the value where it is used")
		return r.node(n.Value, way, above)
	case *ast.AliasNode:
		r.refuse(way, at, "an alias", rule, "write the value itself")
	case *ast.TagNode:
		r.refuse(way, at, "a tag "+Quote(n.Start.Value), rule, "leave the tag out")
		return r.node(n.Value, way, above)
	default:
		r.refuse(way, at, "a "+strings.ToLower(n.Type().String()), rule, "")
	}
	return &Node{At: at}
}

// isNumber recognises what the library takes for a text: -3e-6 has no point.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.Trim(s, "+-.0123456789eE") == ""
}

// start is the place of the first key of an item that is a table, and of the item itself else.
func (r *reader) start(item ast.Node, above Place) Place {
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

// table makes a table of entries. A key that is not a plain word is refused and left out.
func (r *reader) table(entries []*ast.MappingValueNode, way *trail, above Place) *Node {
	t := &Node{Kind: Table, At: above}
	seen := map[string]int{}
	for _, e := range entries {
		at := r.place(e.Key.GetToken())
		name, ok := keyName(e.Key)
		if !ok {
			got := "a key that is not a word"
			if e.Key.IsMergeKey() {
				got = "a merge key"
			}
			r.refuse(way, at, got, "a plain key", "")
			continue
		}
		// The first one counts from here on; the file is refused anyway.
		below := &trail{way, name, -1}
		if first, twice := seen[name]; twice {
			r.refuse(below, at, "the key a second time", "each key once", fmt.Sprintf("the first is in line %d", first))
			continue
		}
		seen[name] = at.Line
		t.Keys = append(t.Keys, &Key{name, at, r.node(e.Value, below, at)})
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
