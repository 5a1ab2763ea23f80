package hal_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// twin is a scripted body that can follow.
type twin struct {
	*haltest.Body
	followed map[int]float64
}

func (w *twin) Follow(i int, position, _ float64) { w.followed[i] = position }

func TestBodiesConform(t *testing.T) {
	t.Run("joined", func(t *testing.T) {
		haltest.Run(t, func(t *testing.T) haltest.Subject {
			base, part := haltest.NewBody("x", "y", "z"), haltest.NewBody("y")
			b, err := hal.Join(base, part)
			if err != nil {
				t.Fatal(err)
			}
			return haltest.Subject{Body: b, World: haltest.Worlds{base, part}}
		})
	})
	t.Run("shadowed", func(t *testing.T) {
		haltest.Run(t, func(t *testing.T) haltest.Subject {
			body, shadow := haltest.NewBody("x", "y"), haltest.NewBody("x", "y")
			b, err := hal.Shadow(body, shadow)
			if err != nil {
				t.Fatal(err)
			}
			return haltest.Subject{Body: b, World: haltest.Worlds{body, shadow}}
		})
	})
}

func TestJoinTakesThePartsJoint(t *testing.T) {
	base := &twin{haltest.NewBody("x", "y", "z"), map[int]float64{}}
	part := haltest.NewBody("y")
	part.Position[0] = 0.7
	b, err := hal.Join(base, part)
	if err != nil {
		t.Fatal(err)
	}
	b = hal.Twin(b, base, []int{1}, hal.None, nil)
	f := hal.NewFrame(b.Layout())
	f.Inputs[2], f.Inputs[4] = 1.1, 1.2
	f.Enable[1] = true
	if err := errors.Join(b.Write(f), b.Read(f)); err != nil {
		t.Fatal(err)
	}
	if f.Outputs[1] != 0.7 || part.Last[0] != 1.1 || !slices.Equal(part.Enabled, []bool{true}) {
		t.Errorf("part: read %v, was told %v, %v", f.Outputs[1], part.Last, part.Enabled)
	}
	if base.followed[1] != 0.7 || len(base.followed) != 1 {
		t.Errorf("base follows: got %v, want joint 1 at 0.7", base.followed)
	}
	part.Silent[0] = errors.New("no answer")
	b.Read(f)
	if f.Status[1].Err == nil || f.Status[0].Err != nil || f.Outputs[1] != 0.7 {
		t.Error("a silent part: want its own status at fault, its old value, and no other")
	}
	part.HaltErr = &hal.Error{Joint: "y", Err: errors.New("no answer")}
	if b.Halt() == nil || base.Halts != 1 {
		t.Error("halt: want every part halted and the fault told")
	}
}

func TestJoinRefuses(t *testing.T) {
	if _, err := hal.Join(haltest.NewBody("x"), haltest.NewBody("q")); err == nil {
		t.Error("a part with a joint that the whole has not: joined")
	}
	if _, err := hal.Join(haltest.NewBody("x"), haltest.NewBody("x"), haltest.NewBody("x")); err == nil {
		t.Error("two parts with one joint: joined")
	}
}

func TestShadowTellsTheDifference(t *testing.T) {
	body, shadow := haltest.NewBody("x"), &twin{haltest.NewBody("x"), map[int]float64{}}
	b, err := hal.Shadow(body, shadow)
	if err != nil {
		t.Fatal(err)
	}
	l := b.Layout()
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(l)
	body.Position[0], shadow.Position[0] = 0.5, 0.2
	b.Read(f)
	if got := f.Infos[len(f.Infos)-1]; math.Abs(got-0.3) > 1e-12 || l.Infos[len(l.Infos)-1].Name != "x/shadow_error" {
		t.Errorf("residual: got %v, want 0.3", got)
	}
	b.Write(f)
	if shadow.followed[0] != 0.5 {
		t.Errorf("a limp joint's twin: follows %v, want 0.5", shadow.followed[0])
	}
	f.Enable[0] = true
	b.Write(f)
	if !math.IsNaN(shadow.followed[0]) {
		t.Error("an enabled joint's twin: still follows, want its own motion")
	}
	if _, err := hal.Shadow(body, haltest.NewBody("x", "y")); err == nil {
		t.Error("a twin of another layout: accepted")
	}
}

// holding is a body whose joints have torque from before.
type holding struct{ *haltest.Body }

func (holding) Holding(int) bool { return true }

// A joint that has torque when the rig starts keeps it, for every kind of body: without torque it would drop.
func TestTorqueFromBeforeIsKept(t *testing.T) {
	for name, wrap := range map[string]func(hal.Body) (hal.Body, error){
		"alone":    func(b hal.Body) (hal.Body, error) { return b, nil },
		"joined":   func(b hal.Body) (hal.Body, error) { return hal.Join(haltest.NewBody("x"), b) },
		"shadowed": func(b hal.Body) (hal.Body, error) { return hal.Shadow(b, haltest.NewBody("x")) },
	} {
		body := haltest.NewBody("x")
		body.Position[0] = 0.4
		whole, err := wrap(holding{body})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, hal.Lockstep)
		a, err := r.Add(hal.AgentConfig{Name: "a", Body: whole, World: body})
		if err != nil {
			t.Fatal(err)
		}
		p, l, _ := acquire(t, r, "one", a)
		p.Step(l, nil)
		if !body.Enabled[0] || body.Position[0] != 0.4 {
			t.Errorf("%s: got enabled %v at %g, want held at 0.4", name, body.Enabled[0], body.Position[0])
		}
		a.Disarm()
		p.Step(l, nil)
		if body.Enabled[0] {
			t.Errorf("%s: disarmed: still held", name)
		}
	}
}
