package dashboard

import (
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestHand pushes the humanoid's arm aside until the hand lets go, or is not heard of any more.
func TestHand(t *testing.T) {
	sys, s := humanoid(t)
	arm := slices.Index(sys.Scene.Parts(), hal.Part{Agent: "humanoid", Body: "left_lower_arm"})
	if arm < 0 {
		t.Fatalf("got no left_lower_arm in %v", sys.Scene.Parts())
	}
	step := func(n int) {
		for range n {
			if err := sys.Rig.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	height := func() float64 { return sys.Scene.Poses(nil)[arm].Position[2] }
	up := &request{Op: "push", Agent: "humanoid", Body: "left_lower_arm", Force: [3]float64{0, 0, 20}}
	before := height()
	for range 5 {
		if err := s.push(up, time.Now()); err != nil {
			t.Fatal(err)
		}
		step(10)
	}
	if rose := height() - before; rose < 0.02 {
		t.Errorf("half a second of 20 N up: got %g m, want it to rise", rose)
	}
	s.release(&request{})
	if h := s.sampler.rigs[0].hand; h.body != "" {
		t.Errorf("released: got %+v", h)
	}
	s.push(up, time.Now().Add(-2*Deadman)) // the last word of a page that is gone
	step(1)
	if h := s.sampler.rigs[0].hand; h.body != "" {
		t.Errorf("not heard of: got %+v, want the hand off", h)
	}
	for _, bad := range []*request{
		{Agent: "missing", Body: "left_lower_arm"},
		{Agent: "humanoid", Body: "left_lower_arm", Force: [3]float64{0, 0, 101}},
		{Agent: "humanoid", Body: "left_lower_arm", Force: [3]float64{0, 0, math.NaN()}},
		{Agent: "humanoid", Body: "left_lower_arm", Rig: 1},
	} {
		if err := s.push(bad, time.Now()); err == nil {
			t.Errorf("%+v: got no error", bad)
		}
	}
	s.push(&request{Agent: "humanoid", Body: "tail"}, time.Now())
	step(1)
}

// TestTamper unplugs an emulated servo and plugs it in again.
func TestTamper(t *testing.T) {
	sys, s := humanoid(t)
	tamper := func(joint, fault string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/fault?"+url.Values{"rig": {"0"}, "agent": {"humanoid"}, "joint": {joint},
			"fault": {fault}}.Encode(), nil)
		r.Host = "127.0.0.1"
		s.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	agent := sys.Rig.Agent("humanoid")
	elbow := agent.Layout().Actuator("left_elbow")
	until := func(well bool) bool {
		for range 2000 {
			if err := sys.Rig.Step(); err != nil {
				t.Fatal(err)
			}
			if (agent.Status(nil)[elbow].Err == nil) == well {
				return true
			}
		}
		return false
	}
	if code, text := tamper("left_elbow", "unplugged"); code != http.StatusOK || !until(false) {
		t.Errorf("unplugged: got %d %s and no fault in 20 s", code, text)
	}
	if code, text := tamper("left_elbow", ""); code != http.StatusOK || !until(true) {
		t.Errorf("plugged in: got %d %s and a fault for 20 s", code, text)
	}
	if code, text := tamper("left_elbow", "hiccup"); code != http.StatusConflict || !strings.Contains(text, "hiccup") {
		t.Errorf("an unknown fault: got %d %s", code, text)
	}
	if code, text := tamper("tail", "unplugged"); code != http.StatusConflict {
		t.Errorf("an unknown joint: got %d %s", code, text)
	}
}
