package servotest

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Turn is one Write of the host and the input after it.
type Turn struct {
	Write []byte        // expected bytes
	Any   bool          // any written bytes are accepted
	After time.Duration // from the end of the write to the first byte of the answer
	Read  []byte        // the answer; empty = silence
	Then  []Word        // unsolicited bytes of the device afterwards
	Gone  bool          // after the answer the adapter is gone
}

// Word is a group of unsolicited bytes of a device.
type Word struct {
	After time.Duration // from the end of its previous bytes to the first byte
	Read  []byte
}

// Parse reads a session's text.
func Parse(text string) ([]Turn, error) {
	var turns []Turn
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "" {
			continue
		}
		if verb != ">" && len(turns) == 0 {
			return nil, fmt.Errorf("session: line %d: got %q, want a > first", i+1, line)
		}
		if err := turnLine(&turns, verb, strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("session: line %d: %w", i+1, err)
		}
	}
	return turns, nil
}

func turnLine(turns *[]Turn, verb, rest string) error {
	if verb == ">" {
		if rest == "any" {
			*turns = append(*turns, Turn{Any: true})
			return nil
		}
		b, err := unhex(rest)
		*turns = append(*turns, Turn{Write: b})
		return err
	}
	last := &(*turns)[len(*turns)-1]
	switch {
	case verb == "+":
		b, err := unhex(rest)
		last.Write = append(last.Write, b...)
		return err
	case verb == "after":
		d, err := time.ParseDuration(rest)
		if len(last.Read) > 0 {
			last.Then = append(last.Then, Word{After: d})
		} else {
			last.After = d
		}
		return err
	case verb != "<":
		return fmt.Errorf("got %q, want >, +, < or after", verb)
	case rest == "gone":
		last.Gone = true
		return nil
	case rest == "silence":
		return nil
	}
	b, err := unhex(rest)
	if n := len(last.Then); n > 0 {
		last.Then[n-1].Read = append(last.Then[n-1].Read, b...)
	} else {
		last.Read = append(last.Read, b...)
	}
	return err
}

// unhex reads bytes: hexadecimal, or a Go string in quotes.
func unhex(s string) ([]byte, error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		return []byte(text), err
	}
	return hex.DecodeString(strings.ReplaceAll(s, " ", ""))
}

// Format writes turns as the text that Parse reads.
func Format(turns []Turn) string {
	var b strings.Builder
	for _, t := range turns {
		if t.Any {
			b.WriteString("> any\n")
		} else {
			fmt.Fprintf(&b, "> % X\n", t.Write)
		}
		if t.After > 0 {
			fmt.Fprintf(&b, "after %v\n", t.After)
		}
		if len(t.Read) > 0 {
			fmt.Fprintf(&b, "< % X\n", t.Read)
		}
		for _, p := range t.Then {
			fmt.Fprintf(&b, "after %v\n< % X\n", p.After, p.Read)
		}
		if t.Gone {
			b.WriteString("< gone\n")
		}
	}
	return b.String()
}
