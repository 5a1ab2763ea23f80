package gamebots

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

const period = 10 * time.Millisecond

// puppet is a scripted robot: wheels turn at the commanded speed, hinges are at the commanded angle, and the test sets
// the sensors' values.
type puppet struct {
	layout *hal.Layout
	mu     sync.Mutex
	values []float64 // measured
	last   []float64 // the last command of each input
	names  map[string]int
	lost   map[string]bool // devices that answer no more: their values and times stay
	halts  int
	lit    bool
	events []string
	tags   int
}

func newPuppet() *puppet {
	p := &puppet{layout: &hal.Layout{}, names: map[string]int{}, tags: 2}
	l := p.layout
	output := func(name string, q hal.Quantity, low, high float64) int {
		l.Outputs = append(l.Outputs, hal.Channel{Name: name, Quantity: q, Min: low, Max: high})
		return len(l.Outputs) - 1
	}
	actuator := func(name string, kind hal.ActuatorKind, modes ...hal.Mode) {
		a := hal.Actuator{Name: name, Kind: kind, TorqueLimit: hal.None, Voltage: hal.None, Temperature: hal.None,
			Wraps:  kind == hal.Wheel,
			Limits: hal.Limits{MinPosition: -2, MaxPosition: 1, MaxVelocity: 5.385, MaxTorque: 60}}
		for m := range a.Goal {
			a.Goal[m] = hal.None
		}
		for _, m := range modes {
			a.Goal[m] = len(l.Inputs)
			l.Inputs = append(l.Inputs, hal.Channel{Name: name + "/" + m.String(), Quantity: m.Quantity(), Min: -100,
				Max: 100})
		}
		a.Position = output(name+"/position", hal.Position, -100, 100)
		a.Velocity = output(name+"/velocity", hal.Velocity, -100, 100)
		a.Torque = output(name+"/torque", hal.Torque, -100, 100)
		l.Actuators = append(l.Actuators, a)
	}
	for _, name := range []string{"LeftFWheel", "RightFWheel", "LeftRWheel", "RightRWheel"} {
		actuator(name, hal.Wheel, hal.VelocityMode, hal.TorqueMode)
	}
	actuator("steering", hal.Hinge, hal.PositionMode)
	actuator("pan", hal.Hinge, hal.PositionMode, hal.VelocityMode, hal.TorqueMode)
	actuator("tilt", hal.Hinge, hal.PositionMode, hal.VelocityMode)
	sensor := func(name, kind string, n int, high float64, mount hal.Pose) {
		p.names[name] = len(l.Outputs)
		l.Sensors = append(l.Sensors, hal.Sensor{Name: name, Kind: kind, First: len(l.Outputs), Count: n, Mount: mount})
		for i := range n {
			output(fmt.Sprint(name, "/", i), hal.Distance, -1000, high)
		}
	}
	sensor("truth", "pose", 13, 1000, hal.Pose{})
	for i := range 8 {
		sensor(fmt.Sprint("F", i+1), "sonar", 1, 5,
			hal.Pose{Position: [3]float64{0.145, 0.13, 0}, Rotation: attitude([3]float64{0, 0, -1.5708})})
	}
	sensor("IR1", "infrared", 1, 5, hal.Pose{})
	sensor("Scanner1", "range", 5, 20, hal.Pose{})
	sensor("Odometry", "odometry", 3, 1000, hal.Pose{})
	sensor("INU", "inertial", 3, 10, hal.Pose{})
	sensor("ECLeft", "encoder", 1, 1e6, hal.Pose{})
	sensor("ECRight", "encoder", 1, 1e6, hal.Pose{})
	sensor("Front", "contact", 1, 2, hal.Pose{})
	sensor("Left", "contact", 1, 2, hal.Pose{})
	sensor("RFID", "rfid", 1, 100, hal.Pose{})
	sensor("VictRFID", "victim", 1, 100, hal.Pose{})
	sensor("Sound", "sound", 2, 1000, hal.Pose{})
	sensor("Motion", "motion", 1, 2, hal.Pose{})
	l.Cameras = []hal.Camera{{Name: "Camera", Width: 4, Height: 2, FieldOfView: 0.8727,
		Mount: hal.Pose{Position: [3]float64{0.0820, -0.0002, -0.0613}}}}
	p.values = make([]float64, len(l.Outputs))
	p.last = make([]float64, len(l.Inputs))
	hal.FillNaN(p.last)
	p.set("truth", 4.4976, -1.9, -1.8527, 1)
	return p
}

func (p *puppet) set(sensor string, v ...float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	copy(p.values[p.names[sensor]:], v)
}

func (p *puppet) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, fmt.Sprintf(format, args...))
}

// goal returns the last command of an input, by its channel's name; NaN without a command.
func (p *puppet) goal(name string) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.layout.Inputs {
		if p.layout.Inputs[i].Name == name {
			return p.last[i]
		}
	}
	return math.Inf(1)
}

// value returns the measured value of a channel.
func (p *puppet) value(channel int) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.values[channel]
}

func (p *puppet) Layout() *hal.Layout { return p.layout }

func (p *puppet) Write(f *hal.Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	copy(p.last, f.Inputs)
	return nil
}

func (p *puppet) Advance(dt time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.layout.Actuators {
		a := &p.layout.Actuators[i]
		if at := a.Goal[hal.VelocityMode]; at != hal.None && !math.IsNaN(p.last[at]) {
			p.values[a.Position] += p.last[at] * dt.Seconds()
		}
		if at := a.Goal[hal.PositionMode]; at != hal.None && !math.IsNaN(p.last[at]) {
			p.values[a.Position] = p.last[at]
		}
	}
	return nil
}

func (p *puppet) Read(f *hal.Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	copy(f.Outputs, p.values)
	for i := range f.Status {
		name := ""
		if n := len(p.layout.Actuators); i < n {
			name = p.layout.Actuators[i].Name
		} else {
			name = p.layout.Sensors[i-n].Name
		}
		if p.lost[name] {
			f.Status[i].Err = errLost
			continue
		}
		f.Status[i] = hal.Status{Time: f.Time}
	}
	return nil
}

var errLost = errors.New("no reply")

func (p *puppet) Halt() error { p.halts++; return nil }

func (p *puppet) Switch(on bool) error { p.note("light %v", on); p.lit = on; return nil }
func (p *puppet) Lit() bool            { return p.lit }
func (p *puppet) Flip() error          { p.note("flip"); return nil }
func (p *puppet) Zero(sensor int) error {
	p.note("zero %s", p.layout.Sensors[sensor].Name)
	return nil
}
func (p *puppet) Zoom(camera int, fov float64) error { p.note("zoom %g", fov); return nil }
func (p *puppet) Remaining() int                     { return p.tags }
func (p *puppet) Release() error {
	if p.tags == 0 {
		return errors.New("no tags left")
	}
	p.tags--
	return nil
}

// Solve is the solver of an arm without limits: its goal is the sum of all commands.
func (p *puppet) Solve(order Order, rotation, translation [3]float64, joints, goals []float64) error {
	p.note("solve %d %.3g %.3g from %.3g", order, rotation, translation, joints)
	goals[0] = 0.25
	return nil
}

// robot describes the puppet as a P2AT with an arm.
func (p *puppet) robot() *Robot {
	r := &Robot{Class: "P2AT", Interval: time.Second, AbsoluteCamera: true, Left: []int{0, 2}, Right: []int{1, 3},
		Front: []int{4},
		Light: p, Flipper: p, Zeroer: p, Zoomer: p}
	for i := range p.layout.Actuators {
		name := map[string]string{"pan": "CameraPan", "tilt": "CameraTilt",
			"steering": "Steering"}[p.layout.Actuators[i].Name]
		if name == "" {
			name = p.layout.Actuators[i].Name
		}
		r.Joints = append(r.Joints, Joint{Name: name, Actuator: i, Reversed: i >= 4, Steer: hal.None})
	}
	r.Joints[0].Steer, r.Joints[0].SteerReversed = 4, true
	for i, s := range p.layout.Sensors {
		if t := wireTypes[s.Kind]; t != "" {
			r.Sensors = append(r.Sensors, Sensor{Type: t, Name: s.Name, Index: i, TimeStamp: s.Kind == "sonar"})
		}
	}
	for i := range r.Sensors {
		switch s := &r.Sensors[i]; s.Type {
		case "RangeScanner":
			s.Manual, s.Resolution, s.FOV = true, 0.01745, math.Pi
			s.Settings = []Setting{{Name: "MaxRange", Value: 20}, {Name: "bYaw", Word: "True"}}
		case "Sonar":
			s.Settings = []Setting{{Name: "MaxRange", Value: 5}, {Name: "BeamAngle", Value: 0.3491}}
		}
	}
	r.Cameras = []Camera{{Name: "Camera", Mount: "CameraTilt", Default: 0.8727, Min: 0.3491, Max: 2.0944}}
	r.Effecters = []Effecter{{Type: "RFIDReleaser", Name: "Gun", Settings: []Setting{{Name: "NumTags", Value: 10}},
		Releaser: p}}
	up, left := [3]float64{0, 0, 1}, [3]float64{0, 1, 0}
	r.Packages = []Package{
		{Type: "PanTilt", Name: "Cam1", Pose: hal.Pose{Position: [3]float64{0.12, 0, 0.0826}}, Parts: []Part{
			{Name: "CameraBase", Joint: hal.None},
			{Name: "CameraPan", Joint: 5, Axis: up, Pose: hal.Pose{Position: [3]float64{0, 0, -0.028}},
				Mounts: []Mount{{Carries: "CameraTilt", Pose: hal.Pose{Position: [3]float64{0, 0, 0.0719}}}}},
			{Name: "CameraTilt", Parent: "CameraPan", Joint: 6, Axis: left},
		}},
		{Type: "Arm", Name: "Arm1", Solver: p, Parts: []Part{{Name: "Bar", Joint: 4, Axis: left}}},
	}
	r.Size = Size{Dimensions: [3]float64{0.5, 0.49, 0.26}, Mass: 14, WheelRadius: 0.11, Separation: 0.39,
		WheelBase: 0.26}
	return r
}

// town is an arena: it spawns puppets.
type town struct {
	rig     *hal.Rig
	reality hal.BodyKind
	guard   hal.GuardConfig
	change  func(*Robot)
	mu      sync.Mutex
	puppets map[string]*puppet
	robots  map[string]*Robot
	asked   []string
}

func (w *town) Spawn(class, name string, at hal.Pose) (*hal.Agent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, fmt.Sprintf("%s %s %.4g %.4g", class, name, at.Position, at.Rotation))
	p := newPuppet()
	a, err := w.rig.Add(hal.AgentConfig{Name: name, Body: p, World: p, BodyKind: w.reality, Guard: w.guard})
	if err != nil {
		return nil, err
	}
	w.puppets[name] = p
	return a, nil
}

func (w *town) Remove(name string) error { return w.rig.Remove(name) }

func (w *town) describe(class string, a *hal.Agent) (*Robot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.puppets[a.Name()].robot()
	if w.change != nil {
		w.change(r)
	}
	w.robots[a.Name()] = r
	return r, nil
}

func (w *town) puppet(name string) *puppet {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.puppets[name]
}

// stage is a running rig, an arena, a server and its clients.
type stage struct {
	t        testing.TB
	rig      *hal.Rig
	town     *town
	server   *Server
	log      *strings.Builder
	lines    *protocolstest.Pipes
	conns    map[string]net.Conn
	received map[string]*bufio.Reader
}

// config is the settings of a stage.
type config struct {
	Options
	mode    hal.ClockMode
	reality hal.BodyKind
	guard   hal.GuardConfig
	change  func(*Robot)
	arena   func(*Arena)
	period  time.Duration
}

func newStage(t testing.TB, c config, ln net.Listener, clock hal.Clock) *stage {
	t.Helper()
	s := &stage{t: t, log: &strings.Builder{}, conns: map[string]net.Conn{}, received: map[string]*bufio.Reader{}}
	if s.lines, _ = ln.(*protocolstest.Pipes); s.lines != nil {
		c.Log = slog.New(slog.NewTextHandler(s.log, nil))
	}
	var err error
	if s.rig, err = hal.New(hal.Config{Name: "test", Mode: c.mode, Period: cmp.Or(c.period, period),
		Clock: clock}); err != nil {
		t.Fatal(err)
	}
	s.town = &town{rig: s.rig, reality: c.reality, guard: c.guard, change: c.change, puppets: map[string]*puppet{},
		robots: map[string]*Robot{}}
	arena := Arena{Level: "DM-USAR_yellow", Classes: []string{"USARBot.P2AT", "USARBot.P2DX"}, Spawner: s.town,
		Describe: s.town.describe}
	if c.arena != nil {
		c.arena(&arena)
	}
	s.server = NewServer(s.rig, ln, arena, c.Options)
	ctx, cancel := context.WithCancel(context.Background())
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- s.server.Serve(ctx) }()
	go func() { ran <- s.rig.Run(ctx) }()
	t.Cleanup(func() {
		for _, conn := range s.conns {
			conn.Close()
		}
		cancel()
		if err := errors.Join(<-served, <-ran); err != nil {
			t.Errorf("serve and run: %v", err)
		}
	})
	return s
}

// play runs a transcript. "a> line" sends a line, "a< line" expects the next line, "a|" expects that the server closes,
// "a." closes the client, "a- text" sends text without an end. A client connects when it is first named.
func (s *stage) play(text string) {
	s.t.Helper()
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		if len(line) < 2 {
			continue
		}
		client, rest := line[:1], strings.TrimPrefix(line[2:], " ")
		conn := s.conn(client)
		switch line[1] {
		case '<':
			if got := s.receive(client); got != strings.TrimSpace(rest)+"\r\n" {
				s.t.Fatalf("%s: got\n%swant\n%s\n%s", client, got, rest, s.log)
			}
		case '>':
			rest = strings.TrimSpace(rest) + "\r\n"
			fallthrough
		case '-':
			if _, err := conn.Write([]byte(rest)); err != nil {
				s.t.Fatalf("%s: %v\n%s", line, err, s.log)
			}
		case '|':
			if got := s.receive(client); got != "" {
				s.t.Fatalf("%s: got %q, want the end", client, got)
			}
			s.hang(client)
		case '.':
			conn.Close()
			s.hang(client)
		}
	}
}

func (s *stage) hang(client string) {
	delete(s.conns, client)
	delete(s.received, client)
}

func (s *stage) conn(client string) net.Conn {
	s.t.Helper()
	if s.conns[client] == nil {
		s.conns[client] = s.lines.Dial()
		s.received[client] = bufio.NewReader(s.conns[client])
	}
	return s.conns[client]
}

// receive is the next line with its end, "" at the end of the connection.
func (s *stage) receive(client string) string {
	s.t.Helper()
	s.conn(client).SetReadDeadline(time.Now().Add(time.Minute))
	line, err := s.received[client].ReadString('\n')
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		s.t.Fatalf("%s: nothing came\n%s", client, s.log)
	}
	return line
}

// bubbleClock runs on the clock of a testing/synctest bubble.
type bubbleClock struct{ start time.Time }

func (b *bubbleClock) Now() time.Duration         { return time.Since(b.start) }
func (b *bubbleClock) SleepUntil(t time.Duration) { <-time.After(t - b.Now()) }
