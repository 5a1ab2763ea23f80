package cli

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols/odcp"
)

// TestEveryDoorStopsWhileItParks: after Control-C an arm parks for half a minute. Until it is there the doors are open:
// they refuse to arm, and a stop through any of them ends the park with torque off on the wire.
func TestEveryDoorStopsWhileItParks(t *testing.T) {
	for _, door := range []string{"socket", "page", "rosbridge", "foxglove"} {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			armPort, torque := emulatedArm(t)
			basePort, _ := emulatedBase(t)
			name := "parks-" + door
			r := startServe(t, dyingRig(t, armPort, basePort), "--set", "name="+name, "--set", "clock.period=20ms",
				"--set", "buses.arm.latency=200ms", "--dashboard", "127.0.0.1:0",
				"--listen", "rosbridge@arm=127.0.0.1:0", "--listen", "foxglove@arm=127.0.0.1:0",
				"--set", "agents[0].guard.on_timeout=park", "--set", "agents[0].guard.home_speed=0.02",
				"--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0", "--listen", "gamebots=127.0.0.1:0")
			if code, _, errText := runApp(t, "arm", name); code != 0 {
				t.Fatalf("arm: exit %d: %s", code, errText)
			}
			joints, err := odcp.Open(r.address(t, "odcp"), odcp.ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer joints.Close()
			for begin := time.Now(); time.Since(begin) < time.Second || !torque(); <-time.After(20 * time.Millisecond) {
				joints.Set([]int32{800, 800, 800, 800, 800, 800}, []int32{1023, 1023, 1023, 1023, 1023, 1023})
				if time.Since(begin) > time.Minute {
					t.Fatal("the arm gets no torque")
				}
			}
			r.ask()
			soon(t, "parks", func() bool {
				code, _, errText := runApp(t, "arm", name)
				if code != 0 && !strings.Contains(errText, "the program ends") {
					t.Fatalf("arm while it ends: exit %d: %s", code, errText)
				}
				return code != 0
			})
			conn, err := net.Dial("tcp", r.address(t, "gamebots"))
			if err != nil || !torque() {
				t.Fatalf("while it parks: a server's port: %v, torque %v", err, torque())
			}
			conn.Close()
			switch door {
			case "socket":
				if code, _, errText := runApp(t, "estop", name); code != 0 {
					t.Errorf("estop: exit %d: %s", code, errText)
				}
			case "rosbridge":
				bridged(t, r.address(t, door), "", websocket.MessageText,
					[]byte(`{"op":"call_service","id":"s","service":"/stop"}`), `"result":true`)
			case "foxglove": // a call of the first service: its number, the call's, and JSON without arguments
				bridged(t, r.address(t, door), "foxglove.sdk.v1", websocket.MessageBinary,
					[]byte("\x02\x01\x00\x00\x00\x07\x00\x00\x00\x04\x00\x00\x00json{}"), `"success":true`)
			case "page":
				ans, err := http.Post(r.Dashboard+"stop", "", nil)
				if err != nil {
					t.Fatal(err)
				}
				if ans.Body.Close(); ans.StatusCode != http.StatusOK {
					t.Errorf("the page's stop: got %s", ans.Status)
				}
			}
			select {
			case <-r.done:
				r.done = nil
			case <-time.After(20 * time.Second): // the park takes longer
				t.Fatal("a stop did not end the park")
			}
			if torque() {
				t.Error("torque is on after a stop while it parked")
			}
		})
	}
}

// bridged sends a message through a bridge's door and waits for an answer that has want.
func bridged(t *testing.T, address, subprotocol string, kind websocket.MessageType, message []byte, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := &websocket.DialOptions{}
	if subprotocol != "" {
		o.Subprotocols = []string{subprotocol}
	}
	conn, _, err := websocket.Dial(ctx, "ws://"+address, o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 24)
	if err := conn.Write(ctx, kind, message); err != nil {
		t.Fatal(err)
	}
	for {
		_, b, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("got %v, want an answer with %s", err, want)
		}
		if strings.Contains(string(b), want) {
			return
		}
	}
}

// closing is a running arm of servos on a terminal that is to lose its torque at the end, with torque.
func closing(t *testing.T, name string) (sys *halyard.System, ran chan error, torque func() bool) {
	t.Helper()
	armPort, torque := emulatedArm(t)
	basePort, _ := emulatedBase(t)
	// of a busy machine
	cfg, err := halyard.Load(dyingRig(t, armPort, basePort), halyard.Set("name", name),
		halyard.Set("agents[0].guard.on_timeout", "torque_off"), halyard.Set("clock.period", "20ms"),
		halyard.Set("buses.arm.latency", "200ms"),
		halyard.Listen("osp", "127.0.0.1:0"), halyard.Listen("odcp", "127.0.0.1:0"),
		halyard.Listen("gamebots", "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	if sys, err = halyard.Open(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Close() })
	ran = make(chan error, 1)
	go func() { ran <- sys.Run(t.Context()) }()
	arm := sys.Agents()[0]
	if err := sys.Arm(); err != nil {
		t.Fatal(err)
	}
	soon(t, "torque", func() bool {
		if err := arm.Command(arm.Joints()[0], halyard.Position(0.2)); err != nil {
			t.Fatal(err)
		}
		return torque()
	})
	return sys, ran, torque
}

// deeply calls f from depth calls of its own.
func deeply(depth int, f func() error) error {
	if depth > 0 {
		return deeply(depth-1, f)
	}
	return f()
}

// TestCloseBesideRun: Close ends Run, from any goroutine and again, and torque is off on the wire when it returns; also
// where the main function panics.
func TestCloseBesideRun(t *testing.T) {
	ends := map[string]func(sys *halyard.System){
		"thrice": func(sys *halyard.System) {
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if err := sys.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		},
		"panic": func(sys *halyard.System) {
			defer func() { recover() }()
			defer sys.Close()
			panic("a bug")
		},
		"panic under the rig's lock": func(sys *halyard.System) {
			defer func() { recover() }()
			defer sys.Close()
			sys.Rig().BetweenCycles(func() { panic("a bug") })
		},
		"inside the cycle": func(sys *halyard.System) {
			said := make(chan error, 1)
			cancel := sys.OnCycle(func(*hal.Cycle) {
				select {
				case said <- deeply(1000, sys.Close):
				default:
				}
			})
			if err := <-said; hal.KindOf(err) != hal.Busy {
				t.Errorf("inside the cycle: got %v, want busy", err)
			}
			cancel()
			if err := sys.Close(); err != nil {
				t.Error(err)
			}
		},
	}
	for name, end := range ends {
		sys, ran, torque := closing(t, "closes-"+strings.Fields(name)[0]+"-"+strings.Fields(name + " x x")[1])
		end(sys)
		if torque() {
			t.Errorf("%s: torque is on after Close", name)
		}
		select {
		case err := <-ran:
			if err != nil {
				t.Errorf("%s: run: %v", name, err)
			}
		default:
			t.Errorf("%s: Run goes on after Close", name)
			<-ran
		}
		if err := sys.Close(); err != nil {
			t.Errorf("%s: closed again: %v", name, err)
		}
		if err := sys.Run(t.Context()); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: Run after Close: got %v, want invalid", name, err)
		}
	}
}
