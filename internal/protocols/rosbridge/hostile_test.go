package rosbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// TestSlowReader subscribes to everything and reads nothing: the session ends, the rig does not notice, and a command
// of such a client is not taken.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{WriteTimeout: 3 * time.Second})
		c := dial(t, s)
		for _, name := range []string{"/joint_states", "/tf", "/odom", "/scan", "/camera/compressed"} {
			c.send(`{"op":"subscribe","topic":"` + name + `","queue_length":1000000}`)
		}
		time.Sleep(time.Second)
		c.send(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":1}}}`)
		time.Sleep(time.Second)
		if left, _ := s.Rover.Wheels(); left != 0 {
			t.Errorf("a client that does not read: drives at %g rad/s", left)
		}
		var stats hal.Stats
		if s.Rig.Stats(&stats); stats.Missed != 0 {
			t.Errorf("the rig missed %d periods", stats.Missed)
		}
		time.Sleep(3 * time.Second)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if c.conn.Write(ctx, websocket.MessageText, []byte("{}")) == nil && c.conn.Ping(ctx) == nil {
			t.Error("a client that reads nothing for 3 s: its session goes on")
		}
	})
}

// TestUnreadAnswers asks without end and reads nothing: the session ends.
func TestUnreadAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{WriteTimeout: time.Hour})
		c := dial(t, s)
		for range 10000 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			err := c.conn.Write(ctx, websocket.MessageText,
				[]byte(`{"op":"call_service","service":"/rosapi/topics_and_raw_types"}`))
			if cancel(); err != nil {
				return
			}
		}
		t.Error("10000 answers unread: the session goes on")
	})
}

// TestBounds asks for more than a client may have.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{MaxConnections: 1})
		c := dial(t, s)
		c.send(`{"op":"advertise","topic":"/t","type":"std_msgs/Bool"}`)
		synctest.Wait()
		if _, _, err := websocket.Dial(t.Context(), "ws://127.0.0.1/",
			&websocket.DialOptions{HTTPClient: s.HTTP()}); err == nil {
			t.Error("a second client: got a connection, want it closed")
		}
		c.send(`{"op":"unadvertise","topic":"/t"}`)
		expect := func(what, send, want string) {
			t.Helper()
			c.send(send)
			if _, m := c.next(); !strings.Contains(m, want) {
				t.Errorf("%s: got %.300s, want %s", what, m, want)
			}
		}
		for i := range topics.MaxSubscriptions {
			c.send(fmt.Sprintf(`{"op":"subscribe","id":%d,"topic":"/diagnostics","throttle_rate":100000000}`, i))
		}
		c.next()
		expect("subscriptions of a topic",
			`{"op":"subscribe","id":"more","topic":"/diagnostics","throttle_rate":100000000}`,
			"more than 64 subscriptions")
		for i := range maxAdvertised {
			c.send(fmt.Sprintf(`{"op":"advertise","topic":"/t%d","type":"std_msgs/Bool"}`, i))
		}
		expect("topics", `{"op":"advertise","topic":"/more","type":"std_msgs/Bool"}`, "more than 64 topics")
		for i := range maxFragmented {
			c.send(fmt.Sprintf(`{"op":"fragment","id":%d,"data":"a","num":0,"total":2}`, i))
		}
		expect("fragmented messages", `{"op":"fragment","id":"more","data":"a","num":0,"total":2}`,
			"more than 16 messages")
		half := strings.Repeat("a", maxMessage/2)
		c.send(`{"op":"fragment","id":0,"data":"","num":1,"total":2}`) // makes room: "a" is no message
		c.next()
		c.send(`{"op":"fragment","id":"long","data":"` + half + `","num":0,"total":3}`)
		expect("long fragments", `{"op":"fragment","id":"long","data":"`+half+`","num":1,"total":3}`,
			fmt.Sprintf("more than %d bytes", maxMessage))
		inner := `{"op":"dance"}`
		for range 5 {
			b, _ := json.Marshal(fragment{"fragment", "n", inner, 0, 1})
			b = bytes.NewBufferString(strings.NewReplacer(`"Op"`, `"op"`, `"ID"`, `"id"`, `"Data"`, `"data"`, `"Num"`,
				`"num"`, `"Total"`, `"total"`).Replace(string(b))).Bytes()
			inner = string(b)
		}
		expect("fragments in fragments", inner, "got fragments within fragments")
		var bomb bytes.Buffer
		png.Encode(&bomb, image.NewGray(image.Rect(0, 0, 8192, 8192)))
		if _, err := fromPNG(string(toBase64(bomb.Bytes())), maxMessage); err == nil ||
			!strings.Contains(err.Error(), "8192x8192 pixels") {
			t.Errorf("a png bomb: got %v", err)
		}
		expect("nesting", strings.Repeat(`{"a":`, 40)+"1"+strings.Repeat("}", 40), "nests deeper than 32")
		c.conn.Write(context.Background(), websocket.MessageBinary, []byte{1})
		if _, m := c.next(); !strings.Contains(m, "got binary data") {
			t.Errorf("binary: got %s", m)
		}
		c.send(strings.Repeat(" ", maxMessage+1))
		if _, m := c.next(); m != "" {
			t.Errorf("a long message: got %.100s, want the end", m)
		}
	})
}

func toBase64(b []byte) []byte {
	text, _ := json.Marshal(b)
	return text[1 : len(text)-1]
}

// TestInfinity refuses commands that are no numbers in every way that JSON has to write them.
func TestInfinity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
		c := dial(t, s)
		for _, x := range []string{"1e999", "NaN", "Infinity", "null", `"1"`, "[1]"} {
			c.send(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":` + x + `}}}`)
			if _, m := c.next(); !strings.Contains(m, `"level":"error"`) {
				t.Errorf("%s: got %s, want it refused", x, m)
			}
		}
		c.send(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":1e300}}}`)
		time.Sleep(100 * time.Millisecond)
		if left, _ := s.Rover.Wheels(); math.Abs(left) > 20 {
			t.Errorf("1e300 m/s: got %g rad/s, want at most its limit", left)
		}
	})
}

// quiet is a session without a connection.
func quiet(t testing.TB) *session {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	s := newStage(t, topicstest.Config{Mode: hal.Realtime, Listener: ln}, Options{})
	server, err := NewServer(s.Pipes, s.Robot, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &session{server: server, log: server.options.Log, level: levelInfo, subs: map[string]*subscription{},
		advertised: map[string]bool{}}
	c.feed = topics.NewFeed[string](s.Robot, "fuzz", func() time.Duration { return 0 })
	t.Cleanup(c.feed.Close)
	return c
}

// FuzzIncoming sends any message to a session. All answers are JSON, and the joints stay within their limits.
func FuzzIncoming(f *testing.F) {
	for _, k := range transcripts {
		for line := range strings.Lines(k.lines) {
			if text, ok := strings.CutPrefix(line, "C "); ok {
				f.Add(text)
			}
		}
	}
	c := quiet(f)
	f.Fuzz(func(t *testing.T, in string) {
		if strings.Contains(in, "stop") || strings.Contains(in, "reset") {
			return // they wait for the cycle, which other targets of the machine keep busy
		}
		c.incoming([]byte(in), 0)
		for {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			d, _ := c.feed.Next(ctx)
			out, ok := d.Answer.(outgoing)
			if !ok {
				break
			}
			for _, m := range out.messages {
				if !json.Valid(m) {
					t.Fatalf("%.200q: got no JSON: %s", in, m)
				}
			}
		}
		for name := range c.subs {
			c.unsubscribe(name, nil)
		}
		clear(c.advertised)
		c.fragments = fragments{}
	})
}

// FuzzPieces splits any text, and packs it as png: both ways give it back.
func FuzzPieces(f *testing.F) {
	f.Add("{\"op\":\"é\"}", 128)
	f.Add(strings.Repeat("日本", 300), 130)
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = min(max(size, minFragment), 1<<16)
		text = strings.TrimRight(strings.ToValidUTF8(text, "?"), "\n")
		if text == "" || len(text) > maxFragments*(minFragment-4) {
			return
		}
		var all fragments
		got := ""
		for _, piece := range split([]byte(text), size, "id") {
			var m map[string]any
			if err := json.Unmarshal(piece, &m); err != nil {
				t.Fatal(err)
			}
			var err error
			if got, err = all.add(m, maxMessage); err != nil {
				t.Fatal(err)
			}
		}
		if got != text || all.size != 0 || len(all.begun) != 0 {
			t.Fatalf("fragments: got %q, want %q", got, text)
		}
		if back, err := fromPNG(string(toPNG([]byte(text))), maxMessage); err != nil || string(back) != text {
			t.Fatalf("png: got %q, %v, want %q", back, err, text)
		}
	})
}
