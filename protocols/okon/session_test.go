package okon

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	quietVector = `{"x":0,"y":0,"z":0}`
	startPIDs   = `{"roll":{"p":0.4,"i":0,"d":0.03,"windupCap":1,"gain":1,"limit":0.5},` +
		`"pitch":{"p":0.7,"i":0,"d":0.1,"windupCap":1,"gain":1,"limit":0.5},` +
		`"yaw":{"p":0.3,"i":0,"d":0.04,"windupCap":1,"gain":1,"limit":0.5},` +
		`"depth":{"p":10,"i":0,"d":4,"windupCap":1,"gain":1,"limit":0.5},`
	speedPIDs = `"rollSpeed":{"p":1,"i":5,"d":0.05,"windupCap":0.1,"gain":1,"limit":0.5},` +
		`"pitchSpeed":{"p":1,"i":5,"d":0.05,"windupCap":0.1,"gain":1,"limit":0.5},` +
		`"yawSpeed":{"p":1,"i":5,"d":0.05,"windupCap":0.1,"gain":1,"limit":0.5}}`
	zeroPIDs = `"rollSpeed":{"p":0,"i":0,"d":0,"windupCap":0,"gain":0,"limit":0},` +
		`"pitchSpeed":{"p":0,"i":0,"d":0,"windupCap":0,"gain":0,"limit":0},` +
		`"yawSpeed":{"p":0,"i":0,"d":0,"windupCap":0,"gain":0,"limit":0}}`
)

var transcripts = []struct {
	name string
	config
	text   string
	events string
	only   bool // on the kind of config.reality
}{
	{name: "what a client of the original asks for every 50 ms", text: `
	a> SET_ORIEN 2
	a< SET_ORIEN 2 {"rot":` + quietVector + `,"pos":` + quietVector + `}
	a> GET_SENS 2
	a< GET_SENS 2 {"rot":` + quietVector + `,"rotSpeed":` + quietVector + `,"accel":` + quietVector + `,"rotAccel":` + quietVector + `,"baro":{"pressure":0}}
	a> SET_PID 2
	a< SET_PID 2 ` + startPIDs + speedPIDs + `
	a> SET_CONTROL_MODE 2
	a< SET_CONTROL_MODE 2 stable
	a> SET_STABLE 2
	a< SET_STABLE 2 {"rot":` + quietVector + `,"vel":` + quietVector + `,"depth":1}
	a> GET_DETE 2
	a< GET_DETE 2 []
	`},

	{name: "what is set is not answered, what is asked for is", text: `
	a> SET_STABLE 0 {"rot":{"x":1.5,"y":-90,"z":0},"vel":{"x":0,"y":0,"z":0.25},"depth":2.5}
	a> SET_STABLE 0
	a< SET_STABLE 0 {"rot":{"x":1.5,"y":-90,"z":0},"vel":{"x":0,"y":0,"z":0.25},"depth":2.5}
	# what is not named is nothing, as the original had it
	a> SET_STABLE 0 {"rot":{"y":30}}
	a> SET_STABLE 64
	a< SET_STABLE 64 {"rot":{"x":0,"y":30,"z":0},"vel":` + quietVector + `,"depth":0}
	a> SET_ACRO 0 {"rotSpeed":{"x":0.5,"y":0,"z":0},"vel":{"x":0,"y":0,"z":1}}
	a> SET_ACRO 0
	a< SET_ACRO 0 {"rotSpeed":{"x":0.5,"y":0,"z":0},"vel":{"x":0,"y":0,"z":1}}
	a> SET_CONTROL_MODE 0 acro
	a> SET_CONTROL_MODE 0
	a< SET_CONTROL_MODE 0 acro
	a> SET_CONTROL_MODE 0 "manual"
	a> SET_CONTROL_MODE 0
	a< SET_CONTROL_MODE 0 manual
	a> SET_CONTROL_MODE 0 {"mode":"stable"}
	a> SET_CONTROL_MODE 0
	a< SET_CONTROL_MODE 0 stable
	a> SET_CONTROL_MODE 0 drift
	a> SET_CONTROL_MODE 0
	a< SET_CONTROL_MODE 0 drift
	`},

	{name: "pids", text: `
	a> SET_PID 0 {"roll":{"p":2,"i":0,"d":0.03,"windupCap":1,"gain":1,"limit":0.5}}
	# what is not named stays, and so do speed pids of zeros: the document's own example
	a> SET_PID 0 ` + startPIDs + zeroPIDs + `
	a> SET_PID 0
	a< SET_PID 0 ` + startPIDs + speedPIDs + `
	a> SET_PID 0 {"depth":{"limit":-1}}
	a< ERROR 0 {"info":"SET_PID: depth.limit: got -1, want 0..1e+06","fromClient":"{\"depth\":{\"limit\":-1}}"}
	a> SET_PID 0 {"rollSpeed":{"i":0.25},"yaw":{"p":9}}
	a> SET_PID 0
	a< SET_PID 0 {"roll":...,"yaw":{"p":9,"i":0,"d":0.04,"windupCap":1,"gain":1,"limit":0.5},"depth":{"p":10,"i":0,"d":4,"windupCap":1,"gain":1,"limit":0.5},"rollSpeed":{"p":1,"i":0.25,"d":0.05,"windupCap":0.1,"gain":1,"limit":0.5},"pitchSpeed":{"p":1,"i":5,"d":0.05,"windupCap":0.1,"gain":1,"limit":0.5},"yawSpeed":{"p":1,"i":5,"d":0.05,"windupCap":0.1,"gain":1,"limit":0.5}}
	`},

	{name: "echoes come behind the answer", text: `
	a> PING 1 1668.12
	a< PING 1 1668.12
	a< ACK 0 {"fromClient":"1668.12"}
	a> ARM_MTR 1
	a< ACK 0 {"fromClient":""}
	a> SET_STABLE 3 {"depth":1}
	a< ACK 0 {"fromClient":"{\"depth\":1}"}
	a> SET_STABLE 1 {
	a< ERROR 0 {"info":"SET_STABLE: unexpected end of JSON input","fromClient":"{"}
	a< ACK 0 {"fromClient":"{"}
	a> GET_DETE 1
	a< GET_DETE 1 []
	a< ACK 0 {"fromClient":""}
	a> ACK 4 x
	a< ACK 132 {"info":"ack ack"}
	`},

	{name: "motors", text: `
	a> SET_MTR 0
	a< SET_MTR 0 {"FLH":0,"FLV":0,"BLV":0,"BLH":0,"FRH":0,"FRV":0,"BRV":0,"BRH":0}
	a> SET_CONTROL_MODE 0 manual
	a> ARM_MTR 0
	a> SET_MTR 0 {"FLH":0.125,"FLV":0.25,"BLV":-0.5,"BLH":7,"FRH":-7,"FRV":0.75,"BRV":-1,"BRH":1}
	a> SET_MTR 0
	a< SET_MTR 0 {"FLH":0.125,"FLV":0.25,"BLV":-0.5,"BLH":1,"FRH":-1,"FRV":0.75,"BRV":-1,"BRH":1}
	a> DISARM_MTR 0
	a> SET_MTR 0
	a< SET_MTR 0 {"FLH":0,"FLV":0,"BLV":0,"BLH":0,"FRH":0,"FRV":0,"BRV":0,"BRH":0}
	`},

	{name: "disarmed motors are not set", only: true, text: `
	a> SET_CONTROL_MODE 0 manual
	a> SET_MTR 0 {"FLH":1}
	a> ARM_MTR 0
	a> SET_MTR 0
	a< SET_MTR 0 {"FLH":0,"FLV":0,"BLV":0,"BLH":0,"FRH":0,"FRV":0,"BRV":0,"BRH":0}
	`},

	{name: "disarmed motors of devices are an error", config: config{reality: hal.Emulated}, only: true, text: `
	a> SET_CONTROL_MODE 0 manual
	a> SET_MTR 0 {"FLH":1}
	a< ERROR 0 {"info":"command okon: the motors are not armed: send ARM_MTR...
	a> ARM_MTR 0
	a> SET_MTR 0
	a< SET_MTR 0 {"FLH":0,"FLV":0,"BLV":0,"BLH":0,"FRH":0,"FRV":0,"BRV":0,"BRH":0}
	`},

	{name: "somewhere else", text: `
	a> SET_ORIEN 0 {"rot":{"x":0,"y":90,"z":0},"pos":{"x":1,"y":-2,"z":3}}
	a~ 50ms
	a> SET_ORIEN 0
	a< SET_ORIEN 0 {"rot":{"x":0,"y":90,"z":0},"pos":{"x":1,"y":-2,"z":3}}
	a> GET_SENS 0
	a< GET_SENS 0 {"rot":{"x":0,"y":90,"z":0},"rotSpeed":...,"baro":{"pressure":19600}}
	`, events: "place okon [3.00 -1.00 -2.00] [0.71 0.00 0.00 -0.71]"},

	{name: "the course", text: `
	a> GET_CPS 2
	a< GET_CPS 2 [{"id":"chk1","reached":true},{"id":"chk2","reached":false}]
	a> CHK_AP 2
	a< CHK_AP 0 ["AP1","A\"2"]
	a> CHK_AP 0 AP1
	a< CHK_AP 0 true
	a> CHK_AP 0 {"id":"AP1"}
	a< CHK_AP 0 true
	a> CHK_AP 0 "A\"2"
	a< CHK_AP 0 false
	a> CHK_AP 0 nowhere
	a< CHK_AP 0 false
	b> PING 0
	b< PING 0
	a> RST_SIM 2
	a< RST_SIM 0
	b< RST_SIM 0
	`, events: "restart"},

	{name: "the original's forms", config: config{Options: Options{AngularAccel: true, BareIDs: true}}, text: `
	a> GET_SENS 0
	a< GET_SENS 0 {"rot":` + quietVector + `,"rotSpeed":` + quietVector + `,"accel":` + quietVector + `,"angularAccel":` + quietVector + `,"baro":{"pressure":0}}
	a> CHK_AP 0
	a< CHK_AP 0 [AP1,A"2]
	`},

	// Packets of two clients have no defined order: b sends its request after a has its answer.
	{name: "how good pictures are", text: `
	a> SET_SIM 0
	a< SET_SIM 0 {"quality":30}
	a> SET_SIM 0 {"quality":80}
	a> SET_SIM 0
	a< SET_SIM 0 {"quality":80}
	b> SET_SIM 0
	b< SET_SIM 0 {"quality":80}
	a> SET_SIM 0 {"quality":101}
	a< ERROR 0 {"info":"SET_SIM: quality: got 101, want 0..100","fromClient":"{\"quality\":101}"}
	`},

	{name: "with nothing around it", config: config{bare: true}, text: `
	a> GET_CPS 0
	a< GET_CPS 0 []
	a> CHK_AP 0
	a< CHK_AP 0 []
	a> CHK_AP 0 AP1
	a< CHK_AP 0 false
	a> GET_DETE 0
	a< GET_DETE 0 []
	a> GET_VIDEO_BYTES 1 x
	a< ERROR 0 {"info":"GET_VIDEO_BYTES: no picture","fromClient":"x"}
	a< ACK 0 {"fromClient":"x"}
	a> SET_SIM 0 {"quality":10}
	a< ERROR 0 {"info":"nothing here can do that","fromClient":"{\"quality\":10}"}
	a> RST_SIM 0
	a< ERROR 0 {"info":"nothing here can do that","fromClient":""}
	a> SET_ORIEN 0 {}
	a< ERROR 0 {"info":"nothing here can do that","fromClient":"{}"}
	`},

	{name: "a real robot is not put anywhere", config: config{reality: hal.Real}, text: `
	a> ARM_MTR 0
	a> SET_CONTROL_MODE 0 manual
	a> SET_MTR 0 {"FRH":0.5}
	a> SET_ORIEN 0 {"rot":{"x":0,"y":90,"z":0},"pos":{"x":1,"y":-2,"z":3}}
	a< ERROR 0 {"info":"the robot is real: it is not put anywhere","fromClient":"{\"rot\":{\"x\":0,\"y\":90,\"z\":0},\"pos\":{\"x\":1,\"y\":-2,\"z\":3}}"}
	a> RST_SIM 0
	a< RST_SIM 0
	a> SET_MTR 0
	a< SET_MTR 0 {"FLH":0,"FLV":0,"BLV":0,"BLH":0,"FRH":0,"FRV":0,"BRV":0,"BRH":0}
	`, events: "clear"},

	{name: "the heartbeat", text: `
	a~ 400ms
	a> PING 0
	a< PING 0
	# at 0.5 s a packet came, at 1 s none
	a~ 590ms
	a< ACK 0
	a< ACK 0
	a< ACK 0
	a> PING 0
	a< PING 0
	a< ACK 0
	`},

	{name: "the illegal packet", text: `
	b> PING 0
	b< PING 0
	a> 0xFF 0
	a|
	b> PING 0 b
	b< PING 0 b
	`},

	{name: "packets that clients do not send", text: `
	a> 0x42 0 what
	a< ERROR 0 {"info":"Unknown dataframe type 0x42","fromClient":"what"}
	a> HIT_NGZ 1 x
	a< ERROR 0 {"info":"Unknown dataframe type HIT_NGZ","fromClient":"x"}
	a< ACK 0 {"fromClient":"x"}
	`},
}

func TestTranscripts(t *testing.T) {
	for _, kind := range []hal.BodyKind{hal.Simulated, hal.Emulated} {
		for _, k := range transcripts {
			if k.only && k.reality != kind {
				continue
			}
			t.Run(kind.String()+" "+k.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k.reality = max(k.reality, kind)
					s := newStage(t, k.config)
					s.play(k.text)
					if got := s.body.happened(); got != k.events {
						t.Errorf("the world: got %q, want %q", got, k.events)
					}
				})
			})
		}
	}
}

// TestHits: every client is notified of a zone, in the selected form, and the robot is put back if that option is set.
func TestHits(t *testing.T) {
	for _, k := range []struct {
		config
		noGo, finish, events string
	}{
		{config{}, `{"id":"NGZ1"}`, `{"id":"FZ1"}`, ""},
		{config{Options: Options{RawHits: true, Teleport: true}}, "NGZ1", "FZ1", "restart; restart"},
		{config{reality: hal.Real, Options: Options{Teleport: true}}, `{"id":"NGZ1"}`, `{"id":"FZ1"}`, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, k.config)
			if !s.server.Deferrable() {
				t.Error("no client: want Deferrable")
			}
			s.play("a> PING 0\na< PING 0\nb> PING 0\nb< PING 0\n")
			if s.server.Deferrable() {
				t.Error("two clients: want not Deferrable")
			}
			s.body.hit(Hit{ID: "NGZ1"}, Hit{Finish: true, ID: "FZ1"})
			for _, client := range []string{"a", "b"} {
				s.play(client + "< HIT_NGZ 0 " + k.noGo + "\n" + client + "< HIT_FZ 0 " + k.finish)
			}
			if got := s.body.happened(); got != k.events {
				t.Errorf("the world: got %q, want %q", got, k.events)
			}
		})
	}
}

// TestSensors: measurements arrive in the document's axes and units.
func TestSensors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		s.play("a> PING 0\na< PING 0\n")
		s.rig.BetweenCycles(func() {
			s.body.pose = hal.Pose{Position: [3]float64{1, 2, -3}, Rotation: attitude(Vector{0, 90, 0})}
			s.body.rates = [3]float64{0.1, 0.2, 0.3}
			s.body.accel = [3]float64{2, 0, 9.81} // forward, which is the world's -y
		})
		<-time.After(5 * period)
		s.play(`
		a> GET_SENS 0
		a< GET_SENS 0 {"rot":{"x":0,"y":90,"z":0},"rotSpeed":{"x":0.2,"y":-0.3,"z":-0.1},"accel":{"x":2,"y":0,"z":...},"rotAccel":{"x":0,"y":0,"z":0},"baro":{"pressure":29400}}
		a> SET_ORIEN 0
		a< SET_ORIEN 0 {"rot":{"x":0,"y":90,"z":0},"pos":{"x":-2,"y":-3,"z":1}}
		`)
	})
}
