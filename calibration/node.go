package calibration

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// reader turns nodes into values and keeps the faults.
type reader struct{ faults }

// object is one mapping of the file.
type object struct {
	r     *reader
	path  string
	nodes map[string]ast.Node // nil where the node is no mapping: then nothing else is said of it
}

// join is the path of key within path.
func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// line is where n begins, 0 where that is not known.
func line(n ast.Node) int {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// object reads the mapping n, whose keys must be among keys.
func (r *reader) object(path string, n ast.Node, keys ...string) object {
	o := object{r: r, path: path}
	r.lines[path] = line(n)
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode: // what a mapping of one key may come as
		values = []*ast.MappingValueNode{m}
	default:
		r.add(path, "got %s, want a mapping of %s", kind(n), strings.Join(keys, ", "))
		return o
	}
	o.nodes = map[string]ast.Node{}
	for _, v := range values {
		key := v.Key.GetToken().Value
		at := join(path, key)
		r.lines[at] = line(v.Key)
		if _, twice := o.nodes[key]; twice {
			r.add(at, "key given twice")
		} else if !slices.Contains(keys, key) {
			r.add(at, "unknown key, want one of %s", strings.Join(keys, ", "))
			continue
		}
		o.nodes[key] = v.Value
	}
	return o
}

// require reports the keys that are missing, at the line of the mapping.
func (o object) require(keys ...string) {
	if o.nodes == nil {
		return
	}
	for _, key := range keys {
		if _, ok := o.nodes[key]; !ok {
			at := join(o.path, key)
			o.r.lines[at] = o.r.lines[o.path]
			o.r.add(at, "key is missing")
		}
	}
}

// wrong reports that key's node is not what it should be.
func (o object) wrong(key, want string) {
	o.r.add(join(o.path, key), "got %s, want %s", kind(o.nodes[key]), want)
}

// text takes plain numbers too: a firmware of 48 needs no quotes.
func (o object) text(key string, to *string) {
	switch n := o.nodes[key].(type) {
	case nil:
	case *ast.StringNode:
		*to = n.Value
	case *ast.IntegerNode:
		*to = n.Token.Value
	case *ast.FloatNode:
		*to = n.Token.Value
	default:
		o.wrong(key, "a text")
	}
}

// date takes a day or a moment; YAML's own time stamps are plain texts to goccy.
func (o object) date(key string, to *time.Time) {
	n, ok := o.nodes[key]
	if !ok {
		return
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if s, ok := n.(*ast.StringNode); ok {
			if t, err := time.Parse(layout, s.Value); err == nil {
				*to = t.UTC()
				return
			}
		}
	}
	o.wrong(key, "a date like 2026-11-21 or 2026-11-21T14:03:00Z")
}

// number leaves *to alone where the key is absent or faulty; likewise those below.
func (o object) number(key string, to *float64) {
	if n, ok := o.nodes[key]; ok {
		if v, ok := number(n); ok {
			*to = v
		} else {
			o.wrong(key, "a number")
		}
	}
}

// whole refuses 7.0 and "7": an id that is nearly a number is a mistake.
func (o object) whole(key string, to *int) {
	n, ok := o.nodes[key]
	if !ok {
		return
	}
	if i, ok := n.(*ast.IntegerNode); ok {
		// Positive ones come as uint64. Bounded, so that a 32-bit int cannot turn a huge id into a small one.
		v, _ := number(i)
		if math.Abs(v) <= maxTicks {
			*to = int(v)
			return
		}
	}
	o.wrong(key, "a whole number")
}

// list is the nodes of a list.
func (o object) list(key string) []ast.Node {
	n, ok := o.nodes[key]
	if !ok {
		return nil
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		o.wrong(key, "a list")
		return nil
	}
	return s.Values
}

// row is a list of two numbers.
func (o object) row(key string) *[2]float64 {
	if n, ok := o.nodes[key]; ok {
		return o.r.pair(join(o.path, key), n)
	}
	return nil
}

// pair reads a list of two numbers, nil where it is none.
func (r *reader) pair(path string, n ast.Node) *[2]float64 {
	r.lines[path] = line(n)
	if s, ok := n.(*ast.SequenceNode); ok && len(s.Values) == 2 {
		a, oka := number(s.Values[0])
		b, okb := number(s.Values[1])
		if oka && okb {
			return &[2]float64{a, b}
		}
	}
	r.add(path, "got %s, want a list of two numbers", kind(n))
	return nil
}

// number is a plain number; .inf and .nan are other nodes and so refused, as are quoted ones. The parser takes -3e-6, which
// has no point, for a text.
func number(n ast.Node) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		switch v := n.Value.(type) {
		case int64:
			return float64(v), true
		case uint64:
			return float64(v), true
		}
	case *ast.FloatNode:
		return n.Value, true
	case *ast.StringNode:
		if n.Token != nil && n.Token.Type == token.StringType && strings.Trim(n.Value, "+-.0123456789eE") == "" {
			v, err := strconv.ParseFloat(n.Value, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// kind names what stands at n for a message.
func kind(n ast.Node) string {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return fmt.Sprintf("a list of %d", len(n.Values))
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		return "an anchor, alias or tag"
	}
	s := n.String()
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return fmt.Sprintf("%q", s)
}
