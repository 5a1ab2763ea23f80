package sim

import (
	"hash/fnv"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/sim/model"
)

const period = 10 * time.Millisecond

// rig is one robot in a scene with its frame.
type rig struct {
	*Scene
	body  *Body
	frame *hal.Frame
	t     testing.TB
}

func newRig(t testing.TB, robot string, seed int64) *rig {
	return stood(t, robot, seed, false)
}

// hung is a robot that hangs from a stand, if it is one that could stand, so that only its joints count.
func hung(t testing.TB, robot string, seed int64) *rig { return stood(t, robot, seed, true) }

func stood(t testing.TB, robot string, seed int64, hang bool) *rig {
	m, err := model.Load(robot)
	if err != nil {
		t.Fatal(err)
	}
	var pose hal.Pose
	if hang && len(m.Bodies) > 0 {
		fixed := *m
		fixed.Fixed = true
		m, pose.Position[2] = &fixed, 0.5
	}
	r := &rig{Scene: NewScene(SceneConfig{Seed: seed}), t: t}
	if r.body, err = r.Add(robot, m, pose); err != nil {
		t.Fatal(err)
	}
	r.frame = hal.NewFrame(r.body.Layout())
	return r
}

// enable switches all joints.
func (r *rig) enable(on bool) {
	for i := range r.frame.Enable {
		r.frame.Enable[i] = on
	}
}

// input sets one input channel by name.
func (r *rig) input(name string, v float64) {
	for i, c := range r.body.Layout().Inputs {
		if c.Name == name {
			r.frame.Inputs[i] = v
			return
		}
	}
	r.t.Fatalf("no input %q", name)
}

// cycle runs n cycles: write, advance, read.
func (r *rig) cycle(n int) {
	for range n {
		if err := r.body.Write(r.frame); err != nil {
			r.t.Fatal(err)
		}
		if err := r.Advance(period); err != nil {
			r.t.Fatal(err)
		}
		r.frame.Time += period
		if err := r.body.Read(r.frame); err != nil {
			r.t.Fatal(err)
		}
	}
}

// wave gives every joint a goal that sways within its limits.
func (r *rig) wave(k int) {
	for i := range r.body.Layout().Actuators {
		a := &r.body.Layout().Actuators[i]
		l := a.Limits
		share := 0.5 + 0.4*math.Sin(0.03*float64(k)+float64(i))
		r.frame.Inputs[a.Goal[hal.PositionMode]] = l.MinPosition + share*(l.MaxPosition-l.MinPosition)
	}
}

// run waves for n cycles and returns a hash of all that was measured.
func (r *rig) run(from, n int) uint64 {
	h := fnv.New64a()
	var b [8]byte
	for k := range n {
		r.wave(from + k)
		r.cycle(1)
		for _, v := range r.frame.Measured {
			u := math.Float64bits(v)
			for i := range b {
				b[i] = byte(u >> (8 * i))
			}
			h.Write(b[:])
		}
	}
	return h.Sum64()
}

func (r *rig) must(err error) {
	if err != nil {
		r.t.Helper()
		r.t.Fatal(err)
	}
}

func TestBodyIsABody(t *testing.T) {
	for _, robot := range model.Names() {
		t.Run(robot, func(t *testing.T) {
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				r := hung(t, robot, 1)
				// Its XL330 hold by a P gain alone, and sag under the weight that they are enabled with.
				sag := map[string]float64{"koch": 0.07}[robot]
				return haltest.Subject{Body: r.body, World: r.Scene, Falls: robot != "pendulum", Sag: sag}
			})
		})
	}
}

// Two runs with one seed are equal to the bit, also after Save and Restore and after Reset; another seed is not.
func TestDeterminism(t *testing.T) {
	for _, robot := range model.Names() {
		t.Run(robot, func(t *testing.T) {
			const before, after = 40, 160
			one, two := newRig(t, robot, 7), newRig(t, robot, 7)
			for _, r := range []*rig{one, two} {
				for i := range r.body.joints {
					r.body.joints[i].Servo.Noise = 0.002
				}
				r.enable(true)
			}
			first := one.run(0, before)
			one.must(one.Save())
			second := one.run(before, after)
			if a, b := two.run(0, before), two.run(before, after); a != first || b != second {
				t.Errorf("two runs differ: got %x %x, want %x %x", a, b, first, second)
			}
			one.must(one.Restore())
			if got := one.run(before, after); got != second {
				t.Errorf("after Restore: got %x, want %x", got, second)
			}
			one.must(one.Reset(0))
			one.enable(true)
			if got := one.run(0, before); got != first {
				t.Errorf("after Reset(0): got %x, want %x", got, first)
			}
			one.must(one.Reset(8))
			if got := one.run(0, before); got == first {
				t.Error("another seed gives the same run")
			}
			one.must(one.Reset(7))
			if got := one.run(0, before); got != first {
				t.Errorf("after Reset(7): got %x, want %x", got, first)
			}
		})
	}
}

// The bits of a run with every firmware, computed once on amd64. They are the same on every machine: a change of this
// number is a change of the physics, or a fused product.
func TestBits(t *testing.T) {
	want := map[string]uint64{"a-series": 0x68db8910ddae1ba0, "pendulum": 0xb30ce31f9ff8928c,
		"xl430-pendulum": 0xf6f677eb7ea0114a, "xm430-arm": 0x203693d1c09675b3,
		"hobby-hexapod": 0xfff57fbe0f11620d, "koch": 0x3c1a1b6fbc8cb234, "lx16a-arm": 0x69d69ed800862ddc, "so101": 0x2376795678612354}
	for _, robot := range model.Names() {
		r := newRig(t, robot, 3)
		for i := range r.body.joints {
			r.body.joints[i].Servo.Noise = 0.001
		}
		r.enable(true)
		// The goals are rounded to a grid, so that math.Sin's last bit does not count.
		h := fnv.New64a()
		for k := range 300 {
			r.wave(k)
			for i, v := range r.frame.Inputs {
				r.frame.Inputs[i] = math.Floor(v*1024) / 1024
			}
			r.cycle(1)
			for _, v := range r.frame.Measured {
				u := math.Float64bits(v)
				h.Write([]byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24), byte(u >> 32), byte(u >> 40),
					byte(u >> 48), byte(u >> 56)})
			}
		}
		if got := h.Sum64(); got != want[robot] {
			t.Errorf("%s: got %#x, want %#x", robot, got, want[robot])
		}
	}
}

// Commands from before the snapshot still apply to a restored robot, without a new command of the controller.
func TestRestoreKeepsGoal(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	r.must(r.Restore()) // without a snapshot: the reset state
	r.enable(true)
	r.input("joint/position", 1)
	r.cycle(2)
	r.must(r.Save())
	r.input("joint/position", math.NaN())
	r.cycle(50)
	r.must(r.Restore())
	r.cycle(200)
	if got := r.body.joints[0].Servo.GoalPosition; got != 1 || math.Abs(r.frame.Outputs[0]-1) > 0.1 {
		t.Errorf("got goal %g and %g rad, want 1", got, r.frame.Outputs[0])
	}
}

func TestResetSpreadsAndKeepsOthers(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	seen := map[float64]bool{}
	spread := r.body.joints[0].Model.Spread
	for seed := int64(1); seed <= 20; seed++ {
		r.must(r.Reset(seed))
		at := r.body.joints[0].Servo.Position
		if math.Abs(at) > spread {
			t.Errorf("seed %d: got %g rad, want within %g", seed, at, spread)
		}
		seen[at] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 seeds: got %d positions, want 20", len(seen))
	}
	// A second robot does not affect the first.
	r.must(r.Reset(5))
	alone := r.body.joints[0].Servo.Position
	m, err := model.Load("a-series")
	r.must(err)
	_, err = r.Add("other", m, hal.Pose{})
	r.must(err)
	r.must(r.Reset(5))
	if got := r.body.joints[0].Servo.Position; got != alone {
		t.Errorf("with company: got %g, want %g", got, alone)
	}
}

func TestLimpFallsAndTorqueHolds(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	r.enable(true)
	r.input("joint/position", math.Pi/2)
	r.cycle(300)
	held := r.frame.Outputs[0]
	if math.Abs(held-math.Pi/2) > 0.1 {
		t.Fatalf("goal level: got %g rad, want %g", held, math.Pi/2)
	}
	// The inputs are NaN from here on; the goal stays.
	r.input("joint/position", math.NaN())
	r.cycle(200)
	if got := r.frame.Outputs[0]; got != held {
		t.Errorf("held: got %g rad, want %g", got, held)
	}
	for _, limp := range []struct {
		name string
		do   func()
	}{
		{"disabled", func() { r.enable(false) }},
		{"limit 0", func() { r.enable(true); r.input("joint/torque_limit", 0) }},
		{"halt", func() { r.must(r.body.Halt()); r.enable(false) }},
	} {
		r.must(r.Reset(0))
		r.enable(true)
		r.input("joint/torque_limit", 100)
		r.input("joint/position", math.Pi/2)
		r.cycle(300)
		limp.do()
		r.cycle(300)
		// It comes to rest near the bottom, where gravity is less than the friction of the gear.
		if got := math.Abs(r.frame.Outputs[0]); got > 0.6 {
			t.Errorf("%s: got %g rad after 3 s, want it to hang down", limp.name, got)
		}
	}
}

func TestEnableMovesNothingAndAlarmLatches(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	s := r.body.Joint(0).Servo
	r.input("joint/position", 1)
	r.cycle(10) // a goal while it is off is not taken along
	r.input("joint/position", math.NaN())
	at := s.Position
	r.enable(true)
	r.cycle(100)
	if math.Abs(s.Position-at) > 0.002 {
		t.Errorf("at torque-on: moved from %g to %g rad", at, s.Position)
	}
	// Blocked at full drive, it raises an alarm and switches torque off, until it is switched off and on.
	s.External = -20
	r.input("joint/position", 3)
	r.cycle(300)
	if e := r.frame.Status[0].Err; e == nil || !strings.Contains(e.Error(), "overload") || s.Enable {
		t.Errorf("overload: got %v, enable %v", e, s.Enable)
	}
	s.External = 0
	r.cycle(100)
	if s.Enable {
		t.Error("torque came back by itself")
	}
	r.enable(false)
	r.cycle(1)
	r.enable(true)
	r.cycle(1)
	if r.frame.Status[0].Err != nil || !s.Enable {
		t.Errorf("after off and on: got %v, enable %v", r.frame.Status[0].Err, s.Enable)
	}
}

func TestGoalsBeyondTheServo(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	r.enable(true)
	for i := range r.body.layout.Actuators {
		r.frame.Inputs[r.body.layout.Actuators[i].Goal[hal.PositionMode]] = 100
	}
	r.cycle(400)
	for i, a := range r.body.layout.Actuators {
		_, high := r.body.joints[i].Servo.Spec.Range()
		if got := r.frame.Measured[a.Position]; math.Abs(got-high) > 0.1 {
			t.Errorf("%s: got %g rad, want the servo's end, %g", a.Name, got, high)
		}
	}
}

func TestStops(t *testing.T) {
	m, err := model.Parse([]byte(`
name: stop
supply: {volts: 12}
joints: [{name: j, servo: mx-28, limits_deg: [-20, 20], stops_deg: [-30, 30], load: {inertia_kgm2: 0.001}}]
`), "stop")
	if err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{})
	b, err := s.Add("stop", m, hal.Pose{})
	if err != nil {
		t.Fatal(err)
	}
	j := b.Joint(0).Servo
	j.Enable, j.GoalPosition = true, 2
	b.joints[0].driven = true
	for range 200 {
		if err := s.Advance(period); err != nil {
			t.Fatal(err)
		}
		if j.Position > j.Load.Max {
			t.Fatalf("got %g rad, beyond the stop", j.Position)
		}
	}
	if j.Position != j.Load.Max || math.Abs(j.Load.Max-0.5236) > 1e-4 || j.Velocity != 0 {
		t.Errorf("got %g rad at %g rad/s, want at rest at the stop", j.Position, j.Velocity)
	}
}

func TestFollow(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	start := r.body.joints[0].Servo.Position
	r.body.Follow(0, start+0.8, 1.5)
	r.must(r.Advance(period / 2))
	mid := r.body.joints[0].Servo.Position
	if mid != start+0.8 {
		t.Errorf("after an Advance: got %g rad, want %g, exactly", mid, start+0.8)
	}
	if v := r.body.joints[0].Servo.Velocity; v != 1.5 {
		t.Errorf("velocity: got %g, want 1.5", v)
	}
	r.cycle(50)
	if got := r.body.joints[0].Servo.Position; got != start+0.8 {
		t.Errorf("without news: got %g rad, want %g", got, start+0.8)
	}
	r.body.Follow(0, math.NaN(), math.NaN())
	r.cycle(300)
	if got := math.Abs(r.body.joints[0].Servo.Position); got > 0.6 {
		t.Errorf("released: got %g rad, want it to fall", got)
	}
	// Readings of a real joint may be invalid; they must not enter the physics.
	r.body.Follow(0, math.Inf(1), 0)
	r.cycle(1)
	if got := r.body.joints[0].Servo.Position; math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("followed %g", got)
	}
}

func TestModes(t *testing.T) {
	r := newRig(t, "xm430-arm", 1)
	r.enable(true)
	s := r.body.Joint(0).Servo
	r.input("base/velocity", 1)
	r.cycle(100)
	if math.Abs(s.Velocity-1) > 0.03 {
		t.Errorf("velocity mode: got %g rad/s, want 1", s.Velocity)
	}
	r.input("base/velocity", math.NaN())
	r.input("base/torque", 1)
	r.cycle(2)
	if got := s.MeasuredTorque(); math.Abs(got-1) > 1e-9 || s.Mode != hal.TorqueMode {
		t.Errorf("torque mode: got %g N·m in mode %v, want 1", got, s.Mode)
	}
	r.input("base/torque", math.NaN())
	r.input("base/duty", -0.25)
	r.cycle(2)
	if s.Duty != -0.25 {
		t.Errorf("duty mode: got %g, want -0.25", s.Duty)
	}
}

func TestNonsenseInputsKeep(t *testing.T) {
	r := hung(t, "a-series", 1)
	r.enable(true)
	r.wave(0)
	r.cycle(300)
	want := append([]float64(nil), r.frame.Outputs[:len(r.body.joints)]...)
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for i := range r.frame.Inputs {
			if !strings.HasSuffix(r.body.layout.Inputs[i].Name, "torque_limit") {
				r.frame.Inputs[i] = bad
			}
		}
		r.cycle(50)
		for i, got := range r.frame.Outputs[:len(want)] {
			if !(math.Abs(got-want[i]) < 0.02) {
				t.Errorf("%g: joint %d: got %g, want %g", bad, i, got, want[i])
			}
		}
	}
}

func TestDriven(t *testing.T) {
	r := hung(t, "a-series", 1)
	r.must(r.Driven("a-series", 6))
	r.enable(true)
	r.wave(0)
	r.cycle(20)
	s := r.body.Joint(6).Servo
	if s.Enable || math.Abs(s.Position) > 0.05 {
		t.Errorf("Write commanded a driven joint: enable %v, %g rad", s.Enable, s.Position)
	}
	s.Enable, s.GoalPosition = true, 0.5
	r.cycle(200)
	r.must(r.body.Halt())
	if !s.Enable || math.Abs(s.Position-0.5) > 0.02 {
		t.Errorf("driven: got enable %v at %g rad, want it at 0.5", s.Enable, s.Position)
	}
	for _, err := range []error{r.Driven("absent", 0), r.Driven("a-series", 21), r.Driven("a-series", -1)} {
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("got %v, want an invalid error", err)
		}
	}
}

func TestScene(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	if _, err := r.Add("pendulum", r.body.model, hal.Pose{}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("the same name: got %v, want an invalid error", err)
	}
	if err := r.Advance(-1); err == nil {
		t.Error("time ran backwards")
	}
	// Time that is less than a sub-step is not lost.
	coarse, fine := newRig(t, "pendulum", 1), newRig(t, "pendulum", 1)
	coarse.must(coarse.Advance(3 * time.Millisecond))
	for range 10 {
		fine.must(fine.Advance(300 * time.Microsecond))
	}
	if a, b := coarse.body.joints[0].Servo.Position, fine.body.joints[0].Servo.Position; a != b ||
		coarse.Now() != fine.Now() {
		t.Errorf("ten short steps: got %g at %v, want %g at %v", b, fine.Now(), a, coarse.Now())
	}
	r.must(r.SetGravity([3]float64{}))
	r.body.joints[0].Servo.Reset(1)
	r.cycle(100)
	if got := r.body.joints[0].Servo.Position; got != 1 {
		t.Errorf("without gravity: got %g rad, want 1", got)
	}
	if err := r.SetGravity([3]float64{0, 0, math.NaN()}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("gravity NaN: got %v", err)
	}
	r.must(r.ZeroClock())
	if r.Now() != 0 {
		t.Errorf("clock: got %v, want 0", r.Now())
	}
	r.must(r.Remove("pendulum"))
	if r.Body("pendulum") != nil || hal.KindOf(r.Remove("pendulum")) != hal.Invalid {
		t.Error("a removed robot is still there")
	}
}

// The supply is one a robot: one strained joint is felt by the others.
func TestSharedSupply(t *testing.T) {
	r := newRig(t, "xm430-arm", 1)
	r.body.Supply().Resistance = 1
	r.enable(true)
	r.input("elbow/duty", 1)
	l := &r.body.Joint(2).Servo.Load // held fast between stops
	l.Min, l.Max = 1.57, 1.58
	r.cycle(20)
	a := &r.body.layout.Actuators[0]
	if got := r.frame.Measured[a.Voltage]; !(got < 11 && got > 8) {
		t.Errorf("base sees %g V, want the sag of the elbow's stall current", got)
	}
}

// taken counts how often it was locked, and how often at once.
type taken struct{ times, held int }

func (l *taken) Lock()   { l.times, l.held = l.times+1, l.held+1 }
func (l *taken) Unlock() { l.held-- }

// A stop may command a joint's servo from another goroutine: it waits while time passes, at a reset, and while the body
// is read.
func TestShare(t *testing.T) {
	r := newRig(t, "pendulum", 1)
	var l taken
	r.Share(&l)
	r.must(r.Advance(10 * time.Millisecond))
	r.must(r.body.Read(r.frame))
	r.must(r.Reset(0))
	if l.times != 3 || l.held != 0 {
		t.Errorf("a period, a reading and a reset: locked %d times, still held %d times, want 3 and 0", l.times, l.held)
	}
}

func TestNoAllocation(t *testing.T) {
	for _, robot := range model.Names() {
		r := newRig(t, robot, 1)
		r.enable(true)
		r.wave(0)
		r.cycle(2)
		r.must(r.Save())
		if n := testing.AllocsPerRun(20, func() { r.cycle(1) }); n != 0 {
			t.Errorf("%s: a cycle allocates %g times", robot, n)
		}
		if n := testing.AllocsPerRun(20, func() { r.must(r.Save()); r.must(r.Restore()); r.must(r.Reset(0)) }); n != 0 {
			t.Errorf("%s: save, restore and reset allocate %g times", robot, n)
		}
	}
}

var _ interface {
	hal.World
	hal.Resetter
	hal.Saver
	hal.GravitySetter
	hal.ClockZeroer
} = (*Scene)(nil)

var _ interface {
	hal.Body
	hal.Follower
} = (*Body)(nil)

// One cycle of 10 ms in ten sub-steps, with Write, on one core of a shared 2-core EPYC VM: pendulum 0.9 µs, a-series
// (21 joints) 25 µs, xm430-arm 4.8 µs; no allocation.
func BenchmarkAdvance(b *testing.B) {
	for _, robot := range []string{"pendulum", "a-series", "xm430-arm"} {
		b.Run(robot, func(b *testing.B) {
			r := newRig(b, robot, 1)
			r.enable(true)
			r.wave(0)
			b.ReportAllocs()
			for k := 0; b.Loop(); k++ {
				r.wave(k)
				r.must(r.body.Write(r.frame))
				r.must(r.Advance(period))
			}
		})
	}
}
