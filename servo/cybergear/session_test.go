package cybergear

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// turn is one write of the chain and what comes after it.
type turn struct{ write, read []Message }

func playback(turns ...turn) *servotest.Playback {
	bytes := func(list []Message) (p []byte) {
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
func feedback(state State, angle float64, faults Faults) Message {
	b := Feedback{ID: 1, State: state, Angle: angle, Faults: faults, Celsius: 30}
	return b.Message(Host, &ModelByName("cybergear").Spans)
}

var (
	here    = Message{Type: DeviceID, Extra: 1, Target: answer}
	rest    = feedback(Resting, 0, 0)
	running = feedback(Running, 0, 0)
	stop    = To(1, Stop)
)

// zeroAngle is what a motor at 0 rad says, which 16 bits cannot quite.
func zeroAngle() float64 {
	var b Feedback
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

// arming is what it takes to give torque: at rest the mode and the timeout, read back; then the limits, the goal where
// it stands, the torque, and the goal once more.
func arming(at float64) []turn {
	return []turn{
		{[]Message{stop, Set(1, RunMode, InPosition), Ask(1, RunMode)},
			[]Message{rest, rest, Answer(1, Host, RunMode, InPosition)}},
		{[]Message{Set(1, CANTimeout, usualTimeout), Ask(1, CANTimeout)},
			[]Message{rest, Answer(1, Host, CANTimeout, usualTimeout)}},
		{[]Message{Set(1, LimitTorque, 12), Set(1, AngleRef, at), To(1, Enable), Set(1, AngleRef, at)},
			[]Message{rest, rest, running, running}},
	}
}

func TestChainSession(t *testing.T) {
	at := zeroAngle()
	turns := append([]turn{{[]Message{To(1, DeviceID)}, []Message{here}}, {[]Message{stop}, []Message{rest}}},
		arming(at)...)
	turns = append(turns,
		turn{[]Message{Set(1, AngleRef, radians(1000))}, []Message{running}},
		// Half the torque, sent once.
		turn{[]Message{Set(1, LimitTorque, 6), Set(1, AngleRef, radians(1000))},
			[]Message{running, feedback(Running, 0.1, 0)}},
		// The fifth cycle's look reads the voltage; the limit makes it send feedback.
		turn{[]Message{Set(1, AngleRef, radians(1000))}, []Message{feedback(Running, 0.1, 0)}},
		turn{[]Message{Ask(1, BusVolts), Set(1, LimitTorque, 6)},
			[]Message{Answer(1, Host, BusVolts, 24), feedback(Running, 0.1, 0)}},
		// A fault takes the torque: nothing but stops is written from then on.
		turn{[]Message{Set(1, AngleRef, radians(1000))}, []Message{feedback(Resting, 0.1, OverHeat)}},
		turn{[]Message{stop}, []Message{feedback(Resting, 0.1, OverHeat)}},
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
		limp := turn{[]Message{stop}, []Message{rest}}
		turns := []turn{{[]Message{To(1, DeviceID)}, []Message{here}}, limp}
		// Once may be the bus's doing: it is tried three times.
		tries := 3
		if c.armed {
			tries = 1
		}
		for range tries {
			turns = append(turns, prepared[0])
			if c.settings == nil {
				turns = append(turns, turn{prepared[1].write, []Message{rest, Answer(1, Host, CANTimeout, c.answer)}})
			}
			if !c.armed {
				turns = append(turns, limp)
			}
		}
		if c.armed {
			turns = append(turns, prepared[2])
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
	other := Feedback{ID: 9, State: Running}
	toOther := rest
	toOther.Target = 3
	line := playback(turn{[]Message{To(1, DeviceID)}, []Message{here}},
		turn{[]Message{stop}, []Message{other.Message(Host, &ModelByName("cybergear").Spans), toOther,
			{Type: 9, Extra: 1, Target: Host}}},
		turn{[]Message{stop}, []Message{rest}})
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
	f := feedback(Calibrating, 0, 0)
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
	d.mode, dev.Goal = Operating, servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: -1e3, Limit: 0.25}
	c.b.goal(0, false)
	var m Message
	var g Motions
	var f servo.CANFrame
	out := c.b.x.Out
	if err := servo.ParseCAN(out[len(out)-servo.CANSize:], &f); err != nil || !m.Parse(&f) {
		t.Fatalf("got %v, %v", &f, err)
	}
	if g.Parse(&m, &d.m.Spans); g.Torque < -3.001 || g.Torque > -2.999 {
		t.Errorf("got %g N·m, want -3", g.Torque)
	}
}

// Another node with a motor's id answers too: half of what is read of the motor is not its own, so that it loses its
// torque. A late answer, and one on its way when the wait ended, are its own.
func TestSharedID(t *testing.T) {
	at := zeroAngle()
	goal := []Message{Set(1, AngleRef, radians(1000))}
	look := []Message{Ask(1, BusVolts), Set(1, LimitTorque, 12)}
	other := feedback(Running, 0.2, 0)
	volts := Answer(1, Host, BusVolts, 24)
	begin := append([]turn{{[]Message{To(1, DeviceID)}, []Message{here}}, {[]Message{stop}, []Message{rest}}},
		arming(at)...)
	for _, c := range []struct {
		name   string
		turns  []turn
		shared bool
	}{
		{"two answers", []turn{
			{goal, []Message{running, other}}, {goal, []Message{running, other}}, {goal, []Message{running, other}},
			{look, []Message{volts, other}},
			{goal, []Message{running, other}}, {goal, []Message{running, other}}, {goal, []Message{running, other}},
			{goal, []Message{running, other}},
		}, true},
		{"late answers", []turn{
			{goal, nil}, {goal, []Message{running, other}}, {goal, nil}, {look, []Message{volts, running, other}},
			{goal, nil}, {goal, []Message{running, other}}, {goal, nil}, {goal, []Message{running, other}},
		}, false},
		{"an adapter that repeats", []turn{
			{goal, []Message{running, running}}, {goal, []Message{other, other}}, {goal, []Message{running, running}},
			{look, []Message{volts, other, other}},
			{goal, []Message{running, running}}, {goal, []Message{other, other}}, {goal, []Message{running, running}},
			{goal, []Message{other, other}},
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
	last := Feedback{ID: 1, Angle: 1}
	m := last.Message(Host, &ModelByName("cybergear").Spans)
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
