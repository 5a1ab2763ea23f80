package teleop

import (
	"strings"
	"testing"
)

// marks drive Mark and the fuzz test: what each mark leaves, or the word of its error.
var marks = []struct {
	mark  string
	fault string
	kept  int
	runs  string
}{
	{"success", "no episode runs", 0, ""},
	{"discard", "no episode runs", 0, ""},
	{"start", "without a task", 0, ""},
	{"start pick\nup", "one line", 0, ""},
	{"start " + strings.Repeat("x", maxTask+1), "got a task of", 0, ""},
	{"start pick up", "", 0, "pick up"},
	{"start again", "an episode runs", 0, "pick up"},
	{"jump", "want start TASK", 0, "pick up"},
	{"success now", "want start TASK", 0, "pick up"},
	{"success", "", 1, ""},
	{"start", "", 1, "pick up"},
	{"discard", "", 1, ""},
	{"start put down", "", 1, "put down"},
	{"failure", "", 2, ""},
	{"discard", "", 1, ""},
	{"start", "", 1, "pick up"},
	{"end", "", 2, ""},
}

func TestEpisodes(t *testing.T) {
	var e Episodes
	for i, c := range marks {
		err := e.Mark(c.mark, uint64(10*i))
		if (err != nil) != (c.fault != "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%.40q: got %v, want %q", c.mark, err, c.fault)
		}
		runs := ""
		if r := e.Running(); r != nil {
			runs = r.Task
		}
		if e.Kept() != c.kept || runs != c.runs {
			t.Errorf("%.40q: got %d kept, %q, want %d, %q", c.mark, e.Kept(), runs, c.kept, c.runs)
		}
	}
	if a := e.List[0]; a != (Episode{"pick up", MarkSuccess, 50, 90}) {
		t.Errorf("got %+v", a)
	}
}

func FuzzEpisodes(f *testing.F) {
	for _, c := range marks {
		f.Add(c.mark)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e Episodes
		for i, mark := range strings.Split(text, "\n") {
			e.Mark(mark, uint64(i))
			for k := range e.List {
				if e.List[k].Outcome == "" && k != len(e.List)-1 {
					t.Fatal("an episode before the last one runs")
				}
			}
		}
	})
}
