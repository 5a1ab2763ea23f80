package dashboard

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"math"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
)

// New is Open and Show.
func New(listener net.Listener, sources []Source, o Options) (*Server, error) {
	s, err := Open(listener, o)
	if err == nil {
		s.Show(sources)
	}
	return s, err
}

// stage is a rover with a dashboard, in a bubble.
func stage(t *testing.T, c topicstest.Config) *topicstest.Stage {
	t.Helper()
	return topicstest.New(t, c, func(ln net.Listener, r *topics.Robot) (topicstest.Server, error) {
		return New(ln, []Source{{Rig: r.Rig}}, Options{})
	})
}

const home = "http://127.0.0.1:8642"

// tab opens a WebSocket.
func tab(t *testing.T, s *topicstest.Stage) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(home, "http")+"/ws",
		&websocket.DialOptions{HTTPClient: s.HTTP(), HTTPHeader: http.Header{"Origin": {home}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return conn
}

func say(t *testing.T, c *websocket.Conn, format string, args ...any) {
	t.Helper()
	if err := c.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, format, args...)); err != nil {
		t.Fatal(err)
	}
}

// ask is the status that a request is answered with.
func ask(t *testing.T, s *topicstest.Stage, q *http.Request) int {
	t.Helper()
	r, err := s.HTTP().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}

// post gives an order.
func post(t *testing.T, s *topicstest.Stage, order string) (a Answer) {
	t.Helper()
	r, err := s.HTTP().Post(home+order, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		t.Fatalf("%s: %v", order, err)
	}
	return a
}

func TestAccess(t *testing.T) {
	loopback, outer := netip.MustParseAddrPort("127.0.0.1:8642"), netip.MustParseAddrPort("192.168.1.7:8642")
	for _, c := range []struct {
		what         string
		at           netip.AddrPort
		method, host string
		header       []string // name, value ...
		page, token  bool     // are they let through
	}{
		{what: "a program", at: loopback, method: "POST", host: "127.0.0.1:8642", page: true, token: true},
		{what: "own page", at: loopback, method: "POST", host: "localhost:8642",
			header: []string{"Origin", "http://localhost:8642", "Sec-Fetch-Site", "same-origin"}, page: true,
			token: true},
		{what: "a tunnel's other port", at: loopback, method: "POST", host: "localhost:9000",
			header: []string{"Origin", "http://localhost:9000"}, page: true, token: true},
		{what: "IPv6", at: loopback, method: "GET", host: "[::1]:8642", page: true, token: true},
		{what: "a foreign page", at: loopback, method: "POST", host: "127.0.0.1:8642",
			header: []string{"Origin", "https://evil.example"}, token: true},
		{what: "another page of this computer", at: loopback, method: "POST", host: "127.0.0.1:8642",
			header: []string{"Origin", "http://127.0.0.1:3000"}, token: true},
		{what: "the other name of this page", at: loopback, method: "POST", host: "127.0.0.1:8642",
			header: []string{"Origin", "http://localhost:8642"}, token: true},
		{what: "a file", at: loopback, method: "POST", host: "127.0.0.1:8642", header: []string{"Origin", "null"},
			token: true},
		{what: "a foreign form without Origin", at: loopback, method: "POST", host: "127.0.0.1:8642",
			header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, token: true},
		{what: "a foreign picture", at: loopback, method: "GET", host: "127.0.0.1:8642",
			header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, token: true},
		{what: "a foreign link", at: loopback, method: "GET", host: "127.0.0.1:8642",
			header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, page: true, token: true},
		{what: "a name that leads here", at: loopback, method: "GET", host: "evil.example:8642",
			header: []string{"Origin", "http://evil.example:8642"}, token: true},
		{what: "another address that leads here", at: loopback, method: "GET", host: "192.168.1.7:8642", token: true},
		{what: "from outside, without token", at: outer, method: "POST", host: "192.168.1.7:8642", page: true},
		{what: "from outside, a wrong one", at: outer, method: "POST", host: "192.168.1.7:8642",
			header: []string{"Authorization", "Bearer tree"}, page: true},
		{what: "from outside, the token", at: outer, method: "POST", host: "192.168.1.7:8642",
			header: []string{"Authorization", "Bearer three"}, page: true, token: true},
		{what: "from outside, its cookie", at: outer, method: "POST", host: "192.168.1.7:8642",
			header: []string{"Cookie", "halyard_8642=three"}, page: true, token: true},
		{what: "from outside, a foreign page", at: outer, method: "POST", host: "192.168.1.7:8642",
			header: []string{"Cookie", "halyard_8642=three", "Origin", "http://192.168.1.8"}, token: true},
	} {
		token := ""
		if c.at == outer {
			token = "three"
		}
		a, err := newAccess(c.at, "", token)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(c.method, "/stop", nil)
		r.Host = c.host
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		if err := a.page(r); (err == nil) != c.page {
			t.Errorf("%s: page: got %v, want passed: %v", c.what, err, c.page)
		}
		if err := a.known(r); (err == nil) != c.token {
			t.Errorf("%s: token: got %v, want passed: %v", c.what, err, c.token)
		}
	}
	if _, err := newAccess(outer, "", ""); err == nil {
		t.Error("beyond loopback without a token: got none, want an error")
	}
	if _, err := newAccess(netip.MustParseAddrPort("0.0.0.0:1"), "", ""); err == nil {
		t.Error("on every address without a token: got none, want an error")
	}
}

// TestForeignPageMovesNothing goes through the whole server: nothing of a foreign page arrives.
func TestForeignPageMovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime, Guard: hal.GuardConfig{Disarmed: true}})
		for _, path := range []string{"/arm", "/reset", "/disarm", "/stop"} {
			q, _ := http.NewRequest("POST", home+path, nil)
			q.Header.Set("Origin", "https://evil.example")
			if code := ask(t, s, q); code != http.StatusForbidden {
				t.Errorf("%s: got %d, want 403", path, code)
			}
			q, _ = http.NewRequest("GET", home+path, nil)
			if code := ask(t, s, q); code != http.StatusMethodNotAllowed {
				t.Errorf("GET %s: got %d, want 405", path, code)
			}
		}
		_, r, err := websocket.Dial(t.Context(), "ws://127.0.0.1:8642/ws",
			&websocket.DialOptions{HTTPClient: s.HTTP(), HTTPHeader: http.Header{"Origin": {"http://localhost:3000"}}})
		if err == nil || r == nil || r.StatusCode != http.StatusForbidden {
			t.Errorf("WebSocket: got %v, want 403", err)
		}
		if s.Rig.Latched() || s.Agent.Condition().State != hal.Disarmed {
			t.Errorf("got %v, latched %v, want disarmed as before", s.Agent.Condition(), s.Rig.Latched())
		}
	})
}

// TestJog moves a wheel while the tab says so, and not after its word, its silence or its end.
func TestJog(t *testing.T) {
	for _, mode := range []hal.ClockMode{hal.Realtime, hal.Lockstep} {
		for _, end := range []string{"hold", "silence", "gone", "stop"} {
			t.Run(mode.String()+" "+end, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := stage(t, topicstest.Config{Mode: mode})
					c := tab(t, s)
					for range 20 {
						say(t, c, `{"op":"jog","agent":"rover","joint":"left","share":0.5}`)
						time.Sleep(50 * time.Millisecond)
					}
					if v, other := s.Rover.Wheels(); v != 10 || other != 0 ||
						!strings.HasPrefix(s.Agent.Holder(), "dashboard@") {
						t.Fatalf("jogging: got %g and %g rad/s, held by %q, want 10 and 0", v, other, s.Agent.Holder())
					}
					begin := time.Now()
					switch end {
					case "hold":
						say(t, c, `{"op":"hold"}`)
					case "gone":
						c.CloseNow()
					case "stop":
						say(t, c, `{"op":"stop"}`)
					}
					for v := 1.0; v != 0; v, _ = s.Rover.Wheels() {
						time.Sleep(time.Millisecond)
					}
					most := 2 * topicstest.Period
					if end == "silence" {
						most += Deadman
					}
					if took := time.Since(begin); took > most {
						t.Errorf("stopped after %v, want within %v", took, most)
					}
					if time.Sleep(Deadman + topicstest.Period); s.Agent.Holder() != "" {
						t.Errorf("afterwards: held by %q", s.Agent.Holder())
					}
				})
			})
		}
	}
}

// TestJogPosition moves the head as far as the time says, and no further than its limit.
func TestJogPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		c := tab(t, s)
		jog := func(share float64, times int) {
			for range times {
				say(t, c, `{"op":"jog","agent":"rover","joint":"head","share":%g}`, share)
				time.Sleep(50 * time.Millisecond)
			}
			say(t, c, `{"op":"hold"}`)
			time.Sleep(100 * time.Millisecond)
		}
		jog(0.05, 10) // half a second at 1 rad/s
		if at := s.Rover.Looks(); math.Abs(at-0.5) > 0.06 {
			t.Errorf("after 0.5 s at 1 rad/s: got %g rad", at)
		}
		if g := s.Agent.Goals(nil); g[topicstest.Head] != (hal.Goal{Mode: hal.PositionMode, Value: s.Rover.Looks()}) ||
			g[topicstest.Left].Mode != hal.NoMode {
			t.Errorf("goals at work: got %v, want where the head looks, and none of the wheels", g)
		}
		jog(1, 20)
		if at := s.Rover.Looks(); at != 2 {
			t.Errorf("a second at full speed: got %g rad, want the limit, 2", at)
		}
		jog(-1, 40)
		if at := s.Rover.Looks(); at != -2 {
			t.Errorf("and back: got %g rad, want the limit, -2", at)
		}
	})
}

// TestJogGoal: the next goal of joints of each kind.
func TestJogGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		time.Sleep(100 * time.Millisecond)
		l := s.Rover.Layout()
		head := &l.Actuators[topicstest.Head] // which stands at 0
		for _, c := range []struct {
			what        string
			wraps       bool
			kind        configs.BodyKind
			from, share float64
			want        float64
		}{
			{"from where it is", false, configs.Sim, math.NaN(), 0.1, 0.04},
			{"on from its goal", false, configs.Sim, 0.1, 0.1, 0.14},
			{"no further ahead than it follows", false, configs.Sim, 0.9, 0.1, jogLead + 2*jogLeadTime},
			{"a share beyond 1", false, configs.Sim, math.NaN(), -7, -0.4},
			{"a real one, slowly", false, configs.Real, math.NaN(), 1, 0.01},
			{"one that turns without end", true, configs.Sim, 4 * math.Pi, 0.1, 4*math.Pi + 0.04},
		} {
			s.Rig.BetweenCycles(func() { head.Wraps = c.wraps })
			g := jog{subject: &subject{agent: s.Agent, kinds: []configs.BodyKind{c.kind, c.kind, c.kind}},
				joint: topicstest.Head, goal: c.from}
			got, err := g.next(c.share, 0.02)
			if err != nil || got.Mode != hal.PositionMode || math.Abs(got.Value-c.want) > 1e-9 {
				t.Errorf("%s: got %+v, %v, want %g rad", c.what, got, err, c.want)
			}
		}
		s.Rig.BetweenCycles(func() { head.Wraps = false })
	})
}

// TestJogHeldUp: jogs that a network has held up move nothing when they come.
func TestJogHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		c := tab(t, s)
		jog := func(at int) {
			say(t, c, `{"op":"jog","agent":"rover","joint":"left","share":0.5,"at":%d}`, at)
			time.Sleep(2 * topicstest.Period)
		}
		jog(1000)
		if v, _ := s.Rover.Wheels(); v != 10 {
			t.Fatalf("at once: got %g rad/s, want 10", v)
		}
		time.Sleep(2 * time.Second)
		for at := 1050; at < 2500; at += 50 { // said in the meantime, and come now
			jog(at)
			if v, _ := s.Rover.Wheels(); v != 0 {
				t.Fatalf("said at %d, come at 3040: got %g rad/s, want 0", at, v)
			}
		}
	})
}

// TestJogRefused reports why nothing moves.
func TestJogRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		c := tab(t, s)
		refused := func(joint, want string) {
			t.Helper()
			say(t, c, `{"op":"jog","agent":"rover","joint":%q,"share":0.5}`, joint)
			_, b, err := c.Read(t.Context())
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("joint %s: got %s, %v, want %q", joint, b, err, want)
			}
		}
		refused("tail", "want a joint of the layout")
		s.Agent.Disarm()
		refused("left", "disarmed")
		s.Agent.Arm()
		other := s.Rig.NewSession("another", &shown{Source: Source{Rig: s.Rig}, journal: &Journal{}})
		defer other.Close()
		if _, err := other.Acquire(s.Agent); err != nil {
			t.Fatal(err)
		}
		refused("left", "held by another")
		if v, _ := s.Rover.Wheels(); v != 0 {
			t.Errorf("got %g rad/s, want 0", v)
		}
	})
}

// TestStopOfABlockedTab: the WebSocket of a tab that reads nothing is full, and its POST stops the rig.
func TestStopOfABlockedTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		c := tab(t, s)
		for range 5 {
			say(t, c, `{"op":"next"}`)
		}
		time.Sleep(time.Second) // a pipe takes nothing that is not read
		a := post(t, s, "/stop")
		if len(a.Joints) != 3 || a.Error != "" || !s.Rig.Latched() {
			t.Fatalf("got %+v, latched %v", a, s.Rig.Latched())
		}
		for _, j := range a.Joints {
			if j.Acked == nil || !*j.Acked {
				t.Errorf("%s: got no acknowledgement", j.Joint)
			}
		}
		if a := post(t, s, "/arm"); !strings.Contains(a.Error, "latched") {
			t.Errorf("arm: got %q, want it refused while the stop is latched", a.Error)
		}
		if a := post(t, s, "/reset"); a.Error != "" || s.Agent.Condition().State != hal.Disarmed {
			t.Errorf("reset: got %q, %v, want disarmed", a.Error, s.Agent.Condition())
		}
		if a := post(t, s, "/arm"); a.Error != "" || s.Agent.Condition().State != hal.Armed {
			t.Errorf("arm: got %q, %v", a.Error, s.Agent.Condition())
		}
		time.Sleep(writeTimeout)
		if _, _, err := c.Read(t.Context()); err == nil {
			_, _, err = c.Read(t.Context())
			if err == nil {
				t.Error("a tab that read nothing for 6 s: got another message, want its end")
			}
		}
	})
}

// TestStopFormIsAPage answers the button of a page without scripts.
func TestStopFormIsAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		q, _ := http.NewRequest("POST", home+"/stop", strings.NewReader(""))
		q.Header.Set("Accept", "text/html,application/xhtml+xml")
		q.Header.Set("Origin", home)
		r, err := s.HTTP().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		var page bytes.Buffer
		page.ReadFrom(r.Body)
		if !s.Rig.Latched() || strings.Count(page.String(), "<td>yes<td>") != 3 {
			t.Errorf("latched %v: got %s", s.Rig.Latched(), &page)
		}
	})
}

// TestFlood: tabs that send too much or come in too great a number are refused; the rig's cycle goes on.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		flood := tab(t, s)
		ended := false
		for range 2 * messageBurst {
			if flood.Write(t.Context(), websocket.MessageText,
				[]byte(`{"op":"jog","agent":"rover","joint":"left","share":1}`)) != nil {
				ended = true
				break
			}
		}
		if !ended {
			t.Errorf("%d messages at once: got a connection, want its end", 2*messageBurst)
		}
		long := tab(t, s)
		long.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte("x"), maxMessage+1))
		if _, _, err := long.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
			t.Errorf("a message of %d bytes: got %v, want its refusal", maxMessage+1, err)
		}
		synctest.Wait()
		for range maxTabs {
			tab(t, s)
		}
		_, r, err := websocket.Dial(t.Context(), "ws://127.0.0.1:8642/ws", &websocket.DialOptions{HTTPClient: s.HTTP()})
		if err == nil || r == nil || r.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("tab %d: got %v, want 503", maxTabs+1, err)
		}
		if a := post(t, s, "/stop"); len(a.Joints) != 3 {
			t.Errorf("stop beside them: got %+v", a)
		}
		var before, after hal.Stats
		s.Rig.Stats(&before)
		time.Sleep(time.Second)
		if s.Rig.Stats(&after); after.Ticks-before.Ticks < 49 || after.Missed != 0 {
			t.Errorf("cycles in a second: got %d, %d missed, want 50", after.Ticks-before.Ticks, after.Missed)
		}
	})
}

// frame reads messages up to the next frame.
func frame(t *testing.T, c *websocket.Conn) (texts map[string]string, b []byte) {
	t.Helper()
	texts = map[string]string{}
	for {
		kind, b, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.MessageBinary {
			return texts, b
		}
		var m struct{ Op string }
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		texts[m.Op] = string(b)
	}
}

// TestFrames decodes what a tab is sent by the layout that it is sent.
func TestFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		time.Sleep(100 * time.Millisecond)
		c := tab(t, s)
		say(t, c, `{"op":"next"}`)
		texts, b := frame(t, c)
		var l layoutText
		if err := json.Unmarshal([]byte(texts["layout"]), &l); err != nil {
			t.Fatal(err)
		}
		if texts["status"] == "" || len(l.Agents) != 1 || len(l.Agents[0].Joints) != 3 || l.Agents[0].Name != "rover" {
			t.Fatalf("got texts %v", texts)
		}
		values := make([]float32, l.Length)
		decode := func(b []byte) (changed int) {
			if b[0] != 1 || binary.LittleEndian.Uint32(b[4:]) != l.Generation ||
				int(binary.LittleEndian.Uint16(b[2:])) != 1 {
				t.Fatalf("head: got % x", b[:8])
			}
			for b = b[24:]; len(b) > 0; {
				first, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
				for i := range n {
					values[first+i] = math.Float32frombits(binary.LittleEndian.Uint32(b[8+4*i:]))
				}
				b, changed = b[8+4*n:], changed+int(n)
			}
			return changed
		}
		if n := decode(b); n != l.Length {
			t.Errorf("the first frame: got %d values, want all %d", n, l.Length)
		}
		a := &l.Agents[0]
		sonar := a.First + a.Sensors[topicstest.Sonar].First
		if got := values[sonar]; got != 1.5 || values[a.Goals] != float32(hal.Armed) {
			t.Errorf("sonar: got %g m, state %g, want 1.5 and armed", got, values[a.Goals])
		}
		for range 10 {
			say(t, c, `{"op":"jog","agent":"rover","joint":"left","share":0.5}`)
			time.Sleep(50 * time.Millisecond)
		}
		say(t, c, `{"op":"next"}`)
		_, b = frame(t, c)
		if n := decode(b); n == 0 || n > l.Length/2 {
			t.Errorf("the next frame: got %d of %d values, want those that changed", n, l.Length)
		}
		if v := values[a.First+a.Joints[topicstest.Left].Velocity]; v != 10 || values[sonar] > 1.4 {
			t.Errorf("half a second later: got %g rad/s, sonar %g m", v, values[sonar])
		}
		// A tab that asks as often as it can gets no more than the browser draws.
		begin, n := time.Now(), 0
		for ; time.Since(begin) < time.Second; n++ {
			say(t, c, `{"op":"next"}`)
			frame(t, c)
		}
		if n > 63 {
			t.Errorf("frames in a second: got %d, want at most 62", n)
		}
	})
}

// TestCamera: a camera of the rover, one picture after the other until the browser leaves, a minute later.
func TestCamera(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := topicstest.New(t, topicstest.Config{Mode: hal.Realtime},
			func(ln net.Listener, r *topics.Robot) (topicstest.Server, error) {
				d, err := New(ln, []Source{{Rig: r.Rig}}, Options{})
				if err == nil {
					d.sampler.list()[0].robot = r
				}
				return d, err
			})
		r, err := s.HTTP().Get(home + "/camera?rig=0&agent=rover&camera=eye")
		if err != nil {
			t.Fatal(err)
		}
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		begin := time.Now()
		for i := 0; i < 3 || time.Since(begin) < 2*ws.AnswerTimeout; i++ { // longer than a request may last
			part, err := parts.NextPart()
			if err != nil {
				t.Fatalf("after %v: %v", time.Since(begin), err)
			}
			if m, err := jpeg.Decode(part); err != nil || m.Bounds().Dx() != 4 {
				t.Errorf("picture %d: got %v", i, err)
			}
			if took := time.Since(begin); i == 2 && took < imageInterval {
				t.Errorf("three pictures: got them in %v, want %v between two", took, imageInterval)
			}
		}
		r.Body.Close()
		r, err = s.HTTP().Get(home + "/camera?rig=0&agent=rover&camera=nose")
		if err != nil || r.StatusCode != http.StatusNotFound {
			t.Errorf("no such camera: got %v, %v, want 404", r, err)
		}
		r.Body.Close()
	})
}

// TestHealth: a rig whose cycle stands still is not well.
func TestHealth(t *testing.T) {
	rig, err := hal.New(hal.Config{Name: "still", Mode: hal.Realtime, Period: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	s, err := New(ln, []Source{{Rig: rig}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct{ cycled, code int64 }{{0, 503}, {time.Now().UnixNano(), 200}} {
		s.sampler.rigs[0].cycled.Store(c.cycled)
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/healthz", nil)
		r.Host = "127.0.0.1"
		if s.ServeHTTP(w, r); w.Code != int(c.code) {
			t.Errorf("last cycle at %d: got %d %s, want %d", c.cycled, w.Code, w.Body, c.code)
		}
	}
}

// TestPagesAreSmall: the pages weigh less than 300 kB in all.
func TestPagesAreSmall(t *testing.T) {
	s := &Server{files: map[string]file{}}
	if err := s.load(); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for name, f := range s.files {
		sum += len(f.data)
		if strings.Contains(string(f.data), "://") && !strings.Contains(string(f.data), "www.w3.org/2000/svg") {
			t.Errorf("%s: names an address: the pages need no network", name)
		}
	}
	if s.files["/index.html"].data == nil || sum > 300_000 {
		t.Errorf("got %d bytes in %d files, want at most 300 kB", sum, len(s.files))
	}
}

// TestLateOrder: an order of a page that has not seen the robots for a second is refused, but a stop; what a program
// orders counts.
func TestLateOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime, Guard: hal.GuardConfig{Disarmed: true}})
		seen := func(ago time.Duration) string {
			return fmt.Sprintf("?seen=%d", time.Now().Add(-ago).UnixMilli())
		}
		for _, c := range []struct {
			order string
			want  hal.GuardState
			err   string
		}{
			{"/arm" + seen(30*time.Second), hal.Disarmed, "saw the robots 30.0 s ago"},
			{"/arm" + seen(-30*time.Second), hal.Disarmed, "saw the robots"},
			{"/arm?seen=NaN", hal.Disarmed, "saw the robots"},
			{"/arm?seen=now", hal.Disarmed, "saw the robots"},
			{"/arm" + seen(500*time.Millisecond), hal.Armed, ""},
			{"/disarm" + seen(30*time.Second), hal.Armed, "saw the robots 30.0 s ago"},
			{"/stop" + seen(30*time.Second), hal.Stopped, ""},
			{"/reset" + seen(30*time.Second), hal.Stopped, "saw the robots 30.0 s ago"},
			{"/reset", hal.Disarmed, ""},
			{"/arm", hal.Armed, ""},
		} {
			a := post(t, s, c.order)
			if got := s.Agent.Condition().State; got != c.want || !strings.Contains(a.Error, c.err) ||
				(a.Error == "") != (c.err == "") {
				t.Errorf("%s: got %v, %q, want %v, %q", c.order, got, a.Error, c.want, c.err)
			}
		}
	})
}

// TestStopAnswer: the answer of a stop is that of the stop latched now, and of no earlier one.
func TestStopAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server *Server
		s := topicstest.New(t, topicstest.Config{Mode: hal.Realtime},
			func(ln net.Listener, r *topics.Robot) (topicstest.Server, error) {
				var err error
				server, err = New(ln, []Source{{Rig: r.Rig}}, Options{})
				return server, err
			})
		if a := server.stopAnswer(); a != nil {
			t.Errorf("before a stop: got %+v", a)
		}
		first := post(t, s, "/stop")
		time.Sleep(time.Second)
		if a := server.stopAnswer(); a == nil || a.ID != first.ID || first.ID == 0 || a.At != first.At {
			t.Errorf("got %+v, want %+v", a, first)
		}
		post(t, s, "/reset")
		time.Sleep(100 * time.Millisecond)
		if a := server.stopAnswer(); a != nil {
			t.Errorf("after a reset: got %+v", a)
		}
		s.Rig.EmergencyStop("red button")
		if a := server.stopAnswer(); a != nil {
			t.Errorf("a stop by another door: got %+v", a)
		}
		if a := post(t, s, "/stop"); a.ID <= first.ID || server.stopAnswer() == nil {
			t.Errorf("another stop: got %+v after %+v", a, first)
		}
	})
}
