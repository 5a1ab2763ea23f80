package cybergear

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// turn is one write of the chain and what comes after it.
type turn struct{ write, read []cybergearwire.Message }

func playback(turns ...turn) *servotest.Playback {
	bytes := func(list []cybergearwire.Message) (p []byte) {
		for i := range list {
			f := list[i].Frame()
			p = servo.AppendCAN(p, &f)
		}
		return p
	}
	var all []servotest.Turn
	for _, x := range turns {
		all = append(all, servotest.Turn{Write: bytes(x.write), Read: bytes(x.read)})
	}
	return servotest.NewPlayback(Bitrate, all...)
}

// feedback is feedback of motor 1.
func feedback(state cybergearwire.State, angle float64, faults cybergearwire.Faults) cybergearwire.Message {
	b := cybergearwire.Feedback{ID: 1, State: state, Angle: angle, Faults: faults, Celsius: 30}
	return b.Message(cybergearwire.Host, &ModelByName("cybergear").Spans)
}

var (
	here    = cybergearwire.Message{Type: cybergearwire.DeviceID, Extra: 1, Target: cybergearwire.AnswerID}
	rest    = feedback(cybergearwire.Resting, 0, 0)
	running = feedback(cybergearwire.Running, 0, 0)
	stop    = cybergearwire.To(1, cybergearwire.Stop)
)

// zeroAngle is what a motor at 0 rad says, which 16 bits cannot quite.
func zeroAngle() float64 {
	var b cybergearwire.Feedback
	m := rest
	b.Parse(&m, &ModelByName("cybergear").Spans)
	return b.Angle
}

func one(line servo.Line, settings ...servo.Setting) *Chain {
	return NewChain(servo.ChainConfig{Name: "arm", Line: line,
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("cybergear"), Joint: "knee", Settings: settings}}})
}

func cycle(t *testing.T, c *Chain, g servo.Goal) {
	t.Helper()
	c.SetGoal(0, g)
	if err := errors.Join(c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
}

// arming is what it takes to give torque: at rest the mode and the timeout, read back, and its own limit; then ours,
// the goal where it stands, the torque, and the goal once more.
func arming(at float64) []turn {
	return []turn{
		{[]cybergearwire.Message{stop, cybergearwire.Set(1, cybergearwire.RunMode, cybergearwire.InPosition),
			cybergearwire.Ask(1, cybergearwire.RunMode)},
			[]cybergearwire.Message{rest, rest, cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.RunMode,
				cybergearwire.InPosition)}},
		{[]cybergearwire.Message{cybergearwire.Set(1, cybergearwire.CANTimeout, usualTimeout),
			cybergearwire.Ask(1, cybergearwire.CANTimeout)},
			[]cybergearwire.Message{rest, cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.CANTimeout,
				usualTimeout)}},
		{[]cybergearwire.Message{cybergearwire.Ask(1, cybergearwire.LimitTorque)}, []cybergearwire.Message{
			cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.LimitTorque, 12)}},
		{[]cybergearwire.Message{cybergearwire.Set(1, cybergearwire.LimitTorque, 12),
			cybergearwire.Set(1, cybergearwire.AngleRef, at), cybergearwire.To(1, cybergearwire.Enable),
			cybergearwire.Set(1, cybergearwire.AngleRef, at)},
			[]cybergearwire.Message{rest, rest, running, running}},
	}
}

func TestChainSession(t *testing.T) {
	at := zeroAngle()
	turns := append([]turn{{[]cybergearwire.Message{cybergearwire.To(1, cybergearwire.DeviceID)},
		[]cybergearwire.Message{here}}, {[]cybergearwire.Message{stop}, []cybergearwire.Message{rest}}},
		arming(at)...)
	turns = append(turns,
		turn{[]cybergearwire.Message{cybergearwire.Set(1, cybergearwire.AngleRef, radians(1000))},
			[]cybergearwire.Message{running}},
		// Half the torque, sent once.
		turn{[]cybergearwire.Message{cybergearwire.Set(1, cybergearwire.LimitTorque, 6),
			cybergearwire.Set(1, cybergearwire.AngleRef, radians(1000))},
			[]cybergearwire.Message{running, feedback(cybergearwire.Running, 0.1, 0)}},
		// The fifth cycle's look reads the voltage; the limit makes it send feedback.
		turn{[]cybergearwire.Message{cybergearwire.Set(1, cybergearwire.AngleRef, radians(1000))},
			[]cybergearwire.Message{feedback(cybergearwire.Running, 0.1, 0)}},
		turn{[]cybergearwire.Message{cybergearwire.Ask(1, cybergearwire.BusVolts),
			cybergearwire.Set(1, cybergearwire.LimitTorque, 6)},
			[]cybergearwire.Message{cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.BusVolts, 24),
				feedback(cybergearwire.Running, 0.1, 0)}},
		// A fault takes the torque: nothing but stops is written from then on.
		turn{[]cybergearwire.Message{cybergearwire.Set(1, cybergearwire.AngleRef, radians(1000))},
			[]cybergearwire.Message{feedback(cybergearwire.Resting, 0.1, cybergearwire.OverHeat)}},
		turn{[]cybergearwire.Message{stop},
			[]cybergearwire.Message{feedback(cybergearwire.Resting, 0.1, cybergearwire.OverHeat)}},
	)
	line := playback(turns...)
	c := one(line)
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	cycle(t, c, servo.Goal{})
	cycle(t, c, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	if s := c.State(0); !s.Torque || s.Temperature != 30 || s.Err != nil {
		t.Errorf("armed: got %+v", s)
	}
	g := servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 1000, Limit: 1}
	cycle(t, c, g)
	g.Limit = 0.5
	cycle(t, c, g)
	cycle(t, c, g)
	if s := c.State(0); s.Voltage != 24 {
		t.Errorf("look: got %+v", s)
	}
	cycle(t, c, g)
	if s := c.State(0); s.Alarm != servo.AlarmHeat || s.Torque || !errors.Is(c.Fault(0), servo.ErrLatched) {
		t.Errorf("hot: got %+v, %v", s, c.Fault(0))
	}
	cycle(t, c, g)
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A motor whose CAN timeout cannot be set is not given torque: nothing would stop it when the cable is pulled. A config
// may do without.
func TestTimeoutIsProven(t *testing.T) {
	prepared := arming(zeroAngle())
	for _, c := range []struct {
		name     string
		answer   float64
		settings []servo.Setting
		armed    bool
	}{
		{"taken", usualTimeout, nil, true}, {"not taken", 0, nil, false},
		{"without", 0, []servo.Setting{{Register: "can_timeout", Value: 0}}, true},
	} {
		limp := turn{[]cybergearwire.Message{stop}, []cybergearwire.Message{rest}}
		turns := []turn{{[]cybergearwire.Message{cybergearwire.To(1, cybergearwire.DeviceID)},
			[]cybergearwire.Message{here}}, limp}
		// Once may be the bus's doing: it is tried three times.
		tries := 3
		if c.armed {
			tries = 1
		}
		for range tries {
			turns = append(turns, prepared[0])
			if c.settings == nil {
				turns = append(turns, turn{prepared[1].write,
					[]cybergearwire.Message{rest, cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.CANTimeout,
						c.answer)}})
			}
			if !c.armed {
				turns = append(turns, limp)
			}
		}
		if c.armed {
			turns = append(turns, prepared[2:]...)
		}
		line := playback(turns...)
		chain := one(line, c.settings...)
		if err := chain.Open(); err != nil {
			t.Fatal(err)
		}
		cycle(t, chain, servo.Goal{})
		for range tries {
			cycle(t, chain, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		}
		if chain.State(0).Torque != c.armed || c.armed != (chain.Fault(0) == nil) {
			t.Errorf("%s: torque %v, %v", c.name, chain.State(0).Torque, chain.Fault(0))
		}
		if !c.armed && !strings.Contains(chain.Fault(0).Error(), "cable") {
			t.Errorf("%s: got %v", c.name, chain.Fault(0))
		}
		if err := line.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Replies of another motor, to another host, and late replies are ignored; so is a frame of an unknown id.
func TestStrangers(t *testing.T) {
	other := cybergearwire.Feedback{ID: 9, State: cybergearwire.Running}
	toOther := rest
	toOther.Target = 3
	line := playback(turn{[]cybergearwire.Message{cybergearwire.To(1, cybergearwire.DeviceID)},
		[]cybergearwire.Message{here}},
		turn{[]cybergearwire.Message{stop},
			[]cybergearwire.Message{other.Message(cybergearwire.Host, &ModelByName("cybergear").Spans), toOther,
				{Type: 9, Extra: 1, Target: cybergearwire.Host}}},
		turn{[]cybergearwire.Message{stop}, []cybergearwire.Message{rest}})
	c := one(line)
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	c.Receive()
	if s := c.State(0); !errors.Is(s.Err, servo.ErrNoReply) {
		t.Errorf("strangers: got %+v", s)
	}
	c.Receive()
	if s := c.State(0); s.Err != nil || s.Torque {
		t.Errorf("its own: got %+v", s)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
	// What is wrong with the config itself.
	if err := one(nil, servo.Setting{Register: "can_timeout", Value: -1}).Open(); hal.KindOf(err) != hal.Invalid {
		t.Errorf("setting: got %v", err)
	}
	if err := NewChain(servo.ChainConfig{Servos: []servo.ServoConfig{{ID: 200}}}).Open(); hal.KindOf(
		err) != hal.Invalid {
		t.Errorf("no model: got %v", err)
	}
}

// A motor that calibrates itself turns: it is not halted.
func TestCalibratingIsNotHalted(t *testing.T) {
	f := feedback(cybergearwire.Calibrating, 0, 0)
	frame := f.Frame()
	again := servotest.Turn{Any: true, Read: servo.AppendCAN(nil, &frame)}
	who := here.Frame()
	turns := []servotest.Turn{{Any: true, Read: servo.AppendCAN(nil, &who)}}
	for range 8 {
		turns = append(turns, again)
	}
	c := one(servotest.NewPlayback(Bitrate, turns...))
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	if err := c.Halt()[0]; err == nil || !strings.Contains(err.Error(), "still on") {
		t.Errorf("got %v", err)
	}
}

// The limit holds for torques that are commanded as well.
func TestTorqueWithinItsLimit(t *testing.T) {
	c := one(servotest.NewPlayback(Bitrate))
	d, dev := &c.b.devices[0], &c.Devices[0]
	d.own = 12
	d.mode, dev.Goal = cybergearwire.Operating, servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: -1e3,
		Limit: 0.25}
	c.b.goal(0, false)
	var m cybergearwire.Message
	var g cybergearwire.Motions
	var f servo.CANFrame
	out := c.b.x.Out
	if err := servo.ParseCAN(out[len(out)-servo.CANSize:], &f); err != nil || !m.Parse(&f) {
		t.Fatalf("got %v, %v", &f, err)
	}
	if g.Parse(&m, &d.m.Spans); g.Torque < -3.001 || g.Torque > -2.999 {
		t.Errorf("got %g N·m, want -3", g.Torque)
	}
}

// A motor's own torque limit is never raised: not at the first arming, not by a share, not where somebody lowers it
// meanwhile. What was written here is not its own.
func TestOwnLimitIsKept(t *testing.T) {
	at := zeroAngle()
	arm := func(says, writes float64) []turn {
		turns := arming(at)
		turns[2].read = []cybergearwire.Message{cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.LimitTorque,
			says)}
		turns[3].write[0] = cybergearwire.Set(1, cybergearwire.LimitTorque, writes)
		return turns
	}
	limp := turn{[]cybergearwire.Message{stop}, []cybergearwire.Message{rest}}
	turns := append([]turn{{[]cybergearwire.Message{cybergearwire.To(1, cybergearwire.DeviceID)},
		[]cybergearwire.Message{here}}, limp}, arm(3, 3)...)
	turns = append(turns, limp)
	turns = append(turns, arm(3, 1.2)...) // a tenth of 12 N·m
	turns = append(turns, limp, turn{[]cybergearwire.Message{cybergearwire.Ask(1, cybergearwire.BusVolts), stop},
		[]cybergearwire.Message{cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.BusVolts, 24), rest}})
	turns = append(turns, arm(1.2, 3)...) // our own tenth: the whole of its own again
	turns = append(turns, limp)
	turns = append(turns, arm(2, 2)...) // another program's
	line := playback(turns...)
	c := one(line)
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	for i, share := range []float64{1, 0.1, 1, 1} {
		cycle(t, c, servo.Goal{})
		cycle(t, c, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: share})
		kt := ModelByName("cybergear").Kt
		want := [4]float64{3, 3, 3, 2}[i]
		if s := c.State(0); !s.Torque || math.Abs(s.Ceiling*kt-want) > 1e-6 {
			t.Errorf("arming %d: got torque %v, its own limit %g N·m, want %g", i, s.Torque, s.Ceiling*kt, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A motor that says no number as its limit gets neither torque nor that number.
func TestOwnLimitIsNoNumber(t *testing.T) {
	for _, says := range []float64{math.NaN(), -1} {
		limp := turn{[]cybergearwire.Message{stop}, []cybergearwire.Message{rest}}
		ready := arming(zeroAngle())[:3]
		ready[2].read = []cybergearwire.Message{cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.LimitTorque,
			says)}
		turns := []turn{{[]cybergearwire.Message{cybergearwire.To(1, cybergearwire.DeviceID)},
			[]cybergearwire.Message{here}}, limp}
		for range 3 { // once may be the bus's doing
			turns = append(append(turns, ready...), limp)
		}
		line := playback(turns...)
		c := one(line)
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		cycle(t, c, servo.Goal{})
		for range 3 {
			cycle(t, c, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		}
		if s := c.State(0); s.Torque || c.Fault(0) == nil || !strings.Contains(c.Fault(0).Error(), "limit_torque: ") {
			t.Errorf("%g N·m: got torque %v, %v", says, s.Torque, c.Fault(0))
		}
		if err := line.Close(); err != nil {
			t.Errorf("%g N·m: %v", says, err)
		}
	}
}

// Another node with a motor's id answers too: half of what is read of the motor is not its own, so that it loses its
// torque. A late answer, and one on its way when the wait ended, are its own.
func TestSharedID(t *testing.T) {
	at := zeroAngle()
	goal := []cybergearwire.Message{cybergearwire.Set(1, cybergearwire.AngleRef, radians(1000))}
	look := []cybergearwire.Message{cybergearwire.Ask(1, cybergearwire.BusVolts),
		cybergearwire.Set(1, cybergearwire.LimitTorque, 12)}
	other := feedback(cybergearwire.Running, 0.2, 0)
	volts := cybergearwire.Answer(1, cybergearwire.Host, cybergearwire.BusVolts, 24)
	begin := append([]turn{{[]cybergearwire.Message{cybergearwire.To(1, cybergearwire.DeviceID)},
		[]cybergearwire.Message{here}}, {[]cybergearwire.Message{stop}, []cybergearwire.Message{rest}}},
		arming(at)...)
	for _, c := range []struct {
		name   string
		turns  []turn
		shared bool
	}{
		{"two answers", []turn{
			{goal, []cybergearwire.Message{running, other}}, {goal, []cybergearwire.Message{running, other}},
			{goal, []cybergearwire.Message{running, other}},
			{look, []cybergearwire.Message{volts, other}},
			{goal, []cybergearwire.Message{running, other}}, {goal, []cybergearwire.Message{running, other}},
			{goal, []cybergearwire.Message{running, other}},
			{goal, []cybergearwire.Message{running, other}},
		}, true},
		{"late answers", []turn{
			{goal, nil}, {goal, []cybergearwire.Message{running, other}}, {goal, nil},
			{look, []cybergearwire.Message{volts, running, other}},
			{goal, nil}, {goal, []cybergearwire.Message{running, other}}, {goal, nil},
			{goal, []cybergearwire.Message{running, other}},
		}, false},
		{"an adapter that repeats", []turn{
			{goal, []cybergearwire.Message{running, running}}, {goal, []cybergearwire.Message{other, other}},
			{goal, []cybergearwire.Message{running, running}},
			{look, []cybergearwire.Message{volts, other, other}},
			{goal, []cybergearwire.Message{running, running}}, {goal, []cybergearwire.Message{other, other}},
			{goal, []cybergearwire.Message{running, running}},
			{goal, []cybergearwire.Message{other, other}},
		}, false},
	} {
		line := playback(append(append([]turn(nil), begin...), c.turns...)...)
		chain := one(line)
		if err := chain.Open(); err != nil {
			t.Fatal(err)
		}
		chain.SetGoal(0, servo.Goal{})
		chain.Send()
		chain.Receive()
		chain.SetGoal(0, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
		chain.Send()
		chain.Receive()
		for i := range c.turns {
			if i == 3 { // the look is of the cycle before
				continue
			}
			chain.SetGoal(0, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 1000, Limit: 1})
			chain.Send()
			chain.Receive()
			if got := errors.Is(chain.Fault(0), errSharedID); got != (c.shared && i == len(c.turns)-1) {
				t.Errorf("%s: turn %d: got %v", c.name, i, chain.Fault(0))
			}
		}
	}
}

// late is a CAN line on which one frame has come.
type late struct {
	servo.Line
	frame []byte
}

func (l *late) Write(p []byte) (int, error) { return len(p), nil }
func (l *late) Now() time.Duration          { return time.Second }
func (l *late) Baud() int                   { return Bitrate }
func (l *late) Read(p []byte, _ time.Duration) (int, error) {
	n := copy(p, l.frame)
	if l.frame = l.frame[n:]; n == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return n, nil
}

// A stop comes from any goroutine: it leaves the states, which the cycle's goroutine reads meanwhile, also where
// replies are late.
func TestStopLeavesStates(t *testing.T) {
	last := cybergearwire.Feedback{ID: 1, Angle: 1}
	m := last.Message(cybergearwire.Host, &ModelByName("cybergear").Spans)
	f := m.Frame()
	c := NewChain(servo.ChainConfig{Name: "bus", Line: &late{frame: servo.AppendCAN(nil, &f)},
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("cybergear")}}})
	if err := c.CutTorque(); err != nil {
		t.Error(err)
	}
	if s := c.State(0); !math.IsNaN(s.Position) {
		t.Errorf("got %g ticks, want none", s.Position)
	}
}
