package gamebots

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

func dial(t testing.TB, s *stage) *Client {
	t.Helper()
	c, err := Dial(s.server.Address().String(), ClientOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t testing.TB, c *Client, format string, args ...any) {
	t.Helper()
	if err := c.Send(format, args...); err != nil {
		t.Fatal(err)
	}
}

func wait(t testing.TB, c *Client, kind string, pairs ...string) *Message {
	t.Helper()
	m, err := c.Wait(kind, pairs...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSocket: sixteen robots at a time over real sockets, and no goroutine left.
func TestSocket(t *testing.T) {
	was := runtime.NumGoroutine()
	t.Run("clients", func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime, change: func(r *Robot) { r.Interval = 20 * time.Millisecond }},
			listen(t), nil)
		var all sync.WaitGroup
		for i := range DefaultConnections {
			all.Go(func() {
				c := dial(t, s)
				defer c.Close()
				wait(t, c, "NFO", "Level", "DM-USAR_yellow")
				if err := c.Init("USARBot.P2AT", fmt.Sprint("R", i), [3]float64{4.5, 1.9, 1.8},
					[3]float64{}); err != nil {
					t.Error(err)
					return
				}
				send(t, c, "DRIVE {Left %g} {Right %g}", 5.0, 5.0)
				send(t, c, "SET {Type Odometry} {Name Odometry} {Opcode RESET}")
				wait(t, c, "RES", "Status", "OK")
				wait(t, c, "SEN", "Type", "Sonar", "Name", "F1")
				m := wait(t, c, "STA")
				at, err := m.Numbers("Location", nil)
				if err != nil || len(at) != 3 || at[0] != 4.4976 {
					t.Errorf("location: got %v, %v", at, err)
				}
			})
		}
		all.Wait()
		c := dial(t, s)
		defer c.Close()
		err := c.Init("USARBot.Tank", "", [3]float64{}, [3]float64{})
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("no such class: got %v, want invalid", err)
		}
	})
	for i := 0; runtime.NumGoroutine() > was && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > was {
		t.Errorf("goroutines: got %d, want %d", n, was)
	}
}

// TestClientFaults: a server that is absent, sends garbage, sends nothing, or disconnects.
func TestClientFaults(t *testing.T) {
	ln := listen(t)
	for _, k := range []struct {
		sent string
		stay bool
		want hal.Kind
	}{{"{{{\r\n", true, hal.Unexpected}, {"", false, hal.Unexpected}, {"NFO", true, hal.Timeout}} {
		var far sync.WaitGroup
		far.Go(func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, k.sent)
			if k.stay {
				io.Copy(io.Discard, conn)
			}
			conn.Close()
		})
		c, err := Dial(ln.Addr().String(), ClientOptions{Timeout: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait("NFO"); err == nil || hal.KindOf(err) != k.want {
			t.Errorf("%q: got %v, want %v", k.sent, err, k.want)
		}
		c.Close()
		far.Wait()
	}
	ln.Close()
	if _, err := Dial(ln.Addr().String(), ClientOptions{}); hal.KindOf(err) != hal.Absent {
		t.Errorf("no server: got %v, want absent", err)
	}
}

// TestCycleDoesNotAllocate: neither Cycle, nor a received DRIVE, nor a whole set of messages allocates.
func TestCycleDoesNotAllocate(t *testing.T) {
	p := newPuppet()
	r := p.robot()
	if err := r.complete(p.layout); err != nil {
		t.Fatal(err)
	}
	k := newLink(r, agentOf(t, p), nil, &currentDialect{})
	f := hal.NewFrame(p.layout)
	copy(f.Outputs, p.values)
	var out text
	answer := func() {
		f.Time += time.Second
		k.cycle(f)
		out.b = out.b[:0]
		k.append(&out, k.swapSample())
	}
	answer()
	answer()
	if n := testing.AllocsPerRun(100, answer); n != 0 {
		t.Errorf("telling: got %v allocations, want 0", n)
	}
	rig, err := hal.New(hal.Config{Period: period, Mode: hal.Lockstep})
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	server := NewServer(rig, protocolstest.NewPipes("pipes"), Arena{}, Options{})
	s := newSession(server, near, server.options.Log)
	s.control = Control{session: s, message: &s.message}
	s.begin(k)
	line := []byte("DRIVE {Left 1.25} {Right -1.5} {Normalized False}")
	if n := testing.AllocsPerRun(100, func() {
		if err := errors.Join(Parse(line, &s.message), s.do()); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("DRIVE: got %v allocations, want 0", n)
	}
	if s.stepper.Held[0] != 1.25 || s.stepper.Held[2] != -1.5 {
		t.Errorf("held: got %v", s.stepper.Held)
	}
}

// bareTCP is how many messages of so many bytes a second go one way over loopback, each written by itself.
func bareTCP(b *testing.B, size, count int) float64 {
	b.Helper()
	ln := listen(b)
	defer ln.Close()
	var far sync.WaitGroup
	far.Go(func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		message := make([]byte, size)
		for range count {
			if _, err := conn.Write(message); err != nil {
				return
			}
		}
	})
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	start := time.Now()
	if _, err := io.CopyN(io.Discard, conn, int64(size)*int64(count)); err != nil {
		b.Fatal(err)
	}
	rate := float64(count) / time.Since(start).Seconds()
	far.Wait()
	return rate
}

// BenchmarkQueries is a client that asks for a RES and waits, over real sockets. Its bound is the bare round trip of
// the same sizes, measured in the same run.
func BenchmarkQueries(b *testing.B) {
	s := newStage(b, config{mode: hal.Realtime, change: func(r *Robot) {
		plain(r)
		r.Interval = time.Hour
	}}, listen(b), nil)
	c := dial(b, s)
	defer c.Close()
	if err := c.Init("USARBot.P2AT", "R1", [3]float64{}, [3]float64{}); err != nil {
		b.Fatal(err)
	}
	const ask, answer = "GETGEO {Type Nothing}", "GEO {Type Nothing}"
	b.ReportAllocs()
	for b.Loop() {
		send(b, c, ask)
		if _, err := c.Next(); err != nil {
			b.Fatal(err)
		}
	}
	rate := float64(b.N) / b.Elapsed().Seconds()
	bound := bareTrips(b, len(ask)+2, len(answer)+2, b.N)
	b.ReportMetric(rate, "asked/s")
	b.ReportMetric(bound, "bound/s")
	b.ReportMetric(rate/bound, "ratio")
}

// bareTrips is how many round trips a second of so many bytes out and back loopback makes.
func bareTrips(b *testing.B, out, back, count int) float64 {
	b.Helper()
	ln := listen(b)
	defer ln.Close()
	var far sync.WaitGroup
	far.Go(func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in, answer := make([]byte, out), make([]byte, back)
		for range count {
			if _, err := io.ReadFull(conn, in); err != nil {
				return
			}
			conn.Write(answer)
		}
	})
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	ask, in := make([]byte, out), make([]byte, back)
	start := time.Now()
	for range count {
		conn.Write(ask)
		if _, err := io.ReadFull(conn, in); err != nil {
			b.Fatal(err)
		}
	}
	rate := float64(count) / time.Since(start).Seconds()
	far.Wait()
	return rate
}

// BenchmarkMessages is how many messages a second one connection can be sent: the whole set of a P2AT, formatted and
// written as fast as the client reads and parses. Its bound is as many bytes in as many bare writes.
func BenchmarkMessages(b *testing.B) {
	p := newPuppet()
	r := p.robot()
	if err := r.complete(p.layout); err != nil {
		b.Fatal(err)
	}
	k := newLink(r, agentOf(b, p), nil, &currentDialect{})
	f := hal.NewFrame(p.layout)
	copy(f.Outputs, p.values)
	ln := listen(b)
	defer ln.Close()
	const lines = 10 // STA, MIS and eight SEN
	stop := make(chan struct{})
	var far sync.WaitGroup
	far.Go(func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var out text
		for {
			select {
			case <-stop:
				return
			default:
			}
			f.Time += time.Second
			k.cycle(f)
			out.b = out.b[:0]
			k.append(&out, k.swapSample())
			if _, err := conn.Write(out.b); err != nil {
				return
			}
		}
	})
	c, err := Dial(ln.Addr().String(), ClientOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for range lines {
			if _, err := c.Next(); err != nil {
				b.Fatal(err)
			}
		}
	}
	elapsed := b.Elapsed().Seconds()
	close(stop)
	c.Close()
	far.Wait()
	var set text
	f.Time += time.Second
	k.cycle(f)
	k.append(&set, k.swapSample())
	bound := bareTCP(b, len(set.b), b.N) * lines
	rate := float64(b.N*lines) / elapsed
	b.ReportMetric(rate, "messages/s")
	b.ReportMetric(bound, "bound/s")
	b.ReportMetric(rate/bound, "ratio")
}

// FuzzCommand: for any line of a client, nothing panics, every goal is a finite number, and answers are whole lines.
func FuzzCommand(f *testing.F) {
	for _, line := range []string{
		"DRIVE {Left 1} {Right -1} {Normalized True} {Light True} {Flip True}",
		"DRIVE {Name CameraPan} {Steer 1} {Order 2} {Value 3}",
		"DRIVE {Speed 1} {FrontSteer 0.5} {RearSteer 1}", "CAMERA {Rotation 0,0.1,0.2} {Order 1} {Zoom 0.5}",
		"SET {Type Camera} {Name Camera} {Opcode Zoom} {Params 1}",
		"SET {Type Camera} {Client 10.0.0.2} {Robot R1} {Name Camera}",
		"SET {Type RangeScanner} {Name Scanner1} {Opcode SCAN}", "SET {Type RFIDReleaser} {Name Gun} {Opcode Release}",
		"MISPKG {Name Arm1} {Translation 1,2,3} {Rotation 1,2,3} {Order 2}",
		"ACT {Name Cam1} {Link 1} {Value 1} {Order 1}",
		"GETGEO {Type Sonar} {Name F1}", "GETCONF {Type MisPkg}", "GETCONF {Type Robot}", "GETSTARTPOSES",
		"INIT {ClassName USARBot.P2AT} {Name R2} {Location 1 2 3} {Rotation 1,2,3} {Start P1}",
	} {
		f.Add(line)
	}
	p := newPuppet()
	a := agentOf(f, p)
	near, far := net.Pipe()
	f.Cleanup(func() { near.Close(); far.Close() })
	rig, err := hal.New(hal.Config{Period: period, Mode: hal.Lockstep})
	if err != nil {
		f.Fatal(err)
	}
	server := NewServer(rig, protocolstest.NewPipes("pipes"), Arena{}, Options{Dialect: Later})
	f.Fuzz(func(t *testing.T, line string) {
		r := p.robot()
		if err := r.complete(p.layout); err != nil {
			t.Fatal(err)
		}
		p.tags, p.events = 1e6, nil
		s := newSession(server, near, server.options.Log)
		defer s.party.Close()
		s.control = Control{session: s, message: &s.message}
		s.begin(newLink(r, a, nil, &s.dialect))
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '\n' || r == '\r' }) {
			if Parse([]byte(part), &s.message) == nil {
				if err := s.do(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for i, v := range s.stepper.Held {
			if math.IsInf(v, 0) {
				t.Errorf("%s: got %g", p.layout.Inputs[i].Name, v)
			}
		}
		for answer := range strings.Lines(string(s.replies)) {
			var m Message
			text, whole := strings.CutSuffix(answer, "\r\n")
			if err := Parse([]byte(text), &m); err != nil || !whole {
				t.Errorf("answered %q: %v", answer, err)
			}
		}
	})
}
