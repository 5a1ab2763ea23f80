package drivers

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/servo"
)

// robot is a body of one chain with every channel that an actuator can have, and its frame.
type robot struct {
	*Body
	*chain
	t *testing.T
	f *hal.Frame
	l *hal.Layout
}

// layoutOf has, of each joint, all modes of u and a torque limit as inputs, its position as output, the rest as infos.
func layoutOf(u servo.Units, names ...string) *hal.Layout {
	l := &hal.Layout{}
	channel := func(to *[]hal.Channel, name string, q hal.Quantity) int {
		*to = append(*to, hal.Channel{Name: name + "/" + q.String(), Quantity: q, Min: -100, Max: 100})
		return len(*to) - 1
	}
	for _, name := range names {
		a := hal.Actuator{Name: name, Limits: hal.Limits{MinPosition: -2.5, MaxPosition: 2.5, MaxVelocity: 6,
			MaxTorque: u.TorqueConstant * u.MaxEffort}}
		for m := range hal.NumModes {
			a.Goal[m] = hal.None
			if u.Modes[m] {
				a.Goal[m] = channel(&l.Inputs, name, m.Quantity())
			}
		}
		a.TorqueLimit = channel(&l.Inputs, name, hal.TorqueLimit)
		a.Position = channel(&l.Outputs, name, hal.Position)
		a.Velocity = channel(&l.Infos, name, hal.Velocity) + len(names)
		a.Torque = channel(&l.Infos, name, hal.Torque) + len(names)
		a.Voltage = channel(&l.Infos, name, hal.Voltage) + len(names)
		a.Temperature = channel(&l.Infos, name, hal.Temperature) + len(names)
		l.Actuators = append(l.Actuators, a)
	}
	return l
}

func jointsOf(c *chain) []Joint {
	joints := make([]Joint, len(c.goals))
	for i := range joints {
		joints[i] = Joint{Chain: c, Index: i, Bus: "upper", Port: "/dev/ttyUSB0", ID: i + 1}
	}
	return joints
}

// newRobot runs nominal joints on u; change, where not nil, amends the layout and the joints first.
func newRobot(t *testing.T, u servo.Units, names []string, change func(*hal.Layout, []Joint)) *robot {
	t.Helper()
	c, l := newChain(u, len(names)), layoutOf(u, names...)
	joints := jointsOf(c)
	for i := range joints {
		joints[i].Calibration = nominal(names[i], &joints[i])
	}
	if change != nil {
		change(l, joints)
	}
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	b, err := NewBody(l, joints)
	if err != nil {
		t.Fatal(err)
	}
	return &robot{b, c, t, hal.NewFrame(l), l}
}

func (r *robot) cycle() {
	r.f.Time += 10 * time.Millisecond
	for _, err := range [...]error{r.Write(r.f), r.Send(), r.Receive(), r.Body.Read(r.f)} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *robot) set(joint int, m hal.Mode, v float64) {
	for k := range r.l.Actuators[joint].Goal {
		if in := r.l.Actuators[joint].Goal[k]; in != hal.None {
			r.f.Inputs[in] = math.NaN()
		}
	}
	r.f.Inputs[r.l.Actuators[joint].Goal[m]] = v
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// The suite that every body passes. 0.05 rad is far above the rounding of ticks.
func TestConformance(t *testing.T) {
	for _, u := range []servo.Units{ax, xm} {
		t.Run(u.Name, func(t *testing.T) {
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				r := newRobot(t, u, []string{"waist", "neck", "elbow"}, nil)
				return haltest.Subject{Body: r.Body, Buses: []hal.Bus{r.chain}, World: hal.PhysicalWorld{}}
			})
		})
	}
}

// A joint that is enabled outside of its range follows its goals back into it, and gets no goal beyond where it was.
func TestLedBackIntoRange(t *testing.T) {
	r := newRobot(t, xm, []string{"elbow"}, func(l *hal.Layout, joints []Joint) {
		joints[0].Calibration.RangeTicks = [2]float64{1000, 3000}
	})
	rad := func(ticks float64) float64 { return (ticks - 2048) * 2 * math.Pi / 4096 }
	r.states[0].Position = 700
	r.f.Enable[0] = true
	r.cycle()
	for _, c := range []struct{ at, goal, want float64 }{
		{700, 710, 710}, // inward, as the guard leads it
		{700, 600, 700}, // not outward
		{850, 840, 850}, // nor back to where it was
		{800, 700, 850}, // though it gives way
		{1000, 900, 1000}, {990, 900, 1000}, {2000, 3500, 3000},
	} {
		r.states[0].Position = c.at
		r.set(0, hal.PositionMode, rad(c.goal))
		r.cycle()
		near(t, "goal", r.goals[0].Position, c.want)
	}
	// Pushed out again without torque, it is led back from there.
	r.f.Enable[0] = false
	r.cycle()
	r.f.Enable[0] = true
	r.states[0].Position = 700
	r.set(0, hal.PositionMode, rad(710))
	r.cycle()
	near(t, "goal after it was enabled again", r.goals[0].Position, 710)
}

// TestSafety04DriverClamps: no goal beyond the soft limits reaches a servo, even if the guard passes it.
func TestSafety04DriverClamps(t *testing.T) {
	r := newRobot(t, xm, []string{"elbow"}, func(l *hal.Layout, _ []Joint) {
		l.Actuators[0].Limits.MinPosition, l.Actuators[0].Limits.MaxPosition = -0.5, 0.5
	})
	tick := 2 * math.Pi / 4096
	r.f.Enable[0] = true
	for _, c := range []struct{ at, goal, want float64 }{{0, 2, 0.5}, {0, -2, -0.5}, {1.2, 1.2, 0.5}, {0, 0.2, 0.2}} {
		r.states[0].Position = 2048 + c.at/tick
		r.cycle()
		r.set(0, hal.PositionMode, c.goal)
		r.cycle()
		near(t, "goal", (r.goals[0].Position-2048)*tick, c.want)
	}
}

// A reversed, geared joint with its zero off the centre, in figures worked out by hand.
func TestCalibrated(t *testing.T) {
	r := newRobot(t, xm, []string{"elbow"}, func(l *hal.Layout, joints []Joint) {
		c := joints[0].Calibration
		c.Direction, c.Gear, c.ZeroTicks, c.RangeTicks = -1, 2, 1000, [2]float64{100, 3900}
		c.Torque = calibration.Torque{Constant: 3, Offset: 0.1}
		l.Actuators[0].Limits.MinPosition = -1.6
		l.Actuators[0].Limits.MaxPosition = 1.6
	})
	a := &r.l.Actuators[0]
	r.f.Enable[0] = true
	r.cycle()
	// Quarter of a turn of the joint is half a turn of the servo, backwards.
	r.set(0, hal.PositionMode, -math.Pi/2)
	r.cycle()
	near(t, "goal", r.goals[0].Position, 1000+2048)
	near(t, "position", r.f.Measured[a.Position], -math.Pi/2)
	r.set(0, hal.VelocityMode, 0.5)
	r.cycle()
	near(t, "goal velocity", r.goals[0].Velocity, -1)
	near(t, "velocity", r.f.Measured[a.Velocity], 0.5)
	r.set(0, hal.TorqueMode, 1.5)
	r.cycle()
	near(t, "goal effort", r.goals[0].Effort, -0.5+0.1)
	near(t, "torque", r.f.Measured[a.Torque], 1.5)
	near(t, "volts", r.f.Measured[a.Voltage], 11.8)
	near(t, "celsius", r.f.Measured[a.Temperature], 41)
	r.set(0, hal.DutyMode, 0.25)
	r.f.Inputs[a.TorqueLimit] = 1.025
	r.cycle()
	near(t, "goal duty", r.goals[0].Duty, -0.25)
	near(t, "limit", r.goals[0].Limit, 1.025/(3*2.3))
	if r.goals[0].Mode != hal.DutyMode {
		t.Errorf("mode: got %v", r.goals[0].Mode)
	}
	// Everything is bounded by what the servo and the calibration can.
	for m, v := range map[hal.Mode]float64{hal.PositionMode: 50, hal.VelocityMode: 1000, hal.TorqueMode: 1000,
		hal.DutyMode: 9} {
		r.set(0, m, v)
		r.f.Inputs[a.TorqueLimit] = 99
		r.cycle()
	}
	g := r.goals[0]
	near(t, "bounded position", g.Position, 100)
	near(t, "bounded velocity", g.Velocity, -4.8)
	near(t, "bounded effort", g.Effort, -2.3)
	near(t, "bounded duty", g.Duty, -1)
	near(t, "bounded limit", g.Limit, 1)
}

func TestEnableHoldsPresent(t *testing.T) {
	r := newRobot(t, ax, []string{"elbow"}, nil)
	r.set(0, hal.PositionMode, 1)
	r.cycle()
	if g := r.goals[0]; g.Enable || g.Mode != hal.NoMode {
		t.Errorf("limp: got %+v", g)
	}
	r.set(0, hal.PositionMode, math.NaN())
	r.f.Enable[0] = true
	r.cycle()
	if g := r.goals[0]; !g.Enable || g.Mode != hal.NoMode || g.Limit != 1 {
		t.Errorf("enabled: got %+v, want to hold", g)
	}
	r.set(0, hal.PositionMode, 1)
	r.cycle()
	r.set(0, hal.PositionMode, math.NaN())
	r.cycle()
	if g := r.goals[0]; !g.Enable || g.Mode != hal.NoMode {
		t.Errorf("without a goal any more: got %+v, want to hold", g)
	}
	r.set(0, hal.PositionMode, 1)
	r.cycle()
	r.f.Enable[0] = false
	r.cycle()
	r.set(0, hal.PositionMode, math.NaN())
	r.f.Enable[0] = true
	r.cycle()
	if g := r.goals[0]; g.Mode != hal.NoMode {
		t.Errorf("enabled again: got mode %v, want the old goal forgotten", g.Mode)
	}
}

func TestWheelWraps(t *testing.T) {
	r := newRobot(t, xm, []string{"wheel"}, func(l *hal.Layout, joints []Joint) {
		l.Actuators[0].Wraps, l.Actuators[0].Kind = true, hal.Wheel
		joints[0].Calibration.RangeTicks = [2]float64{-1 << 20, 1 << 20}
	})
	r.units.MinTicks, r.units.MaxTicks = -1<<20, 1<<20
	r.parts[0].(*joint).units = r.units // a servo that counts turns
	r.f.Enable[0] = true
	r.stands(0, 2048+5*4096+1900)
	r.cycle()
	near(t, "angle", r.f.Outputs[0], 1900*2*math.Pi/4096)
	r.set(0, hal.PositionMode, -1900*2*math.Pi/4096) // 296 ticks ahead over the seam, 3800 back
	r.cycle()
	near(t, "goal", r.goals[0].Position, 2048+5*4096+1900+296)
	near(t, "angle", r.f.Outputs[0], -1900*2*math.Pi/4096)
}

// A servo that lost its turns with the power, or whose encoder starts again within the travel.
func TestLostTurns(t *testing.T) {
	r := newRobot(t, xm, []string{"elbow"}, func(l *hal.Layout, joints []Joint) {
		c := joints[0].Calibration
		c.ZeroTicks, c.RangeTicks = 4000, [2]float64{3000, 5000}
	})
	r.units.MinTicks, r.units.MaxTicks = -1<<20, 1<<20
	r.parts[0].(*joint).units = r.units
	r.f.Enable[0] = true
	r.stands(0, 4100-4096) // says 4, stands at 4100
	r.cycle()
	near(t, "angle", r.f.Outputs[0], 100*2*math.Pi/4096)
	r.set(0, hal.PositionMode, -50*2*math.Pi/4096)
	r.cycle()
	near(t, "goal in the servo's own count", r.goals[0].Position, 3950-4096)
	near(t, "angle", r.f.Outputs[0], -50*2*math.Pi/4096)
	r.set(0, hal.PositionMode, 100) // beyond the range, which is kept in every turn
	r.cycle()
	near(t, "end", r.goals[0].Position, 5000-4096)
}

// One silent servo costs one joint: the others are fresh, its values and their time stay.
func TestSilentServo(t *testing.T) {
	r := newRobot(t, ax, []string{"waist", "elbow"}, nil)
	never := errors.New("no answer")
	r.silent[1] = never
	r.cycle()
	if s := r.f.Status[1]; s.Time >= 0 || !errors.Is(s.Err, never) || !math.IsNaN(r.f.Outputs[1]) {
		t.Errorf("no feedback yet: got %+v, position %v", s, r.f.Outputs[1])
	}
	delete(r.silent, 1)
	r.cycle()
	then, was := r.f.Time, r.f.Outputs[1]
	if r.f.Status[1] != (hal.Status{Time: then}) {
		t.Errorf("answers: got %+v", r.f.Status[1])
	}
	r.silent[1] = never
	r.states[1].Velocity = math.NaN()
	for range 3 {
		r.cycle()
	}
	if r.f.Status[0] != (hal.Status{Time: r.f.Time}) {
		t.Errorf("the other: got %+v", r.f.Status[0])
	}
	s := r.f.Status[1]
	if s.Time != then || r.f.Outputs[1] != was || r.f.Measured[r.l.Actuators[1].Velocity] != 0 {
		t.Errorf("silent: got %+v, position %v, want of %v, %v", s, r.f.Outputs[1], then, was)
	}
	want := `bus "upper": id 2: joint "elbow": read: no answer (try: halyard scan /dev/ttyUSB0)`
	if s.Err.Error() != want || hal.KindOf(s.Err) != hal.BusFault {
		t.Errorf("got %v (%v), want %s", s.Err, hal.KindOf(s.Err), want)
	}
	// How it moves is not known for longer: a last velocity is no present one.
	r.states[1].Velocity = 5
	for range 20 {
		r.cycle()
	}
	a := &r.l.Actuators[1]
	if v, tau := r.f.Measured[a.Velocity], r.f.Measured[a.Torque]; !math.IsNaN(v) || !math.IsNaN(tau) ||
		r.f.Outputs[1] != was {
		t.Errorf("lost: got %v at %v rad/s, %v N·m; want its last position and no velocity", r.f.Outputs[1], v, tau)
	}
	r.silent[1] = nil
	if r.cycle(); math.IsNaN(r.f.Measured[a.Velocity]) {
		t.Errorf("back: got %v rad/s, want that of the servo", r.f.Measured[a.Velocity])
	}
}

// A servo that answers and waits to be enabled again is reported: its values are good, but it gives way.
func TestHeldServo(t *testing.T) {
	r := newRobot(t, ax, []string{"elbow"}, nil)
	r.states[0].Inhibit = &hal.Error{Kind: hal.BusFault, Op: "torque", Err: servo.ErrRegained}
	r.cycle()
	s := r.f.Status[0]
	want := `bus "upper": id 1: joint "elbow": torque: the line was lost and is back: enable again (try: halyard reset)`
	if s.Time != r.f.Time || s.Err == nil || s.Err.Error() != want {
		t.Errorf("got %v, %v; want %v, %s", s.Time, s.Err, r.f.Time, want)
	}
	r.states[0].Alarm = servo.AlarmHeat // the cause, and more precise
	r.cycle()
	if s := r.f.Status[0]; s.Err == nil || !strings.Contains(s.Err.Error(), "alarm: heat") {
		t.Errorf("with an alarm: got %v", s.Err)
	}
	r.states[0].Inhibit, r.states[0].Alarm = nil, 0
	r.cycle()
	if s := r.f.Status[0]; s.Err != nil {
		t.Errorf("enabled again: got %v", s.Err)
	}
}

func TestFaultTexts(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		alarm servo.Alarm
		kind  hal.Kind
		want  string
	}{
		{"overload", nil, servo.AlarmOverload | servo.AlarmHeat, hal.BusFault,
			`bus "upper": id 1: joint "elbow": alarm: heat, overload (try: halyard reset)`},
		{"voltage", nil, servo.AlarmVoltage, hal.BusFault,
			`bus "upper": id 1: joint "elbow": alarm: voltage (try: halyard doctor)`},
		{"range alone is no fault", nil, servo.AlarmRange, 0, ""},
		{"silent with an alarm", errors.New("no answer"), servo.AlarmOverload, hal.BusFault,
			`bus "upper": id 1: joint "elbow": read: no answer; alarm before: overload (try: halyard scan /dev/ttyUSB0)`},
		{"adapter gone", servo.ErrDisconnected, 0, hal.BusFault,
			`bus "upper": id 1: joint "elbow": read: adapter gone (try: halyard ports)`},
		{"explained", &hal.Error{Kind: hal.Timeout, ID: 9, Op: "sync read", Err: errors.New("late"), Try: "wait"}, 0,
			hal.Timeout,
			`bus "upper": id 9: joint "elbow": sync read: late (try: wait)`},
	} {
		r := newRobot(t, ax, []string{"elbow"}, nil)
		r.silent[0], r.states[0].Alarm = c.err, c.alarm
		r.cycle()
		got := r.f.Status[0].Err
		if (got == nil) != (c.want == "") || got != nil && (got.Error() != c.want || hal.KindOf(got) != c.kind) {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
		if a := r.Alarms(nil); len(a) != 1 || a[0] != c.alarm {
			t.Errorf("%s: alarms: got %v", c.name, a)
		}
	}
}

// incomparable is an error that == panics on.
type incomparable struct{ why []string }

func (e incomparable) Error() string { return strings.Join(e.why, " ") }

func TestIncomparableError(t *testing.T) {
	r := newRobot(t, ax, []string{"elbow"}, nil)
	for range 3 {
		r.silent[0] = incomparable{[]string{"odd"}}
		r.cycle()
	}
	if err := r.f.Status[0].Err; err == nil || !strings.Contains(err.Error(), "odd") {
		t.Error(err)
	}
}

func TestHalt(t *testing.T) {
	one, two := newChain(ax, 2), newChain(ax, 1)
	l := layoutOf(ax, "waist", "elbow", "neck")
	joints := append(jointsOf(one), jointsOf(two)...)
	b, err := Build(l, joints, true)
	if err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(l)
	for i := range f.Enable {
		f.Enable[i] = true
	}
	b.Write(f)
	if err := b.Halt(); err != nil || one.halts != 1 || two.halts != 1 {
		t.Errorf("got %v after %d and %d calls", err, one.halts, two.halts)
	}
	for _, c := range []*chain{one, two} {
		for i, g := range c.staged {
			if g != (servo.Goal{}) {
				t.Errorf("staged %d: got %+v, want limp", i, g)
			}
		}
	}
	// What did not acknowledge is named, and nothing else.
	one.haltErr[1], two.haltErr[0] = errors.New("no answer"), servo.ErrDisconnected
	err = b.Halt()
	var names []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		names = append(names, e.(*hal.Error).Joint)
	}
	if strings.Join(names, " ") != "elbow neck" ||
		!strings.Contains(err.Error(), "halt: no answer (try: cut its power)") {
		t.Errorf("got %v: %v", names, err)
	}
	// Torque comes back with the present position as its goal.
	b.Write(f)
	if g := one.staged[0]; !g.Enable || g.Mode != hal.NoMode || g.Limit != 1 {
		t.Errorf("after halt: got %+v", g)
	}
}

// A chain that takes long to halt does not keep the other from it.
func TestHaltSideBySide(t *testing.T) {
	slow, fast := newChain(ax, 1), newChain(ax, 1)
	slow.halting, fast.halting = make(chan struct{}), make(chan struct{})
	b, err := Build(layoutOf(ax, "a", "b"), append(jointsOf(slow), jointsOf(fast)...), true)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- b.Halt() }()
	fast.halting <- struct{}{} // would block for ever, were they halted in turn
	slow.halting <- struct{}{}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A cycle allocates nothing: with all well, with servos in lasting fault, and with faults that come and go.
func TestCycleAllocatesNothing(t *testing.T) {
	r := newRobot(t, ax, []string{"a", "b", "c"}, nil)
	for i := range r.f.Enable {
		r.f.Enable[i] = true
	}
	lost, crc := errors.New("no answer"), &hal.Error{Kind: hal.BusFault, Op: "read", Err: errors.New("bad checksum")}
	n := 0
	cycle := func() {
		n++
		r.set(0, hal.PositionMode, 0.3*float64(n%2))
		r.silent[1], r.states[2].Alarm = lost, servo.AlarmOverload
		switch n % 3 {
		case 0:
			r.silent[1] = crc
		case 1:
			r.silent[1], r.states[2].Alarm = nil, 0
		}
		r.cycle()
	}
	for range 6 {
		cycle()
	}
	if per := testing.AllocsPerRun(100, cycle); per != 0 {
		t.Errorf("got %v allocations a cycle, want 0", per)
	}
}

// A cycle of a body of 21 joints, without its bus. The bound is what field.md grants the layer above the buses with 20
// joints, 50 µs; ratio is the part of it.
func BenchmarkCycle(b *testing.B) {
	names := strings.Fields("a b c d e f g h i j k l m n o p q r s t u")
	l, c := layoutOf(ax, names...), newChain(ax, len(names))
	body, err := Build(l, jointsOf(c), true)
	if err != nil {
		b.Fatal(err)
	}
	f := hal.NewFrame(l)
	for i := range f.Enable {
		f.Enable[i] = true
		f.Inputs[l.Actuators[i].Goal[hal.PositionMode]] = 0.5
	}
	c.Receive()
	b.ReportAllocs()
	for b.Loop() {
		body.Write(f)
		body.Read(f)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/50e3, "ratio")
}

// TestSafety04WrongTurns: one wrong reading beyond the calibration's turn moves no goal by a turn; readings that agree
// do.
func TestSafety04WrongTurns(t *testing.T) {
	narrow := func(_ *hal.Layout, joints []Joint) { // whose turn is known
		joints[0].Calibration.RangeTicks = [2]float64{1000, 3000}
	}
	r := newRobot(t, xm, []string{"elbow"}, narrow)
	r.states[0].Position = 2048
	r.f.Enable[0] = true
	r.cycle()
	tell := func(present float64, at time.Duration, want float64) {
		t.Helper()
		r.states[0].Position, r.states[0].Time = present, at
		r.set(0, hal.PositionMode, 0.1)
		r.cycle()
		near(t, "goal", r.goals[0].Position, want)
	}
	goal := 2048 + 0.1*4096/(2*math.Pi)
	tell(2048, 1, goal)
	tell(2048-3*4096, 2, goal)
	tell(2048-3*4096, 2, goal) // the same reading again is one
	tell(2048, 3, goal)

	r = newRobot(t, xm, []string{"elbow"}, narrow)
	r.units.MinTicks, r.units.MaxTicks = -1<<20, 1<<20
	r.parts[0].(*joint).units = r.units // a servo that counts turns
	r.states[0].Position = 2048
	r.f.Enable[0] = true
	r.cycle()
	r.set(0, hal.PositionMode, 0.1)
	for k := range 2 * oddTurns {
		if k == oddTurns/2 { // the series is broken
			tell(2048, time.Duration(k+1), goal)
			continue
		}
		want := goal
		if k >= oddTurns/2+oddTurns {
			want -= 3 * 4096
		}
		tell(2048-3*4096, time.Duration(k+1), want)
	}
}

// TestServoGetsTheSoftLimits: a servo whose chain makes a goal of its own, to stay where it was enabled, has the soft
// limits for it.
func TestServoGetsTheSoftLimits(t *testing.T) {
	r := newRobot(t, xm, []string{"elbow"}, func(l *hal.Layout, joints []Joint) {
		l.Actuators[0].Limits.MinPosition, l.Actuators[0].Limits.MaxPosition = -0.5, 1
		joints[0].Calibration.Direction = -1
	})
	r.f.Enable[0] = true
	r.states[0].Position = 2048
	r.cycle()
	tick := 2 * math.Pi / 4096
	near(t, "low", (r.goals[0].Low-2048)*tick, -1)
	near(t, "high", (r.goals[0].High-2048)*tick, 0.5)
}
