package protocols

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// openings are first bytes of connections, and whether a server that does not speak HTTP closes them.
var openings = []struct {
	bytes string
	web   bool
}{
	{"GET / HTTP/1.1\r\n", true},
	{"POST /", true},
	{"POST /a/b?c=d HTTP/1.1\r\nHost: 127.0.0.1:3000\r\n\r\nINIT {ClassName USARBot.P2AT}\r\n", true},
	{"PUT / HTT", true},
	{"HEAD /\r\n", true},
	{"OPTIONS * HTTP/1.1\r\n", true},
	{"CONNECT 127.0.0.1:3000 HTTP/1.1\r\n", true},
	{"GET http://127.0.0.1:3000/ HTTP/1.0\n", true},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true},
	{"M-SEARCH * HTTP/1.1\r\n", true},
	{"BREW /pot HTTP/1.1\r\n", true},
	{"patch /x  HTTP/1.1\r\n", true},
	{"GET /" + strings.Repeat("INIT{}", 9000) + " HTTP/1.1\r\n", true},
	{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", true},
	{"\x16\x03", true},
	// first lines and packets of clients, and what may be one
	{"", false},
	{"P", false},
	{"GETSTARTPOSES\r\n", false},
	{"GETGEO {Type Sonar}\r\n", false},
	{"GET {Type /x HTTP }\r\n", false},
	{"GET\r\n / HTTP/1.1\r\n", false},
	{"SET {Type Joint} {Name /a} {Opcode Angle}\r\n", false},
	{"INIT {ClassName USARBot.P2AT} {Name R1} {Location 4.5,1.9,1.8}\r\nGET / HTTP/1.1\r\n", false},
	{"DRIVE {Left 1.0} {Right 1.0}\n", false},
	{"HELLO /world\r\n", false},
	{"GET/ HTTP/1.1\r\n", false},
	{" GET / HTTP/1.1\r\n", false},
	{"ACK\n", false},
	{"UX 0 0.5 -0.5\nDONE\n", false},
	{"SENSORS GOOD\n", false},
	{"OK", false},
	{"OK\r\nOK\r\n", false},
	{"U\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x10", false},
	{"\xa0\x00\x02\x00\x00\x00{}", false},
	{"\xc5\x00\x05\x00\x00\x00GET /", false},
	{"i", false},
	{"\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x01", false},
	{"\x17\x00\x00\x00\x01HLYB\x01\x00", false},
	{"\x16\x00\x00\x00\x01HLYB\x01\x00", false},
	{"\x16\x04", false},
	{"POSTAL /x\r\n", false},
	{"PROPFIND /\r\n", false},
}

// judge is what an opening judges of b, in pieces of n bytes.
func judge(b []byte, n int) bool {
	var o opening
	for len(b) > 0 {
		k := min(n, len(b))
		if !o.decided && o.web(b[:k]) {
			return true
		}
		b = b[k:]
	}
	return false
}

func TestOpenings(t *testing.T) {
	for _, k := range openings {
		for _, n := range []int{1, 3, 1 << 20} {
			if got := judge([]byte(k.bytes), n); got != k.web {
				t.Errorf("%.60q in pieces of %d: got %v, want %v", k.bytes, n, got, k.web)
			}
		}
	}
}

// FuzzOpenings: bytes are judged alike in pieces of any size.
func FuzzOpenings(f *testing.F) {
	for _, k := range openings {
		f.Add([]byte(k.bytes), 3)
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if whole := judge(b, len(b)+1); judge(b, 1) != whole || judge(b, min(max(n, 1), 100)) != whole {
			t.Errorf("%q: got another judgement in pieces than as a whole, %v", b, whole)
		}
	})
}

// visitor is a connection of an address that notes its end.
type visitor struct {
	net.Conn
	at     string
	closed bool
}

func (v *visitor) RemoteAddr() net.Addr { return from{at: v.at}.RemoteAddr() }
func (v *visitor) Close() error         { v.closed = true; return nil }

// TestCrowds: which connection ends where one more comes.
func TestCrowds(t *testing.T) { synctest.Test(t, testCrowds) }

func testCrowds(t *testing.T) {
	for _, k := range []struct {
		what   string
		limits Limits
		come   string // of addresses 1, 2, 3 and l for loopback; a capital A, B, C, L is recognized at once
		ended  string // the numbers of those that were closed or refused, in the order of coming
	}{
		{"room for all", Limits{Connections: 4}, "1 1 l 2", ""},
		{"the oldest stranger gives way", Limits{Strangers: 3}, "1 2 3 1", "0"},
		{"clients stay", Limits{Connections: 3}, "A B C l 1", "3 4"},
		{"clients beside strangers stay", Limits{Connections: 9, Strangers: 2}, "A 2 3 2 A 2", "1 2"},
		{"the address with the most gives way", Limits{Strangers: 4}, "2 1 1 1 3", "1"},
		{"a crowd of others beside this computer", Limits{Strangers: 2}, "l 1 2 3 l", "1"},
		{"a crowd of this computer beside others", Limits{Strangers: 2}, "1 l l l l", "1 2"},
		{"one address", Limits{Connections: 9, PerAddress: 2}, "1 1 1 2", "0"},
		{"one address of clients", Limits{Connections: 9, PerAddress: 2}, "A A 1 2", "2"},
		{"loopback has no bound of its own", Limits{Connections: 9, PerAddress: 2}, "l l l l", ""},
		{"strangers take no client's place", Limits{Connections: 1}, "1 2 3 l A 1", "5"},
	} {
		d := newDoor(k.limits)
		var all []*visitor
		for _, word := range strings.Fields(k.come) {
			at := map[string]string{"1": "192.0.2.1:1", "2": "192.0.2.2:1", "3": "192.0.2.3:1",
				"l": "127.0.0.1:1"}[strings.NewReplacer("A", "1", "B", "2", "C", "3").Replace(word)]
			v := &visitor{at: at}
			all = append(all, v)
			c := d.place(v, nil)
			if v.closed = c == nil; c != nil && word >= "A" && word <= "C" && !Recognize(c) {
				t.Errorf("%s: recognized: got no place", k.what)
			}
		}
		var ended []string
		open := 0
		for i, v := range all {
			if v.closed {
				ended = append(ended, fmt.Sprint(i))
			} else {
				open++
			}
		}
		if got := strings.Join(ended, " "); got != k.ended || d.clients+len(d.strangers) != open {
			t.Errorf("%s: %s: got %q ended and %d open, want %q and %d", k.what, k.come, got,
				d.clients+len(d.strangers), k.ended, open)
		}
	}
}

// TestEvicted: the session of a connection that gave way ends with the reason, and is no client's afterwards.
func TestEvicted(t *testing.T) { synctest.Test(t, testEvicted) }

func testEvicted(t *testing.T) {
	d := newDoor(Limits{Connections: 1, Strangers: 1})
	near, far := net.Pipe()
	defer far.Close()
	c := d.place(near, nil)
	begin := time.Now()
	d.place(&visitor{at: "127.0.0.1:1"}, nil)
	if wait := time.Since(begin); wait < timeToSpeak {
		t.Errorf("evicted after %v, want %v", wait, timeToSpeak)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, ErrStranger) || Recognize(c) {
		t.Errorf("got %v, recognized %v, want a stranger", err, Recognize(c))
	}
}

// TestDripping: strangers that send a byte a second keep no client out, neither of their own address nor of another:
// the oldest gives way as if it were silent.
func TestDripping(t *testing.T) {
	for _, at := range []string{"127.0.0.1:1", "192.0.2.1:1", "192.0.2.2:1"} {
		synctest.Test(t, func(t *testing.T) { testDripping(t, at) })
	}
}

func testDripping(t *testing.T, client string) {
	d := newDoor(Limits{Connections: 4})
	done := make(chan struct{})
	var all sync.WaitGroup
	stranger := func(at string) {
		near, far := net.Pipe()
		c := d.place(from{near, at}, done)
		if c == nil {
			return
		}
		all.Go(func() {
			defer d.leave(c)
			io.Copy(io.Discard, c)
		})
		all.Go(func() {
			defer far.Close()
			for tick := time.Tick(time.Second); ; {
				select {
				case <-done:
					return
				case <-tick:
				}
				if _, err := far.Write([]byte("x")); err != nil {
					return
				}
			}
		})
	}
	for range 3 * minStrangers {
		stranger("127.0.0.1:2")
		stranger("192.0.2.1:2")
	}
	for range 60 {
		time.Sleep(time.Second) // synctest's
		begin := time.Now()
		near, far := net.Pipe()
		c := d.place(from{near, client}, done)
		if c == nil || !Recognize(c) {
			t.Fatalf("a client of %s beside strangers that drip: got no place", client)
		}
		if wait := time.Since(begin); wait > timeToSpeak {
			t.Errorf("a client of %s waited %v, want at most %v", client, wait, timeToSpeak)
		}
		d.leave(c)
		far.Close()
		stranger("127.0.0.1:2")
		stranger("192.0.2.1:2")
	}
	close(done)
	all.Wait()
}

// TestFull: a stranger that is a client's too late is closed.
func TestFull(t *testing.T) {
	d := newDoor(Limits{Connections: 1})
	first, second := d.place(&visitor{at: "192.0.2.1:1"}, nil), d.place(&visitor{at: "192.0.2.2:1"}, nil)
	if !Recognize(first) || Recognize(second) || !Recognize(first) || !second.Conn.(*visitor).closed {
		t.Error("two clients of one place: got both, want the second closed")
	}
	d.leave(first)
	if third := d.place(&visitor{at: "192.0.2.2:1"}, nil); third == nil || !Recognize(third) {
		t.Error("after the first has left: got no place")
	}
}

// TestGraceDelaysNoClient: connections that wait for a place delay neither each other nor the use of a place that
// becomes free.
func TestGraceDelaysNoClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{words: make(chan error), far: make(chan net.Conn, 999), done: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		traffic, ended := &Traffic{}, make(chan error, 1)
		sessions := make(chan net.Conn, 999)
		go func() {
			a := Acceptor{Name: "test", Listener: s, Limit: 1, Grace: time.Second, Log: Logger(nil), Traffic: traffic}
			ended <- a.Serve(ctx, func(_ context.Context, c net.Conn) {
				Recognize(c)
				sessions <- c
				io.Copy(io.Discard, c)
			})
		}()
		s.words <- nil
		first := <-sessions
		begin := time.Now()
		for range 300 {
			s.words <- nil
		}
		synctest.Wait()
		if n := traffic.Dropped(Full); n != 300-maxWaiting || time.Since(begin) > 0 {
			t.Errorf("got %d refused after %v, want %d at once", n, time.Since(begin), 300-maxWaiting)
		}
		first.Close()
		<-sessions
		if wait := time.Since(begin); wait > 0 {
			t.Errorf("a free place: got one of those that wait after %v, want it at once", wait)
		}
		time.Sleep(2 * time.Second)
		if n := traffic.Dropped(Full); n != 300-1 {
			t.Errorf("after the grace: got %d refused, want %d", n, 300-1)
		}
		cancel()
		<-ended
	})
}
