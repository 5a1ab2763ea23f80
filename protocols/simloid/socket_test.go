package simloid

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// listen opens a real socket.
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
	s := &stage{t: t, log: &strings.Builder{}}
	s.start(c, listen(t))
	return s
}

func dial(t testing.TB, s *stage, o ClientOptions) *Client {
	t.Helper()
	c, err := Dial(s.server.Address().String(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSocket: several clients one after another over real sockets, a second at the same time, and no goroutine left.
func TestSocket(t *testing.T) {
	was := runtime.NumGoroutine()
	t.Run("clients", func(t *testing.T) {
		for _, dialect := range []Dialect{Document, Later} {
			s := socketStage(t, config{powerful: true, joints: []string{"l", "r"},
				Options: Options{Exact: true, Dialect: dialect}})
			for range 3 {
				c := dial(t, s, ClientOptions{Dialect: dialect})
				if n := len(c.Traits().Joints); n != 2 || c.Status().Time != 0.01 || c.Status().Position[0] != 0 {
					t.Fatalf("%v: got %d joints, first status %+v", dialect, n, c.Status())
				}
				for range 100 {
					cycle(t, c, Command{Verb: UX, Values: []float64{0.5, -0.5}})
				}
				if st := c.Status(); st.Position[0] < 0.3 || st.Position[1] > -0.3 {
					t.Errorf("%v: after a second: got %v, want about 0.31 and -0.31", dialect, st.Position)
				}
				if _, err := Dial(s.server.Address().String(), ClientOptions{}); hal.KindOf(err) != hal.Busy {
					t.Errorf("a second client: got %v, want busy", err)
				}
				if dialect == Later {
					if text, err := c.Describe(); text != "<EMPTY>" || err != nil {
						t.Errorf("description: got %q, %v", text, err)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for i := 0; runtime.NumGoroutine() > was && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > was {
		t.Errorf("goroutines: got %d, want %d", n, was)
	}
}

// TestModel: MODEL is answered by new traits, which the client acknowledges; later clients find the new robot.
func TestModel(t *testing.T) {
	s := socketStage(t, config{powerful: true, Options: Options{Exact: true, Dialect: Later}})
	other := newPuppet(layout("a", "b", "c"))
	agent, err := s.rig.Add(hal.AgentConfig{Name: "other", Body: other, World: other})
	if err != nil {
		t.Fatal(err)
	}
	asked := ""
	s.robot.World.Model = func(id int, parameters []float64) (*Robot, error) {
		asked += fmt.Sprint(id, parameters, ";")
		if id != 31 {
			return nil, fmt.Errorf("robot %d: not here", id)
		}
		return Describe(agent), nil
	}
	c := dial(t, s, ClientOptions{Dialect: Later})
	// where it is refused the client waits for traits and gets a status, as from the original
	c.conn.Write([]byte("MODEL 7 1 0.5\n"))
	cycle(t, c)
	cycle(t, c, Command{Verb: Model, Index: 31})
	if n := len(c.Traits().Joints); n != 3 || len(c.Status().Position) != 3 {
		t.Errorf("after MODEL: got %d joints, want 3", n)
	}
	cycle(t, c, Command{Verb: UA, Values: []float64{1}})
	c.Close()
	c = dial(t, s, ClientOptions{Dialect: Later})
	if n := len(c.Traits().Joints); n != 3 {
		t.Errorf("the next client: got %d joints, want 3", n)
	}
	c.Close()
	if want := "7 [0.5];31 [];"; asked != want {
		t.Errorf("asked for: got %s, want %s", asked, want)
	}
}

// TestClientOfOriginal plays bytes of the original, which ends a status with a blank and no newline.
func TestClientOfOriginal(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "simloid", "90-free-swing.txt"))
	if err != nil {
		t.Skipf("no recording of the original here: %v", err)
	}
	var head string
	var statuses []string
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "# "); ok {
			head += text
		} else {
			statuses = append(statuses, strings.TrimSpace(line)+" ")
		}
	}
	near, far := net.Pipe()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer far.Close()
	wg.Go(func() {
		in := make([]byte, 100)
		far.Write([]byte(head))
		for _, status := range statuses {
			far.Read(in)
			far.Write([]byte(status))
		}
		io.Copy(io.Discard, far)
	})
	c, err := NewClient(near, ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range len(statuses) - 1 {
		cycle(t, c)
	}
	if got, want := c.Status().Time, float64(len(statuses))/100; got < want-1e-6 || got > want+1e-6 {
		t.Errorf("time: got %g, want %g", got, want)
	}
	c.Close()
}

// TestClientFaults: a server that is absent, sends garbage, ends early or sends nothing.
func TestClientFaults(t *testing.T) {
	ln := listen(t)
	address := ln.Addr().String()
	for _, k := range []struct {
		sent string
		stay bool
		want hal.Kind
	}{
		{"", false, hal.Busy}, {"hello\n", true, hal.Unexpected},
		{strings.Repeat("1", 3*maxFrame), true, hal.Unexpected},
		{"2 1 1\n", false, hal.Busy}, {"2 1 1\n", true, hal.Timeout},
	} {
		var wg sync.WaitGroup
		wg.Go(func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(k.sent))
			if k.stay {
				io.Copy(io.Discard, conn)
			}
			conn.Close()
		})
		if _, err := Dial(address, ClientOptions{Timeout: 200 * time.Millisecond}); hal.KindOf(err) != k.want ||
			err == nil {
			t.Errorf("%.10q: got %v, want %v", k.sent, err, k.want)
		}
		wg.Wait()
	}
	ln.Close()
	if _, err := Dial(address, ClientOptions{}); hal.KindOf(err) != hal.Absent {
		t.Errorf("no server: got %v, want absent", err)
	}
}

// TestServeEndsWithListener: a listener that breaks ends the server.
func TestServeEndsWithListener(t *testing.T) {
	rig, err := hal.New(hal.Config{Period: period})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := rig.Add(hal.AgentConfig{Name: "robot", Body: newPuppet(layout("j"))})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(rig, broken{protocolstest.NewPipes("pipes")}, Describe(agent), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(context.Background()); err != io.ErrUnexpectedEOF {
		t.Errorf("got %v, want %v", err, io.ErrUnexpectedEOF)
	}
}

type broken struct{ *protocolstest.Pipes }

func (broken) Accept() (net.Conn, error) { return nil, io.ErrUnexpectedEOF }

// joints are names for n joints.
func joints(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("joint_%d", i)
	}
	return names
}

// TestCycleDoesNotAllocate counts client, server and rig together.
func TestCycleDoesNotAllocate(t *testing.T) {
	s := socketStage(t, config{powerful: true, joints: joints(22), Options: Options{}})
	c := dial(t, s, ClientOptions{})
	defer c.Close()
	u := make([]float64, 22)
	for i := range u {
		u[i] = 0.123456 * float64(i) / 22
	}
	step := func() {
		if _, err := c.Cycle(Command{Verb: UX, Values: u}); err != nil {
			t.Fatal(err)
		}
	}
	step()
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("got %v allocations a cycle, want 0", n)
	}
}

// BenchmarkCycle is a whole cycle over real sockets, noise on: a voltage for each joint and DONE out, a status back.
// Its bound is the bare round trip of the same sizes, measured in the same run.
func BenchmarkCycle(b *testing.B) {
	for _, k := range []struct {
		name           string
		joints, bodies int
	}{{"1 joint", 1, 2}, {"12 joints", 12, 13}, {"22 joints", 22, 23}} {
		b.Run(k.name, func(b *testing.B) {
			s := socketStage(b, config{powerful: true, joints: joints(k.joints)})
			for len(s.robot.Bodies) < k.bodies { // the same one, again
				s.robot.Bodies = append(s.robot.Bodies, s.robot.Bodies[1])
				s.robot.Traits.Names = append(s.robot.Traits.Names, "lever")
				s.robot.Traits.Bodies++
			}
			c := dial(b, s, ClientOptions{})
			u := make([]float64, k.joints)
			for i := range u {
				u[i] = -0.123456
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Cycle(Command{Verb: UX, Values: u}); err != nil {
					b.Fatal(err)
				}
			}
			out, back := len(c.out), len(AppendStatus(nil, c.Status()))
			c.Close()
			trip, start := protocolstest.BareTCP(b, out, back), time.Now()
			for range b.N {
				trip()
			}
			bound := float64(b.N) / time.Since(start).Seconds()
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "cycles/s")
			b.ReportMetric(bound, "bound/s")
			b.ReportMetric(rate/bound, "ratio")
		})
	}
}

// BenchmarkStatus is the server's part of a cycle that is not the network's: sensors with noise, and the text.
func BenchmarkStatus(b *testing.B) {
	traits := wildcat()
	r := &Robot{Traits: traits, Joints: make([]jointChannels, 12), Accels: make([][3]int, 1),
		Bodies: make([]bodyChannels, 13)}
	s, out, measured := newSensors(false, 1), newStatus(&traits, Document), []float64{0.123456789}
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		s.read(out, r, measured, 0.01)
		text = AppendStatus(text[:0], out)
	}
}

// The original exits when its client disconnects; its parent process waits for that.
func TestOnceEndsWithItsClient(t *testing.T) {
	for _, leave := range []func(c *Client) error{
		func(c *Client) error { return c.Close() },
		func(c *Client) error { return c.conn.Close() }, // without a word
	} {
		s := socketStage(t, config{Options: Options{Exact: true, Once: true}})
		c := dial(t, s, ClientOptions{})
		cycle(t, c, Command{Verb: UA, Values: []float64{0.5}})
		if err := leave(c); err != nil {
			t.Fatal(err)
		}
		<-s.ended // without its context's end
	}
}
