package yaml

import (
	"fmt"
	"strconv"
	"strings"
)

// Path names one key of a config: agents[0].hardware.joints.left_elbow.id. A key with other characters than letters,
// digits, - and _ is in quotes: classes["USARBot.P2AT"].body. The empty Path is the whole document.
type Path string

// Key returns the path of key k under p.
func (p Path) Key(k string) Path {
	switch {
	case !bare(k):
		return p + Path("["+strconv.Quote(k)+"]")
	case p == "":
		return Path(k)
	}
	return p + "." + Path(k)
}

// Index returns the path of item i under p.
func (p Path) Index(i int) Path { return p + Path("["+strconv.Itoa(i)+"]") }

// Parent returns the path of what p is in. The empty Path is its own parent.
func (p Path) Parent() Path {
	steps, err := p.Steps()
	if err != nil || len(steps) < 2 {
		return ""
	}
	var up Path
	for _, s := range steps[:len(steps)-1] {
		if s.Index >= 0 {
			up = up.Index(s.Index)
		} else {
			up = up.Key(s.Key)
		}
	}
	return up
}

func bare(k string) bool {
	for i := range len(k) {
		c := k[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return k != ""
}

// Step is one part of a path: a key, or an index where Index >= 0.
type Step struct {
	Key   string
	Index int
}

// Steps takes p apart.
func (p Path) Steps() ([]Step, error) {
	var steps []Step
	for rest := string(p); rest != ""; {
		if len(steps) == maxDepth {
			return nil, fmt.Errorf("path %.40q...: got more than %d parts, want less", string(p), maxDepth)
		}
		switch {
		case strings.HasPrefix(rest, `["`):
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || !strings.HasPrefix(rest[1+len(quoted):], "]") {
				return nil, fmt.Errorf("path %q: got %q, want [\"KEY\"]", string(p), rest)
			}
			key, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("path %q: got %q, want [\"KEY\"]", string(p), rest)
			}
			steps, rest = append(steps, Step{key, -1}), rest[len(quoted)+2:]
		case rest[0] == '[':
			digits, after, closed := strings.Cut(rest[1:], "]")
			i, err := strconv.ParseUint(digits, 10, 16)
			if err != nil || !closed {
				return nil, fmt.Errorf("path %q: got %q, want [NUMBER]", string(p), rest)
			}
			steps, rest = append(steps, Step{"", int(i)}), after
		default:
			if len(steps) > 0 {
				if rest[0] != '.' {
					return nil, fmt.Errorf("path %q: got %q, want . or [", string(p), rest)
				}
				rest = rest[1:]
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if !bare(rest[:end]) {
				return nil, fmt.Errorf("path %q: got %q, want a key", string(p), rest[:end])
			}
			steps, rest = append(steps, Step{rest[:end], -1}), rest[end:]
		}
	}
	return steps, nil
}
