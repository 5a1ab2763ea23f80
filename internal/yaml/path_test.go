package yaml

import (
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	root := Path("")
	for _, tc := range []struct {
		got          Path
		want, parent Path
	}{
		{root, "", ""},
		{root.Key("name"), "name", ""},
		{root.Key("agents").Index(0), "agents[0]", "agents"},
		{root.Key("agents").Index(12).Key("hardware").Key("left_elbow"), "agents[12].hardware.left_elbow",
			"agents[12].hardware"},
		{root.Key("classes").Key("USARBot.P2AT").Key("body"), `classes["USARBot.P2AT"].body`,
			`classes["USARBot.P2AT"]`},
		{root.Key("classes").Key(`a"]=b`), `classes["a\"]=b"]`, "classes"},
		{root.Key(""), `[""]`, ""},
	} {
		if tc.got != tc.want || tc.got.Parent() != tc.parent {
			t.Errorf("got %s in %s, want %s in %s", tc.got, tc.got.Parent(), tc.want, tc.parent)
		}
	}
	for _, bad := range []Path{"a..b", ".a", "a.", "a[", "a[]", "a[-1]", "a[99999999]", "a[0", `a["`, `a["b"`, `a["b]`,
		"a b", "a[0]b", Path(strings.Repeat("a.", 99))} {
		if steps, err := bad.Steps(); err == nil {
			t.Errorf("%s: got %v, want an error", bad, steps)
		}
	}
}

func TestClosest(t *testing.T) {
	among := []string{"body", "guard", "hardware", "left_elbow", "right_elbow", "ax-12a"}
	for name, want := range map[string]string{
		"bodi": "body", "Body": "body", "bdoy": "body", "gard": "guard", "left-elbow": "left_elbow", "ax12a": "ax-12a",
		"hardwear": "hardware", "x": "", "": "", "lift_elbows": "left_elbow", strings.Repeat("body", 100): "",
	} {
		if got := Closest(name, among); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for _, former := range []string{"acceleration", "air", "celsius", "drives", "field", "gate", "hand", "hertz",
		"idle", "keep", "lamps", "limp", "needed",
		"opener", "rates", "reach", "stops", "truth", "turns_about"} {
		word := successors[former]
		if got := Closest(former, []string{"other", word}); got != word || word == "" {
			t.Errorf("%s: got %q, want its present name %q", former, got, word)
		}
		if got := Closest(former, []string{"zzzzzzzz"}); got != "" {
			t.Errorf("%s where there is no %s: got %q", former, word, got)
		}
	}
	if got := Closest("abd", []string{"abz", "aby"}); got != "aby" {
		t.Errorf("of two as near: got %q, want the first in the alphabet", got)
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", "agents[0].b", `c["x.y"].z`, "[", `["`, `a["\"]`} {
		f.Add(s)
	}
	// What can be taken apart has a parent that can be, and comes back by being put together.
	f.Fuzz(func(t *testing.T, s string) {
		steps, err := Path(s).Steps()
		if err != nil || len(steps) == 0 {
			return
		}
		again := Path(s).Parent()
		if last := steps[len(steps)-1]; last.Index >= 0 {
			again = again.Index(last.Index)
		} else {
			again = again.Key(last.Key)
		}
		same, err := again.Steps()
		if err != nil || len(same) != len(steps) || same[len(same)-1] != steps[len(steps)-1] {
			t.Errorf("%q: got %q (%v)", s, again, err)
		}
	})
}
