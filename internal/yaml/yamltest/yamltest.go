// Package yamltest checks readers of YAML files against files that cost too much.
package yamltest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Bounds of package yaml, which the files of Hostile reach or exceed.
const (
	maxBytes = 384 << 10
	maxMarks = 30 << 10
	maxDepth = 32
	maxKey   = 128
)

// maxCost is what refusing a file may allocate, bytes in total.
const maxCost = 50e6

// Hostile are documents that cost too much to parse, or that no file of ours needs.
func Hostile() map[string]string {
	numbered := func(line string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	var stairs, keyed strings.Builder
	for i := 0; stairs.Len() < maxBytes-1000; i++ {
		stairs.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for i := range 40 { // no level too many, and long keys above many values
		if i < maxDepth-1 {
			keyed.WriteString(strings.Repeat(" ", i) + strings.Repeat("k", maxKey) + ":\n")
		}
	}
	keyed.WriteString(strings.Repeat(" ", maxDepth) + "- [" + strings.Repeat("1,", maxMarks-400) + "1]\n")
	texts := map[string]string{
		"100,000 brackets":        strings.Repeat("[", 100_000),
		"100,000 brackets closed": strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"100,000 flow maps":       strings.Repeat("{a: ", 100_000),
		"100,000 aliases":         "a: &a 1\nb:\n" + strings.Repeat("- *a\n", 100_000),
		"100,000 aliases in line": "a: &a 1\nb: [" + strings.Repeat("*a,", 100_000) + "]",
		"billion laughs":          laughs,
		"10 MB scalar":            "name: " + strings.Repeat("x", 10<<20),
		"10 MB quoted":            "name: \"" + strings.Repeat("x", 10<<20) + "\"",
		"10 MB literal":           "name: |\n" + strings.Repeat("  x\n", 10<<18),
		"10 MB line":              strings.Repeat("a: 1, ", 10<<20/6),
		"10 MB comment":           "#" + strings.Repeat("x", 10<<20),
		"stairs":                  stairs.String(),
		"keys":                    numbered("k%d: 1\n", maxMarks/2-10),
		"tables":                  numbered("- {a%d: 1, b: 2}\n", maxMarks/7),
		"tables of 200":           strings.Repeat("-\n"+numbered(" k%d: 1\n", 200), 75),
		"long key":                strings.Repeat("k", 1000) + ": 1\n",
		"long keys":               keyed.String(),
		"folded":                  "a: >\n" + strings.Repeat(" x", maxBytes/2-8),
		"one scalar":              "a: " + strings.Repeat("x", maxBytes-8),
		"one quoted":              "a: \"" + strings.Repeat("x", maxBytes-8) + "\"",
		"broken lines":            "a: " + strings.Repeat("x\n ", maxMarks-10),
		"numbers":                 "a: [" + strings.Repeat("1,", maxMarks-10) + "1]",
		"items":                   "a: [" + strings.Repeat("'',", maxMarks/3-10) + "1]",
	}
	// Each as large as a file may be, and as large as its punctuation may be.
	for _, s := range []string{"- ", "? ", "a: ", "&a ", "!a ", "! ", "*a ", "\"", "'", "\"\" ", "a\n", " ", "\t",
		"#\n", "# ", "a:\n", "a:\r", "a: |\n", "|\n", ">\n ", "---\n", "...\n", "%a\n", ",", ":", ": ", "::", "[", "{",
		"]", "[]", "{}", "[],", "{},", "[ #]\n", "- - a: ", "-\n", "- 1\n", "a: 'x'\n", "x ", "<<: a\n", "@", "`"} {
		texts["all "+s] = strings.Repeat(s, maxBytes/len(s))
		dear := 0
		for _, c := range s {
			if strings.ContainsRune("[]{},:#'\"&*!?|>%@`\n\r-", c) {
				dear++
			}
		}
		if dear > 0 {
			texts["some "+s] = strings.Repeat(s, min(maxMarks/dear, maxBytes/len(s)))
		}
	}
	return texts
}

// Refuses checks that read refuses all of Hostile with an error of kind hal.Invalid, each within 50 MB. The time that
// each takes is logged; it should stay below 0.1 s, which a busy machine cannot promise.
func Refuses(t *testing.T, read func([]byte) error) {
	t.Helper()
	for name, text := range Hostile() {
		data := []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		err := read(data)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		cost := float64(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%-24q %8d B %6.1f MB %8v %.100v", name, len(data), cost/1e6, took.Round(100*time.Microsecond), err)
		if cost > maxCost || hal.KindOf(err) != hal.Invalid {
			t.Errorf("%q: got %.1f MB and %.200v, want at most %g MB and an invalid file", name, cost/1e6, err,
				maxCost/1e6)
		}
	}
}
