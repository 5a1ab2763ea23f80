package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/protocols/okon"
)

// TestCrowdBesideStop: twelve clients that command 300 times a second, subscribers, and a recording to a file, to a
// full disk, or to a pipe that is not read, keep neither a status nor a stop waiting. It runs for HALYARD_CROWD each,
// and prints the times for docs/figures.md.
func TestCrowdBesideStop(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("HALYARD_CROWD"))
	if err != nil {
		length = time.Second
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // it is never read
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for _, c := range [][3]string{
		{"odcp, file", "odcp", filepath.Join(t.TempDir(), "run.mcap")}, {"odcp, full disk", "odcp", "/dev/full"},
		{"odcp, unread pipe", "odcp", pipe}, {"usarsim, file", "gamebots", filepath.Join(t.TempDir(), "run.mcap")},
		{"okon, file", "okon", filepath.Join(t.TempDir(), "run.mcap")},
	} {
		t.Run(c[0], func(t *testing.T) { crowd(t, c[0], c[1], c[2], length) })
	}
}

func crowd(t *testing.T, what, protocol, file string, length time.Duration) {
	s := map[string]struct {
		config, body string
		doors        []string
	}{
		"odcp":     {"so101", "emulated", []string{"osp", "odcp", "rosbridge", "foxglove"}},
		"gamebots": {"usarsim", "sim", []string{"gamebots", "imageserver"}},
		"okon":     {"okon", "sim", []string{"okon", "okon-video"}},
	}[protocol]
	f := &freezing{name: "crowd-" + strings.NewReplacer(" ", "-", ",", "").Replace(what), stderr: &lockedBuffer{}}
	f.serve = exec.Command(os.Args[0], "serve", s.config, "--body", s.body, "--set", "name="+f.name, "--set",
		"clock.mode=realtime", "--dashboard", "off", "-o", "jsonl")
	for _, door := range s.doors {
		f.serve.Args = append(f.serve.Args, "--listen", door+"=127.0.0.1:0")
	}
	f.serve.Args = append(f.serve.Args, "--set", "record.file="+file)
	r := &running{}
	var err error
	if r.ready, err = f.starts(); err != nil {
		t.Fatal(err)
	}
	defer func() { f.serve.Process.Kill(); f.serve.Wait() }()
	ended := make(chan struct{})
	var clients sync.WaitGroup
	defer clients.Wait()
	defer close(ended)
	sent := make([]int, 12)
	for i := range sent {
		send, end := commander(t, r, protocol, i)
		clients.Go(func() {
			defer end()
			tick := time.NewTicker(time.Second / 300)
			defer tick.Stop()
			for {
				select {
				case <-ended:
					return
				case <-tick.C:
					send(sent[i])
					sent[i]++
				}
			}
		})
	}
	if protocol == "odcp" {
		subscribe(t, r)
	}
	var status, stops []time.Duration
	failed := 0
	for begin := time.Now(); time.Since(begin) < length; <-time.After(20 * time.Millisecond) {
		order, times := control.OrderStatus, &status
		if len(status)%50 == 49 && len(stops) < len(status)/50+1 {
			order, times = control.OrderStop, &stops
		}
		at := time.Now()
		if _, err := control.Send(t.Context(), f.name, order); err != nil {
			t.Errorf("%v after %v: %v", order, time.Since(begin), err)
			if failed++; failed > 10 {
				t.Fatal(f.stderr.text())
			}
		}
		*times = append(*times, time.Since(at))
		if order == control.OrderStop {
			control.Send(t.Context(), f.name, control.OrderReset)
			control.Send(t.Context(), f.name, control.OrderArm)
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	t.Logf("%s: %d status: %s; %d stops: %s; %d failed; load %.4s", what, len(status), spread(status), len(stops),
		spread(stops), failed, load)
}

// commander is what sends a command of client i, and ends it.
func commander(t *testing.T, r *running, protocol string, i int) (send func(n int), end func()) {
	t.Helper()
	if protocol == "odcp" {
		c, err := odcp.Open(r.address(t, "odcp"), odcp.ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return func(n int) {
			at := int32(512 + 100*math.Sin(float64(n)/200))
			c.Set([]int32{at, at, at, at, at, at}, []int32{1023, 1023, 1023, 1023, 1023, 1023})
		}, func() { c.Close() }
	}
	if protocol == "okon" {
		c, err := okon.Dial(r.address(t, "okon"), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return func(n int) {
			c.SetMotors(okon.Motors{FLV: 0.1 * float32(math.Sin(float64(n)/200))})
		}, func() { c.Close() }
	}
	conn, err := net.Dial("tcp", r.address(t, "gamebots"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "INIT {ClassName USARBot.P2AT} {Name R%d} {Location %d,%d,0}\r\n", i, i%4*2, i/4*2)
	go io.Copy(io.Discard, conn) // until it is closed
	return func(int) { fmt.Fprintf(conn, "DRIVE {Left 1} {Right -1}\r\n") }, func() { conn.Close() }
}

// subscribe lets clients of both bridges read everything until the test ends.
func subscribe(t *testing.T, r *running) {
	t.Helper()
	for _, c := range []struct {
		door, protocol string
		kind           websocket.MessageType
		message        any
	}{
		{"rosbridge", "", websocket.MessageText, map[string]any{"op": "subscribe", "topic": "/joint_states"}},
		{"foxglove", "foxglove.sdk.v1", websocket.MessageText, map[string]any{"op": "subscribe",
			"subscriptions": []map[string]any{{"id": 1, "channelId": 1}, {"id": 2, "channelId": 2}}}},
	} {
		o := &websocket.DialOptions{}
		if c.protocol != "" {
			o.Subprotocols = []string{c.protocol}
		}
		conn, _, err := websocket.Dial(t.Context(), "ws://"+r.address(t, c.door), o)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetReadLimit(1 << 24)
		text, _ := json.Marshal(c.message)
		if err := conn.Write(t.Context(), c.kind, text); err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, _, err := conn.Read(t.Context()); err != nil {
					return
				}
			}
		}()
	}
}

// spread is the median and the longest of some times.
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "none"
	}
	slices.Sort(times)
	var b bytes.Buffer
	fmt.Fprintf(&b, "median %v, longest %v", times[len(times)/2].Round(10*time.Microsecond),
		times[len(times)-1].Round(10*time.Microsecond))
	return b.String()
}
