package osp

import (
	"context"
	"encoding/hex"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

var mainPort = netip.MustParseAddrPort("127.0.0.1:45454")

// stage is a rig of scripted bodies with a server on a network in memory. It lives in a synctest bubble.
type stage struct {
	t      *testing.T
	net    protocolstest.Net
	rig    *hal.Rig
	server *Server
	bodies []*haltest.Body
	wires  map[string]*wire
}

// newStage makes agents named by names, each with one joint "hinge" of range ±π.
func newStage(t *testing.T, o Options, names ...string) *stage {
	return newStageOf(t, hal.Emulated, o, names...)
}

func newStageOf(t *testing.T, kind hal.BodyKind, o Options, names ...string) *stage {
	s := &stage{t: t, wires: map[string]*wire{}}
	s.rig = newRig(t)
	for _, name := range names {
		s.bodies = append(s.bodies, addAgent(t, s.rig, name, kind))
	}
	o.Listen = s.net.Listen
	conn, err := s.net.Listen(mainPort)
	if err != nil {
		t.Fatal(err)
	}
	s.server = NewServer(s.rig, conn, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
		if n := s.server.Sessions(); n != 0 {
			t.Errorf("sessions after the end: got %d, want 0", n)
		}
	})
	return s
}

func newRig(t testing.TB) *hal.Rig {
	t.Helper()
	rig, err := hal.New(hal.Config{Name: "test", Mode: hal.Lockstep, Period: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return rig
}

func addAgent(t testing.TB, rig *hal.Rig, name string, r hal.BodyKind) *haltest.Body {
	t.Helper()
	b := haltest.NewBody("hinge")
	if _, err := rig.Add(hal.AgentConfig{Name: name, Body: b, World: b, BodyKind: r}); err != nil {
		t.Fatal(err)
	}
	return b
}

// wire is a client that sends and receives plain bytes.
type wire struct {
	conn protocols.PacketConn
	to   netip.AddrPort // the main port, then the session's
	in   []byte
}

func (s *stage) wire(name string) *wire {
	if w := s.wires[name]; w != nil {
		return w
	}
	conn, err := s.net.Listen(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	s.wires[name] = &wire{conn: conn, to: mainPort, in: make([]byte, 1<<16)}
	return s.wires[name]
}

// next returns the next datagram for w, or nil where the queue is empty.
func (w *wire) next() []byte {
	w.conn.SetReadDeadline(time.Now().Add(time.Nanosecond))
	n, from, err := w.conn.ReadFromUDPAddrPort(w.in)
	if err != nil {
		return nil
	}
	if w.in[0] == byte(initCommunicationAck) {
		w.to = from
	}
	return w.in[:n]
}

// play runs a transcript, a line each:
//
//	a> 64 i1       client a sends the byte 0x64 and the int 1
//	a>> 05 01 01   client a sends this to the main port, session or not
//	a< 65 i1 01 78 client a has been sent exactly this; no client may have a further datagram when the next line sends
//	wait 500ms     time passes
//
// i is an int, f a float, s a string with its NUL, all else hex bytes; # begins a remark.
func (s *stage) play(transcript string) {
	s.t.Helper()
	for i, line := range strings.Split(transcript, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name, what := strings.TrimRight(words[0], "<>"), words[0][len(words[0])-1]
		switch {
		case words[0] == "wait":
			s.quiet(i)
			d, err := time.ParseDuration(words[1])
			if err != nil {
				s.t.Fatal(err)
			}
			time.Sleep(d)
		case what == '>':
			s.quiet(i)
			w := s.wire(name)
			to := w.to
			if strings.HasSuffix(words[0], ">>") {
				to = mainPort
			}
			w.conn.WriteToUDPAddrPort(encode(s.t, words[1:]), to)
		case what == '<':
			want := encode(s.t, words[1:])
			if got := s.wire(name).next(); string(got) != string(want) {
				s.t.Fatalf("line %d: %s:\n got %x\nwant %x", i, strings.TrimSpace(line), got, want)
			}
		default:
			s.t.Fatalf("line %d: %q: neither > nor < nor wait", i, line)
		}
		synctest.Wait()
	}
	s.quiet(-1)
}

// quiet fails if a client was sent a datagram that is not in the transcript.
func (s *stage) quiet(line int) {
	s.t.Helper()
	for name, w := range s.wires {
		if b := w.next(); b != nil {
			s.t.Fatalf("before line %d: %s< %x: not in the transcript", line, name, b)
		}
	}
}

func encode(t *testing.T, words []string) []byte {
	t.Helper()
	var b []byte
	for _, w := range words {
		c := coder{b: b, encode: true}
		switch w[0] {
		case 'i':
			n, err := strconv.ParseInt(w[1:], 10, 32)
			v := int32(n)
			if c.int(&v); err != nil {
				t.Fatal(err)
			}
		case 'f':
			n, err := strconv.ParseFloat(w[1:], 32)
			if v := float32(n); err == nil {
				c.float(&v)
				break
			}
			fallthrough // ff is a byte
		default:
			raw, err := hex.DecodeString(w)
			if err != nil {
				t.Fatal(err)
			}
			c.b = append(c.b, raw...)
		case 's':
			text := w[1:]
			c.text(&text)
		}
		b = c.b
	}
	return b
}

func (s *stage) dropped(want map[protocols.Cause]uint64) {
	s.t.Helper()
	for c := range protocols.NumCauses {
		if got := s.server.Traffic().Dropped(c); got != want[c] {
			s.t.Errorf("dropped as %v: got %d, want %d", c, got, want[c])
		}
	}
}

func almost(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
