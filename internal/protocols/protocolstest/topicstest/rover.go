// Package topicstest is a robot for tests of the protocols that serve topics: a rover with two wheels, a head of one
// joint, a sensor of each kind and a camera, run by a rig of its own.
package topicstest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// Period is the rover's cycle.
const Period = 20 * time.Millisecond

// The rover's actuators and sensors, by their index.
const (
	Left = iota
	Right
	Head
	Odometry = iota - 3
	IMU
	Scanner
	Sonar
)

// Rover is a body whose wheels, of 0.1 m and 0.5 m apart, roll without slip and whose head is where it is commanded to
// be. It is at its odometry's zero, level, 1.5 m before a wall that its sonar sees.
type Rover struct {
	layout *hal.Layout

	mu      sync.Mutex
	rate    [2]float64 // rad/s
	head, x float64
	silent  map[string]bool
	enabled bool
	every   int // cycles between scans
	cycles  int
	scanned time.Duration
}

// NewRover returns a rover at rest.
func NewRover() *Rover {
	l := &hal.Layout{}
	channel := func(list *[]hal.Channel, name string, q hal.Quantity, most float64) int {
		*list = append(*list, hal.Channel{Name: name, Quantity: q, Min: -most, Max: most})
		return len(*list) - 1
	}
	for _, name := range []string{"left", "right", "head"} {
		a := hal.Actuator{Name: name, Kind: hal.Wheel, Goal: [hal.NumModes]int{hal.None, hal.None, hal.None, hal.None},
			TorqueLimit: hal.None,
			Torque:      hal.None, Voltage: hal.None, Temperature: hal.None, Wraps: true,
			Limits: hal.Limits{MinPosition: -2, MaxPosition: 2, MaxVelocity: 20, MaxTorque: 1}}
		mode := hal.VelocityMode
		if name == "head" {
			a.Kind, a.Wraps, mode = hal.Hinge, false, hal.PositionMode
		}
		a.Goal[mode] = channel(&l.Inputs, name+"/"+mode.String(), mode.Quantity(), 20)
		a.Position = channel(&l.Outputs, name+"/position", hal.Position, 20)
		a.Velocity = channel(&l.Outputs, name+"/velocity", hal.Velocity, 20)
		l.Actuators = append(l.Actuators, a)
	}
	for _, s := range []struct {
		name, kind string
		n          int
		most       float64
	}{{"odometry", "odometry", 3, 100}, {"imu", "imu", 10, 100}, {"scanner", "range", 5, 8}, {"front", "sonar", 1, 5}} {
		sensor := hal.Sensor{Name: s.name, Kind: s.kind, Count: s.n, First: len(l.Outputs),
			Mount: hal.Pose{Position: [3]float64{0.2, 0, 0}}}
		for i := range s.n {
			channel(&l.Outputs, fmt.Sprintf("%s/%d", s.name, i), hal.Distance, s.most)
		}
		l.Sensors = append(l.Sensors, sensor)
	}
	l.Cameras = []hal.Camera{{Name: "eye", Width: 4, Height: 2, FieldOfView: 1}}
	return &Rover{layout: l}
}

// Layout implements hal.Body.
func (b *Rover) Layout() *hal.Layout { return b.layout }

// Write implements hal.Body.
func (b *Rover) Write(f *hal.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enabled = f.Enable[Left] && f.Enable[Right]
	for i := range b.rate {
		if v := f.Inputs[b.layout.Actuators[i].Goal[hal.VelocityMode]]; !math.IsNaN(v) {
			b.rate[i] = v
		}
		if !f.Enable[i] {
			b.rate[i] = 0
		}
	}
	if v := f.Inputs[b.layout.Actuators[Head].Goal[hal.PositionMode]]; !math.IsNaN(v) {
		b.head = v
	}
	return nil
}

// Advance implements hal.World.
func (b *Rover) Advance(dt time.Duration) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.x += (b.rate[Left] + b.rate[Right]) / 2 * 0.1 * dt.Seconds()
	return nil
}

// Read implements hal.Body.
func (b *Rover) Read(f *hal.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.layout.Actuators {
		a := &b.layout.Actuators[i]
		f.Measured[a.Position], f.Measured[a.Velocity] = 0, 0
		if i == Head {
			f.Measured[a.Position] = b.head
		} else {
			f.Measured[a.Velocity] = b.rate[i]
		}
	}
	set := func(sensor int, v ...float64) { copy(f.Measured[b.layout.Sensors[sensor].First:], v) }
	set(Odometry, b.x, 0, 0)
	set(IMU, 1, 0, 0, 0, 0.1, 0.2, 0.3, 0, 0, 9.8)
	set(Scanner, 1, 2, math.NaN(), 4, 8)
	set(Sonar, 1.5-b.x)
	for i := range f.Status {
		f.Status[i] = hal.Status{Time: f.Time}
	}
	if b.cycles%max(1, b.every) == 0 {
		b.scanned = f.Time
	}
	b.cycles++
	f.Status[len(b.layout.Actuators)+Scanner].Time = b.scanned
	lose := func(i int, name string) {
		if b.silent[name] {
			f.Status[i] = hal.Status{Err: errors.New("no reply")}
		}
	}
	for i := range b.layout.Actuators {
		lose(i, b.layout.Actuators[i].Name)
	}
	for i := range b.layout.Sensors {
		lose(len(b.layout.Actuators)+i, b.layout.Sensors[i].Name)
	}
	return nil
}

// Halt implements hal.Body.
func (b *Rover) Halt() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rate = [2]float64{}
	return nil
}

// Wheels are the rates of its wheels, rad/s.
func (b *Rover) Wheels() (left, right float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rate[Left], b.rate[Right]
}

// Looks is the position of its head, rad.
func (b *Rover) Looks() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.head
}

// Silence makes devices lost: they have not answered since the rig began.
func (b *Rover) Silence(names ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.silent = map[string]bool{}
	for _, name := range names {
		b.silent[name] = true
	}
}

// Watch implements hal.CameraSource with one picture for ever.
func (b *Rover) Watch(int) (hal.ImageStream, error) { return still{}, nil }

type still struct{}

func (still) Close() {}
func (still) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	p := &hal.Picture{Sequence: after + 1, Width: 4, Height: 2, RGB: make([]byte, 24)}
	p.RGB[0], p.RGB[23] = 1, 255
	return p, ctx.Err()
}

// Server is a protocol's server of a rover.
type Server interface {
	Serve(ctx context.Context) error
}

// Stage is a rover and the server that a test makes for it.
type Stage struct {
	Rover *Rover
	Rig   *hal.Rig
	Agent *hal.Agent
	Robot *topics.Robot
	Pipes *protocolstest.Pipes // the server's listener, where it has no socket
}

// Config is what tests change.
type Config struct {
	Mode     hal.ClockMode
	BodyKind hal.BodyKind
	Guard    hal.GuardConfig
	Listener net.Listener // nil: Pipes, in a testing/synctest bubble
	// ScanEvery is how many cycles a scan takes; 0: one.
	ScanEvery int
}

// New runs a rig with a rover, and the server that serve makes, until the test ends.
func New(t testing.TB, c Config, serve func(net.Listener, *topics.Robot) (Server, error)) *Stage {
	t.Helper()
	s := &Stage{Rover: NewRover(), Pipes: protocolstest.NewPipes("rover")}
	clock := hal.Clock(bubbleClock{time.Now()})
	ln := net.Listener(s.Pipes)
	s.Rover.every = c.ScanEvery
	if c.Listener != nil {
		clock, ln = nil, c.Listener
	}
	var err error
	if s.Rig, err = hal.New(hal.Config{Name: "test", Mode: c.Mode, Period: Period, Clock: clock}); err != nil {
		t.Fatal(err)
	}
	s.Rig.AddWorld(s.Rover)
	if s.Agent, err = s.Rig.Add(hal.AgentConfig{Name: "rover", Body: s.Rover, World: s.Rover, BodyKind: c.BodyKind,
		Guard: c.Guard}); err != nil {
		t.Fatal(err)
	}
	s.Robot = &topics.Robot{Rig: s.Rig, Agent: s.Agent, Cameras: s.Rover, Scanners: map[int]float64{Scanner: 2},
		Drive: kinematics.Sides([]int{Left}, []int{Right}, 0.1, 0.5),
		Tree: kinematics.Tree{
			{Name: "chassis", Parent: hal.None, Joint: hal.None, Home: hal.Pose{Rotation: [4]float64{1}}},
			{Name: "neck", Parent: 0, Joint: Head, Axis: [3]float64{0, 0, 1}, Times: 1,
				Home: hal.Pose{Position: [3]float64{0, 0, 0.5}, Rotation: [4]float64{1}}},
		},
		CameraLinks: map[int]int{0: 1}}
	server, err := serve(ln, s.Robot)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { server.Serve(ctx) })
	running.Go(func() { s.Rig.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return s
}

// HTTP is a client whose connections go to the stage's Pipes.
func (s *Stage) HTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return s.Pipes.Dial(), nil }}}
}

// bubbleClock runs on the clock of a testing/synctest bubble.
type bubbleClock struct{ start time.Time }

func (b bubbleClock) Now() time.Duration         { return time.Since(b.start) }
func (b bubbleClock) SleepUntil(t time.Duration) { <-time.After(t - b.Now()) }
