package usarini

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Bounds of a file. USARSim's own has some 5000 lines.
const (
	maxFile  = 4 << 20 // bytes
	maxValue = 64 << 10
)

// section is one part of a file, under its name in brackets.
type section struct {
	name    string
	line    int
	entries []entry
}

// entry is one key and its value, as text.
type entry struct {
	key  string
	line int
	text string
}

// scan cuts a file into sections. opens reports which keys begin a value of their own, within one that is not closed.
func scan(file string, b []byte, opens func(key string) bool, faults *yaml.Faults) []section {
	fault := func(line int, key, got, want string) { faults.Add(fault(file, line, key, got, want)) }
	if len(b) > maxFile {
		fault(1, "", fmt.Sprintf("%d bytes", len(b)), fmt.Sprintf("at most %d", maxFile))
		return nil
	}
	text, err := decodeText(b)
	if err != nil {
		fault(1, "", err.Error(), "text")
		return nil
	}
	var sections []section
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, number := strings.TrimSpace(lines[i]), i+1
		switch {
		case line == "" || comment(line):
			continue
		case line[0] == '[':
			name, rest, ok := strings.Cut(line[1:], "]")
			if name = strings.TrimSpace(name); !ok || name == "" || strings.TrimSpace(rest) != "" &&
				!comment(strings.TrimSpace(rest)) {
				fault(number, "", yaml.Quote(line), "a section: [name]")
			}
			sections = append(sections, section{name: name, line: number})
			continue
		case len(sections) == 0:
			fault(number, "", yaml.Quote(line), "a section first: [name]")
			sections = append(sections, section{line: number})
		}
		s := &sections[len(sections)-1]
		key, value, ok := strings.Cut(line, "=")
		if key = plainKey(key); !ok || key == "" || strings.ContainsAny(key, " \t\"'(),") {
			fault(number, where(s.name, ""), yaml.Quote(line), "key=value")
			continue
		}
		// a value continues while its parentheses are open
		var whole strings.Builder
		whole.WriteString(strings.TrimSpace(value))
		for open := depth(value); open > 0 && i+1 < len(lines) && whole.Len() < maxValue; i++ {
			next := strings.TrimSpace(lines[i+1])
			begins, _, assigns := strings.Cut(next, "=")
			if next == "" || next[0] == '[' || comment(next) || assigns && opens(plainKey(begins)) {
				break
			}
			whole.WriteString(next)
			open += depth(next)
		}
		s.entries = append(s.entries, entry{key, number, whole.String()})
	}
	return sections
}

// comment reports whether a non-empty line is a comment.
func comment(line string) bool { return line[0] == ';' || strings.HasPrefix(line, "//") }

// plainKey is a key without its array's index, and without the mark with which Unreal's own files add to an array.
func plainKey(key string) string {
	key = strings.TrimLeft(strings.TrimSpace(key), "+.")
	if n := strings.IndexAny(key, "(["); n > 0 && strings.TrimLeft(key[n+1:], "0123456789") == map[byte]string{'(': ")",
		'[': "]"}[key[n]] {
		key = key[:n]
	}
	return key
}

// depth is how many parentheses of s are open, those within quotes not counted.
func depth(s string) (n int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			n++
		case ')':
			n--
		case '"':
			end := strings.IndexByte(s[i+1:], '"')
			if end < 0 {
				return n
			}
			i += end + 1
		}
	}
	return n
}

// where is how a fault names a key of a section.
func where(section, key string) string {
	if key == "" {
		return "[" + section + "]"
	}
	return "[" + section + "] " + key
}

// decodeText returns b as UTF-8: by its byte-order mark if it has one, unchanged if it is UTF-8, else decoded as
// Latin-1.
func decodeText(b []byte) (string, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	}
	var text string
	switch {
	case order != nil:
		units := make([]uint16, (len(b)-2)/2)
		for i := range units {
			units[i] = order.Uint16(b[2+2*i:])
		}
		text = string(utf16.Decode(units))
	case utf8.Valid(b):
		text = string(bytes.TrimPrefix(b, []byte("\ufeff")))
	default:
		runes := make([]rune, len(b))
		for i := range b {
			runes[i] = rune(b[i])
		}
		text = string(runes)
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", fmt.Errorf("a NUL in line %d", 1+strings.Count(text[:i], "\n"))
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), nil
}
