package xml

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	n, err := Read([]byte("\ufeff<!-- licence -->\n<?xml version=\"0.0\"\n encoding='utf-8' ?>\n<a x='1' x='2' "+
		"b:y='3' xmlns:b='u'>\n  one <b:c\n z='4'/>two\n</a>\n"), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	c := n.Child("c")
	if n.Name != "a" || n.Line != 4 || n.Get("x") != "1" || n.Get("y") != "3" || len(n.Attrs) != 3 ||
		n.Text != "one two" {
		t.Errorf("got %+v", n)
	}
	if c == nil || c.Prefix != "b" || c.Line != 5 || c.Get("z") != "4" || len(n.All("c")) != 1 || n.Child("d") != nil {
		t.Errorf("got %+v", c)
	}
	if _, ok := n.Attr("none"); ok {
		t.Error("got an attribute that is not there")
	}
	n, err = Read([]byte("<?xml version='1.0' encoding='ISO-8859-1'?><a x='\xe9'/>"), Limits{})
	if err != nil || n.Get("x") != "é" {
		t.Errorf("latin-1: got %v, %v", n, err)
	}
	n, err = Read([]byte("<a><!-- -- b\n --->\n<![CDATA[<!-- -- -->]]><!----><c/></a>"), Limits{})
	if err != nil || n.Text != "<!-- -- -->" || n.Child("c") == nil || n.Child("c").Line != 3 {
		t.Errorf("comments: got %+v, %v", n, err)
	}
	seen := 0
	n.Walk(func(*Node) bool { seen++; return true })
	if seen != 2 {
		t.Errorf("got %d elements, want 2", seen)
	}
}

var hostile = []struct{ name, text, want string }{
	{"empty", "", "no element"},
	{"text", "robot", "no element"},
	{"cut", "<a>\n<b>", "line 2: got the end of the file"},
	{"crossed", "<a><b></a></b>", "want </b> of line 1"},
	{"closed", "</a>", "not opened"},
	{"laughs", `<!DOCTYPE a [<!ENTITY l "ha"><!ENTITY m "&l;&l;&l;">]><a>&m;</a>`, "entity"},
	{"deep", strings.Repeat("<a>", 300), "more than 256 elements within each other"},
	{"many", "<a>" + strings.Repeat("<b/>", 500), "more than 400 elements"},
	{"large", strings.Repeat(" ", 5000), "want at most 4096"},
	{"utf-16", "\xff\xfe<\x00", "UTF-16"},
	{"unknown encoding", "<?xml version='1.0' encoding='koi8-r'?><a/>", "koi8-r"},
	{"not utf-8", "<a x='\xff'/>", "UTF-8"},
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		n, err := Read([]byte(c.text), Limits{Bytes: 4096, Elements: 400})
		var e *Error
		if n != nil || !errors.As(err, &e) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{"<robot/>": true, "\ufeff \n<?xml?>": true, "<!-- a -->": true,
		"name: a": false, "<": false, "<< 1": false} {
		if Looks([]byte(text)) != want {
			t.Errorf("%q: got %v", text, !want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range hostile {
		f.Add([]byte(c.text))
	}
	f.Add([]byte("<?xml version='0.0'?><a x='1'>t<b/></a>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Read(data, Limits{Bytes: 1 << 16, Elements: 1000, Depth: 20})
		if (n == nil) == (err == nil) {
			t.Errorf("got %v and %v", n, err)
		}
	})
}
