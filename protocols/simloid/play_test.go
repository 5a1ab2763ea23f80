package simloid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

const period = 10 * time.Millisecond

// layout is haltest's, with a voltage for each joint except those whose names begin with "servo", an accelerometer, and
// two bodies.
func layout(joints ...string) *hal.Layout {
	l := haltest.Layout(joints...)
	for i, name := range joints {
		if strings.HasPrefix(name, "servo") {
			continue
		}
		l.Actuators[i].Goal[hal.DutyMode] = len(l.Inputs)
		l.Inputs = append(l.Inputs, hal.Channel{Name: name + "/duty", Quantity: hal.Duty, Min: -1, Max: 1})
	}
	sensor := func(name, kind string, q hal.Quantity, axes string) {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: name, Kind: kind, First: len(l.Outputs) + len(l.Infos),
			Count: len(axes)})
		for i := range axes {
			l.Infos = append(l.Infos, hal.Channel{Name: fmt.Sprintf("%s/%s%d", name, axes[i:i+1], i), Quantity: q,
				Min: -100, Max: 100})
		}
	}
	sensor("board", "accelerometer", hal.Acceleration, "xyz")
	sensor("base", "body", hal.Distance, "xyzxyz")
	sensor("lever", "body", hal.Distance, "xyzxyz")
	return l
}

// puppet is a scripted robot that can do all that a world can. A voltage u is a speed of 2u rad/s; a force of 1 N moves
// a body by a millimetre.
type puppet struct {
	*haltest.Body
	lost    error     // the sensors do not answer
	duty    []float64 // NaN: position
	were    []float64
	at      [][3]float64
	gravity float64
	saved   *snapshot
	events  []string
	mu      sync.Mutex // what tests of a running rig read
}

type snapshot struct{ position []float64 }

func newPuppet(l *hal.Layout) *puppet {
	p := &puppet{Body: haltest.NewBodyOf(l), duty: make([]float64, len(l.Actuators)), at: make([][3]float64, 2),
		gravity: gravity}
	p.Reset(0)
	p.events = nil
	return p
}

func (p *puppet) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, fmt.Sprintf(format, args...))
}

func (p *puppet) happened() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.events = nil }()
	return strings.Join(p.events, "; ")
}

func (p *puppet) Write(f *hal.Frame) error {
	l := p.Layout()
	for i := range l.Actuators {
		a := &l.Actuators[i]
		if at := a.Goal[hal.DutyMode]; at != hal.None && !math.IsNaN(f.Inputs[at]) {
			p.duty[i] = f.Inputs[at]
		}
		if !math.IsNaN(f.Inputs[a.Goal[hal.PositionMode]]) {
			p.duty[i] = math.NaN()
		}
	}
	return p.Body.Write(f)
}

func (p *puppet) Advance(dt time.Duration) error {
	p.were = append(p.were[:0], p.Position...)
	if err := p.Body.Advance(dt); err != nil {
		return err
	}
	for i, u := range p.duty {
		if !math.IsNaN(u) {
			p.Position[i] = p.were[i] + 2*u*dt.Seconds()
		}
	}
	return nil
}

func (p *puppet) Read(f *hal.Frame) error {
	if err := p.Body.Read(f); err != nil {
		return err
	}
	l := p.Layout()
	for i, u := range p.duty {
		f.Measured[l.Actuators[i].Velocity] = 0
		if !math.IsNaN(u) {
			f.Measured[l.Actuators[i].Velocity] = 2 * u
		}
	}
	copy(f.Measured[l.Sensors[0].First:], []float64{0, 0, p.gravity})
	for i := range p.at {
		copy(f.Measured[l.Sensors[1+i].First:], p.at[i][:])
		copy(f.Measured[l.Sensors[1+i].First+3:], []float64{0, 0, 0})
	}
	for i := range l.Sensors {
		if s := &f.Status[len(l.Actuators)+i]; p.lost == nil {
			*s = hal.Status{Time: f.Time}
		} else {
			s.Err = p.lost
		}
	}
	return nil
}

func (p *puppet) Reset(seed int64) error {
	p.note("reset")
	for i := range p.duty {
		p.duty[i] = 0
	}
	p.at = [][3]float64{{0, 0, 0.5}, {1, 0, 0.5}}
	return p.Body.Reset(seed)
}

func (p *puppet) Save() error {
	p.note("save")
	p.saved = &snapshot{append([]float64(nil), p.Position...)}
	return nil
}

func (p *puppet) Restore() error {
	p.note("restore")
	if p.saved == nil {
		return errors.New("nothing saved")
	}
	copy(p.Position, p.saved.position)
	return nil
}

func (p *puppet) Push(agent, part string, force [3]float64) error {
	p.note("push %s %s %g", agent, part, force)
	i := 0
	if part == "lever" {
		i = 1
	}
	for k := range force {
		p.at[i][k] += force[k] / 1000
	}
	return nil
}

func (p *puppet) SetGravity(g [3]float64) error {
	p.note("gravity %g", g)
	p.gravity = -g[2]
	return nil
}

func (p *puppet) ZeroClock() error { p.note("clock"); return nil }
func (p *puppet) SetMotor(agent string, v []float64) error {
	p.note("motor %s %g", agent, v)
	return nil
}

func (p *puppet) ToggleFixed(agent, part string) error {
	p.note("fixed %s %s", agent, part)
	return nil
}

func (p *puppet) world() World {
	return World{Scene: p, Gravity: p, Pusher: p, Clock: p, Motors: p, Fixer: p}
}

// stage is a rig with one robot, its server and its clients.
type stage struct {
	ended  chan struct{} // closed when Serve has returned
	t      testing.TB
	rig    *hal.Rig
	body   *puppet
	robot  *Robot
	server *Server
	log    *strings.Builder
	lines  *protocolstest.Pipes
	conns  map[string]net.Conn
}

// config is the settings of a stage.
type config struct {
	Options
	reality  hal.BodyKind
	mode     hal.ClockMode
	guard    hal.GuardConfig
	powerful bool // the world's capabilities are handed in
	period   time.Duration
	joints   []string
}

func newStage(t testing.TB, c config) *stage {
	t.Helper()
	s := &stage{t: t, log: &strings.Builder{}, lines: protocolstest.NewPipes("pipes"), conns: map[string]net.Conn{}}
	c.Log = slog.New(slog.NewTextHandler(s.log, nil))
	s.start(c, s.lines)
	t.Cleanup(func() {
		for _, conn := range s.conns {
			conn.Close()
		}
	})
	return s
}

// start makes all but the clients.
func (s *stage) start(c config, ln net.Listener) {
	s.t.Helper()
	var err error
	if s.rig, err = hal.New(hal.Config{Name: "test", Mode: c.mode, Period: cmp.Or(c.period, period),
		Clock: &bubbleClock{time.Now()}}); err != nil {
		s.t.Fatal(err)
	}
	if c.joints == nil {
		c.joints = []string{"joint0"}
	}
	s.body = newPuppet(layout(c.joints...))
	agent, err := s.rig.Add(hal.AgentConfig{Name: "robot", Body: s.body, World: s.body, BodyKind: c.reality,
		Guard: c.guard})
	if err != nil {
		s.t.Fatal(err)
	}
	s.robot = Describe(agent)
	if c.powerful {
		s.robot.World = s.body.world()
	}
	if s.server, err = NewServer(s.rig, ln, s.robot, c.Options); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.ended = make(chan struct{})
	var served error
	go func() {
		defer close(s.ended)
		served = s.server.Serve(ctx)
	}()
	s.t.Cleanup(func() {
		cancel()
		if <-s.ended; served != nil {
			s.t.Errorf("serve: %v", served)
		}
	})
}

// play runs a transcript. "a> line" sends a line; "a< line" expects a line of one received piece; "a|" expects that the
// server closes; "a." closes the client; "a- text" sends text without a newline. A client connects when it is first
// named.
func (s *stage) play(text string) {
	s.t.Helper()
	var from string
	var frame []string
	check := func() {
		s.t.Helper()
		if frame == nil {
			return
		}
		want := strings.Join(frame, "\n") + "\n"
		if s.server.options.Dialect == Later && len(frame) == 1 && frame[0][0] <= '9' {
			want = frame[0] + " " // a status
		}
		if got := s.receive(from); got != want {
			s.t.Fatalf("%s: got\n%swant\n%s%s", from, got, want, s.log)
		}
		frame = nil
	}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if len(line) < 2 {
			continue
		}
		client, rest := line[:1], strings.TrimPrefix(line[2:], " ")
		if line[1] != '<' || client != from {
			check()
		}
		conn := s.conn(client)
		switch from = client; line[1] {
		case '<':
			frame = append(frame, rest)
		case '>', '-':
			if line[1] == '>' {
				rest += "\n"
			}
			if _, err := conn.Write([]byte(rest)); err != nil {
				s.t.Fatalf("%s: %v\n%s", line, err, s.log)
			}
		case '|':
			if got := s.receive(client); got != "" {
				s.t.Fatalf("%s: got %q, want the end", client, got)
			}
			delete(s.conns, client)
		case '.':
			conn.Close()
			delete(s.conns, client)
		}
	}
	check()
}

func (s *stage) conn(client string) net.Conn {
	s.t.Helper()
	if s.conns[client] == nil {
		s.conns[client] = s.lines.Dial()
	}
	return s.conns[client]
}

// receive returns the bytes of one read, "" at the end.
func (s *stage) receive(client string) string {
	s.t.Helper()
	conn := s.conn(client)
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, 3*maxFrame)
	n, err := conn.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Fatalf("%s: nothing came\n%s", client, s.log)
	}
	return string(b[:n])
}

// runs lets rig's time pass until the test ends.
func runs(t testing.TB, rig *hal.Rig) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- rig.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

// bubbleClock runs on the clock of a testing/synctest bubble.
type bubbleClock struct{ start time.Time }

func (b *bubbleClock) Now() time.Duration         { return time.Since(b.start) }
func (b *bubbleClock) SleepUntil(t time.Duration) { <-time.After(t - b.Now()) }
