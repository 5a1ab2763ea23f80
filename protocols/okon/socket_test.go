package okon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

func newReader(r io.Reader) *bufio.Reader { return bufio.NewReader(r) }

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func socketStage(t testing.TB, c config) *stage {
	t.Helper()
	s := &stage{t: t, log: &journal{}}
	c.Log = slog.New(slog.NewTextHandler(s.log, nil))
	s.start(c, listen(t), nil)
	return s
}

// newSettingsServer is a server whose settings can be set without clients.
func newSettingsServer(t testing.TB) *Server {
	rig, err := hal.New(hal.Config{Period: period})
	if err != nil {
		t.Fatal(err)
	}
	body := newRover()
	agent, err := rig.Add(hal.AgentConfig{Name: "okon", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	pilot, err := autopilot.New(agent.Layout(), autopilot.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(rig, protocolstest.NewPipes("pipes"), &Robot{Agent: agent, Pilot: pilot, Placer: body,
		Pictures: NewPictures(&theatre{}, FindViews(&hal.Layout{}), PictureOptions{})}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dialed(t testing.TB, s *stage) *Client {
	t.Helper()
	c, err := Dial(s.server.Address().String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSocket: every call of the client over a real socket, with a video channel open, and no goroutine left.
func TestSocket(t *testing.T) {
	was := runtime.NumGoroutine()
	t.Run("session", func(t *testing.T) {
		for _, o := range []Options{{}, {AngularAccel: true, BareIDs: true, RawHits: true}} {
			everyCall(t, o)
		}
	})
	for i := 0; runtime.NumGoroutine() > was && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > was {
		t.Errorf("goroutines: got %d, want %d", n, was)
	}
}

func everyCall(t *testing.T, o Options) {
	s := socketStage(t, config{Options: o})
	video := NewVideoServer(listen(t), s.pictures, Options{})
	serve(t, video.Serve)
	c := dialed(t, s)
	defer c.Close()
	s.body.action[1].ID = "AP2"
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	same := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: got %+v, want %+v", what, got, want)
		}
	}
	ok(c.SetMode("manual"))
	mode, err := c.Mode()
	ok(err)
	same("mode", mode, "manual")
	ok(c.Arm())
	ok(c.SetMotors(Motors{FRV: 0.5}))
	motors, err := c.Motors()
	ok(err)
	same("motors", motors, Motors{FRV: 0.5})
	ok(c.Disarm())

	stable, acro := Stable{Rot: Vector{1, 2, 3}, Depth: 2}, Acro{Vel: Vector{0, 0, 1}}
	ok(c.SetStable(stable))
	ok(c.SetAcro(acro))
	gotStable, err := c.Stable()
	ok(err)
	same("stable", gotStable, stable)
	gotAcro, err := c.Acro()
	ok(err)
	same("acro", gotAcro, acro)
	pids, err := c.PIDs()
	ok(err)
	same("yaw", pids.Yaw, PID{0.3, 0, 0.04, 1, 1, 0.5})
	pids.Yaw.Limit = -1
	var refusal *Refusal
	if err := c.SetPIDs(pids); !errors.As(err, &refusal) ||
		refusal.Info != "SET_PID: yaw.limit: got -1, want 0..1e+06" {
		t.Errorf("a bad gain: got %v", err)
	}
	pids.Yaw.Limit = 1
	ok(c.SetPIDs(pids))

	place := Orientation{Rot: Vector{0, 90, 0}, Pos: Vector{1, -2, 3}}
	ok(c.SetOrientation(place))
	for range 100_000 { // it is measured a cycle later
		if got, err := c.Orientation(); err != nil || got == place {
			break
		}
	}
	got, err := c.Orientation()
	ok(err)
	same("orientation", got, place)
	sensors, err := c.Sensors()
	ok(err)
	same("sensors", []any{sensors.Rot, sensors.Baro.Pressure, sensors.RotAccel == sensors.AngularAccel},
		[]any{place.Rot, 19600, true})

	ping, err := c.Ping([]byte("p"))
	ok(err)
	same("ping", string(ping), "p")
	points, err := c.Checkpoints()
	ok(err)
	same("checkpoints", points, s.body.points)
	ids, err := c.ActionPoints()
	ok(err)
	same("action points", ids, []string{"AP1", "AP2"})
	in, err := c.InAction("AP1")
	ok(err)
	same("in AP1", in, true)
	ok(c.SetQuality(90))
	quality, err := c.Quality()
	ok(err)
	same("quality", quality, 90)
	detections, err := c.Detections()
	ok(err)
	same("detections", len(detections), 0)
	for _, kind := range []Type{GetVideo, GetVideoBytes, GetDepth, GetDepthBytes} {
		b, err := c.Picture(kind)
		ok(err)
		decoded(t, b)
	}
	ok(c.Reset())
	s.body.hit(Hit{ID: "NGZ1"}, Hit{true, "FZ1"})
	var events []Event
	for i := 0; i < 1e5 && len(events) < 3; i++ {
		_, err = c.Ping(nil)
		ok(err)
		events = append(events, c.Events()...)
	}
	if !slices.Equal(events, []Event{{Type: ResetSim}, {HitNoGo, "NGZ1"}, {HitFinish, "FZ1"}}) {
		t.Errorf("events: got %v", events)
	}

	v, err := DialVideo(video.Address().String(), 0)
	ok(err)
	defer v.Close()
	for range 2 {
		b, err := v.Next()
		ok(err)
		decoded(t, b)
	}
}

// TestClientErrors: servers that are not there, say nothing, or speak otherwise.
func TestClientErrors(t *testing.T) {
	for _, k := range []struct {
		sent []byte
		want hal.Kind
	}{
		{nil, hal.Timeout}, {Append(nil, Packet{Type: GetSensors, Data: []byte("{")}), hal.Unexpected},
		{appendHeader(nil, GetSensors, 0, -5), hal.Unexpected}, {[]byte{0xff}, hal.Unexpected},
	} {
		near, far := net.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			io.ReadFull(far, make([]byte, headerSize))
			far.Write(k.sent)
		})
		c := NewClient(near, 50*time.Millisecond)
		if _, err := c.Sensors(); hal.KindOf(err) != k.want || err == nil {
			t.Errorf("%x: got %v, want %v", k.sent, err, k.want)
		}
		c.Close()
		far.Close()
		wg.Wait()
	}
	if _, err := Dial("127.0.0.1:1", time.Second); hal.KindOf(err) != hal.Absent {
		t.Errorf("no server: got %v, want absent", err)
	}
	if _, err := DialVideo("127.0.0.1:1", time.Second); hal.KindOf(err) != hal.Absent {
		t.Errorf("no server: got %v, want absent", err)
	}
}

func TestServerRefused(t *testing.T) {
	rig, _ := hal.New(hal.Config{Period: period})
	body := newRover()
	agent, err := rig.Add(hal.AgentConfig{Name: "okon", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Robot{{}, {Agent: agent}} {
		if _, err := NewServer(rig, protocolstest.NewPipes("pipes"), r, Options{}); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v, want invalid", r, err)
		}
	}
}

// exchange is one GET_SENS over conn, written and read without a client's comforts.
func exchange(b testing.TB, conn net.Conn, ask []byte, r *packets) {
	if _, err := conn.Write(ask); err != nil {
		b.Error(err)
	}
	for p := (Packet{}); p.Type != GetSensors; {
		if err := r.next(&p); err != nil {
			b.Error(err)
			return
		}
	}
}

// TestSensorsDoNotAllocate counts client, server and rig together.
func TestSensorsDoNotAllocate(t *testing.T) {
	s := socketStage(t, config{still: true, Options: Options{Heartbeat: time.Hour}})
	c := dialed(t, s)
	defer c.Close()
	ask := Append(nil, Packet{GetSensors, DoNotLog, nil})
	trip := func() { exchange(t, c.conn, ask, &c.in) }
	trip()
	if n := testing.AllocsPerRun(1000, trip); n != 0 {
		t.Errorf("got %v allocations a round trip, want 0", n)
	}
}

// together makes n round trips, shared by the clients, and returns how long that took.
func together(n int, trips []func()) time.Duration {
	var wg sync.WaitGroup
	start := time.Now()
	for i, trip := range trips {
		wg.Go(func() {
			for range (n + i) / len(trips) {
				trip()
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// BenchmarkSensors is GET_SENS round trips over real sockets while the rig runs. Its bound is the bare round trip of
// the same sizes by as many clients, measured in the same run, in turns with it.
func BenchmarkSensors(b *testing.B) {
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("%d clients", clients), func(b *testing.B) {
			s := socketStage(b, config{})
			s.rig.BetweenCycles(func() {
				s.body.pose = hal.Pose{Position: [3]float64{1.2345, -6.789, -3.21},
					Rotation: attitude(Vector{12.3, 45.6, 7.89})}
				s.body.rates, s.body.accel = [3]float64{0.123, 0.0456, -0.789}, [3]float64{0.1, 0.2, 9.7}
			})
			ask := Append(nil, Packet{GetSensors, DoNotLog, nil})
			var trips, bare []func()
			size := 0
			for range clients {
				c := dialed(b, s)
				b.Cleanup(func() { c.Close() })
				for still := range 1_000_000 { // until what was set is measured and at rest
					answer, err := c.Ask(GetSensors, 0, nil)
					if size = headerSize + len(answer); err != nil || size > 150 && still > 5000 {
						break
					}
				}
				c.conn.SetDeadline(time.Time{})
				trips = append(trips, func() { exchange(b, c.conn, ask, &c.in) })
			}
			for range clients {
				bare = append(bare, protocolstest.BareTCP(b, len(ask), size))
			}
			together(1000, trips)
			together(1000, bare)
			var ours, theirs time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for rest, turn := b.N, 0; rest > 0; rest -= turn {
				turn = min(rest, 2000)
				ours += together(turn, trips)
				b.StopTimer()
				theirs += together(turn, bare)
				b.StartTimer()
			}
			rate, bound := float64(b.N)/ours.Seconds(), float64(b.N)/theirs.Seconds()
			b.ReportMetric(rate, "trips/s")
			b.ReportMetric(bound, "bound/s")
			b.ReportMetric(rate/bound, "ratio")
			b.ReportMetric(float64(size), "answer-B")
		})
	}
}

// BenchmarkAnswer is the server's part of GET_SENS that is not the network's.
func BenchmarkAnswer(b *testing.B) {
	s := newSettingsServer(b)
	measured, out := s.robot.Agent.Measured(nil), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		measured = s.robot.Agent.Measured(measured)
		e := s.robot.Pilot.Estimate(measured)
		sensors := sensorsOf(&e)
		out = appendSensors(out[:0], &sensors, false)
	}
}

// BenchmarkJPEG is a picture of the original's size, compressed once for all viewers.
func BenchmarkJPEG(b *testing.B) {
	p := &hal.Picture{Width: 640, Height: 360, RGB: make([]byte, 3*640*360)}
	for i := range p.RGB {
		p.RGB[i] = byte(i / 700)
	}
	var e encoder
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.encode(p, 30, 20); err != nil {
			b.Fatal(err)
		}
	}
}
