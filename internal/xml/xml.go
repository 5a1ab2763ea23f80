// Package xml reads XML files, such as robot descriptions and Collada meshes, into a tree with line numbers.
//
// The reader is generous where other tools are: any XML version, a declaration after a comment, a byte order mark,
// UTF-8, ASCII and Latin-1, prefixes that no one declared. It is bounded: bytes, elements, depth. Entities other than
// those of XML itself are refused, so a file cannot grow while it is read.
package xml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits bound a file. The zero value of a field is the default.
type Limits struct {
	Bytes    int // 32 MiB
	Elements int // 400,000
	Depth    int // 256
}

// Attr is an attribute without its prefix.
type Attr struct{ Name, Value string }

// Node is an element.
type Node struct {
	Prefix   string // of its name, as written: "xacro" of <xacro:macro>
	Name     string // without its prefix
	Attrs    []Attr
	Children []*Node
	Text     string // its own, without surrounding space
	Line     int    // on which it begins, from 1
	File     string // set by a reader that includes files: the one it is from; "": the main one
}

// Error is what is wrong with a file, and where.
type Error struct {
	Line int // 0: the whole file
	Text string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Text)
	}
	return e.Text
}

// Attr returns the value of an attribute; ok is false where there is no such attribute. Of two with one name the first
// counts.
func (n *Node) Attr(name string) (value string, ok bool) {
	for i := range n.Attrs {
		if n.Attrs[i].Name == name {
			return n.Attrs[i].Value, true
		}
	}
	return "", false
}

// Get is Attr with "" where there is no such attribute.
func (n *Node) Get(name string) string {
	v, _ := n.Attr(name)
	return v
}

// Child returns the first child called name, or nil.
func (n *Node) Child(name string) *Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// All returns the children called name.
func (n *Node) All(name string) (list []*Node) {
	for _, c := range n.Children {
		if c.Name == name {
			list = append(list, c)
		}
	}
	return list
}

// Walk calls f with n and all below it, parents first; f returns false to leave out what is below.
func (n *Node) Walk(f func(*Node) bool) {
	if f(n) {
		for _, c := range n.Children {
			c.Walk(f)
		}
	}
}

// Looks reports whether data seems to be XML rather than YAML.
func Looks(data []byte) bool {
	rest := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return len(rest) > 1 && rest[0] == '<' && (rest[1] == '?' || rest[1] == '!' || rest[1] >= 'A' && rest[1] <= 'z')
}

// declaration is <?xml ...?>, which the decoder must not see: it knows version 1.0 alone.
var declaration = regexp.MustCompile(`<\?xml\s[^>]*\?>`)

var encoding = regexp.MustCompile(`encoding\s*=\s*["']([A-Za-z0-9._-]+)["']`)

// text is data as UTF-8 without its declaration, of the same lines.
func text(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, errors.New("encoding: got UTF-16, want UTF-8")
	}
	at := declaration.FindIndex(data[:min(len(data), 64<<10)])
	if at == nil {
		return data, nil
	}
	name := "utf-8"
	if m := encoding.FindSubmatch(data[at[0]:at[1]]); m != nil {
		name = strings.ToLower(string(m[1]))
	}
	// Blanks in its place keep lines and columns.
	out := bytes.Clone(data)
	for i := at[0]; i < at[1]; i++ {
		if out[i] != '\n' {
			out[i] = ' '
		}
	}
	switch name {
	case "utf-8", "utf8", "us-ascii", "ascii":
		return out, nil
	case "iso-8859-1", "latin1", "latin-1", "windows-1252":
		runes := make([]rune, len(out))
		for i, c := range out {
			runes[i] = rune(c)
		}
		return []byte(string(runes)), nil
	}
	return nil, fmt.Errorf("encoding: got %.40q, want UTF-8", name)
}

// uncommented is data with blanks in place of what comments say, of the same lines: other readers take "--" in them.
func uncommented(data []byte) []byte {
	var out []byte
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("<!"))
		if i < 0 {
			break
		}
		at += i
		open, end := "<!--", "-->"
		if bytes.HasPrefix(data[at:], []byte("<![CDATA[")) {
			open, end = "<![CDATA[", "]]>"
		} else if !bytes.HasPrefix(data[at:], []byte(open)) {
			at += len("<!")
			continue
		}
		from := at + len(open)
		n := bytes.Index(data[from:], []byte(end))
		if n < 0 {
			break
		}
		if at = from + n + len(end); end != "-->" || !bytes.Contains(data[from:at-len(">")-1], []byte("--")) {
			continue
		}
		if out == nil {
			out = bytes.Clone(data)
		}
		for k := from; k < from+n; k++ {
			if out[k] != '\n' {
				out[k] = ' '
			}
		}
	}
	if out == nil {
		return data
	}
	return out
}

// Read reads a file, whose errors are of type *Error.
func Read(data []byte, l Limits) (*Node, error) {
	or := func(n, otherwise int) int {
		if n == 0 {
			return otherwise
		}
		return n
	}
	l = Limits{or(l.Bytes, 32<<20), or(l.Elements, 400_000), or(l.Depth, 256)}
	if len(data) > l.Bytes {
		return nil, &Error{0, fmt.Sprintf("got %d bytes, want at most %d", len(data), l.Bytes)}
	}
	data, err := text(data)
	if err != nil {
		return nil, &Error{1, err.Error()}
	}
	r := reader{Limits: l, d: xml.NewDecoder(bytes.NewReader(uncommented(data)))}
	r.d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for r.root == nil || len(r.open) > 0 {
		if err := r.token(); err != nil {
			return nil, err
		}
	}
	return r.root, nil
}

type reader struct {
	Limits
	d        *xml.Decoder
	root     *Node
	open     []*Node
	texts    []bytes.Buffer // of the open elements
	elements int
}

func (r *reader) token() error {
	line, _ := r.d.InputPos()
	t, err := r.d.RawToken()
	if err != nil {
		return r.failed(line, err)
	}
	switch t := t.(type) {
	case xml.StartElement:
		if r.elements++; r.elements > r.Elements {
			return &Error{line, fmt.Sprintf("got more than %d elements", r.Elements)}
		}
		if len(r.open) == r.Depth {
			return &Error{line, fmt.Sprintf("<%.40s>: got more than %d elements within each other", t.Name.Local,
				r.Depth)}
		}
		n := &Node{Prefix: t.Name.Space, Name: t.Name.Local, Line: line}
		for _, a := range t.Attr {
			if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
				n.Attrs = append(n.Attrs, Attr{a.Name.Local, a.Value})
			}
		}
		if len(r.open) > 0 {
			up := r.open[len(r.open)-1]
			up.Children = append(up.Children, n)
		} else {
			r.root = n
		}
		r.open, r.texts = append(r.open, n), append(r.texts, bytes.Buffer{})
	case xml.EndElement:
		if len(r.open) == 0 {
			return &Error{line, fmt.Sprintf("got </%.40s>, which was not opened", t.Name.Local)}
		}
		last := len(r.open) - 1
		n := r.open[last]
		if n.Name != t.Name.Local || n.Prefix != t.Name.Space {
			return &Error{line, fmt.Sprintf("got </%.40s>, want </%.40s> of line %d", t.Name.Local, n.Name, n.Line)}
		}
		n.Text = string(bytes.TrimSpace(r.texts[last].Bytes()))
		r.open, r.texts = r.open[:last], r.texts[:last]
	case xml.CharData:
		if len(r.open) > 0 {
			if b := &r.texts[len(r.texts)-1]; b.Len() > 0 || len(bytes.TrimSpace(t)) > 0 {
				b.Write(t)
			}
		}
	}
	return nil
}

// failed is the decoder's error with its line.
func (r *reader) failed(line int, err error) error {
	if err == io.EOF {
		if len(r.open) == 0 {
			return &Error{line, "got no element"}
		}
		n := r.open[len(r.open)-1]
		return &Error{line, fmt.Sprintf("got the end of the file (unexpected EOF), want </%.40s> of line %d", n.Name,
			n.Line)}
	}
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		say := syntax.Msg
		if len(say) > 200 {
			say = say[:200]
		}
		return &Error{syntax.Line, strings.ToValidUTF8(say, string(utf8.RuneError))}
	}
	return &Error{line, err.Error()}
}
