package halyard_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/protocols/player"
	"github.com/halyard-robotics/halyard/protocols/batch"
	"github.com/halyard-robotics/halyard/protocols/okon"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// doorTimeout is how long a door has for what takes it milliseconds.
const doorTimeout = 60 * time.Second

// A doorCase is a server that accepts streams, and what a client of it does first: it fails where it is not served.
type doorCase struct {
	name, address string
	web           bool // it speaks HTTP
	client        func(address string) error
}

// doorsConfig is robots with a server of each protocol.
const doorsConfig = `name: %s
clock: {mode: realtime, period: 10ms}
world: {scene: %s, seed: 1}
%s`

const arenaServers = `classes:
  USARBot.P2AT: {model: usarsim-p2at}
agents:
  - {name: rover, model: usarsim-p2at, body: sim, pose: {position: [4, 2, 2]}}
servers:
  - {protocol: gamebots, listen: "HOST:0"}
  - {protocol: imageserver, listen: "HOST:0"}
  - {protocol: simloid, agent: rover, listen: "HOST:0"}
  - {protocol: player, agent: rover, listen: "HOST:0"}
  - {protocol: nml, agent: rover, listen: "HOST:0"}
  - {protocol: batch, listen: "HOST:0"}
  - {protocol: rosbridge, agent: rover, listen: "HOST:0"}
  - {protocol: foxglove, agent: rover, listen: "HOST:0"}
`

const poolServers = `agents:
  - {name: okon, model: okon, body: sim}
servers:
  - {protocol: okon, listen: "HOST:0"}
  - {protocol: okon-video, listen: "HOST:0"}
`

// doorToken is that of the dashboard.
const doorToken = "three"

// openDoors runs robots with every server at host, until the test ends.
func openDoors(t *testing.T, host string) (doors []doorCase, systems []*halyard.System) {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	bound := host
	if !strings.HasPrefix(host, "127.") {
		bound = "0.0.0.0"
	}
	page, err := halyard.OpenDashboard(halyard.DashboardOptions{Address: bound + ":0", Token: doorToken})
	if err != nil {
		t.Fatal(err)
	}
	for name, servers := range map[string]string{"yellow": arenaServers, "pool": poolServers} {
		file := filepath.Join(t.TempDir(), name+".yaml")
		text := fmt.Sprintf(doorsConfig, name, name, strings.ReplaceAll(servers, "HOST", bound))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := halyard.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		sys, err := halyard.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		systems = append(systems, sys)
		t.Cleanup(func() { sys.Close() })
		list, err := sys.Listen()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			_, port, _ := net.SplitHostPort(s.Address)
			web := s.Protocol == "rosbridge" || s.Protocol == "foxglove"
			doors = append(doors, doorCase{s.Protocol, net.JoinHostPort(host, port), web, doorClients[s.Protocol]})
		}
		running.Go(func() { sys.Run(ctx) })
	}
	page.Show(systems...)
	running.Go(func() { page.Run(ctx) })
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(page.URL(), "http://"), "/"))
	doors = append(doors, doorCase{"dashboard", net.JoinHostPort(host, port), true, stopOnPage},
		doorCase{"control", control.ControlSocket("yellow"), false, func(string) error {
			_, err := control.Send(context.Background(), "yellow", control.OrderStop)
			return err
		}})
	return doors, systems
}

// doorClients are the first exchanges of clients.
var doorClients = map[string]func(address string) error{
	"gamebots":    exchange("GETSTARTPOSES\r\n", "NFO {Gametype USARBot.USARDeathMatch}", "NFO {StartPoses "),
	"imageserver": exchange("OK", "\x01"),
	"nml": exchange("\x00\x00\x00\x01\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"+
		strings.Repeat("\x00", 16), "\x00\x00\x00\x02"),
	"okon-video": exchange(string(rune(0))+"i", "i"),
	"player":     exchange(playerRequest(), "Player v.3.1.1-dev"),
	"okon": func(address string) error {
		c, err := okon.Dial(address, doorTimeout)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.Ask(okon.Ping, 0, []byte("x"))
		return err
	},
	"simloid": func(address string) error {
		c, err := simloid.Dial(address, simloid.ClientOptions{})
		if err != nil {
			return err
		}
		return c.Close()
	},
	"batch": func(address string) error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		c, err := batch.NewClient(conn, &batch.Hello{Copies: 1})
		if err == nil {
			c.Close()
		}
		return err
	},
	"rosbridge": socketClient(`{"op":"call_service","service":"/rosapi/topics"}`),
	"foxglove":  socketClient(`{"op":"subscribe","subscriptions":[]}`),
}

// exchange sends bytes and wants answers, one after another.
func exchange(send string, want ...string) func(string) error {
	return func(address string) error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(doorTimeout))
		if _, err := io.WriteString(conn, send); err != nil {
			return err
		}
		in, got := bufio.NewReader(conn), []byte{}
		for _, w := range want {
			for !bytes.Contains(got, []byte(w)) {
				b, err := in.ReadByte()
				if err != nil {
					return fmt.Errorf("got %.200q, want %q: %w", got, w, err)
				}
				got = append(got, b)
			}
		}
		return nil
	}
}

// playerRequest asks for the list of devices.
func playerRequest() string {
	h := player.Header{Device: player.Device{Interface: player.Player}, Type: player.Req, Subtype: 1}
	return string(h.Append(nil))
}

// socketClient sends a message on a WebSocket and reads one.
func socketClient(message string) func(string) error {
	return func(address string) error {
		ctx, cancel := context.WithTimeout(context.Background(), doorTimeout)
		defer cancel()
		c, _, err := websocket.Dial(ctx, "ws://"+address,
			&websocket.DialOptions{Subprotocols: []string{"foxglove.websocket.v1"}})
		if err != nil {
			return err
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		if err := c.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			return err
		}
		_, _, err = c.Read(ctx)
		return err
	}
}

// stopOnPage is a stop by a person with the token.
func stopOnPage(address string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: doorTimeout}
	q, err := http.NewRequest("POST", "http://"+address+"/stop", nil)
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+doorToken)
	r, err := client.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if b, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusOK || !bytes.Contains(b, []byte(`"acknowledged":true`)) {
		return fmt.Errorf("got %d: %.200s", r.StatusCode, b)
	}
	return nil
}

// dial opens a connection to a door.
func (d *doorCase) dial() (net.Conn, error) {
	if d.name == "control" {
		return net.Dial("unix", d.address)
	}
	return net.Dial("tcp", d.address)
}

// closes reports what a door sends until it closes a connection with these first bytes, in pieces of n; it fails where
// it does not.
func (d *doorCase) closes(first string, n int) (answer []byte, err error) {
	conn, err := d.dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(doorTimeout))
	for b := []byte(first); len(b) > 0; b = b[min(n, len(b)):] {
		if _, err := conn.Write(b[:min(n, len(b))]); err != nil {
			break
		}
	}
	answer, err = io.ReadAll(conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return answer, errors.New("the connection stays open")
	}
	return answer, nil
}

// addresses are those by which a test reaches this computer: loopback, and another one where it has one.
func addresses() []string {
	list := []string{"127.0.0.1"}
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && len(list) == 1 {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// TestDoors: what strangers send to each server has no effect, ends, and keeps no client out.
func TestDoors(t *testing.T) {
	for _, host := range addresses() {
		t.Run(host, func(t *testing.T) {
			doors, systems := openDoors(t, host)
			for i := range doors {
				d := &doors[i]
				t.Run(d.name, func(t *testing.T) {
					if err := d.client(d.address); err != nil {
						t.Fatalf("a client: %v", err)
					}
					t.Run("browser", d.browser)
					if host == "127.0.0.1" {
						t.Run("unfinished", d.unfinished)
						t.Run("long line", d.longLine)
					}
					if host == "127.0.0.1" || d.web {
						t.Run("crowd", d.crowd)
					}
				})
			}
			for _, s := range systems {
				if n := len(s.Rig().Agents()); n != 1 {
					t.Errorf("got %d robots, want 1: strangers spawn none", n)
				}
			}
		})
	}
}

// browser: an HTTP request and a TLS handshake, whole and byte by byte, are closed, and what follows is not executed.
func (d *doorCase) browser(t *testing.T) {
	const body = "INIT {ClassName USARBot.P2AT} {Name R1}\r\nDRIVE {Left 1} {Right 1}\r\nACK\nUA 1\nDONE\n"
	head := "POST / HTTP/1.1\r\nHost: " + d.address +
		"\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\nContent-Length: 87\r\n\r\n" + body
	if d.web {
		head = strings.Replace(head, "\r\n", "\r\nConnection: close\r\n", 1)
	}
	for what, first := range map[string]string{"request": head, "another method": "BREW" + head[4:],
		"TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 600)} {
		for _, n := range []int{1, 1 << 20} {
			answer, err := d.closes(first, n)
			if err != nil {
				t.Errorf("%s in pieces of %d: %v", what, n, err)
			}
			if d.web && what == "request" && !bytes.Contains(answer, []byte(" 403 ")) &&
				!bytes.Contains(answer, []byte(" 426 ")) {
				t.Errorf("%s: got %.100q, want it refused", what, answer)
			}
		}
	}
	if d.web {
		d.foreignPage(t)
	}
}

// foreignPage: neither a page of another site nor one whose name leads here opens a WebSocket.
func (d *doorCase) foreignPage(t *testing.T) {
	for _, name := range []string{"https://evil.example", "http://evil.example:80", "null"} {
		for _, host := range []string{d.address, "evil.example:80"} {
			_, r, err := websocket.Dial(t.Context(), "ws://"+d.address+"/ws",
				&websocket.DialOptions{Host: host, Subprotocols: []string{"foxglove.websocket.v1"},
					HTTPHeader: http.Header{"Origin": {name}, "Authorization": {"Bearer " + doorToken}}})
			if err == nil || r == nil || r.StatusCode != http.StatusForbidden {
				t.Errorf("origin %s at %s: got %v, want 403", name, host, err)
			}
		}
	}
}

// unfinished: a client that ends in the middle of its first message, and closes only its own side, is closed.
func (d *doorCase) unfinished(t *testing.T) {
	for _, first := range []string{"", "\x00", "X"} {
		conn, err := d.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(doorTimeout))
		io.WriteString(conn, first)
		conn.(interface{ CloseWrite() error }).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q and the end of one side: the connection stays open", first)
		}
	}
}

// crowd: 300 silent connections that come again whenever they are closed; clients are served meanwhile.
func (d *doorCase) crowd(t *testing.T) {
	var strangers sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	var came sync.WaitGroup
	for range 300 {
		came.Add(1)
		strangers.Go(func() {
			for first := true; ctx.Err() == nil; first = false {
				conn, err := d.dial()
				if first {
					came.Done()
				}
				if err != nil {
					continue
				}
				end := context.AfterFunc(ctx, func() { conn.Close() })
				io.Copy(io.Discard, conn)
				end()
				conn.Close()
			}
		})
	}
	came.Wait()
	for range 2 {
		begin, tries := time.Now(), 1
		for err := d.client(d.address); err != nil; err = d.client(d.address) {
			if tries++; time.Since(begin) > doorTimeout {
				t.Fatalf("a client beside 300 strangers: %v", err)
			}
		}
		t.Logf("served after %v, try %d", time.Since(begin).Round(time.Millisecond), tries)
	}
	cancel()
	strangers.Wait()
}

// longLine: 100 MB without an end take no memory and no place.
func (d *doorCase) longLine(t *testing.T) {
	const size = 100 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	conn, err := d.dial()
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		piece := bytes.Repeat([]byte("x"), 1<<16)
		for range size / len(piece) {
			if _, err := conn.Write(piece); err != nil {
				return
			}
		}
	}()
	if err := d.client(d.address); err != nil {
		t.Errorf("a client beside it: %v", err)
	}
	select {
	case <-sent:
	case <-time.After(2 * time.Second): // the door reads no more of it
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > size/2 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	conn.Close()
	<-sent
}

// TestStopsBesideStrangers: 60 of 60 stops beside 300 strangers, from this computer and from another address.
func TestStopsBesideStrangers(t *testing.T) {
	for _, host := range addresses() {
		doors, systems := openDoors(t, host)
		page := &doors[len(doors)-2]
		for range 300 {
			conn, err := page.dial()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		refused := 0
		var slowest time.Duration
		for range 60 {
			begin := time.Now()
			if err := page.client(page.address); err != nil {
				refused++
				t.Log(err)
			}
			slowest = max(slowest, time.Since(begin))
		}
		if refused > 0 || !systems[0].Rig().Latched() {
			t.Errorf("%s: %d of 60 stops were refused", host, refused)
		}
		t.Logf("%s: 60 stops, the slowest in %v", host, slowest.Round(time.Millisecond))
	}
}
