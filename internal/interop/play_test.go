package interop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/internal/assembly"
)

const (
	patience = time.Minute // for each answer
	farthest = 1 << 20     // maximum bytes that a client skips before the awaited ones
)

// connection is a client's side.
type connection interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}

// terminal is a serial line as a connection.
type terminal struct {
	*serial.Line
	deadline time.Time
}

func (t *terminal) SetReadDeadline(d time.Time) error { t.deadline = d; return nil }

func (t *terminal) Read(b []byte) (int, error) { return t.Line.Read(b, time.Until(t.deadline)) }

// world is an open config.
type world struct {
	dial func() (connection, error)
	// executes an order of halyard hand, waits until the joint has arrived; nil = not available
	hand func(order string) error
	end  func()
}

// open opens the config that a session names, until end.
func open(t *testing.T, s *session) *world {
	t.Helper()
	file := filepath.Join("testdata", "configs", s.open[1])
	cfg, err := halyard.Load(file, halyard.Set("name", s.name)) // rigs that run at once differ in name
	if err != nil {
		t.Fatal(err)
	}
	if s.open[0] == "emulate" {
		return emulate(t, cfg, s.open[2])
	}
	return serve(t, cfg, s.open[2])
}

// emulate serves the devices of cfg on terminals.
func emulate(t *testing.T, cfg *halyard.Config, bus string) *world {
	t.Helper()
	e, err := halyard.Emulate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan []halyard.Port, 1)
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		defer close(ready)
		failed = e.Serve(ctx, "", func(ports []halyard.Port) error { ready <- ports; return nil })
	})
	end := func() { cancel(); running.Wait(); e.Close() }
	ports, ok := <-ready
	if !ok {
		end()
		t.Skip(failed)
	}
	for _, p := range ports {
		if p.Bus != bus || p.Path == "" {
			continue
		}
		return &world{end: end, hand: func(order string) error { return handle(e, order) },
			dial: func() (connection, error) {
				if at, ok := strings.CutPrefix(p.Path, "tcp://"); ok {
					return net.Dial("tcp", at)
				}
				line, err := serial.Open(p.Path, p.Baud, "")
				if err != nil {
					return nil, err
				}
				return &terminal{Line: line}, nil
			}}
	}
	end()
	t.Fatalf("emulate: got no terminal of %s in %+v", bus, ports)
	return nil
}

// handle executes a hand's order on e, and waits until no hand moves.
func handle(e *halyard.Emulator, order string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(patience); ; order = "look" {
		a := e.Hand(order).(assembly.HandAnswer)
		if a.Error != "" {
			return errors.New(a.Error)
		}
		if order == "look" && !slices.ContainsFunc(a.Joints,
			func(j assembly.HandJoint) bool { return j.Hand == "moves" }) {
			return nil
		}
		if now := <-tick.C; now.After(until) {
			return errors.New("a hand still moves")
		}
	}
}

// serve runs cfg and its servers.
func serve(t *testing.T, cfg *halyard.Config, protocol string) *world {
	t.Helper()
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := sys.Listen()
	if err != nil {
		sys.Close()
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { sys.Run(ctx) })
	end := func() { cancel(); running.Wait(); sys.Close() }
	for _, srv := range servers {
		if srv.Protocol == protocol {
			return &world{end: end, dial: func() (connection, error) { return net.Dial("tcp", srv.Address) }}
		}
	}
	end()
	t.Fatalf("serve: got no server of %s", protocol)
	return nil
}

// number is one of a Simloid status.
var number = regexp.MustCompile(`^-?\d+\.\d{6} $`)

// play is a client's session on w.
func (s *session) play(w *world) error {
	conn, err := w.dial()
	if err != nil {
		return err
	}
	defer func() { conn.Close() }()
	in := bufio.NewReaderSize(conn, 1<<16)
	for i := range s.steps {
		k := &s.steps[i]
		conn.SetReadDeadline(time.Now().Add(patience))
		var got []byte
		switch k.kind {
		case sends:
			_, err = conn.Write(k.bytes())
		case reads:
			got = make([]byte, len(k.pattern))
			var n int
			if n, err = io.ReadFull(in, got); err == nil && !k.matches(got) {
				err = errors.New("another answer")
			}
			got = got[:n]
		case seeks:
			for err == nil && (len(got) < len(k.pattern) || !k.matches(got[len(got)-len(k.pattern):])) {
				var b byte
				if b, err = in.ReadByte(); err == nil {
					got = append(got, b)
				}
				if len(got) > farthest {
					err = errors.New("it never came")
				}
			}
		case lines:
			for err == nil {
				if got, err = in.ReadBytes('\n'); k.match.Match(bytes.TrimRight(got, "\r\n")) {
					break
				}
			}
		case numbers:
			for n := 0; n < k.count && err == nil; n++ {
				if got, err = in.ReadBytes(' '); err == nil && !number.Match(got) {
					err = errors.New("no number")
				}
			}
		case rates:
			line, ok := conn.(*terminal)
			if !ok {
				return fmt.Errorf("line %d: baud: got no serial line", k.line)
			}
			err = line.SetBaud(k.baud)
			in.Reset(conn) // bytes received at another rate are noise
		case hands:
			if w.hand == nil {
				return fmt.Errorf("line %d: got no emulated servos", k.line)
			}
			err = w.hand(k.order)
		case hangUp:
			conn.Close()
			if conn, err = w.dial(); err != nil {
				return err
			}
			in = bufio.NewReaderSize(conn, 1<<16)
		}
		if err != nil {
			const most = 200
			return fmt.Errorf("line %d: want %s, got % x %.*q: %w", k.line, k, got[max(0, len(got)-most):], most, got,
				err)
		}
	}
	return nil
}

func TestSessions(t *testing.T) {
	worlds := map[string][]*session{}
	var order []string
	for _, s := range sessions(t) {
		key := strings.Join(s.open, " ")
		if worlds[key] == nil {
			order = append(order, key)
		}
		worlds[key] = append(worlds[key], s)
	}
	for _, key := range order {
		for _, s := range worlds[key] {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel() // it mostly waits for devices that take their time
				w := open(t, s)
				defer w.end()
				if err := s.play(w); err != nil {
					t.Errorf("%s (%s): %v", s.client, s.source, err)
				}
			})
		}
	}
}

// TestDocumented: docs/clients.md names every client and its revision.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, s := range sessions(t) {
		_, short, _ := strings.Cut(s.name, "-")
		for _, word := range strings.Fields(s.source) {
			if !strings.Contains(page, word) || !strings.Contains(page, "`"+s.name+"`") &&
				!strings.Contains(page, "`-"+strings.TrimPrefix(short, "framework-")+"`") {
				t.Errorf("docs/clients.md: got no %q, of %s", word, s.name)
			}
		}
	}
}
