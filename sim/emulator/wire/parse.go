package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults and bounds of a fault's text.
const (
	defaultP      = 0.5 // of Dropped
	defaultDelay  = 5 * time.Millisecond
	defaultAge    = 50 * time.Millisecond
	defaultOffset = 100 // ticks: 9° of 4096 a turn
	brownout      = 100 * time.Millisecond
	maxTime       = 1000 * time.Hour
	maxText       = 200 // bytes
	maxID         = 253
)

// defaults returns the fault of a kind that no option changes.
func defaults(k Kind) Fault {
	f := Fault{Kind: k, Target: All, P: 1}
	switch k {
	case Dropped:
		f.P = defaultP
	case Delayed:
		f.Delay = defaultDelay
	case Stale:
		f.Delay = defaultAge
	case Wrong, Slipped:
		f.Offset = defaultOffset
	}
	return f
}

// Parse reads a fault's text. Unknown words, words given twice and numbers out of range are errors.
func Parse(text string) (Fault, error) {
	if len(text) > maxText {
		return Fault{}, fmt.Errorf("fault: got %d bytes, want at most %d", len(text), maxText)
	}
	// KIND and target first, options after them in any order.
	words := strings.Fields(text)
	fail := func(what, got, want string) (Fault, error) {
		return Fault{}, fmt.Errorf("fault %q: %s: got %q, want %s", text, what, got, want)
	}
	if len(words) < 2 {
		return fail("words", text, "KIND bus or KIND servo N")
	}
	var names []string
	f := Fault{Kind: numKinds}
	for _, k := range Kinds() {
		if names = append(names, k.Name); k.Name == words[0] || slices.Contains(k.Alias, words[0]) {
			f = defaults(k.Kind)
		}
	}
	if f.Kind == numKinds {
		return fail("kind", words[0], "one of "+strings.Join(names, ", "))
	}
	if words[0] == "brownout" { // PX4's word for a power_loss that is short
		f.For = brownout
	}
	rest := words[2:]
	switch words[1] {
	case "bus":
	case "servo":
		if len(rest) == 0 {
			return fail("servo", "", "an ID")
		}
		id, err := strconv.ParseUint(rest[0], 10, 8)
		if err != nil || id > maxID {
			return fail("servo", rest[0], "an ID of 0..253")
		}
		f.Target, rest = int(id), rest[1:]
	default:
		return fail("target", words[1], "bus or servo N")
	}
	// "p=0.1 p=0.2" is a mistake, not a choice.
	seen := map[string]bool{}
	for _, w := range rest {
		key, value, ok := strings.Cut(w, "=")
		if !ok || seen[key] {
			return fail("option", w, "p=, by=, from= or for=, each once")
		}
		seen[key] = true
		if want := f.set(key, value); want != "" {
			return fail(key, value, want)
		}
	}
	return f, nil
}

// set parses one option and returns the allowed values if it is invalid, else "".
func (f *Fault) set(key, value string) (want string) {
	switch {
	case key == "p":
		p, err := strconv.ParseFloat(value, 64)
		if err != nil || !(p > 0 && p <= 1) {
			return "above 0, at most 1"
		}
		f.P = p
	case key == "by" && (f.Kind == Wrong || f.Kind == Slipped):
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !(n >= -1e6 && n <= 1e6) {
			return "ticks, -1e6..1e6"
		}
		f.Offset = n
	case key == "by" && (f.Kind == Delayed || f.Kind == Stale):
		return parseTime(&f.Delay, value)
	case key == "from":
		return parseTime(&f.From, value)
	case key == "for":
		return parseTime(&f.For, value)
	default:
		return "an option that " + f.Kind.String() + " has"
	}
	return ""
}

// parseTime reads a bounded time and returns the allowed values if it is invalid, else "".
func parseTime(d *time.Duration, value string) (want string) {
	v, err := time.ParseDuration(value)
	if err != nil || v < 0 || v > maxTime {
		return "a time of 0s..1000h, such as 250ms"
	}
	*d = v
	return ""
}

// String is the text for Parse, without defaults.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.Target == All {
		b.WriteString(" bus")
	} else {
		fmt.Fprintf(&b, " servo %d", f.Target)
	}
	d := defaults(f.Kind)
	if f.P != d.P && f.P != 0 {
		fmt.Fprintf(&b, " p=%g", f.P)
	}
	if f.Delay != d.Delay {
		fmt.Fprintf(&b, " by=%v", f.Delay)
	}
	if f.Offset != d.Offset {
		fmt.Fprintf(&b, " by=%g", f.Offset)
	}
	if f.From != 0 {
		fmt.Fprintf(&b, " from=%v", f.From)
	}
	if f.For != d.For {
		fmt.Fprintf(&b, " for=%v", f.For)
	}
	return b.String()
}
