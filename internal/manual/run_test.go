package manual

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/report"
)

// newRig is a rig in lock-step with an agent of two joints.
func newRig(t *testing.T) (*hal.Rig, *haltest.Body, *hal.Agent) {
	t.Helper()
	rig, err := hal.New(hal.Config{Name: "arm", Mode: hal.Lockstep, Period: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("shoulder", "elbow")
	agent, err := rig.Add(hal.AgentConfig{Name: "left", Body: body, World: body})
	if err == nil {
		err = rig.Step()
	}
	if err != nil {
		t.Fatal(err)
	}
	return rig, body, agent
}

func at(a *hal.Agent, joint int) float64 {
	return a.Measured(nil)[a.Layout().Actuators[joint].Position]
}

func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, _, agent := newRig(t)
		var speed float64
		last, was := time.Now(), at(agent, 1)
		run := func(q Request) (Update, error) {
			var u Update
			err := Run(t.Context(), rig, &q, func(now Update) error {
				if dt := time.Since(last).Seconds(); dt > 0 {
					speed = max(speed, math.Abs(at(agent, 1)-was)/dt)
				}
				last, was, u = time.Now(), at(agent, 1), now
				return nil
			})
			return u, err
		}
		u, err := run(Request{Op: Move, Goals: map[string]string{"elbow": "30deg"}})
		if err != nil || !u.Done || math.Abs(at(agent, 1)-math.Pi/6) > 0.09 {
			t.Errorf("got %+v, %v, elbow at %g", u, err, at(agent, 1))
		}
		if speed > 1.1*hingeSpeed {
			t.Errorf("got %g rad/s, want at most %g", speed, hingeSpeed)
		}
		if g := agent.Goals(nil); g[0].Mode != hal.PositionMode || math.Abs(g[1].Value-math.Pi/6) > 1e-3 {
			t.Errorf("afterwards: got goals %v, want that both hold", g)
		}
		if agent.Holder() != "" {
			t.Errorf("held by %s", agent.Holder())
		}
		u, err = run(Request{Op: Move, Goals: map[string]string{"left/elbow": "-10"}, Relative: true,
			Units: report.Degrees})
		if err != nil || math.Abs(float64(u.Joints[0].Goal)-math.Pi/9) > 1e-3 {
			t.Errorf("relative: got %+v, %v", u, err)
		}
		for goal, want := range map[string]string{"90": "want -", "1mm": "want a number in rad", "x": "want a number"} {
			if _, err := run(Request{Op: Move, Goals: map[string]string{"elbow": goal}}); hal.KindOf(
				err) != hal.Invalid ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", goal, err, want)
			}
		}
		if _, err := run(Request{Op: Move, Goals: map[string]string{"elbo": "1"}}); hal.KindOf(err) != hal.Invalid {
			t.Errorf("got %v, want an unknown joint", err)
		}
		rig.EmergencyStop("test")
		if _, err := run(Request{Op: Move, Goals: map[string]string{"elbow": "0"}}); hal.KindOf(err) != hal.Unsafe ||
			!strings.Contains(err.Error(), "halyard reset") {
			t.Errorf("stopped: got %v", err)
		}
	})
}

// What ends a request leaves the joints where they are, and they hold.
func TestMoveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, _, agent := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		err := Run(ctx, rig, &Request{Op: Move, Goals: map[string]string{"elbow": "1"}}, func(Update) error {
			if at(agent, 1) > 0.3 {
				cancel()
			}
			return nil
		})
		stopped := at(agent, 1)
		if !errors.Is(err, context.Canceled) || stopped < 0.3 || stopped > 0.5 {
			t.Errorf("got %v at %g", err, stopped)
		}
		for range 100 {
			if err := rig.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if now := at(agent, 1); math.Abs(now-stopped) > 0.05 || agent.Goals(nil)[1].Mode != hal.PositionMode {
			t.Errorf("got %g a second later, want that it holds at %g", now, stopped)
		}
		session := rig.NewSession("osp", noObserver{})
		defer session.Close()
		if _, err := session.Acquire(agent); err != nil {
			t.Fatal(err)
		}
		err = Run(t.Context(), rig, &Request{Op: Move, Goals: map[string]string{"elbow": "1"}},
			func(Update) error { return nil })
		if hal.KindOf(err) != hal.Busy {
			t.Errorf("held by a client: got %v", err)
		}
	})
}

// A motion of a file is eased into, and played with its pace.
func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, _, agent := newRig(t)
		m := &Motion{Joints: []string{"elbow", "shoulder"}}
		for i := range 101 {
			m.Samples = append(m.Samples, Sample{float64(i) * 0.02, []float64{0.3 + 0.2*math.Sin(float64(i)*0.05), 0}})
		}
		for _, u := range []report.Units{report.SI, report.Degrees} {
			var b bytes.Buffer
			if err := m.Write(&b, u, nil); err != nil {
				t.Fatal(err)
			}
			again, err := Read(&b)
			if err != nil || len(again.Samples) != 101 ||
				math.Abs(again.Samples[50].Positions[0]-m.Samples[50].Positions[0]) > 1e-4 {
				t.Fatalf("%s: got %v, %+v", u, err, again)
			}
		}
		begin, highest := time.Now(), 0.0
		err := Run(t.Context(), rig, &Request{Op: Play, Motion: m, Pace: 0.5}, func(Update) error {
			highest = max(highest, at(agent, 1))
			return nil
		})
		if took := time.Since(begin); err != nil || took < 4*time.Second || took > 7*time.Second ||
			math.Abs(highest-0.5) > 0.03 {
			t.Errorf("got %v after %v, highest %g", err, took, highest)
		}
		m.Samples[3].Positions[0] = 9
		err = Run(t.Context(), rig, &Request{Op: Play, Motion: m}, func(Update) error { return nil })
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("outside the limits: got %v", err)
		}
	})
}

func TestRecord(t *testing.T) {
	var r Record
	for i := range 100 {
		v := 0.1 * max(0, min(10, float64(i)-20)) // moves from sample 20 to 30
		if err := r.Add(Update{Time: float64(i) * 0.1,
			Joints: []Joint{{Agent: "a", Joint: "x", Position: report.Number(v)},
				{Agent: "a", Joint: "y"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if moves := r.Moving(); len(moves) != 1 || moves[0] != "x" {
		t.Errorf("got %v", moves)
	}
	if r.Trim(); len(r.Samples) < 12 || len(r.Samples) > 20 {
		t.Errorf("got %d samples, want those of the motion", len(r.Samples))
	}
}

func TestPoses(t *testing.T) {
	dir := t.TempDir()
	file, saved, err := SavePose(dir, "ready",
		[]Joint{{Agent: "a", Joint: "x", Body: "sim", Position: 0.45, Goal: 0.5, Unit: "rad"},
			{Agent: "b", Joint: "x", Body: "sim", Goal: -0.04, Position: -0.04, Unit: "m"}})
	if err != nil || len(saved) != 2 {
		t.Fatal(file, saved, err)
	}
	p, err := LoadPose(dir, "ready")
	if err != nil || p.Joints["a/x"] != "0.50000rad" || p.Joints["b/x"] != "-0.04000m" {
		t.Errorf("got %+v, %v", p, err)
	}
	if _, err := LoadPose(dir, "other"); hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "ready") {
		t.Errorf("got %v, want the poses that exist", err)
	}
	for _, name := range []string{"../x", "", ".x", "a/b", "a b"} {
		if _, _, err := SavePose(dir, name, nil); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%q: got %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("time_s,elbow_rad\n0,1\n1,2\n")
	f.Add("time_s,a/b_mm\n0,1\n1,x\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := Read(strings.NewReader(text)); err == nil && m.validate() != nil {
			t.Error("accepted", text)
		}
	})
}
