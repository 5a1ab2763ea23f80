package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

const period = 20 * time.Millisecond

// rover is a scripted robot with a sensor of every kind: wheels that roll without slip, joints that are where they are
// told to be. Radius 0.1 m, separation 0.5 m.
type rover struct {
	layout *hal.Layout

	mu      sync.Mutex
	inputs  []float64
	enabled []bool
	at      hal.Pose
	heading float64
	rate    [2]float64 // of the wheels, rad/s
	joints  []float64
	lit     bool
	other   bool            // all that it measures has another value
	lost    map[string]bool // devices that do not answer
	flown   [2][3]float64
	placed  int
}

func newRover() *rover {
	l := &hal.Layout{}
	channel := func(list *[]hal.Channel, name string, q hal.Quantity, low, high float64) int {
		*list = append(*list, hal.Channel{Name: name, Quantity: q, Min: low, Max: high})
		return len(*list) - 1
	}
	actuator := func(name string, kind hal.ActuatorKind, mode hal.Mode) {
		a := hal.Actuator{Name: name, Kind: kind, Goal: [hal.NumModes]int{hal.None, hal.None, hal.None, hal.None},
			TorqueLimit: hal.None, Torque: hal.None, Voltage: hal.None, Temperature: hal.None, Wraps: kind == hal.Wheel,
			Limits: hal.Limits{MinPosition: -2, MaxPosition: 2, MaxVelocity: 20, MaxTorque: 1}, Default: 0.1}
		a.Goal[mode] = channel(&l.Inputs, name+"/"+mode.String(), mode.Quantity(), -20, 20)
		a.Position = channel(&l.Outputs, name+"/position", hal.Position, -20, 20)
		a.Velocity = channel(&l.Outputs, name+"/velocity", hal.Velocity, -20, 20)
		l.Actuators = append(l.Actuators, a)
	}
	actuator("left", hal.Wheel, hal.VelocityMode)
	actuator("right", hal.Wheel, hal.VelocityMode)
	for _, name := range []string{"pan", "tilt", "shoulder", "elbow", "claw"} {
		actuator(name, hal.Hinge, hal.PositionMode)
	}
	sensor := func(name, kind string, n int, high float64, mount hal.Pose) {
		first := 0
		for i := range n {
			if at := channel(&l.Outputs, fmt.Sprintf("%s/%d", name, i), hal.Distance, -high, high); i == 0 {
				first = at
			}
		}
		l.Sensors = append(l.Sensors, hal.Sensor{Name: name, Kind: kind, First: first, Count: n, Mount: mount})
	}
	sensor("odometry", "odometry", 3, 100, hal.Pose{})
	sensor("truth", "pose", 13, 100, hal.Pose{})
	sensor("scanner", "range", 5, 8, hal.Pose{Position: [3]float64{0.2, 0, 0.3}})
	sensor("front", "sonar", 1, 5, hal.Pose{Position: [3]float64{0.3, 0.1, 0}})
	sensor("rear", "sonar", 1, 5, hal.Pose{Rotation: [4]float64{0, 0, 0, 1}})
	sensor("bump", "contact", 1, 1, hal.Pose{})
	sensor("supply", "voltage", 1, 24, hal.Pose{})
	sensor("life", "battery", 1, 3600, hal.Pose{})
	sensor("imu", "imu", 10, 100, hal.Pose{})
	l.Cameras = []hal.Camera{{Name: "eye", Width: 4, Height: 2, FieldOfView: 1}}
	l.Outputs[l.Sensors[7].First].Min = 0
	return &rover{layout: l, inputs: make([]float64, len(l.Inputs)), enabled: make([]bool, len(l.Actuators)),
		joints: make([]float64, len(l.Actuators)), at: hal.Pose{Position: [3]float64{1, 2, 0}}}
}

func (b *rover) Layout() *hal.Layout { return b.layout }

func (b *rover) Write(f *hal.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	copy(b.inputs, f.Inputs)
	copy(b.enabled, f.Enable)
	for i := range b.layout.Actuators {
		for mode, at := range b.layout.Actuators[i].Goal {
			if at == hal.None || math.IsNaN(f.Inputs[at]) {
				continue
			}
			if hal.Mode(mode) == hal.VelocityMode {
				b.rate[i] = f.Inputs[at]
			} else {
				b.joints[i] = f.Inputs[at]
			}
		}
		if i < 2 && !f.Enable[i] {
			b.rate[i] = 0
		}
	}
	return nil
}

func (b *rover) Advance(dt time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := dt.Seconds()
	v, w := (b.rate[0]+b.rate[1])*0.1/2, (b.rate[1]-b.rate[0])*0.1/0.5
	b.at.Position[0] += v * s * math.Cos(b.heading)
	b.at.Position[1] += v * s * math.Sin(b.heading)
	b.heading += w * s
	b.at.Rotation = hal.RotationOf([3]float64{0, 0, b.heading})
	return nil
}

func (b *rover) Read(f *hal.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.layout.Actuators {
		a := &b.layout.Actuators[i]
		f.Measured[a.Position], f.Measured[a.Velocity] = b.joints[i], 0
		if i < 2 {
			f.Measured[a.Velocity] = b.rate[i]
		}
	}
	set := func(sensor int, v ...float64) { copy(f.Measured[b.layout.Sensors[sensor].First:], v) }
	p := b.at.Position
	set(0, p[0]-1, p[1]-2, b.heading)
	set(1, append(append(p[:], b.at.Rotation[:]...), 0, 0, 0, 0, 0, 0)...)
	set(2, 1, 2, math.NaN(), 4, 5)
	set(3, 1.5)
	set(4, 2.5)
	set(5, 1)
	set(6, 12.5)
	set(7, 1800)
	set(8, 1, 0, 0, 0, 0.1, 0.2, 0.3, 0, 0, 9.8)
	b.readOther(f, set)
	for i := range f.Status {
		f.Status[i] = hal.Status{Time: f.Time}
	}
	for i := range b.layout.Actuators {
		if b.lost[b.layout.Actuators[i].Name] {
			f.Status[i] = hal.Status{Err: errors.New("no reply")}
		}
	}
	for i := range b.layout.Sensors {
		if b.lost[b.layout.Sensors[i].Name] {
			f.Status[len(b.layout.Actuators)+i] = hal.Status{Err: errors.New("no reply")}
		}
	}
	return nil
}

// readOther measures what a robot that moves in every way does.
func (b *rover) readOther(f *hal.Frame, set func(sensor int, v ...float64)) {
	if !b.other {
		return
	}
	turn := hal.RotationOf([3]float64{0.1, 0.2, 0.3})
	for i := range b.layout.Actuators {
		a := &b.layout.Actuators[i]
		f.Measured[a.Position], f.Measured[a.Velocity] = 0.1*float64(i), 0.5*float64(i+1)
	}
	set(0, 7, 8, 0.5)
	set(1, append(append([]float64{3, 4, 5}, turn[:]...), 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)...)
	set(2, 2, 3, 4, 5, 6)
	set(3, 3.5)
	set(4, 4.5)
	set(5, 0)
	set(6, 11.5)
	set(7, 900)
	set(8, append(turn[:], 0.4, 0.5, 0.6, 1, 2, 3)...)
}

func (b *rover) Halt() error { return nil }

// commands are the inputs of the last cycle.
func (b *rover) commands() (left, right float64, enabled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rate[0], b.rate[1], b.enabled[0] && b.enabled[1]
}

func (b *rover) joint(i int) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.joints[i]
}

func (b *rover) Place(_ string, p hal.Pose) error {
	b.at, b.heading = p, p.RollPitchYaw()[2]
	b.placed++
	return nil
}

func (b *rover) Switch(on bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lit = on
	return nil
}

func (b *rover) Lit() bool { return b.lit }

func (b *rover) Fly(linear, angular [3]float64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flown = [2][3]float64{linear, angular}
	return nil
}

func (b *rover) Go(to hal.Pose) error { return b.Fly(to.Position, [3]float64{}) }

// state is whether the lamp is on, and the last flight.
func (b *rover) state() (lit bool, flown [2][3]float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lit, b.flown
}

// Watch shows one picture for ever.
func (b *rover) Watch(camera int) (hal.ImageStream, error) {
	if camera != 0 {
		return nil, errors.New("no camera")
	}
	return still{}, nil
}

type still struct{}

func (still) Close() {}
func (still) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &hal.Picture{Sequence: after + 1, Width: 4, Height: 2, RGB: make([]byte, 24)}
	p.RGB[0], p.RGB[23] = 1, 255
	return p, nil
}

// stage is a server of a rover.
type stage struct {
	rover  *rover
	robot  *Robot
	rig    *hal.Rig
	agent  *hal.Agent
	server *Server
	pipes  *protocolstest.Pipes
}

type config struct {
	mode     hal.ClockMode
	bodyKind hal.BodyKind
	guard    hal.GuardConfig
	options  Options
	change   func(*Robot)
	period   time.Duration
}

// newStage runs a rig and a server until the test ends.
func newStage(t testing.TB, c config, ln net.Listener) *stage {
	t.Helper()
	s := &stage{rover: newRover()}
	var err error
	var clock hal.Clock = &bubbleClock{time.Now()}
	if ln != nil {
		clock = nil // sockets are no part of a bubble
	}
	if s.rig, err = hal.New(hal.Config{Name: "test", Mode: c.mode, Period: cmp.Or(c.period, period),
		Clock: clock}); err != nil {
		t.Fatal(err)
	}
	if err := s.rover.layout.Validate(); err != nil {
		t.Fatal(err)
	}
	s.rig.AddWorld(s.rover)
	if s.agent, err = s.rig.Add(hal.AgentConfig{Name: "rover", Body: s.rover, World: s.rover, BodyKind: c.bodyKind,
		Guard: c.guard}); err != nil {
		t.Fatal(err)
	}
	limits := [][2]float64{{-2, 2}, {-2, 2}}
	link := func(parent, joint int, x float64) kinematics.Link {
		at := [3]float64{x, 0, 0}
		return kinematics.Link{Parent: parent, Joint: joint, Axis: [3]float64{0, 1, 0}, Anchor: at, Times: 1,
			Home: hal.Pose{Position: at, Rotation: [4]float64{1}}}
	}
	arm, err := kinematics.NewArm(kinematics.Tree{link(hal.None, 0, 0), link(0, 1, 0.3), link(1, hal.None, 0.5)},
		limits)
	if err != nil {
		t.Fatal(err)
	}
	s.robot = &Robot{Agent: s.agent, Size: [3]float64{0.6, 0.5, 0.4},
		Drive:    kinematics.Sides([]int{0}, []int{1}, 0.1, 0.5),
		Scanners: map[int]float64{2: 2}, PTZs: []PTZ{{Pan: 2, Tilt: 3, TiltReversed: true, FieldOfView: 1}},
		Gripper: &Gripper{Actuator: 6, Open: 1, Closed: -1}, Limb: &Arm{Joints: []int{4, 5}, Solver: arm},
		Links:    links(7),
		Switches: []Switch{s.rover}, Cameras: s.rover, Placer: s.rover, Flyer: s.rover, VictimRange: 1.5,
		VictimAngle: 0.5,
		Tags:        func(time.Duration) []Tag { return []Tag{{Number: 7, Text: "7"}} },
		Victims: func(time.Duration) []Tag {
			return []Tag{{Number: 3, Place: hal.Pose{Position: [3]float64{1, 0, 0}}}}
		}}
	if c.change != nil {
		c.change(s.robot)
	}
	if ln == nil {
		s.pipes = protocolstest.NewPipes("player")
		ln = s.pipes
	}
	if s.server, err = NewServer(s.rig, ln, s.robot, c.options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.server.Serve(ctx) })
	running.Go(func() { s.rig.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return s
}

// dial is a client of a stage without sockets.
func (s *stage) dial(t testing.TB) *Client {
	t.Helper()
	c, err := NewClient(s.pipes.Dial())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bubbleClock runs on the clock of a testing/synctest bubble.
type bubbleClock struct{ start time.Time }

func (b *bubbleClock) Now() time.Duration         { return time.Since(b.start) }
func (b *bubbleClock) SleepUntil(t time.Duration) { <-time.After(t - b.Now()) }

// links are axes that point up, 0.3 m from each other.
func links(n int) (list []Link) {
	for i := range n {
		list = append(list, Link{Anchor: [3]float64{0.3 * float64(i)}, Axis: [3]float64{0, 0, 1}})
	}
	return list
}
