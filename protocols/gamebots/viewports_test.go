package gamebots

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestViewports: a SET of viewports is answered in full and sets the image server; it ends with the
// connection.
func TestViewports(t *testing.T) {
	var texts []string
	bubble(t, config{change: func(r *Robot) { r.Interval = time.Hour }}, func(s *stage) {
		s.rig.Values().Declare(viewValue, hal.StringValue, func() hal.Value { return hal.Value{} },
			func(v hal.Value) error {
				if texts = append(texts, v.Text); len(texts) == 5 {
					return errors.New("no")
				}
				return nil
			})
		s.play(nfoLine + `
		a> INIT {ClassName p2at} {Location 1 2 3} {Name R1}
		`)
		for range 10 {
			s.receive("a")
		}
		const rest = " {Viewport2 None} {Status OK} {Viewport3 None} {Status OK} {Viewport4 None} {Status OK}"
		s.play(`
		a> SET {Type Viewports} {Config SingleView} {Viewport1 camera}
		a< RES {Time 0.01} {Type Viewports} {Config SingleView} {Status OK} {Viewport1 Camera} {Status OK}` + rest + `
		a> SET {Type Viewports} {Config QuadView} {Viewport1 Disable} {Viewport2 Camera}
		a< RES {Time 0.01} {Type Viewports} {Config QuadView} {Status OK} {Viewport1 Disabled} {Status OK} {Viewport2 Camera} {Status OK} {Viewport3 None} {Status OK} {Viewport4 None} {Status OK}
		a> SET {Type Viewports} {Config 0} {Viewport1 Tail} {Viewport2 None}
		a< RES {Time 0.01} {Type Viewports} {Config SingleView} {Status OK} {Viewport1 Disabled} {Status Failed}` + rest + `
		a> SET {Type Viewports} {Config Round} {Viewport1 Camera}
		a< RES {Time 0.01} {Type Viewports} {Config SingleView} {Status Failed} {Viewport1 Camera} {Status OK}` + rest + `
		a> SET {Type Viewports}
		a< RES {Time 0.01} {Type Viewports} {Config SingleView} {Status Failed} {Viewport1 Camera} {Status OK}` + rest + `
		`)
		s.hang("a")
	})
	want := []string{"R1/Camera", "R1/,Camera,,", "R1/", "R1/Camera", "R1/Camera", "-"}
	if len(texts) != len(want) {
		t.Fatalf("got %q, want %q", texts, want)
	}
	for i := range want {
		if got := texts[i]; len(got) < len(want[i]) || !containsWord(got, want[i]) {
			t.Errorf("%d: got %q, want %q", i, got, want[i])
		}
	}
}

func containsWord(text, word string) bool {
	for _, w := range strings.Fields(text) {
		if w == word {
			return true
		}
	}
	return false
}
