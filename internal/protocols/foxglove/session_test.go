package foxglove

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

func newStage(t testing.TB, c topicstest.Config, o Options) *topicstest.Stage {
	return topicstest.New(t, c, func(ln net.Listener, r *topics.Robot) (topicstest.Server, error) {
		for name, v := range map[string]*hal.Value{"/Gain": {Kind: hal.DoubleValue, Double: 0.5},
			"/Tag":   {Kind: hal.StringValue, Text: "a"},
			"/Place": {Kind: hal.VectorValue, Vector: [4]float64{1, 2, 3}}, "/On": {},
			"/Count": {Kind: hal.IntValue, Int: 7}} {
			r.Rig.Values().Declare(name, v.Kind, func() hal.Value { return *v }, func(to hal.Value) error {
				*v = to
				return nil
			})
		}
		r.Rig.Values().Declare("/Fixed", hal.DoubleValue,
			func() hal.Value { return hal.Value{Kind: hal.DoubleValue, Double: 1} }, nil)
		r.Rig.Values().Declare("/Joint", hal.InterfaceValue,
			func() hal.Value { return hal.Value{Kind: hal.InterfaceValue} }, nil)
		return NewServer(ln, r, o)
	})
}

// client is a client of a test.
type client struct {
	t    testing.TB
	conn *websocket.Conn
	ctx  context.Context
}

func dial(t testing.TB, s *topicstest.Stage, subprotocol string) *client {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), "ws://127.0.0.1/",
		&websocket.DialOptions{HTTPClient: s.HTTP(), Subprotocols: []string{subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	if conn.Subprotocol() != subprotocol {
		t.Fatalf("subprotocol: got %q, want %q", conn.Subprotocol(), subprotocol)
	}
	conn.SetReadLimit(1 << 22)
	t.Cleanup(func() { conn.CloseNow() })
	return &client{t, conn, context.Background()}
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("send %.100s: %v", text, err)
	}
}

func (c *client) sendBinary(b []byte) {
	c.t.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageBinary, b); err != nil {
		c.t.Fatalf("send %x: %v", b, err)
	}
}

// next is the next message but the time, "" where none comes within 2 s; of a binary one the hex of its head and its
// payload.
func (c *client) next() string {
	ctx, cancel := context.WithTimeout(c.ctx, 2*time.Second)
	defer cancel()
	for {
		kind, b, err := c.conn.Read(ctx)
		switch {
		case err != nil:
			return ""
		case kind == websocket.MessageText:
			return string(b)
		case b[0] == opMessageData && len(b) > 13:
			return fmt.Sprintf("%x TIME %s", b[:5], b[13:])
		case b[0] == opServiceCallResponse:
			return hex.EncodeToString(b[:13]) + " " + string(b[13:])
		}
	}
}

// begin reads what every client is sent first.
func (c *client) begin() (info, channels, services string) { return c.next(), c.next(), c.next() }

var stamps = regexp.MustCompile(`\{"sec":\d+,"nsec":\d+\}`)

const trigger = `{"type":"object","title":"std_srvs/Trigger_Request","properties":{},"required":[]}`

// transcripts are sessions after their beginning, C text and B binary from the client, S from the server.
var transcripts = []struct{ name, lines string }{
	{"subscribe", `
C {"op":"subscribe","subscriptions":[{"id":3,"channelId":3}]}
S 0103000000 TIME {"timestamp":T,"frame_id":"odom","body_frame_id":"base_link","pose":{"position":{"x":0,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}},"linear_velocity":{"x":0,"y":0,"z":0},"angular_velocity":{"x":0,"y":0,"z":0}}
C {"op":"unsubscribe","subscriptionIds":[3]}
C {"op":"subscribe","subscriptions":[{"id":3,"channelId":1}]}
S 0103000000 TIME {"timestamp":T,"joints":[{"name":"left","position":0,"velocity":0},{"name":"right","position":0,"velocity":0},{"name":"head","position":0,"velocity":0}]}
C {"op":"unsubscribe","subscriptionIds":[3]}
C {"op":"subscribe","subscriptions":[{"id":4,"channelId":5}]}
S 0104000000 TIME {"timestamp":T,"frame_id":"scanner","pose":{"position":{"x":0,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":0,"w":1}},"start_angle":-1,"end_angle":1,"ranges":[1,2,null,4,null],"intensities":[]}
C {"op":"unsubscribe","subscriptionIds":[4]}
C {"op":"subscribe","subscriptions":[{"id":5,"channelId":4}]}
S 0105000000 TIME {"timestamp":T,"frame_id":"imu","orientation":{"x":0,"y":0,"z":0,"w":1},"angular_velocity":[0.1,0.2,0.3],"linear_acceleration":[0,0,9.8]}`},
	{"mistakes", `
C hello
S {"op":"status","level":2,"message":"got no JSON: invalid character 'h' looking for beginning of value"}
C {"op":"fetchAsset"}
S {"op":"status","level":2,"message":"op: got fetchAsset, want subscribe, unsubscribe, advertise, unadvertise, getParameters or setParameters"}
C {"op":"subscribe","subscriptions":[{"id":1,"channelId":99},{"id":-1,"channelId":1}]}
S {"op":"status","level":2,"message":"subscribe: subscriptions.id: got a number -1, want a uint32"}
C {"op":"subscribe","subscriptions":[{"id":1,"channelId":99},{"id":2,"channelId":10},{"id":2,"channelId":10}]}
S {"op":"status","level":2,"message":"subscribe: channelId: got 99, want an advertised channel\nid 2: used twice, want a free id"}
C {"op":"unsubscribe","subscriptionIds":[2,1]}
S {"op":"status","level":2,"message":"unsubscribe: subscription: got 1, want an open subscription"}
C {"op":"advertise","channels":[{"id":1,"topic":"/led","encoding":"json","schemaName":"x"},{"id":1,"topic":"/cmd_vel","encoding":"ros1","schemaName":"geometry_msgs/Twist"},{"id":1,"topic":"/cmd_vel","encoding":"json","schemaName":"std_msgs/String"}]}
S {"op":"status","level":2,"message":"advertise: channel 1: topic: got \"/led\", want /joint_commands, or /cmd_vel of a robot with wheels on two sides\nchannel 1: encoding: got \"ros1\", want json\nchannel 1: schemaName: got \"std_msgs/String\", want one of [\"geometry_msgs/Twist\" \"geometry_msgs/msg/Twist\"]"}
C {"op":"unadvertise","channelIds":[1]}
S {"op":"status","level":2,"message":"unadvertise: channel: got 1, want an advertised channel"}
B 01 09000000 7b7d
S {"op":"status","level":2,"message":"channel: got 9, want an advertised channel"}
B 05 00000000
S {"op":"status","level":2,"message":"binary message: opcode: got 5, want 1 or 2"}
C {"op":"advertise","channels":[{"id":1,"topic":"/joint_commands","encoding":"json","schemaName":"foxglove.JointStates"}]}
J {"joints":[{"name":"tail","position":1}]}
S {"op":"status","level":2,"message":"joints[0].name: got \"tail\", want a joint of /joint_states"}
J {"joints":[{"name":"head","velocity":1}]}
S {"op":"status","level":2,"message":"command head: got a velocity goal, want a mode of its drive"}
J {"joints":[{"name":"head","position":"1"}]}
S {"op":"status","level":2,"message":"foxglove.JointStates message requires a float64 for field joints.position, but got a string"}
J {"joints":[{"name":"head"}]}
S {"op":"status","level":2,"message":"command rover: got no goal"}
J nothing
S {"op":"status","level":2,"message":"/joint_commands: got no JSON: invalid character 'o' in literal null (expecting 'u')"}`},
	{"parameters", `
C {"op":"getParameters","parameterNames":["/Place","/Nowhere","/Count","/Joint"],"id":"a"}
S {"op":"parameterValues","parameters":[{"name":"/Place","value":[1,2,3],"type":"float64_array"},{"name":"/Count","value":7}],"id":"a"}
C {"op":"setParameters","parameters":[{"name":"/Gain","value":0.75},{"name":"/Tag","value":"b"},{"name":"/On","value":true},{"name":"/Place","value":[3,2,1]}],"id":"b"}
S {"op":"parameterValues","parameters":[{"name":"/Gain","value":0.75,"type":"float64"},{"name":"/Tag","value":"b"},{"name":"/On","value":true},{"name":"/Place","value":[3,2,1],"type":"float64_array"}],"id":"b"}
C {"op":"setParameters","parameters":[{"name":"/Gain","value":"x"},{"name":"/Fixed","value":2},{"name":"/Place","value":[1]},{"name":"/Count","value":1.5},{"name":"/Nowhere","value":1},{"name":"/Joint","value":1}]}
S {"op":"status","level":2,"message":"setParameters: parameter /Gain: got x, want a value of its kind\nparameter /Fixed: value is read-only\nparameter /Place: got [1], want a value of its kind\nparameter /Count: got 1.5, want a value of its kind\nparameter \"/Nowhere\": got no such name\nparameter /Joint: got a channel of an agent, want a parameter (try: /joint_commands)"}
C {"op":"getParameters","parameterNames":["/Gain"]}
S {"op":"parameterValues","parameters":[{"name":"/Gain","value":0.75,"type":"float64"}]}`},
	{"services", `
B 02 01000000 07000000 04000000 6a736f6e 7b7d
S 03010000000700000004000000 json{"success":true,"message":""}
B 02 03000000 08000000 04000000 6a736f6e
S 03030000000800000004000000 json{"success":false,"message":"arm rover: the emergency stop is latched (try: halyard reset)"}
B 02 02000000 09000000 04000000 6a736f6e 7b7d
S 03020000000900000004000000 json{"success":true,"message":""}
B 02 03000000 0a000000 04000000 6a736f6e 7b7d
S 03030000000a00000004000000 json{"success":true,"message":""}
B 02 04000000 0b000000 04000000 6a736f6e 7b7d
S {"op":"serviceCallFailure","serviceId":4,"callId":11,"message":"Service does not exist"}
B 02 01000000 0c000000 04000000 726f7331
S {"op":"serviceCallFailure","serviceId":1,"callId":12,"message":"encoding: got ros1, want json"}
B 02 01000000 0d000000 04000000 6a736f6e 7b
S {"op":"serviceCallFailure","serviceId":1,"callId":13,"message":"request: got no JSON: unexpected EOF"}`},
}

func TestTranscripts(t *testing.T) {
	for _, k := range transcripts {
		for _, subprotocol := range subprotocols {
			t.Run(k.name+"/"+subprotocol, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := dial(t, newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{}), subprotocol)
					c.begin()
					for line := range strings.Lines(strings.TrimSpace(k.lines)) {
						line = strings.TrimSpace(line)
						switch line[0] {
						case 'C':
							c.send(line[2:])
						case 'B':
							c.sendBinary(fromHex(line[2:]))
						case 'J':
							c.sendBinary(append(fromHex("01 01000000"), line[2:]...))
						default:
							if got := "S " + stamps.ReplaceAllString(c.next(), "T"); got != line {
								t.Fatalf("got\n%s, want\n%s", got, line)
							}
						}
					}
				})
			})
		}
	}
}

func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
		c := dial(t, s, "foxglove.websocket.v1")
		info, channels, services := c.begin()
		if want := `{"op":"serverInfo","name":"halyard: rover","capabilities":["clientPublish","time","parameters","services"],"supportedEncodings":["json"],"metadata":{"agent":"rover","body":"sim"}}`; info != want {
			t.Errorf("got %s, want %s", info, want)
		}
		var list struct {
			Channels []struct{ Topic, SchemaName, Schema, Encoding, SchemaEncoding string }
		}
		if err := json.Unmarshal([]byte(channels), &list); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, ch := range list.Channels {
			names = append(names, ch.Topic)
			if !json.Valid([]byte(ch.Schema)) || ch.Encoding != "json" || ch.SchemaEncoding != "jsonschema" ||
				!strings.Contains(ch.Schema, ch.SchemaName) {
				t.Errorf("channel: got %+v", ch)
			}
		}
		if got, want := strings.Join(names, " "),
			"/joint_states /tf /odom /imu/data /scan /scan/points /range/front /camera/compressed /diagnostics /log"; got != want {
			t.Errorf("channels: got %s, want %s", got, want)
		}
		text, _ := json.Marshal(trigger)
		if !strings.HasPrefix(services,
			`{"op":"advertiseServices","services":[{"id":1,"name":"/stop","type":"std_srvs/Trigger","request":{"encoding":"json","schemaName":"std_srvs/Trigger_Request","schemaEncoding":"jsonschema","schema":`+string(text)) {
			t.Errorf("services: got %s", services)
		}
		_, b, err := c.conn.Read(c.ctx)
		if err != nil || len(b) != 9 || b[0] != opTime {
			t.Errorf("got %x, %v, want the time", b, err)
		}
		if _, _, err := websocket.Dial(t.Context(), "ws://127.0.0.1/", &websocket.DialOptions{HTTPClient: s.HTTP(),
			Subprotocols: []string{"foxglove.websocket.v0"}}); err == nil {
			t.Error("another version: got a connection, want it refused")
		}
	})
}

// TestCommands drives a rover by both of its topics, in both modes of the clock, until half a second after the last
// command.
func TestCommands(t *testing.T) {
	for _, mode := range []hal.ClockMode{hal.Realtime, hal.Lockstep} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, topicstest.Config{Mode: mode}, Options{})
			c := dial(t, s, "foxglove.sdk.v1")
			go func() { // a client that reads
				for c.next() != "" {
				}
			}()
			c.send(`{"op":"advertise","channels":[{"id":1,"topic":"/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"},{"id":2,"topic":"/joint_commands","encoding":"json","schemaName":"foxglove.JointStates"},{"id":3,"topic":"/joint_commands","encoding":"json","schemaName":"sensor_msgs/msg/JointState"}]}`)
			publish := func(id byte, text string) { c.sendBinary(append([]byte{opMessageData, id, 0, 0, 0}, text...)) }
			for range 5 {
				publish(1, `{"linear":{"x":0.5,"y":0,"z":0},"angular":{"x":0,"y":0,"z":0.4}}`)
				time.Sleep(100 * time.Millisecond)
			}
			if left, right := s.Rover.Wheels(); math.Abs(left-4) > 1e-9 || math.Abs(right-6) > 1e-9 {
				t.Errorf("%v: cmd_vel: got %g, %g, want 4, 6 rad/s", mode, left, right)
			}
			publish(2, `{"joints":[{"name":"head","position":0.3},{"name":"left","velocity":1}]}`)
			time.Sleep(100 * time.Millisecond)
			if left, _ := s.Rover.Wheels(); left != 1 || s.Rover.Looks() != 0.3 {
				t.Errorf("%v: joint states: got %g, %g, want 1, 0.3", mode, left, s.Rover.Looks())
			}
			publish(3, `{"name":["head"],"position":[0.4]}`)
			time.Sleep(100 * time.Millisecond)
			if s.Rover.Looks() != 0.4 {
				t.Errorf("%v: ROS's joint state: got %g, want 0.4", mode, s.Rover.Looks())
			}
			time.Sleep(time.Second)
			if left, right := s.Rover.Wheels(); left != 0 || right != 0 || s.Agent.Holder() != "" {
				t.Errorf("%v: 1 s after the last command: got %g, %g, held by %q", mode, left, right, s.Agent.Holder())
			}
		})
	}
}

// TestLog tells of a sensor that falls silent, once.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
		c := dial(t, s, "foxglove.websocket.v1")
		c.begin()
		time.Sleep(100 * time.Millisecond)
		c.send(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":10}]}`)
		if got := c.next(); got != "" {
			t.Errorf("all well: got %s, want nothing", got)
		}
		c = dial(t, s, "foxglove.websocket.v1")
		c.begin()
		c.send(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":10}]}`)
		time.Sleep(100 * time.Millisecond)
		s.Rover.Silence("scanner")
		if got := c.next(); !strings.Contains(got, `"level":4,"message":"scanner: no reply","name":"rover"`) {
			t.Errorf("a silent scanner: got %s", got)
		}
		if got := c.next(); strings.Contains(got, "scanner") {
			t.Errorf("again: got %s", got)
		}
	})
}

// TestPoints are the points that a scan hit.
func TestPoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
		time.Sleep(100 * time.Millisecond)
		c := &channel{topic: &topics.Topic{Kind: topics.Scan, At: topicstest.Scanner}, view: points}
		m := message(s.Robot, c, s.Robot.Sample()).(pointCloud)
		if len(m.Data) != 3*12 {
			t.Fatalf("got %d bytes, want 3 points", len(m.Data))
		}
		x := math.Float32frombits(uint32(m.Data[0]) | uint32(m.Data[1])<<8 | uint32(m.Data[2])<<16 | uint32(
			m.Data[3])<<24)
		if want := math.Cos(-1); math.Abs(float64(x)-want) > 1e-6 {
			t.Errorf("first point: got x %g, want %g", x, want)
		}
	})
}

// TestSlowReader subscribes to all and reads nothing: the rig does not notice, and the session ends.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{WriteTimeout: 2 * time.Second})
		c := dial(t, s, "foxglove.websocket.v1")
		c.begin()
		for i := range 10 {
			c.send(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%d}]}`, i, i+1))
		}
		time.Sleep(4 * time.Second)
		var stats hal.Stats
		if s.Rig.Stats(&stats); stats.Missed != 0 {
			t.Errorf("the rig missed %d periods", stats.Missed)
		}
		ctx, cancel := context.WithTimeout(c.ctx, time.Second)
		defer cancel()
		if c.conn.Write(ctx, websocket.MessageText, []byte("{}")) == nil && c.conn.Ping(ctx) == nil {
			t.Error("a client that reads nothing for 4 s: its session goes on")
		}
	})
}

// TestBounds asks for more than a client may have.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
		c := dial(t, s, "foxglove.websocket.v1")
		c.begin()
		for i := range topics.MaxSubscriptions + 1 {
			c.send(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":10}]}`, i))
		}
		for range 2 {
			if got := c.next(); !strings.Contains(got, "more than 63 subscriptions") {
				t.Errorf("got %s, want it refused", got)
			}
		}
		for i := range maxChannels + 1 {
			c.send(fmt.Sprintf(`{"op":"advertise","channels":[{"id":%d,"topic":"/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"}]}`, i))
		}
		if got := c.next(); !strings.Contains(got, "more than 64 channels") {
			t.Errorf("got %s, want it refused", got)
		}
		c.send(strings.Repeat("[", 40))
		if got := c.next(); !strings.Contains(got, "nests deeper than 32") {
			t.Errorf("got %s, want it refused", got)
		}
		c.sendBinary(make([]byte, maxMessage+1))
		if got := c.next(); got != "" {
			t.Errorf("a long message: got %.100s, want the end", got)
		}
	})
}

// TestSocket connects over TCP.
func TestSocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	newStage(t, topicstest.Config{Mode: hal.Realtime, Listener: ln}, Options{})
	conn, _, err := websocket.Dial(context.Background(), "ws://"+ln.Addr().String(),
		&websocket.DialOptions{Subprotocols: []string{"foxglove.websocket.v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	c := &client{t, conn, context.Background()}
	c.begin()
	c.send(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":8}]}`)
	for range 2 {
		if got := c.next(); !strings.Contains(got, `"frame_id":"eye_optical","data":"/9j/`) ||
			!strings.Contains(got, `"format":"jpeg"`) {
			t.Fatalf("a picture: got %.200s", got)
		}
	}
}

// FuzzIncoming gives a session any message: it answers with JSON or ends.
func FuzzIncoming(f *testing.F) {
	for _, k := range transcripts {
		for line := range strings.Lines(strings.TrimSpace(k.lines)) {
			switch line[0] {
			case 'C':
				f.Add(true, []byte(line[2:]))
			case 'B':
				f.Add(false, fromHex(strings.TrimSpace(line[2:])))
			}
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Skip(err)
	}
	stage := newStage(f, topicstest.Config{Mode: hal.Realtime, Listener: ln}, Options{})
	server, err := NewServer(stage.Pipes, stage.Robot, Options{})
	if err != nil {
		f.Fatal(err)
	}
	s := newSession(server, nil, "fuzz", func() time.Duration { return 0 }, server.options.Log)
	f.Cleanup(s.feed.Close)
	f.Fuzz(func(t *testing.T, text bool, b []byte) {
		if m, err := decodeClient(b); !text && err == nil && m.call != nil {
			return // a stop waits for the cycle, which other targets of the machine keep busy
		}
		s.incoming(text, b)
		for {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			d, _ := s.feed.Next(ctx)
			if d.Answer == nil {
				break
			}
			if m := d.Answer.(outgoing); m.text && !json.Valid(m.b) {
				t.Fatalf("%.200q: got no JSON: %s", b, m.b)
			}
		}
		for id := range s.subs {
			s.feed.Unsubscribe(key{id: id})
		}
		clear(s.subs)
		clear(s.published)
	})
}
