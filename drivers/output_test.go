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

// rov is a layout of a hobby servo, a thruster and two sensors.
func rov() *hal.Layout {
	none := [hal.NumModes]int{hal.None, hal.None, hal.None, hal.None}
	channel := func(name string, q hal.Quantity) hal.Channel {
		return hal.Channel{Name: name, Quantity: q, Min: -100, Max: 100}
	}
	l := &hal.Layout{
		Inputs: []hal.Channel{channel("tilt/position", hal.Position), channel("bow/torque", hal.Torque),
			channel("bow/duty", hal.Duty), channel("bow/limit", hal.TorqueLimit)},
		Outputs: []hal.Channel{channel("tilt/position", hal.Position)},
		Infos: []hal.Channel{channel("depth/0", hal.Pressure), channel("depth/1", hal.Temperature),
			channel("gyro/x", hal.AngularVelocity), channel("gyro/y", hal.AngularVelocity),
			channel("gyro/z", hal.AngularVelocity)},
		Sensors: []hal.Sensor{{Name: "depth", Kind: "pressure", First: 1, Count: 2},
			{Name: "gyro", Kind: "gyro", First: 3, Count: 3}},
	}
	tilt := hal.Actuator{Name: "tilt", Goal: none, TorqueLimit: hal.None, Position: 0, Velocity: hal.None,
		Torque:  hal.None,
		Voltage: hal.None, Temperature: hal.None, Default: 0.2,
		Limits: hal.Limits{MinPosition: -1, MaxPosition: 1, MaxVelocity: 4, MaxTorque: 1}}
	tilt.Goal[hal.PositionMode] = 0
	bow := tilt
	bow.Name, bow.Kind, bow.Goal, bow.Position, bow.TorqueLimit = "bow", hal.Thruster, none, hal.None, 3
	bow.Goal[hal.TorqueMode], bow.Goal[hal.DutyMode], bow.Limits.MaxTorque = 1, 2, 40
	l.Actuators = []hal.Actuator{tilt, bow}
	return l
}

// boat is a body of outputs and sensors on scripted devices, in virtual time.
type boat struct {
	*Body
	t      *testing.T
	f      *hal.Frame
	clocks [2]*virtual // the output's and the sensor's: neither waits for the other
	device *scripted
	feeder *OutputWriter
	poller *Poller
	sensor *scripted
}

func newBoat(t *testing.T) *boat {
	t.Helper()
	v, w := &virtual{}, &virtual{}
	b := &boat{t: t, clocks: [2]*virtual{v, w}, device: &scripted{clock: v}, sensor: &scripted{clock: w, takes: 4 * ms}}
	b.feeder = NewOutputWriter(b.device, OutputWriterConfig{Channels: 3, Clock: v, CycleTime: v.Edge})
	b.poller = NewPoller(b.sensor, PollerConfig{Values: 3, Period: 20 * ms, Clock: w, CycleTime: w.Edge})
	if err := errors.Join(b.feeder.Open(), b.poller.Open()); err != nil {
		t.Fatal(err)
	}
	body, err := Build(rov(), []Joint{{Writer: b.feeder, Channel: 0, Bus: "pwm"},
		{Writer: b.feeder, Channel: 2, Bus: "pwm"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := body.AttachSensor("depth", b.poller, 0); err != nil {
		t.Fatal(err)
	}
	b.Body, b.f = body, hal.NewFrame(body.Layout())
	return b
}

// Advance is a hal.World's: the cycle's edge moves.
func (b *boat) Advance(dt time.Duration) error {
	for _, c := range b.clocks {
		c.edge += dt
	}
	return nil
}

func (b *boat) cycle() {
	b.t.Helper()
	err := errors.Join(b.Write(b.f), b.feeder.Send(), b.poller.Send(), b.Advance(10*ms), b.feeder.Receive(),
		b.poller.Receive())
	b.f.Time += 10 * ms
	if err := errors.Join(err, b.Read(b.f)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *boat) cycles(d time.Duration) {
	b.t.Helper()
	for range d / (10 * ms) {
		b.cycle()
	}
}

func (b *boat) wants(what string, tilt, bow float64) {
	b.t.Helper()
	for i, want := range []float64{tilt, 0, bow} {
		if got := b.device.pulses[i]; got != time.Duration(want*1000) {
			b.t.Errorf("%s: channel %d: got %v, want %g µs", what, i, got, want)
		}
	}
}

func TestOutputConformance(t *testing.T) {
	haltest.Run(t, func(t *testing.T) haltest.Subject {
		b := newBoat(t)
		return haltest.Subject{Body: b.Body, Buses: []hal.Bus{b.feeder, b.poller}, World: b}
	})
}

// A thruster arms at neutral, obeys in its dead band's terms, and stands still when it is not enabled; a servo loses
// torque.
func TestOutputs(t *testing.T) {
	b := newBoat(t)
	if at := &b.Layout().Outputs[0]; !at.Estimate {
		t.Error("a servo's position: not marked as an estimate")
	}
	b.cycle()
	b.wants("not enabled", 0, 1500)
	b.f.Enable[0], b.f.Enable[1] = true, true
	b.f.Inputs[0], b.f.Inputs[2] = -0.5, 0.5
	b.cycle()
	b.wants("arming", 1250, 1500)
	if got := b.f.Outputs[0]; math.Abs(got+0.5) > 1e-3 {
		t.Errorf("estimate: got %v", got)
	}
	b.cycles(3 * time.Second)
	b.wants("half ahead", 1250, 1528+186)
	b.f.Inputs[2], b.f.Inputs[1] = math.NaN(), -20
	b.cycle()
	b.wants("20 N astern", 1250, 1472-186)
	b.f.Inputs[3] = 10
	b.cycle()
	b.wants("limited to 10 N", 1250, 1472-93)
	b.f.Inputs[1], b.f.Inputs[2] = math.NaN(), -1
	b.cycle()
	b.wants("a duty limited to 10 of 40 N", 1250, 1472-93)
	b.f.Inputs[3] = 0
	b.cycle()
	b.wants("limited to nothing", 1250, 1500)
	b.f.Inputs[3] = 40
	b.f.Enable[0], b.f.Enable[1] = false, false
	b.cycle()
	b.wants("not enabled any more", 0, 1500)
	b.f.Inputs[0] = math.NaN()
	b.f.Enable[0], b.f.Enable[1] = true, true
	b.f.Inputs[2] = math.NaN()
	b.cycle()
	b.wants("enabled without a goal", 1250, 1500)
}

// After a halt no pulse comes back by itself; enabling again arms again. Each channel's answer is its actuator's.
func TestOutputHalt(t *testing.T) {
	b := newBoat(t)
	b.f.Enable[0], b.f.Enable[1] = true, true
	b.f.Inputs[0], b.f.Inputs[2] = 0.5, 1
	b.cycles(4 * time.Second)
	b.wants("ahead", 1750, 1900)
	b.device.stuck = []error{nil, nil, errors.New("still pulsing")}
	err := b.Halt()
	var fault *hal.Error
	if !errors.As(err, &fault) || fault.Joint != "bow" || strings.Contains(err.Error(), "tilt") || fault.Bus != "pwm" {
		t.Errorf("halt: got %v", err)
	}
	b.f.Enable[0], b.f.Enable[1] = false, false
	b.cycles(time.Second)
	b.wants("halted", 0, 0)
	b.f.Enable[1] = true
	b.cycle()
	b.wants("enabled again", 0, 1500)
	b.cycles(3 * time.Second)
	b.wants("armed again", 0, 1900)
}

// A device that was lost and is back: nothing moves though the commands went on, until it is enabled again; its ESCs
// arm meanwhile.
func TestOutputRegained(t *testing.T) {
	b := newBoat(t)
	b.f.Enable[0], b.f.Enable[1] = true, true
	b.f.Inputs[0], b.f.Inputs[2] = 0.5, 1
	b.cycles(4 * time.Second)
	b.wants("ahead", 1750, 1900)
	b.device.err = &hal.Error{Kind: hal.Absent, Op: "pca9685"}
	b.device.absent = b.device.err
	b.cycles(time.Second)
	if s := b.f.Status[1]; hal.KindOf(s.Err) != hal.Absent || !strings.Contains(s.Err.Error(), `joint "bow"`) ||
		b.f.Time-s.Time < 900*ms {
		t.Errorf("lost: got %v since %v at %v", s.Err, s.Time, b.f.Time)
	}
	b.device.err, b.device.absent = nil, nil
	b.cycles(300 * ms)
	b.cycles(3 * time.Second)
	b.wants("back", 0, 1500)
	for i, joint := range []string{"tilt", "bow"} {
		if s := b.f.Status[i]; !errors.Is(s.Err, servo.ErrRegained) || !strings.Contains(s.Err.Error(), joint) ||
			b.f.Time-s.Time > 200*ms {
			t.Errorf("back: got %v since %v at %v", s.Err, s.Time, b.f.Time)
		}
	}
	b.f.Enable[0], b.f.Enable[1] = false, false
	b.cycle()
	b.f.Enable[0], b.f.Enable[1] = true, true
	b.cycle()
	b.wants("enabled again", 1750, 1900)
	if err := errors.Join(b.f.Status[0].Err, b.f.Status[1].Err); err != nil {
		t.Errorf("enabled again: got %v", err)
	}
}

// Sensors: values with their time, each layout's sensor a part of a device's values, and the fault named.
func TestSenses(t *testing.T) {
	b := newBoat(t)
	if err := b.AttachSensor("gyro", b.poller, 1); hal.KindOf(err) != hal.Invalid {
		t.Errorf("three values from the second of three on: got %v", err)
	}
	if err := b.AttachSensor("sonar", b.poller, 0); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no such sensor: got %v", err)
	}
	if err := b.AttachSensor("gyro", b.poller, 0); err != nil {
		t.Error(err)
	}
	b.cycles(100 * ms)
	for i, want := range []float64{b.sensor.reads, 2 * b.sensor.reads, b.sensor.reads} {
		if b.f.Infos[i] != want {
			t.Errorf("value %d: got %v, want %v", i, b.f.Infos[i], want)
		}
	}
	if s := b.f.Status[2]; s.Err != nil || b.f.Time-s.Time > 20*ms || s.Time >= b.f.Time {
		t.Errorf("status: got %v at %v", s.Err, s.Time)
	}
	was := b.f.Infos[0]
	b.sensor.err = &hal.Error{Kind: hal.BusFault, Bus: "i2c-1", ID: 118, Op: "ms5837",
		Err: errors.New("no acknowledge")}
	b.cycles(100 * ms)
	s := b.f.Status[2]
	if got := s.Err.Error(); got != `bus "i2c-1": id 118: sensor depth: ms5837: no acknowledge` || b.f.Infos[0] != was {
		t.Errorf("fault: got %q and value %v", got, b.f.Infos[0])
	}
	if n := testing.AllocsPerRun(100, func() { _ = b.Read(b.f) }); n != 0 {
		t.Errorf("reading a fault that lasts: got %g allocations, want 0", n)
	}
}

func TestOutputRefused(t *testing.T) {
	v := &virtual{}
	f := NewOutputWriter(&scripted{clock: v}, OutputWriterConfig{Channels: 3, Clock: v, CycleTime: v.Edge})
	for _, c := range []struct {
		name   string
		change func(*hal.Layout, []Joint)
		kind   hal.Kind
		want   string
	}{
		{"no calibration", func(_ *hal.Layout, j []Joint) { j[0].Pulse = nil }, hal.Uncalibrated,
			"a real output needs a calibration"},
		{"of another channel", func(_ *hal.Layout, j []Joint) { j[0].Channel = 1 }, hal.Uncalibrated,
			"got one of channel 0, want of 1"},
		{"channel twice", func(_ *hal.Layout, j []Joint) { j[1].Channel = 0 }, hal.Invalid, `got the one of "tilt"`},
		{"channel too high", func(_ *hal.Layout, j []Joint) { j[1].Channel = 3 }, hal.Invalid, "got 3, want 0..2"},
		{"mode", func(l *hal.Layout, _ []Joint) { l.Actuators[0].Goal[hal.VelocityMode] = 1 }, hal.Invalid,
			"mode velocity"},
		{"not valid", func(_ *hal.Layout, j []Joint) { j[0].Pulse.Direction = 3 }, hal.Invalid,
			"calibration: direction: got 3"},
	} {
		l := rov()
		joints := []Joint{{Writer: f, Channel: 0}, {Writer: f, Channel: 2}}
		for i := range joints {
			joints[i].Pulse = nominalPulse(&l.Actuators[i], &joints[i])
			joints[i].Pulse.Date = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
		}
		c.change(l, joints)
		b, err := NewBody(l, joints)
		if b != nil || hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	if _, err := Build(rov(), []Joint{{Writer: f}, {Writer: f, Channel: 2}},
		false); hal.KindOf(err) != hal.Uncalibrated {
		t.Errorf("real, without calibrations: got %v", err)
	}
}

// The T200 with its Basic ESC at 16 V (Blue Robotics' public table, kgf in N): what is asked comes out.
func TestThrusterTable(t *testing.T) {
	const kgf = 9.80665
	var table []calibration.Width
	for _, row := range [][2]float64{{1100, -4.07}, {1148, -3.52}, {1200, -2.71}, {1248, -2.08}, {1300, -1.44},
		{1352, -0.90},
		{1400, -0.48}, {1440, -0.18}, {1460, -0.07}, {1468, -0.036}, {1472, 0}, {1528, 0}, {1532, 0.041}, {1540, 0.077},
		{1560, 0.218},
		{1580, 0.399}, {1600, 0.603}, {1620, 0.817}, {1660, 1.279}, {1700, 1.823}, {1740, 2.431}, {1780, 3.107},
		{1800, 3.420},
		{1840, 4.255}, {1860, 4.649}, {1880, 5.012}, {1900, 5.245}} {
		table = append(table, calibration.Width{Micros: row[0], Value: row[1] * kgf})
	}
	p := calibration.NominalThruster("bow", calibration.Channel{Model: "pca9685"}, table)
	for _, row := range table {
		got := p.Width(hal.TorqueMode, row.Value)
		want := row.Micros
		if row.Value == 0 {
			want = 1500
		}
		near(t, "width", got.Seconds()*1e6, want)
		near(t, "value", p.Value(got), row.Value)
	}
	near(t, "most", p.Width(hal.TorqueMode, 1e9).Seconds()*1e6, 1900)
	near(t, "nothing known", p.Width(hal.TorqueMode, math.NaN()).Seconds()*1e6, 1500)
}
