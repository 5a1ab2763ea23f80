package hal_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// savingBody is a scripted robot whose world can be saved.
type savingBody struct {
	*haltest.Body
	position []float64
	enabled  []bool
}

func newSavingBody(joints ...string) *savingBody {
	return &savingBody{Body: haltest.NewBody(joints...)}
}

func (b *savingBody) Save() error {
	b.position, b.enabled = append(b.position[:0], b.Position...), append(b.enabled[:0], b.Enabled...)
	return nil
}

func (b *savingBody) Restore() error {
	if b.position == nil {
		return b.Reset(0)
	}
	copy(b.Position, b.position)
	copy(b.Enabled, b.enabled)
	return nil
}

// stepper steps one agent in lock-step.
type stepper struct {
	t *testing.T
	*hal.Session
	*hal.Lease
	*recorder
}

func (s *stepper) step(inputs ...float64) []float64 {
	s.t.Helper()
	if err := s.Step(s.Lease, inputs); err != nil {
		s.t.Fatal(err)
	}
	return s.seen[len(s.seen)-1]
}

// TestRestoreRepeats: after a restore the same commands, or none, have the same effect as after the save: the guard's
// slewed goals and modes are restored with the bodies.
func TestRestoreRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Lockstep)
		b := newSavingBody("a", "b")
		b.Speed = 2 // slower than the guard's 6 rad/s: joint and goal part
		a, err := r.Add(hal.AgentConfig{Name: "robot", Body: b, World: b})
		if err != nil {
			t.Fatal(err)
		}
		s := &stepper{t: t}
		s.Session, s.Lease, s.recorder = acquire(t, r, "client", a)
		play := func() (seen [][]float64) {
			for range 3 {
				seen = append(seen, s.step())
			}
			seen = append(seen, s.step(nan, nan, -1, 0.5))
			return append(seen, s.step(), s.step())
		}
		s.step(1, 1.5, 0.5, nan)
		s.step()
		if err := r.SaveWorld(a.World()); err != nil {
			t.Fatal(err)
		}
		want := play()
		for range 2 { // one snapshot serves any number of times
			s.step(-2, 0, 2, 1.5)
			if err := r.RestoreWorld(a.World()); err != nil {
				t.Fatal(err)
			}
			if got := a.Measured(nil)[:2]; !slices.Equal(got, b.position) {
				t.Errorf("right after the restore: got %v measured, want %v", got, b.position)
			}
			if got := play(); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("after the restore: got\n%v want\n%v", got, want)
			}
		}
		if n := testing.AllocsPerRun(10, func() {
			r.SaveWorld(a.World())
			r.RestoreWorld(a.World())
		}); n != 0 && !hal.LocksChecked {
			t.Errorf("save and restore: got %v allocations, want 0", n)
		}
	})
}

// TestRestoreMovesNothingStopped: a restore brings back no command to a robot that is stopped or disarmed by then.
func TestRestoreMovesNothingStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Lockstep)
		b := newSavingBody("a")
		a, err := r.Add(hal.AgentConfig{Name: "robot", Body: b, World: b})
		if err != nil {
			t.Fatal(err)
		}
		s := &stepper{t: t}
		s.Session, s.Lease, s.recorder = acquire(t, r, "client", a)
		s.step(1, 1.5)
		if err := r.SaveWorld(b); err != nil {
			t.Fatal(err)
		}
		a.Disarm()
		if err := r.RestoreWorld(b); err != nil {
			t.Fatal(err)
		}
		at := s.step()[0]
		if got := s.step()[0]; got != at || b.Enabled[0] {
			t.Errorf("disarmed: got motion from %g to %g", at, got)
		}
	})
}

// TestDeadlineSurvivesRestore: the command deadline is as far away after a restore as it was at the save.
func TestDeadlineSurvivesRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Lockstep)
		b := newSavingBody("a")
		a, err := r.Add(hal.AgentConfig{Name: "robot", Body: b, World: b,
			Guard: hal.GuardConfig{CommandTimeout: 50 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		expired := func() uint64 { _, c, _ := a.Guard(); return c.Expired }
		s := &stepper{t: t}
		s.Session, s.Lease, s.recorder = acquire(t, r, "client", a)
		quiet := func(n int) {
			for range n {
				s.step()
			}
		}
		s.step(1, 1.5)
		quiet(3)
		if err := r.SaveWorld(b); err != nil {
			t.Fatal(err)
		}
		quiet(20)
		if expired() != 1 {
			t.Fatalf("silent: got %d expired, want 1", expired())
		}
		if err := r.RestoreWorld(b); err != nil {
			t.Fatal(err)
		}
		quiet(1)
		if expired() != 1 {
			t.Errorf("40 ms after the command: got %d expired, want 1", expired())
		}
		quiet(2)
		if expired() != 2 {
			t.Errorf("60 ms after it: got %d expired, want 2", expired())
		}
	})
}

// TestWorldsThatCannot: a world that is not all simulated is neither saved nor restored, a real one is not reset
// either, and a world that was never saved returns to its start.
func TestWorldsThatCannot(t *testing.T) {
	for _, c := range []struct {
		reality     hal.BodyKind
		save, reset hal.Kind
	}{
		{hal.Simulated, 0, 0}, {hal.Emulated, hal.Unsafe, 0}, {hal.Real, hal.Unsafe, hal.Unsafe},
	} {
		r := newRig(t, hal.Realtime)
		b := newSavingBody("a")
		b.Position[0] = 0.5
		if _, err := r.Add(hal.AgentConfig{Name: "robot", Body: b, World: b, BodyKind: c.reality}); err != nil {
			t.Fatal(err)
		}
		for what, x := range map[string]struct {
			err  error
			want hal.Kind
		}{
			"save": {r.SaveWorld(b), c.save}, "restore": {r.RestoreWorld(b), c.save},
			"reset": {r.ResetWorld(b, 3), c.reset},
		} {
			if hal.KindOf(x.err) != x.want && (x.err != nil || x.want != 0) {
				t.Errorf("%v: %s: got %v, want kind %v", c.reality, what, x.err, x.want)
			}
		}
		if moved := b.Position[0] != 0.5; moved != (c.reset == 0) {
			t.Errorf("%v: moved: got %v", c.reality, moved)
		}
	}
	r := newRig(t, hal.Lockstep)
	if err := r.SaveWorld(hal.PhysicalWorld{}); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("the room: got %v, want unsafe", err)
	}
}

// TestResetWorld: a reset discards commands, and measurements are of the new state before the next step.
func TestResetWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Lockstep)
		b := newSavingBody("a")
		a, err := r.Add(hal.AgentConfig{Name: "robot", Body: b, World: b})
		if err != nil {
			t.Fatal(err)
		}
		s := &stepper{t: t}
		s.Session, s.Lease, s.recorder = acquire(t, r, "client", a)
		s.step(1, 1.5)
		if err := r.ResetWorld(b, 3); err != nil {
			t.Fatal(err)
		}
		if got := a.Measured(nil)[0]; got != 3e-6 {
			t.Errorf("measured: got %g, want 3e-6", got)
		}
		if got := s.step()[0]; got != 3e-6 || b.Enabled[0] {
			t.Errorf("after it: got %g, enabled %v; want 3e-6 and no torque", got, b.Enabled[0])
		}
		if err := r.Remove("robot"); hal.KindOf(err) != hal.Busy {
			t.Errorf("remove while held: got %v, want busy", err)
		}
		s.Session.Close()
		if err := r.Remove("robot"); err != nil || r.Agent("robot") != nil || b.Halts != 1 {
			t.Errorf("remove: got %v, agent %v, %d halts", err, r.Agent("robot"), b.Halts)
		}
		if err := r.Remove("robot"); hal.KindOf(err) != hal.Invalid {
			t.Errorf("remove again: got %v, want invalid", err)
		}
	})
}
