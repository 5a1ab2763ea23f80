package odrive

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// play is a serial line that goes by a session's text, whose lines have no checksums yet.
func play(t *testing.T, text string) *servotest.Playback {
	t.Helper()
	text = regexp.MustCompile(`(?m)^([><+]) (.+)$`).ReplaceAllStringFunc(text, func(line string) string {
		if line == "< silence" || line == "> any" {
			return line
		}
		sealed := odrivewire.AppendLine(nil, line[2:])
		if line[0] == '<' {
			sealed = odrivewire.AppendAnswer(nil, []byte(line[2:]), true)
		}
		return fmt.Sprintf("%s%X", line[:2], sealed)
	})
	turns, err := servotest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return servotest.NewPlayback(Baud, turns...)
}

func cycle(t *testing.T, c servo.Chain, g servo.Goal) {
	t.Helper()
	c.SetGoal(0, g)
	if err := errors.Join(c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
}

const opening = `
> r fw_version_major
< 0
> r fw_version_minor
< 6
> r axis0.config.motor.current_soft_max
< 40.000000
> r axis0.disarm_reason
< 0
> r axis0.current_state
< 1
> r axis0.active_errors
< 0
`

func TestSerialSession(t *testing.T) {
	line := play(t, opening+`
# torque off: the state was read at the opening, so nothing is sent
> f 0
< 0.500000 0.000000
# torque: fed, then the watchdog and the input mode written and read back
> u 0
+ w axis0.config.watchdog_timeout 0.5
+ r axis0.config.watchdog_timeout
< 0.5
> u 0
+ w axis0.controller.config.input_mode 1
+ r axis0.controller.config.input_mode
< 1
> u 0
+ w axis0.config.enable_watchdog 1
+ r axis0.config.enable_watchdog
< 1
# the goal where it stands, the torque, the goal
> p 0 0.500000 0 0
+ w axis0.requested_state 8
+ p 0 0.500000 0 0
> f 0
< 0.500000 0.000000
# the look finds it driven
> r vbus_voltage
< 47.900000
> r axis0.current_state
< 8
> r axis0.active_errors
< 0
# speed, with no feed-forward of before; torque
> v 0 1.000000 0
> f 0
< 0.600000 1.000000
> c 0 0.827000
> f 0
< 0.700000 1.000000
# an answer that does not come is waited for before the next question
> c 0 0.827000
> f 0
< silence
> c 0 0.827000
> f 0
< 0.800000 1.000000
> c 0 0.827000
> f 0
< 0.800000 0.000000
> c 0 0.827000
> f 0
< 0.800000 0.000000
> c 0 0.827000
> f 0
< 0.800000 0.000000
# an error took the torque: the tenth cycle's look sees it
> c 0 0.827000
> f 0
< 0.800000 0.000000
> r axis0.motor.foc.Iq_measured
< -1.500000
> r axis0.current_state
< 1
> r axis0.active_errors
< 16384
> r axis0.disarm_reason
< 16384
# its watchdog is fed all the same
> u 0
+ f 0
< 0.800000 0.000000
`)
	c := NewSerialChain(servo.ChainConfig{Name: "drive", Line: line,
		Servos: []servo.ServoConfig{{ID: 0, Model: ModelByName("odrive-s1"), Joint: "wheel"}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	cycle(t, c, servo.Goal{})
	if s := c.State(0); s.Position != TicksPerTurn/2 || s.Torque {
		t.Errorf("limp: got %+v", s)
	}
	cycle(t, c, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	if s := c.State(0); !s.Torque || s.Voltage != 47.9 {
		t.Errorf("armed: got %+v", s)
	}
	cycle(t, c, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 2 * math.Pi, Limit: 1})
	g := servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: 10, Limit: 1}
	cycle(t, c, g)
	cycle(t, c, g)
	if s := c.State(0); !errors.Is(s.Err, servo.ErrNoReply) {
		t.Errorf("silent: got %+v", s)
	}
	for range 5 {
		cycle(t, c, g)
	}
	if s := c.State(0); s.Alarm != servo.AlarmHeat || s.Torque || s.Effort != -1.5 ||
		!errors.Is(c.Fault(0), servo.ErrLatched) {
		t.Errorf("hot: got %+v, %v", s, c.Fault(0))
	}
	cycle(t, c, g)
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A watchdog that does not take, and a firmware that counts in steps, are refused.
func TestSerialRefuses(t *testing.T) {
	// Once may be the line's doing: it is tried three times.
	line := play(t, opening+`
> f 0
< 0.000000 0.000000
`+strings.Repeat(`
> u 0
+ w axis0.config.watchdog_timeout 0.5
+ r axis0.config.watchdog_timeout
< 0
> f 0
< 0.000000 0.000000
`, 2)+`
> u 0
+ w axis0.config.watchdog_timeout 0.5
+ r axis0.config.watchdog_timeout
< 0
> f 0
< 0.000000 0.000000
`)
	c := NewSerialChain(servo.ChainConfig{Line: line,
		Servos: []servo.ServoConfig{{ID: 0, Model: ModelByName("odrive-s1")}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	cycle(t, c, servo.Goal{})
	for range 3 {
		cycle(t, c, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	}
	if f := c.Fault(0); f == nil ||
		!strings.Contains(f.Error(), "watchdog_timeout: reads back another value: got 0, want 0.5") ||
		c.State(0).Torque {
		t.Errorf("got %v, torque %v", f, c.State(0).Torque)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
	line = play(t, strings.Replace(opening[:strings.Index(opening, "> r axis0.")], "< 6", "< 4", 1))
	c = NewSerialChain(servo.ChainConfig{Line: line,
		Servos: []servo.ServoConfig{{ID: 0, Model: ModelByName("odrive-s1")}}})
	if err := c.Open(); err == nil || !strings.Contains(err.Error(), "firmware: got 0.4, want 0.5 or 0.6") {
		t.Errorf("0.4: got %v", err)
	}
	c = NewSerialChain(servo.ChainConfig{Line: play(t, ""),
		Servos: []servo.ServoConfig{{ID: 2, Model: ModelByName("odrive-s1")}}})
	if err := c.Open(); hal.KindOf(err) != hal.Invalid {
		t.Errorf("axis 2: got %v", err)
	}
}

// canTurn is one write of the chain and what comes after it.
type canTurn struct{ write, read []servo.CANFrame }

func canPlayback(turns ...canTurn) *servotest.Playback {
	bytes := func(list []servo.CANFrame) (p []byte) {
		for i := range list {
			p = servo.AppendCAN(p, &list[i])
		}
		return p
	}
	var all []servotest.Turn
	for _, x := range turns {
		all = append(all, servotest.Turn{Write: bytes(x.write), Read: bytes(x.read)})
	}
	return servotest.NewPlayback(Bitrate, all...)
}

func TestCANSession(t *testing.T) {
	type frames = []servo.CANFrame
	version := odrivewire.Frame(3, odrivewire.GetVersion)
	version.Len, version.Data = 8, [8]byte{2, 5, 2, 0, 0, 6, 10, 0}
	ask := frames{odrivewire.Ask(3, odrivewire.Estimates), odrivewire.Ask(3, odrivewire.GetIq)}
	reply := func(at float64, more ...servo.CANFrame) frames {
		return append(frames{odrivewire.Floats(3, odrivewire.Estimates, at, 0),
			odrivewire.Floats(3, odrivewire.GetIq, 0, 1.5)}, more...)
	}
	idle, closed := odrivewire.HeartbeatMessage{State: odrivewire.Idle}.Frame(3),
		odrivewire.HeartbeatMessage{State: odrivewire.ClosedLoop}.Frame(3)
	set := odrivewire.SDO{Write: true, Endpoint: 200, Value: odrivewire.FloatWord(0.5)}
	on := odrivewire.SDO{Write: true, Endpoint: 201, Value: 1}
	line := canPlayback(
		canTurn{frames{odrivewire.Ask(3, odrivewire.GetVersion)}, frames{version}},
		// Torque off, until a heartbeat confirms it. An earlier one proves nothing.
		canTurn{frames{odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.Idle))}, frames{idle}},
		canTurn{ask, reply(0.5)},
		canTurn{frames{odrivewire.Ask(3, odrivewire.GetBus)}, frames{odrivewire.Floats(3, odrivewire.GetBus, 48, 0)}},
		canTurn{frames{odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.Idle))}, nil},
		canTurn{ask, reply(0.5, idle)},
		canTurn{ask, reply(0.5)},
		// Torque: the watchdog by its endpoints, then the control, the goal, the state, the goal.
		canTurn{frames{set.Frame(3, odrivewire.RxSDO), odrivewire.SDO{Endpoint: 200}.Frame(3, odrivewire.RxSDO)},
			frames{odrivewire.SDO{Endpoint: 200, Value: set.Value}.Frame(3, odrivewire.TxSDO)}},
		canTurn{frames{on.Frame(3, odrivewire.RxSDO), odrivewire.SDO{Endpoint: 201}.Frame(3, odrivewire.RxSDO)},
			frames{odrivewire.SDO{Endpoint: 201, Value: 1}.Frame(3, odrivewire.TxSDO)}},
		canTurn{frames{odrivewire.Words(3, odrivewire.SetControl, uint32(odrivewire.PositionControl),
			odrivewire.Passthrough),
			odrivewire.Position(3, 0.5), odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.ClosedLoop)),
			odrivewire.Position(3, 0.5)}, nil},
		canTurn{ask, reply(0.5)},
		// This heartbeat may be of the moment before it began; the next is not.
		canTurn{frames{odrivewire.Ask(3, odrivewire.GetTemperature)},
			frames{odrivewire.Floats(3, odrivewire.GetTemperature, 31, 0), closed}},
		canTurn{frames{odrivewire.Position(3, 0.75)}, nil},
		canTurn{ask, reply(0.6)},
		canTurn{frames{odrivewire.Ask(3, odrivewire.GetBus)},
			frames{odrivewire.Floats(3, odrivewire.GetBus, 48, 0), closed}},
		canTurn{frames{odrivewire.Position(3, 0.75)}, nil},
		canTurn{ask, reply(0.75)},
	)
	c := NewCANChain(servo.ChainConfig{Name: "can", Line: line,
		Servos: []servo.ServoConfig{{ID: 3, Model: ModelByName("odrive-s1"), Joint: "knee",
			Settings: []servo.Setting{{Register: watchdogEndpoint, Value: 200},
				{Register: enableEndpoint, Value: 201}}}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	// A period passes between two cycles.
	step := func(g servo.Goal) {
		t.Helper()
		cycle(t, c, g)
		line.Pass(settling)
	}
	step(servo.Goal{})
	if s := c.State(0); s.Position != TicksPerTurn/2 || s.Effort != 1.5 || s.Voltage != 48 {
		t.Errorf("limp: got %+v", s)
	}
	step(servo.Goal{})
	step(servo.Goal{})
	g := servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 0.75 * TicksPerTurn, Limit: 1}
	step(g)
	step(g)
	step(g)
	if s := c.State(0); !s.Torque || s.Temperature != 31 || c.Fault(0) != nil {
		t.Errorf("driven: got %+v, %v", s, c.Fault(0))
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// Endpoints of another firmware read back something else, or nothing: the axis keeps torque off, with what to do.
func TestCANWatchdogIsProven(t *testing.T) {
	type frames = []servo.CANFrame
	set := odrivewire.SDO{Write: true, Endpoint: 200, Value: odrivewire.FloatWord(0.5)}
	for name, answer := range map[string]frames{
		"nothing":          nil,
		"another value":    {odrivewire.SDO{Endpoint: 200, Value: 7}.Frame(3, odrivewire.TxSDO)},
		"another endpoint": {odrivewire.SDO{Endpoint: 201, Value: set.Value}.Frame(3, odrivewire.TxSDO)},
	} {
		ask := frames{odrivewire.Ask(3, odrivewire.Estimates), odrivewire.Ask(3, odrivewire.GetIq)}
		replies := frames{odrivewire.Floats(3, odrivewire.Estimates, 0.5, 0),
			odrivewire.Floats(3, odrivewire.GetIq, 0, 0), odrivewire.HeartbeatMessage{State: odrivewire.Idle}.Frame(3)}
		version := odrivewire.Frame(3, odrivewire.GetVersion)
		version.Len = 8
		tried := canTurn{frames{set.Frame(3, odrivewire.RxSDO),
			odrivewire.SDO{Endpoint: 200}.Frame(3, odrivewire.RxSDO)}, answer}
		line := canPlayback(canTurn{frames{odrivewire.Ask(3, odrivewire.GetVersion)}, frames{version}},
			canTurn{frames{odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.Idle))}, nil},
			canTurn{ask, replies},
			canTurn{frames{odrivewire.Ask(3, odrivewire.GetBus)}, nil},
			canTurn{frames{odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.Idle))}, nil},
			canTurn{ask, replies},
			canTurn{ask, replies},
			tried, canTurn{ask, replies}, tried, canTurn{ask, replies},
			canTurn{frames{odrivewire.Ask(3, odrivewire.GetTemperature)}, nil},
			tried, canTurn{ask, replies})
		c := NewCANChain(servo.ChainConfig{Line: line,
			Servos: []servo.ServoConfig{{ID: 3, Model: ModelByName("odrive-s1"),
				Settings: []servo.Setting{{Register: watchdogEndpoint, Value: 200}}}}})
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		for k := range 6 {
			cycle(t, c, servo.Goal{Enable: k >= 3, Mode: hal.NoMode, Limit: 1})
			line.Pass(settling)
		}
		if !errors.Is(c.Fault(0), errWatchdog) || c.State(0).Torque {
			t.Errorf("%s: got %v", name, c.Fault(0))
		}
		if err := line.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A heartbeat from before a halt does not prove it.
func TestCANHaltWaitsForAWord(t *testing.T) {
	type frames = []servo.CANFrame
	version, idle := odrivewire.Frame(3, odrivewire.GetVersion),
		odrivewire.HeartbeatMessage{State: odrivewire.Idle}.Frame(3)
	version.Len = 8
	limp := frames{odrivewire.Words(3, odrivewire.SetState, uint32(odrivewire.Idle))}
	for _, after := range []frames{{idle}, nil} {
		line := canPlayback(canTurn{frames{odrivewire.Ask(3, odrivewire.GetVersion)}, frames{version}},
			canTurn{limp, nil}, canTurn{frames{odrivewire.Ask(3, odrivewire.Estimates),
				odrivewire.Ask(3, odrivewire.GetIq)}, nil})
		c := NewCANChain(servo.ChainConfig{Line: line,
			Servos: []servo.ServoConfig{{ID: 3, Model: ModelByName("odrive-s1")}}})
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		cycle(t, c, servo.Goal{})
		line.Pass(settling)
		// Its torque was off in its last heartbeat.
		c.b.devices[0].heartbeat, c.b.devices[0].beatAt = odrivewire.HeartbeatMessage{State: odrivewire.Idle},
			line.Now()
		halted := canPlayback(canTurn{limp, nil}, canTurn{limp, after}, canTurn{limp, nil})
		halted.Pass(line.Now())
		c.b.x.Port = halted
		if err := c.Halt()[0]; (err == nil) != (after != nil) {
			t.Errorf("it says %v: got %v", after, err)
		}
	}
}

// A limit of 0 is sent regardless of how small the one before is.
func TestNoLimitIsExact(t *testing.T) {
	d := device{m: ModelByName("odrive-s1"), own: 40, limit: 0.2}
	var dev servo.Device
	if amps, changed := d.amps(&dev); amps != 0 || !changed {
		t.Errorf("got %g A, changed %v", amps, changed)
	}
}

// The checksum lets bytes that are lost in pairs pass: an unreachable position is accepted when it is received twice.
func TestSerialDoubtsALeap(t *testing.T) {
	line := play(t, opening+`
> f 0
< 0.500000 0.000000
> f 0
< 8.500000 0.000000
> f 0
< 8.500000 0.000000
> f 0
< 0.500000 0.000000
`)
	c := NewSerialChain(servo.ChainConfig{Line: line,
		Servos: []servo.ServoConfig{{ID: 0, Model: ModelByName("odrive-s1")}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		at   float64
		good bool
	}{{0.5, true}, {0.5, false}, {8.5, true}, {8.5, false}} {
		cycle(t, c, servo.Goal{})
		if s := c.State(0); s.Position != want.at*TicksPerTurn || (s.Err == nil) != want.good {
			t.Errorf("%d: got %+v, want %v", i, s, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// To hold after a speed is to stay where it is then, not to go back to where torque went on.
func TestHoldsWhereItIs(t *testing.T) {
	d := device{m: ModelByName("odrive-s1")}
	var dev servo.Device
	d.goal(&dev, true)
	dev.Goal.Mode = hal.VelocityMode
	d.goal(&dev, false)
	dev.Goal.Mode, dev.State.Position = hal.NoMode, 3*TicksPerTurn
	for _, moved := range []float64{3, 3.1} {
		dev.State.Position = moved * TicksPerTurn
		if _, at := d.goal(&dev, false); at != 3 {
			t.Errorf("at %g turns: got %g, want 3", moved, at)
		}
	}
}

// silent is a CAN line on which nothing comes.
type silent struct {
	servo.Line
	now time.Duration
}

func (s *silent) Write(p []byte) (int, error) { return len(p), nil }
func (s *silent) Discard() error              { return nil }
func (s *silent) Now() time.Duration          { return s.now }
func (s *silent) Baud() int                   { return Bitrate }
func (s *silent) Read(_ []byte, timeout time.Duration) (int, error) {
	s.now += timeout
	return 0, os.ErrDeadlineExceeded
}

// Two robots of one bus are halted at once, and a stop comes meanwhile. The race detector sees what they share.
func TestHaltsAtOnce(t *testing.T) {
	c := NewCANChain(servo.ChainConfig{Name: "bus", Line: &silent{},
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("odrive-s1")}}})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if n := len(c.Halt()); n != 1 {
				t.Errorf("got %d results, want 1", n)
			}
		})
		all.Go(func() { c.CutTorque() })
	}
	all.Wait()
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
	f := odrivewire.Floats(1, odrivewire.Estimates, 0.25, 0)
	c := NewCANChain(servo.ChainConfig{Name: "bus", Line: &late{frame: servo.AppendCAN(nil, &f)},
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("odrive-s1")}}})
	if err := c.CutTorque(); err != nil {
		t.Error(err)
	}
	if s := c.State(0); !math.IsNaN(s.Position) {
		t.Errorf("got %g ticks, want none", s.Position)
	}
}

// A stop does not wait for a reply that is overdue, as after each exchange that a stop has ended.
func TestStopBeforeALateReply(t *testing.T) {
	line := play(t, opening+`
> f 0
< silence
> w axis0.requested_state 1
`)
	c := NewSerialChain(servo.ChainConfig{Line: line, Latency: 16 * time.Millisecond,
		Servos: []servo.ServoConfig{{ID: 0, Model: ModelByName("odrive-s1")}}})
	if err := errors.Join(c.Open(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	before := line.Now()
	if err := c.CutTorque(); err != nil {
		t.Error(err)
	}
	// The command has 30 bytes.
	if took, want := line.Now()-before, servo.WireTime(40, bitsPerByte, Baud); took > want {
		t.Errorf("torque off: got it after %v, want within %v", took, want)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}
