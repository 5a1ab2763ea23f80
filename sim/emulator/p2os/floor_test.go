package p2os_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const period = 10 * time.Millisecond

// robot is a whole stack: hal body, driver, line, board, floor.
type robot struct {
	t     *testing.T
	floor *p2os.Floor
	board *p2os.Board
	line  *wire.Line
	base  *base.Base
	body  *drivers.Body
	f     *hal.Frame
	wait  func() // for the goroutine that opens a lost line, which takes no virtual time
}

// newRobot builds a robot of a kind; change may set up the driver's settings.
func newRobot(t *testing.T, kind string, seed int64, change func(*base.Settings)) *robot {
	t.Helper()
	return newRobotOn(t, kind, seed, change, func(f *p2os.Floor) p2os.Chassis { return f })
}

// newRobotOn is newRobot with another chassis, which is made of its floor.
func newRobotOn(t *testing.T, kind string, seed int64, change func(*base.Settings),
	on func(*p2os.Floor) p2os.Chassis) *robot {
	t.Helper()
	model, err := base.RobotOf(kind)
	must(t, err)
	r := &robot{t: t, wait: func() {}, floor: p2os.NewFloor(model.Difference)}
	r.floor.Echo = 1.5
	r.board = p2os.New(model, "TestBot", 38400, true, on(r.floor))
	r.line = wire.NewLine("base", 9600, seed, r.board)
	s := base.Settings{Name: "base", Robot: model, Line: r.line.Open, Clock: r.line, Gyro: true, Encoders: true}
	if model.Wheels == 4 {
		s.Wheels = []base.Side{base.Left, base.Right, base.Left, base.Right}
	}
	if change != nil {
		change(&s)
	}
	r.base, err = base.New(s)
	must(t, err)
	layout := layoutOf(model, r.base)
	var joints []drivers.Joint
	for i := range layout.Actuators {
		joints = append(joints, drivers.Joint{Chain: r.base, Index: i, Bus: "base", Port: "base", ID: i + 1})
	}
	r.body, err = drivers.Build(layout, joints, true)
	must(t, err)
	for _, x := range senses() {
		must(t, r.body.AttachSensor(x.name, r.base.Source(x.sense), x.first))
	}
	r.f = hal.NewFrame(layout)
	t.Cleanup(func() { r.base.Close() })
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type senseOf struct {
	name, kind string
	sense      base.Sense
	first      int
	count      int
}

func senses() []senseOf {
	return []senseOf{
		{"odometry", "odometry", base.Odometry, 0, 3}, {"F1", "sonar", base.Ring, 0, 1},
		{"R8", "sonar", base.Ring, 15, 1},
		{"front_left", "contact", base.Bumpers, 0, 1}, {"rear_left", "contact", base.Bumpers, 9, 1},
		{"battery", "battery", base.Battery, 0, 1}, {"gyro", "gyro", base.Gyro, 0, 1},
		{"encoders", "encoder", base.Encoders, 0, 2},
	}
}

// layoutOf is a layout with one actuator a wheel and the senses above.
func layoutOf(model base.Robot, b *base.Base) *hal.Layout {
	l := &hal.Layout{}
	names := []string{"left", "right"}
	if model.Wheels == 4 {
		names = []string{"LeftFWheel", "RightFWheel", "LeftRWheel", "RightRWheel"}
	}
	for i, n := range names {
		u := b.Units(i)
		a := hal.Actuator{Name: n, TorqueLimit: hal.None, Position: 2 * i, Velocity: 2*i + 1, Torque: hal.None,
			Voltage:     hal.None,
			Temperature: hal.None, Wraps: true,
			Limits: hal.Limits{MaxVelocity: u.MaxVelocity, MaxTorque: u.TorqueConstant}}
		a.Goal = [hal.NumModes]int{hal.None, i, hal.None, hal.None}
		l.Inputs = append(l.Inputs, hal.Channel{Name: n + "/velocity", Quantity: hal.Velocity, Min: -u.MaxVelocity,
			Max: u.MaxVelocity})
		l.Outputs = append(l.Outputs, hal.Channel{Name: n + "/position", Quantity: hal.Position, Min: -4, Max: 4,
			Estimate: true},
			hal.Channel{Name: n + "/velocity", Quantity: hal.Velocity, Min: -u.MaxVelocity, Max: u.MaxVelocity})
		l.Actuators = append(l.Actuators, a)
	}
	for _, s := range senses() {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: s.name, Kind: s.kind, First: len(l.Outputs), Count: s.count})
		for i := range s.count {
			l.Outputs = append(l.Outputs, hal.Channel{Name: s.name + string(rune('a'+i)), Min: -1e6, Max: 1e6,
				Estimate: true})
		}
	}
	return l
}

// enable sets every wheel's Enable.
func (r *robot) enable(on bool) {
	for i := range r.f.Enable {
		r.f.Enable[i] = on
	}
}

// drive commands both sides, rad/s.
func (r *robot) drive(left, right float64) {
	for i := range r.f.Inputs {
		r.f.Inputs[i] = [2]float64{left, right}[i%2]
	}
}

// cycle is one cycle of the rig.
func (r *robot) cycle() {
	must(r.t, r.body.Write(r.f))
	r.base.Send() // its error is in the wheels' status, too
	r.wait()
	must(r.t, r.line.Advance(period))
	must(r.t, r.floor.Advance(period))
	r.base.Receive()
	r.f.Time += period
	must(r.t, r.body.Read(r.f))
}

func (r *robot) run(d time.Duration) {
	for range d / period {
		r.cycle()
	}
}

// sensor is the values of a sensor and its status.
func (r *robot) sensor(name string) ([]float64, hal.Status) {
	r.t.Helper()
	l := r.body.Layout()
	for i, s := range l.Sensors {
		if s.Name == name {
			return r.f.Measured[s.First : s.First+s.Count], r.f.Status[len(l.Actuators)+i]
		}
	}
	r.t.Fatalf("no sensor %q", name)
	return nil, hal.Status{}
}
