package interop

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// session is the bytes that a client sends and expects.
type session struct {
	name, client, source, facts string
	open                        []string // emulate or serve, config, bus or protocol
	steps                       []step
}

// stepKind is the action of a step.
type stepKind uint8

const (
	sends   stepKind = iota
	reads            // as many bytes as the pattern has
	seeks            // until the pattern has come
	lines            // until a line matches
	numbers          // as many numbers of six decimals, a blank behind each
	hangUp           // closes, and opens again
	rates            // sets the line's rate
	hands            // a person moves a joint
)

type step struct {
	kind    stepKind
	line    int // in the file
	pattern []int16
	match   *regexp.Regexp
	baud    int
	count   int
	order   string // of hands
}

// anyByte in a pattern matches every byte.
const anyByte = -1

// bytes are a pattern's, of a step that sends.
func (s *step) bytes() []byte {
	b := make([]byte, len(s.pattern))
	for i, v := range s.pattern {
		b[i] = byte(v)
	}
	return b
}

// matches reports whether b is the pattern.
func (s *step) matches(b []byte) bool {
	for i, v := range s.pattern {
		if v != anyByte && byte(v) != b[i] {
			return false
		}
	}
	return len(b) == len(s.pattern)
}

func (s *step) String() string {
	if s.kind == numbers {
		return fmt.Sprintf("%d numbers", s.count)
	}
	if s.kind == hands {
		return "hand " + s.order
	}
	if s.match != nil {
		return "/" + s.match.String() + "/"
	}
	var b strings.Builder
	text := true
	for _, v := range s.pattern {
		text = text && v >= 9 && v < 127
	}
	if text {
		return strconv.Quote(string(s.bytes()))
	}
	for _, v := range s.pattern {
		if v == anyByte {
			b.WriteString(".. ")
		} else {
			fmt.Fprintf(&b, "%02x ", v)
		}
	}
	return strings.TrimSpace(b.String())
}

// parsePattern reads hex bytes, .., *N and quoted text.
func parsePattern(text string) (p []int16, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if text[0] == '"' {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, err
			}
			plain, _ := strconv.Unquote(quoted)
			for _, c := range []byte(plain) {
				p = append(p, int16(c))
			}
			text = text[len(quoted):]
			continue
		}
		word, rest, _ := strings.Cut(text, " ")
		text = rest
		if count, ok := strings.CutPrefix(word, "*"); ok {
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 || n > 1<<20 {
				return nil, fmt.Errorf("got %q, want *N", word)
			}
			for range n {
				p = append(p, anyByte)
			}
			continue
		}
		for ; word != ""; word = word[2:] {
			if strings.HasPrefix(word, "..") {
				p = append(p, anyByte)
				continue
			}
			b, err := hex.DecodeString(word[:min(2, len(word))])
			if err != nil {
				return nil, fmt.Errorf("got %q, want hex bytes", word)
			}
			p = append(p, int16(b[0]))
		}
	}
	return p, nil
}

// parse reads a session's file.
func parse(name, text string) (*session, error) {
	s := &session{name: name}
	var repeats []struct{ from, times int }
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		fault := func(err error) error { return fmt.Errorf("%s:%d: %s: %w", name, number, line, err) }
		key, value, _ := strings.Cut(line, " ")
		add := func(kind stepKind) error {
			p, err := parsePattern(value)
			if err == nil && len(p) == 0 {
				err = fmt.Errorf("got no bytes")
			}
			s.steps = append(s.steps, step{kind: kind, line: number, pattern: p})
			return err
		}
		var err error
		switch {
		case line == "" || line[0] == '#':
		case key == "client:":
			s.client = value
		case key == "source:":
			s.source = value
		case key == "facts:":
			s.facts = value
		case key == "open:":
			s.open = strings.Fields(value)
		case key == ">":
			err = add(sends)
		case key == "<":
			err = add(reads)
		case key == "<~":
			err = add(seeks)
		case key == "<line":
			var match *regexp.Regexp
			match, err = regexp.Compile(strings.Trim(value, "/"))
			s.steps = append(s.steps, step{kind: lines, line: number, match: match})
		case key == "<numbers":
			var count int
			count, err = strconv.Atoi(value)
			s.steps = append(s.steps, step{kind: numbers, line: number, count: count})
		case key == "baud":
			var baud int
			baud, err = strconv.Atoi(value)
			s.steps = append(s.steps, step{kind: rates, line: number, baud: baud})
		case key == "hand":
			if value == "" {
				err = fmt.Errorf("got no order")
			}
			s.steps = append(s.steps, step{kind: hands, line: number, order: value})
		case line == "hang up":
			s.steps = append(s.steps, step{kind: hangUp, line: number})
		case key[0] == '(':
			times, e := strconv.Atoi(key[1:])
			err = e
			repeats = append(repeats, struct{ from, times int }{len(s.steps), times})
		case line == ")" && len(repeats) > 0:
			last := repeats[len(repeats)-1]
			repeats = repeats[:len(repeats)-1]
			body := append([]step(nil), s.steps[last.from:]...)
			for range last.times - 1 {
				s.steps = append(s.steps, body...)
			}
		default:
			err = fmt.Errorf("got an unknown line")
		}
		if err != nil {
			return nil, fault(err)
		}
	}
	if s.client == "" || s.source == "" || s.facts != "recorded" && s.facts != "read" || len(s.open) != 3 ||
		len(s.steps) == 0 || len(repeats) > 0 {
		return nil, fmt.Errorf("%s: got client %q, source %q, facts %q, open %q, %d steps: want all of them, and "+
			"brackets closed", name, s.client, s.source, s.facts, s.open, len(s.steps))
	}
	return s, nil
}

// sessions are all files of testdata/sessions.
func sessions(t testing.TB) (all []*session) {
	t.Helper()
	files, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/sessions: got %d files, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(strings.TrimSuffix(filepath.Base(file), ".txt"), string(b))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestParse(t *testing.T) {
	const head = "client: c\nsource: s\nfacts: read\nopen: serve c p\n"
	s, err := parse("a", head+"# x\n> 0aff \"a\\r\\n\"\n(2\n< .. 01 *2\n)\n<~ \"ok\"\n<line /a.b/\nhang up\nhand "+
		"hold j\n")
	if err != nil || len(s.steps) != 7 || s.steps[6].order != "hold j" {
		t.Fatalf("got %+v, %v", s, err)
	}
	if got := string(s.steps[0].bytes()); got != "\x0a\xffa\r\n" {
		t.Errorf("bytes: got %q", got)
	}
	if !s.steps[1].matches([]byte{7, 1, 2, 3}) || s.steps[2].matches([]byte{7, 2, 2, 3}) ||
		s.steps[1].matches([]byte{7, 1, 2}) {
		t.Error("a pattern: matches what it should not, or does not match what it should")
	}
	for _, text := range []string{"", head, head + "> 0", head + "> xy", head + "?", head + "(2\n> 00", head + "< *0",
		head + "<line /(/", head + "hand", strings.Replace(head, "read", "guessed", 1) + "> 00"} {
		if _, err := parse("a", text); err == nil {
			t.Errorf("%q: parsed, want a fault", text)
		}
	}
}
