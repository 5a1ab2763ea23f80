package osp

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestClient uses every call of a client once, against the server.
func TestClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "one", "two")
		c, err := Dial(mainPort.String(), ClientOptions{Listen: s.net.Listen})
		if err != nil {
			t.Fatal(err)
		}
		expect := func(what string, got any, err error, want any) {
			t.Helper()
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, %v, want %+v", what, got, err, want)
			}
		}
		kind := func(what string, err error, want hal.Kind) {
			t.Helper()
			if err == nil || hal.KindOf(err) != want {
				t.Errorf("%s: got %v, want kind %v", what, err, want)
			}
		}
		_, err = c.AgentInfo(1)
		kind("info before the overview", err, hal.Absent)
		agents, err := c.Overview()
		expect("overview", agents, err, []AgentEntry{{1, "Agent", true, "one"}, {2, "Agent", true, "two"}})
		info, err := c.AgentInfo(2)
		expect("info", info, err, &AgentDescription{ID: 2, Name: "two",
			Inputs:  []Terminal{{"/hinge/DesiredAngle", -1, 1}, {"/hinge/DesiredTorque", 0, 1}},
			Outputs: []Terminal{{"/hinge/JointAngle", -1, 1}}, Infos: []Terminal{{"/hinge/JointVelocity", -1, 1}}})
		_, err = c.Step(1, nil)
		kind("step without an agent", err, hal.Invalid)
		_, err = c.Await(1)
		kind("await without an agent", err, hal.Invalid)
		kind("register for what is not there", c.Register(3), hal.Busy)
		expect("register", nil, c.Register(1), nil)

		found, err := c.FindValues("/Control/NumberOf.*")
		expect("find", found, err, []ValueEntry{{1, "Int", "/Control/NumberOfSteps"},
			{2, "Int", "/Control/NumberOfTries"}})
		expect("set", nil, c.SetValue(1, "12"), nil)
		kind("set to nonsense", c.SetValue(1, "x"), hal.Invalid)
		kind("set what is not there", c.SetValue(9, "x"), hal.Absent)
		text, err := c.Value(1)
		expect("value", text, err, "12")
		_, err = c.Value(9)
		kind("value that is not there", err, hal.Absent)
		known, err := c.Observe(1, 9)
		expect("observe", known, err, []int32{1, 0})
		event, err := c.RegisterEvent("/Control/StepCompleted")
		expect("event", event, err, int32(1))

		result, err := c.Step(1, []float32{0.5, 1})
		expect("step", result, err, &Result{Outputs: []float32{0.019098593}, Infos: []float32{0}, Events: []int32{1},
			Values: []Observed{{1, []byte("12")}}})
		expect("deregister event", nil, c.DeregisterEvent(event), nil)
		known, err = c.Unobserve(1)
		expect("unobserve", known, err, []int32{1})
		result, err = c.Step(1, nil)
		expect("step", fmt.Sprint(result), err, "&{[0.038197186] [0] [] []}")
		expect("deregister", nil, c.Deregister(1), nil)
		kind("step of a former agent", c.Request(1, nil), hal.Invalid)
		expect("close", nil, c.Close(), nil)
		if _, err := Dial("no such address", ClientOptions{}); hal.KindOf(err) != hal.Invalid {
			t.Errorf("dial: got %v, want kind %v", err, hal.Invalid)
		}
	})
}

// TestClientOfOriginal: the client against a server without numbers, which sends counts as the document or as the
// original, and stale answers before the right one.
func TestClientOfOriginal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var net protocolstest.Net
		main, _ := net.Listen(mainPort)
		handler, _ := net.Listen(netip.MustParseAddrPort("127.0.0.1:45455"))
		var received []string
		answers := map[Command]string{
			initCommunication: "06 01 01 78",
			registerForAgent:  "65 i1 01 78",
			registerForValue:  "37 i1 i5 78", // without a count: it looks like a count and one id
			resetSimulation:   "4b 78; 47 78; 4b 78",
			NextStep: "55 i1 i1 i0 i0 i1 f0.25 78; 33 i7 sold 78; 51 i1 78; 55 i1 i1 i0 i0 i1 f0.5 78; " +
				"33 i7 snew 78",
			deregisterFromAgent: "6a i1 02 78",
			endCommunication:    "08 78",
		}
		serve := func(conn, from interface {
			ReadFromUDPAddrPort([]byte) (int, netip.AddrPort, error)
			WriteToUDPAddrPort([]byte, netip.AddrPort) (int, error)
		}) {
			in := make([]byte, 2048)
			for {
				n, client, err := conn.ReadFromUDPAddrPort(in)
				if err != nil {
					return
				}
				received = append(received, fmt.Sprintf("%x", in[:n]))
				for _, a := range strings.Split(answers[Command(in[0])], ";") {
					if words := strings.Fields(a); len(words) > 0 {
						from.WriteToUDPAddrPort(encode(t, words), client)
					}
				}
			}
		}
		go serve(main, handler)
		go serve(handler, handler)
		c, err := dialVersion(mainPort, versionNumber{1, 1, true}, ClientOptions{Listen: net.Listen})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Register(1); err != nil {
			t.Fatal(err)
		}
		if known, err := c.Observe(1, 5); err != nil || !reflect.DeepEqual(known, []int32{1, 5}) {
			t.Errorf("observe: got %v, %v, want 1 5", known, err)
		}
		if err := c.Reset(9); err != nil {
			t.Error(err)
		}
		r, err := c.Step(1, []float32{1})
		if err != nil || r.Outputs[0] != 0.5 || string(r.Values[0].Content) != "new" {
			t.Errorf("step: got %+v, %v, want 0.5 and new", r, err)
		}
		if err := c.Deregister(1); err != nil {
			t.Error(err)
		}
		c.Close()
		synctest.Wait()
		main.Close()
		handler.Close()
		synctest.Wait()
		want := []string{"050101", "6401000000", "36020000000100000005000000", "46090000007801", "4c", "4c",
			"5001000000010000000000803f7802", "5601000000", "6901000000", "07"}
		if !reflect.DeepEqual(received, want) {
			t.Errorf("the server received\n%v, want\n%v", received, want)
		}
	})
}
