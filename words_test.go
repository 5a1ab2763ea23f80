package halyard_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// phrases are read twice, or say who where a thing is meant; each with what to write instead. What is quoted in a test
// or a recording may have them.
var phrases = []struct{ has, pattern, instead string }{
	{`hoever`, `\b[Ww]hoever\b`, "name the actor: the caller, a client"},
	{`hatever`, `\b[Ww]hatever\b`, "any, regardless of"},
	{`obody`, `\b[Nn]obody (?:else )?[a-z]`, "no client, no device"},
	{`body`, `\b(?:[Ss]ome|[Aa]ny|[Ee]very)body\b`, "a client, a user, a caller"},
	{`hom`, `\b[Ww]hom\b`, "name the receiver"},
	{`new`, `\b[Aa]new\b`, "again"},
	{`hall`, `\b[Ss]hall\b`, "must, will"},
	{` on`, `\bhangs? on\b`, "is connected to"},
	{`obey`, `\bobey(?:s|ed|ing)?\b`, "executes, follows"},
	{`as it comes`, `\bas it comes\b`, "the factory default"},
	{`as it says`, `\bas it says\b`, "name the source: as the file says"},
	{`got it`, `\bgot it\b`, "repeat the noun"},
	{`beside the cycle`, `\bbeside the cycle\b`, "in its own goroutine"},
	{`well again`, `\bwell again\b`, "recovered"},
	{`one of that name`, `\bthere is one of that name\b`, "a NOUN of this name exists already"},
	{`want one `, `\bwant one (?:that|which|whose)\b`, "repeat the noun: want a mode of the joint"},
	{`want one at`, `\bwant one at least\b`, "want at least one NOUN"},
	{`want one"`, `\bwant one"`, "repeat the noun: want one joint"},
	{`got none`, `\bgot none, want one[":]`, "NOUN: missing"},
	{`want one of`, `\bwant one of (?:those|these|its|them that|the (?:rig's|model's|layout|list|config|overview|rig)\b)`,
		"repeat the noun"},
	{`none: `, `\bnone: (?:what|nothing|it) `, "no NOUN: what follows from it"},
	{`nothing is `, `\bnothing is (?:set otherwise|kept yet|emulated)\b`,
		"no differences; no earlier versions; all joints are simulated"},
}

// TestPlainWords: no forbidden phrase in the program's texts and comments, nor in the pages.
func TestPlainWords(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go", "*.md").Output()
	if err != nil {
		t.Skip("needs a checkout: ", err)
	}
	rules := make([]*regexp.Regexp, len(phrases))
	for i, p := range phrases {
		rules[i] = regexp.MustCompile(p.pattern)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // removed, not committed yet
		} else if err != nil {
			t.Fatal(err)
		}
		for i, p := range phrases {
			if !bytes.Contains(text, []byte(p.has)) {
				continue
			}
			for _, at := range rules[i].FindAllIndex(text, -1) {
				t.Errorf("%s:%d: %q: write: %s", file, 1+bytes.Count(text[:at[0]], []byte("\n")), text[at[0]:at[1]],
					p.instead)
			}
		}
	}
}
