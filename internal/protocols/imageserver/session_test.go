package imageserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// gallery is a watcher that renders on request and counts: pixel 0 is (camera, sequence, 0).
type gallery struct {
	mu                     sync.Mutex
	open, opened           int
	rendered, held         int
	sequence               uint64
	gone                   bool
	robot                  byte
	width, height, cameras int
}

func (g *gallery) Watch(camera int) (hal.ImageStream, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone || camera >= g.cameras {
		return nil, errors.New("gone")
	}
	g.open++
	g.opened++
	return &look{g, byte(camera)}, nil
}

type look struct {
	g      *gallery
	camera byte
}

func (l *look) Next(ctx context.Context, after uint64) (*hal.Picture, error) {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	if l.g.gone {
		return nil, errors.New("gone")
	}
	l.g.rendered++
	l.g.held++
	l.g.sequence++
	p := &hal.Picture{Sequence: l.g.sequence, Width: l.g.width, Height: l.g.height,
		RGB: make([]byte, 3*l.g.width*l.g.height)}
	p.RGB[0], p.RGB[1], p.RGB[2] = 10*l.g.robot+l.camera, byte(l.g.sequence), 0
	p.Free = func(*hal.Picture) {
		l.g.mu.Lock()
		defer l.g.mu.Unlock()
		l.g.held--
	}
	return p, nil
}

func (l *look) Close() {
	l.g.mu.Lock()
	defer l.g.mu.Unlock()
	l.g.open--
}

// counts are how many watches are open and how many pictures were rendered.
func (g *gallery) counts() (open, rendered int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open, g.rendered
}

// world is the robots that there are, in their order.
type world struct {
	mu     sync.Mutex
	names  []string
	robots []*gallery
}

func (w *world) add(name string) *gallery {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &gallery{robot: byte(len(w.names) + 1), width: 2, height: 1, cameras: 2}
	w.names, w.robots = append(w.names, name), append(w.robots, g)
	return g
}

func (w *world) find(robot, camera string) (hal.CameraSource, int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, name := range w.names {
		if robot == "" || robot == name {
			return w.robots[i], map[string]int{"": 0, "Camera": 0, "Rear": 1}[camera], nil
		}
	}
	return nil, 0, errors.New("no such robot")
}

type stage struct {
	t      *testing.T
	rig    *hal.Rig
	world  *world
	server *Server
	lines  *protocolstest.Pipes
}

func newStage(t *testing.T, ln net.Listener, o Options) *stage {
	t.Helper()
	rig, err := hal.New(hal.Config{Period: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, rig: rig, world: &world{}}
	s.lines, _ = ln.(*protocolstest.Pipes)
	s.server = NewServer(rig, ln, s.world.find, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *stage) view(text string) {
	s.t.Helper()
	v := s.rig.Values()
	id := v.Declare("/probe", hal.StringValue, nil, nil) - 1
	if err := v.Set(id, hal.Value{Kind: hal.StringValue, Text: text}); err != nil {
		s.t.Fatal(err)
	}
}

// first is the first pixel of the next raw picture on conn.
func first(t *testing.T, conn net.Conn) [3]byte {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(time.Minute))
	var header [headerSize]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, binary.BigEndian.Uint32(header[1:]))
	if _, err := io.ReadFull(conn, data); err != nil {
		t.Fatal(err)
	}
	return [3]byte(data[rawHeader:])
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

// TestPace: a picture at once, none without an acknowledgement, and never more than the frame rate.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{FrameRate: 10})
		g := s.world.add("R1")
		conn := dialFrom(s.lines, "10.0.0.2")
		defer conn.Close()
		start := time.Now()
		if got := first(t, conn); got != [3]byte{10, 1, 0} {
			t.Errorf("first: got %v", got)
		}
		for _, ok := range []string{"OK", "KOK\r\n", "\x00noise OOK", "O", "K"} {
			send(t, conn, ok)
			if ok == "O" {
				continue
			}
			first(t, conn)
		}
		if got := time.Since(start); got != 400*time.Millisecond {
			t.Errorf("five pictures: got %v, want 0.4 s", got)
		}
		// without an acknowledgement no picture is sent, and after a while the camera is closed
		<-time.After(3 * idle)
		if open, rendered := g.counts(); open != 0 || rendered != 5 {
			t.Errorf("unacknowledged: got %d open, %d rendered, want 0 and 5", open, rendered)
		}
		conn.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("unacknowledged: got %d bytes, %v", n, err)
		}
		start = time.Now()
		send(t, conn, "OK")
		first(t, conn)
		send(t, conn, "OK")
		first(t, conn)
		if got := time.Since(start); got != 100*time.Millisecond {
			t.Errorf("after a long pause: got %v for two, want 0.1 s: nothing is made up for", got)
		}
		conn.Close()
		synctest.Wait()
		if open, _ := g.counts(); open != 0 || g.held != 0 {
			t.Errorf("after the client left: got %d open, %d held, want none", open, g.held)
		}
	})
}

// TestViewpoints: which connections a viewpoint applies to, that it changes from one picture to the next, and the
// picture of a robot that does not exist.
func TestViewpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{FrameRate: 1000})
		a, b := dialFrom(s.lines, "10.0.0.2"), dialFrom(s.lines, "10.0.0.3")
		defer a.Close()
		defer b.Close()
		next := func(conn net.Conn) byte {
			send(t, conn, "OK")
			return first(t, conn)[0]
		}
		if x, y := first(t, a)[0], first(t, b)[0]; x != 0 || y != 0 {
			t.Errorf("an empty world: got %d and %d, want black", x, y)
		}
		one, two := s.world.add("R1"), s.world.add("R2")
		for _, k := range []struct {
			set  string
			a, b byte
		}{
			{"10.0.0.9 R2/Camera", 10, 10}, // concerns neither
			{"10.0.0.2 R2/Rear", 21, 10},
			{"10.0.0.1 R1/Rear", 21, 11}, // the server's own address: all clients without a viewpoint
			{"10.0.0.2", 11, 11},
			{"10.0.0.1", 10, 10},
			{"10.0.0.3 R9/Camera", 10, 0},
			{"10.0.0.3 R2", 10, 20},
		} {
			s.view(k.set)
			if x, y := next(a), next(b); x != k.a || y != k.b {
				t.Errorf("%s: got %d and %d, want %d and %d", k.set, x, y, k.a, k.b)
			}
		}
		two.mu.Lock()
		two.gone = true
		two.mu.Unlock()
		if x := next(b); x != 0 {
			t.Errorf("a robot that went: got %d, want black", x)
		}
		if open, _ := one.counts(); open != 1 {
			t.Errorf("cameras open on R1: got %d, want one", open)
		}
		if open, _ := two.counts(); open != 0 {
			t.Errorf("cameras open on R2: got %d, want 0", open)
		}
	})
}

// TestSlowClient: a slow client does not delay the others, and one that never reads is disconnected.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{FrameRate: 100})
		s.world.add("R1")
		deaf, quick := dialFrom(s.lines, "10.0.0.2"), dialFrom(s.lines, "10.0.0.3")
		defer quick.Close()
		start := time.Now()
		for range 100 {
			first(t, quick)
			send(t, quick, "OK")
		}
		if got := time.Since(start); got > time.Second {
			t.Errorf("100 pictures: got %v, want 1 s", got)
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		if _, err := deaf.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("one that never reads: got %v, want the end", err)
		}
	})
}

// noRequests is a connection whose client has closed its sending side.
type noRequests struct{ net.Conn }

func (noRequests) Read([]byte) (int, error) { return 0, io.EOF }

// TestHalfClosed: a client that will send no more requests loses its camera at once, also in the middle of a picture.
func TestHalfClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{})
		g := s.world.add("R1")
		near, far := net.Pipe() // no client reads: a picture is being written
		defer near.Close()
		s.lines.Offer(noRequests{placed{far, "10.0.0.2"}})
		synctest.Wait()
		if open, _ := g.counts(); open != 0 {
			t.Errorf("cameras open: got %d, want 0", open)
		}
	})
}

// TestRegion: U and four numbers ask for a part.
func TestRegion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{})
		g := s.world.add("R1")
		g.width, g.height = 8, 8
		conn := dialFrom(s.lines, "10.0.0.2")
		defer conn.Close()
		first(t, conn)
		for _, k := range []struct{ ask, want string }{
			{"U\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00\x04", "\x00\x03\x00\x04"},
			// OK within the numbers is not an acknowledgement
			{"U\x00\x00\x00\x01\x00\x00\x00OK\x00\x00\x03\x00\x00\x00\x02", "\x00\x08\x00\x08"},
		} {
			send(t, conn, k.ask)
			var b [headerSize + rawHeader]byte
			if _, err := io.ReadFull(conn, b[:]); err != nil || string(b[headerSize:]) != k.want {
				t.Errorf("%q: got %x, %v, want %x", k.ask, b, err, k.want)
			}
			io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(b[1:]))-rawHeader)
		}
	})
}

// TestFull: one more client than may be finds its connection closed.
func TestFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, protocolstest.NewPipes("pipes"), Options{MaxClients: 1})
		a := dialFrom(s.lines, "10.0.0.2")
		defer a.Close()
		first(t, a)
		a.Write([]byte("OK"))
		first(t, a)
		b := dialFrom(s.lines, "10.0.0.3")
		if _, err := b.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a second client: got %v, want the end", err)
		}
	})
}

// TestSocket: real sockets, JPEG, several clients, and no goroutine left.
func TestSocket(t *testing.T) {
	was := runtime.NumGoroutine()
	t.Run("clients", func(t *testing.T) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := newStage(t, ln, Options{Format: Normal, Width: 64, Height: 48, FrameRate: 1000})
		s.world.add("R1")
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				c, err := Dial(s.server.Address().String(), 10*time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				defer c.Close()
				for range 20 {
					m, err := c.Next()
					if err != nil || m.Format != Normal || !bytes.HasPrefix(m.Data, []byte{0xff, 0xd8}) {
						t.Errorf("got %v, %v", m.Format, err)
						return
					}
					if err := c.Acknowledge(); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		if _, err := Dial("127.0.0.1:1", time.Second); hal.KindOf(err) != hal.Absent {
			t.Errorf("no server: got %v, want absent", err)
		}
	})
	for i := 0; runtime.NumGoroutine() > was && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > was {
		t.Errorf("goroutines: got %d, want %d", n, was)
	}
}

// TestClientFaults: malformed pictures.
func TestClientFaults(t *testing.T) {
	for sent, want := range map[string]hal.Kind{
		"\x07\x00\x00\x00\x00": hal.Unexpected, "\x00\xff\xff\xff\xff": hal.Unexpected,
		"\x00\x00\x00\x00\x05\x00\x01\x00\x01\x00": hal.Unexpected, "\x01\x00\x00\x00\x09only": hal.Unexpected,
	} {
		near, far := net.Pipe()
		go func() {
			io.Copy(far, strings.NewReader(sent))
			far.Close()
		}()
		c := &Client{conn: near, timeout: time.Second}
		if _, err := c.Next(); err == nil || hal.KindOf(err) != want {
			t.Errorf("%q: got %v, want %v", sent, err, want)
		}
		c.Close()
	}
}

type placed struct {
	net.Conn
	from string
}

func (c placed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(c.from), Port: 40000} }
func (c placed) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.ParseIP("10.0.0.1"), Port: DefaultPort}
}

// dialFrom is a client with an address of its own; the server's is 10.0.0.1.
func dialFrom(p *protocolstest.Pipes, from string) net.Conn {
	near, far := net.Pipe()
	p.Offer(placed{far, from})
	return near
}
