package okon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

const period = 20 * time.Millisecond

// layout is a robot of Okon's thrusters and sensors with two cameras.
func layout() *hal.Layout {
	l := &hal.Layout{Cameras: []hal.Camera{{Name: "front", Width: 32, Height: 16},
		{Name: "front_depth", Width: 8, Height: 4}}}
	for i, name := range autopilot.OkonThrusters() {
		l.Inputs = append(l.Inputs, hal.Channel{Name: name + "/duty", Quantity: hal.Duty, Min: -1, Max: 1})
		l.Actuators = append(l.Actuators, hal.Actuator{Name: name, Kind: hal.Thruster,
			Goal: [hal.NumModes]int{hal.None, hal.None, hal.None, i}, TorqueLimit: hal.None, Position: hal.None,
			Velocity: hal.None, Torque: hal.None, Voltage: hal.None, Temperature: hal.None,
			Limits: hal.Limits{MaxVelocity: 1, MaxTorque: 1}})
	}
	for _, s := range []struct {
		kind  string
		count int
	}{{"imu", 10}, {"pressure", 1}, {"pose", 13}} {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: s.kind, Kind: s.kind, First: len(l.Outputs), Count: s.count})
		for i := range s.count {
			l.Outputs = append(l.Outputs, hal.Channel{Name: s.kind + "/" + strconv.Itoa(i), Min: -1e9, Max: 1e9})
		}
	}
	return l
}

// rover is a scripted robot in a scripted course. It stays where it is placed; only its first vertical thruster moves
// it, up by 1 m/s at full duty.
type rover struct {
	*haltest.Body
	mu     sync.Mutex // guards the fields that tests of a running rig use
	pose   hal.Pose
	rates  [3]float64 // about the world's axes
	accel  [3]float64 // along the body's, with gravity
	points []Checkpoint
	action []ActionPoint
	hits   []Hit
	events []string
	broken error
	lost   map[string]error // sensors that do not answer
	drive  hal.Drive        // of the thrusters
}

func newRover() *rover {
	return &rover{Body: haltest.NewBodyOf(layout()), pose: hal.Pose{Rotation: [4]float64{1}},
		accel:  [3]float64{0, 0, 9.81},
		points: []Checkpoint{{"chk1", true}, {"chk2", false}}, action: []ActionPoint{{"AP1", true}, {`A"2`, false}}}
}

func (r *rover) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, fmt.Sprintf(format, args...))
}

func (r *rover) happened() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.events = nil }()
	return strings.Join(r.events, "; ")
}

func (r *rover) Advance(dt time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Enabled[4] && !math.IsNaN(r.Last[4]) {
		r.pose.Position[2] += r.Last[4] * dt.Seconds()
	}
	return nil
}

func (r *rover) Read(f *hal.Frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	rates := r.pose.Inverse().Turn(r.rates)
	copy(f.Measured, r.pose.Rotation[:])
	copy(f.Measured[4:], rates[:])
	copy(f.Measured[7:], r.accel[:])
	f.Measured[10] = -9800 * r.pose.Position[2]
	copy(f.Measured[11:], r.pose.Position[:])
	copy(f.Measured[14:], r.pose.Rotation[:])
	copy(f.Measured[18:], []float64{0, 0, 0, r.rates[0], r.rates[1], r.rates[2]})
	for i, s := range r.Layout().Sensors {
		if f.Status[len(r.Layout().Actuators)+i].Err = r.lost[s.Name]; r.lost[s.Name] == nil {
			f.Status[len(r.Layout().Actuators)+i].Time = f.Time
		}
	}
	err := r.Body.Read(f)
	for i := range r.Layout().Actuators {
		f.Status[i].Drive = r.drive
	}
	return err
}

func (r *rover) Checkpoints(dst []Checkpoint) []Checkpoint    { return append(dst[:0], r.points...) }
func (r *rover) ActionPoints(dst []ActionPoint) []ActionPoint { return append(dst[:0], r.action...) }
func (r *rover) Clear()                                       { r.note("clear") }
func (r *rover) Restart() error                               { r.note("restart"); return r.broken }
func (r *rover) Hits(dst []Hit) []Hit {
	r.mu.Lock()
	defer r.mu.Unlock()
	dst, r.hits = append(dst[:0], r.hits...), nil
	return dst
}

func (r *rover) hit(h ...Hit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hits = append(r.hits, h...)
}

func (r *rover) Place(agent string, p hal.Pose) error {
	r.note("place %s %.2f %.2f", agent, p.Position, p.Rotation)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pose = p
	return r.broken
}

// stage is a rig with one robot, its servers and their clients.
type stage struct {
	t        testing.TB
	rig      *hal.Rig
	body     *rover
	agent    *hal.Agent
	pilot    *autopilot.Pilot
	theatre  *theatre
	pictures *pictures
	server   *Server
	log      *journal
	lines    *protocolstest.Pipes
	conns    map[string]net.Conn
}

// config is the settings of a stage.
type config struct {
	Options
	reality  hal.BodyKind
	lockstep bool
	guard    hal.GuardConfig
	bare     bool // no course, no placer, no pictures
	still    bool // time does not pass
	debug    bool // the log has every packet
}

func newStage(t testing.TB, c config) *stage {
	t.Helper()
	s := &stage{t: t, log: &journal{}, lines: protocolstest.NewPipes("pipes"), conns: map[string]net.Conn{}}
	level := slog.LevelInfo
	if c.debug {
		level = slog.LevelDebug
	}
	c.Log = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: level}))
	s.start(c, s.lines, &bubbleClock{time.Now()})
	t.Cleanup(func() {
		for _, conn := range s.conns {
			conn.Close()
		}
	})
	return s
}

// start makes all but the clients.
func (s *stage) start(c config, ln net.Listener, clock hal.Clock) {
	s.t.Helper()
	check := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	mode := hal.Realtime
	if c.lockstep {
		mode = hal.Lockstep
	}
	var err error
	s.rig, err = hal.New(hal.Config{Name: "test", Mode: mode, Period: period, Clock: clock})
	check(err)
	s.body = newRover()
	s.agent, err = s.rig.Add(hal.AgentConfig{Name: "okon", Body: s.body, World: s.body, BodyKind: c.reality,
		Guard: c.guard})
	check(err)
	s.pilot, err = autopilot.New(s.agent.Layout(), autopilot.Config{})
	check(err)
	s.theatre = &theatre{start: time.Now()}
	robot := &Robot{Agent: s.agent, Pilot: s.pilot}
	if !c.bare {
		s.pictures = NewPictures(s.theatre, FindViews(s.agent.Layout()), PictureOptions{})
		robot.Course, robot.Placer, robot.Pictures = s.body, s.body, s.pictures
		s.t.Cleanup(s.pictures.Close)
	}
	s.server, err = NewServer(s.rig, ln, robot, c.Options)
	check(err)
	serve(s.t, s.server.Serve)
	if !c.still {
		serve(s.t, s.rig.Run)
	}
}

// serve runs f until the test ends.
func serve(t testing.TB, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

// play runs a transcript. "a> TYPE flag data" sends a packet; "a< TYPE flag data" is the next that arrives; "a|"
// reports that the server closes; "a." that the client does; "a~ 3s" waits. A client connects when it is first named;
// the server sends no greeting. "..." in an expected line matches anything.
func (s *stage) play(text string) {
	s.t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if len(line) < 2 || line[0] == '#' {
			continue
		}
		client, op, rest := line[:1], line[1], strings.TrimSpace(line[2:])
		conn := s.conn(client)
		switch op {
		case '>':
			if _, err := conn.Write(Append(nil, parsePacket(s.t, rest))); err != nil {
				s.t.Fatalf("%s: %v\n%s", line, err, s.log)
			}
		case '<':
			want := parsePacket(s.t, rest)
			got := s.receive(client)
			head, tail, open := strings.Cut(string(want.Data), "...")
			text := string(got.Data)
			same := text == string(want.Data) || open && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail)
			if got.Type != want.Type || got.Flag != want.Flag || !same {
				s.t.Fatalf("%s: got\n%v %d %s\nwant\n%s\n%s", client, got.Type, got.Flag, got.Data, rest, s.log)
			}
		case '|':
			conn.SetReadDeadline(time.Now().Add(time.Minute))
			if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
				s.t.Fatalf("%s: got %d bytes, %v, want the end\n%s", client, n, err, s.log)
			}
			delete(s.conns, client)
		case '.':
			conn.Close()
			delete(s.conns, client)
		case '~':
			d, err := time.ParseDuration(rest)
			if err != nil {
				s.t.Fatal(err)
			}
			<-time.After(d)
		default:
			s.t.Fatalf("%s: no such step", line)
		}
	}
}

func parsePacket(t testing.TB, text string) (p Packet) {
	t.Helper()
	fields := strings.SplitN(text, " ", 3)
	found := false
	for i := range typeNames {
		if Type(i).String() == fields[0] {
			p.Type, found = Type(i), true
		}
	}
	flag, err := strconv.Atoi(fields[1])
	if !found || err != nil {
		t.Fatalf("transcript: %q is no packet", text)
	}
	p.Flag = Flag(flag)
	if len(fields) > 2 {
		p.Data = []byte(fields[2])
	}
	return p
}

func (s *stage) conn(client string) net.Conn {
	s.t.Helper()
	if s.conns[client] == nil {
		s.conns[client] = dialAs(s.lines, client)
	}
	return s.conns[client]
}

// receive is the next packet.
func (s *stage) receive(client string) (p Packet) {
	s.t.Helper()
	conn := s.conn(client)
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	header := make([]byte, headerSize)
	if _, err := io.ReadFull(conn, header); err != nil {
		s.t.Fatalf("%s: no packet: %v\n%s", client, err, s.log)
	}
	n := int(header[2]) | int(header[3])<<8 | int(header[4])<<16
	b := append(header, make([]byte, n)...)
	if _, err := io.ReadFull(conn, b[headerSize:]); err != nil {
		s.t.Fatalf("%s: half a packet: %v\n%s", client, err, s.log)
	}
	if taken, err := decode(b, maxReply, &p); taken != len(b) || err != nil {
		s.t.Fatalf("%s: %x: took %d, %v", client, b, taken, err)
	}
	return p
}

// theatre is a watcher whose cameras produce a picture every 50 ms.
type theatre struct {
	start   time.Time
	mu      sync.Mutex
	opened  int // watches that are open
	rounds  int // pictures produced
	held    int // pictures that are not released
	sights  []hal.Detection
	stopped bool // no more pictures
	lost    error
}

const exposure = 50 * time.Millisecond

func (t *theatre) Watch(camera int) (hal.ImageStream, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opened++
	return &seat{t, camera}, nil
}

func (t *theatre) counts() (opened, rounds, held int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened, t.rounds, t.held
}

type seat struct {
	theatre *theatre
	camera  int
}

func (s *seat) Close() {
	s.theatre.mu.Lock()
	defer s.theatre.mu.Unlock()
	s.theatre.opened--
}

func (s *seat) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	t := s.theatre
	for {
		t.mu.Lock()
		stopped, lost := t.stopped, t.lost
		t.mu.Unlock()
		if lost != nil {
			return nil, lost
		}
		since := time.Since(t.start)
		if n := uint64(since/exposure) + 1; n > after && !stopped {
			return t.expose(s.camera, n), nil
		}
		select {
		case <-time.After(exposure - since%exposure):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (t *theatre) expose(camera int, n uint64) *hal.Picture {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rounds++
	t.held++
	p := &hal.Picture{Sequence: n, Width: 32, Height: 16, RGB: make([]byte, 3*32*16), Detections: t.sights}
	if camera == 1 {
		p = &hal.Picture{Sequence: n, Width: 8, Height: 4, Depth: make([]float32, 32)}
	}
	for i := range p.RGB {
		p.RGB[i] = byte(n)
	}
	p.Free = func(*hal.Picture) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.held--
	}
	return p
}

// dialAs connects a client whose address prints as client.
func dialAs(p *protocolstest.Pipes, client string) net.Conn {
	near, far := net.Pipe()
	p.Offer(named{far, name(client)})
	return near
}

type named struct {
	net.Conn
	name name
}

func (n named) RemoteAddr() net.Addr { return n.name }

type name string

func (n name) Network() string { return "pipe" }
func (n name) String() string  { return string(n) }

// journal is a log that several goroutines write.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// bubbleClock runs on the clock of a testing/synctest bubble.
type bubbleClock struct{ start time.Time }

func (b *bubbleClock) Now() time.Duration         { return time.Since(b.start) }
func (b *bubbleClock) SleepUntil(t time.Duration) { <-time.After(t - b.Now()) }
