package okon

import (
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// duty returns the last cycle's command of thruster i, and whether it has torque.
func (s *stage) duty(i int) (u float64, enabled bool) {
	s.rig.BetweenCycles(func() { u, enabled = s.body.Last[i], s.body.Enabled[i] })
	return u, enabled
}

func (s *stage) wantDuty(what string, i int, want float64, wantEnabled bool) {
	s.t.Helper()
	if u, enabled := s.duty(i); enabled != wantEnabled || enabled && math.Abs(u-want) > 1e-9 {
		s.t.Errorf("%s: got thruster %d enabled %v at %g, want %v at %g\n%s", what, i, enabled, u, wantEnabled, want,
			s.log)
	}
}

func (s *stage) commander() string {
	s.t.Helper()
	ids := s.rig.Values().Find(regexp.MustCompile("/okon/Commander"))
	if len(ids) != 1 {
		s.t.Fatalf("got %d values of that name, want 1", len(ids))
	}
	v, err := s.rig.Values().Get(ids[0])
	if err != nil || v.Text != s.server.Commander() {
		s.t.Errorf("the value: got %+v, %v; want %q", v, err, s.server.Commander())
	}
	return v.Text
}

const manual = `
	a> SET_CONTROL_MODE 0 manual
	a> ARM_MTR 0
	a> SET_MTR 1 {"FLV":0.5,"FLH":-0.25}
	a< ACK 0 {"fromClient":"{\"FLV\":0.5,\"FLH\":-0.25}"}
	a~ 50ms
	`

// TestCommanding: a whole way from packets to the body, by two clients; any may command, the last one is named.
func TestCommanding(t *testing.T) {
	for _, lockstep := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{lockstep: lockstep})
			s.play("b> PING 0\nb< PING 0\na> PING 0\na< PING 0\n")
			if s.commander() != "" || s.agent.Holder() != "" {
				t.Errorf("no commander: got %q, lease %q", s.commander(), s.agent.Holder())
			}
			s.wantDuty("no commander", 4, 0, false)
			s.play(manual)
			s.wantDuty("manual", 4, 0.5, true)
			s.wantDuty("manual", 0, -0.25, true)
			if s.commander() != "a" || (s.agent.Holder() == "okon@pipes") == lockstep {
				t.Errorf("got commander %q, lease %q", s.commander(), s.agent.Holder())
			}
			s.play("b> SET_MTR 0 {\"FLV\":-0.5}\nb> PING 0\nb< PING 0\nb~ 50ms")
			s.wantDuty("another", 4, -0.5, true)
			if s.commander() != "b" {
				t.Errorf("got commander %q, want b", s.commander())
			}
			// a query does not make its client the commander; any client may disarm
			s.play("a> SET_STABLE 0\na< SET_STABLE 0 ...\na> DISARM_MTR 0\na> PING 0\na< PING 0\na~ 50ms")
			s.wantDuty("disarmed", 4, 0, false)
			if s.commander() != "b" {
				t.Errorf("got commander %q, want b", s.commander())
			}
			s.play("b.\na~ 10ms")
			if s.commander() != "" || s.agent.Holder() != "" {
				t.Errorf("gone: got %q, lease %q", s.commander(), s.agent.Holder())
			}
		})
	}
}

// TestStableDives: the autopilot behind the packets.
func TestStableDives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		s.play(`a> ARM_MTR 0
		a> SET_STABLE 1 {"depth":0.5}
		a< ACK 0 ...
		a~ 200ms`)
		if u, enabled := s.duty(4); !enabled || !(u < -0.1) {
			t.Errorf("got %v at %g, want a push downwards", enabled, u)
		}
		if u, _ := s.duty(0); math.Abs(u) > 0.01 {
			t.Errorf("horizontally: got %g, want about nothing", u)
		}
	})
}

// deadlineNotice is the packet that a client receives after the deadline.
const deadlineNotice = `< ERROR 0 {"info":"command okon: no command before the deadline: the motors are off (try: SET_MTR, SET_ACRO or SET_STABLE)","fromClient":""}
`

// TestSilentCommander: the robot continues while the commander sends packets. When it is silent the guard stops the
// motors and the server notifies every client; a later PING of the commander moves nothing.
func TestSilentCommander(t *testing.T) {
	guard := hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{reality: hal.Emulated, guard: guard, Options: Options{Heartbeat: time.Hour}})
		s.play(manual)
		for range 20 {
			s.play("a> GET_SENS 2\na< GET_SENS 2 ...\nb> PING 0\nb< PING 0\na~ 100ms")
		}
		s.wantDuty("received", 4, 0.5, true)
		for range 5 { // packets of another client do not count
			s.play("b> PING 0\nb< PING 0\nb~ 100ms")
		}
		s.wantDuty("silent", 4, 0, false)
		s.play("a" + deadlineNotice + "b" + deadlineNotice)
		if c := s.agent.Condition(); c.State != hal.Expired {
			t.Errorf("condition: got %v, want expired", c.State)
		}
		s.play("a> GET_SENS 2\na< GET_SENS 2 ...\na~ 50ms")
		s.wantDuty("back", 4, 0, false)
		// one program arms, the next one drives
		s.play("b> SET_MTR 0 {\"FLV\":1}\nb> PING 0\nb< PING 0\nb~ 50ms")
		s.wantDuty("commanded by another", 4, 1, true)
		s.play("b> DISARM_MTR 0\nb> SET_MTR 0 {\"FLV\":1}\nb< ERROR 0 {\"info\":\"command okon: the motors are not " +
			"armed...")
		s.play(manual)
		s.wantDuty("armed again", 4, 0.5, true)
		s.play("a.\nb~ 50ms")
		s.wantDuty("gone", 4, 0, false)
	})
	// without a deadline a simulated robot continues, as in the original
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		s.play(manual + "a.\nb> PING 0\nb< PING 0\nb~ 2s")
		s.wantDuty("gone, simulated", 4, 0.5, true)
	})
}

// TestDeafCommander: a commander that goes on commanding, but does not read, loses the motors at the deadline.
func TestDeafCommander(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{reality: hal.Emulated, guard: hal.GuardConfig{CommandTimeout: 500 * time.Millisecond},
			Options: Options{Heartbeat: time.Hour, WriteTimeout: 10 * time.Second}})
		s.play(manual)
		s.server.broadcast(HitNoGo, []byte("{}"))
		synctest.Wait() // it waits in a write
		command := Append(nil, Packet{Type: SetMotors, Flag: DoNotLog, Data: []byte(`{"FLV":0.5}`)})
		for i := range 30 {
			s.conn("a").Write(command)
			time.Sleep(100 * time.Millisecond)
			if i == 2 {
				s.wantDuty("at first", 4, 0.5, true)
			}
		}
		s.wantDuty("3 s unread", 4, 0, false)
		go io.Copy(io.Discard, s.conn("a"))
		time.Sleep(100 * time.Millisecond)
		s.conn("a").Write(command)
		time.Sleep(50 * time.Millisecond)
		s.wantDuty("it reads again", 4, 0.5, true)
	})
}

// TestHeldAgent: an agent that another protocol holds is not commanded, reset or moved, and the client gets the reason.
func TestHeldAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		p := s.rig.NewSession("other", nil)
		lease, err := p.Acquire(s.agent)
		if err != nil {
			t.Fatal(err)
		}
		for _, packet := range []string{"ARM_MTR 0", `SET_MTR 0 {"FLV":1}`, "SET_CONTROL_MODE 0 manual", "RST_SIM 0",
			`SET_ORIEN 0 {}`} {
			s.play("a> " + packet + "\na< ERROR 0 {\"info\":\"control okon: held by other\",...")
		}
		s.play("a> SET_CONTROL_MODE 0\na< SET_CONTROL_MODE 0 stable\na> GET_SENS 0\na< GET_SENS 0 ...")
		if s.body.happened() != "" || s.pilot.Armed() {
			t.Error("the robot was moved, want it left alone")
		}
		p.Release(lease)
		s.play(manual)
		p.Close()
	})
}

// TestEmergencyStop: after an emergency stop only an operator arms the robot.
func TestEmergencyStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{})
		s.play(manual)
		s.rig.EmergencyStop("test")
		s.play("a< ERROR 0 {\"info\":\"command okon: emergency stop: the motors are off (try: halyard " +
			"reset)\",...\na~ 50ms\na> ARM_MTR 0\na< ERROR 0 {\"info\":\"arm okon: the emergency stop is latched...")
		s.wantDuty("stopped", 4, 0, false)
		s.rig.Recover()
		s.play("a< ERROR 0 {\"info\":\"command okon: disarmed by the operator: the motors are off (try: halyard " +
			"arm)\",...\na~ 50ms")
		s.wantDuty("cleared", 4, 0, false)
		s.play("a> ARM_MTR 0\na< ERROR 0 {\"info\":\"arm okon: disarmed; only the operator arms it...\na~ 50ms")
		s.wantDuty("armed by a client", 4, 0, false)
		if err := s.agent.Arm(); err != nil {
			t.Fatal(err)
		}
		s.play(manual)
		s.wantDuty("armed", 4, 0.5, true)
	})
}

// TestRealReset: heading and depth restart at zero, both the measured values and the targets.
func TestRealReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{reality: hal.Real})
		s.body.pose = hal.Pose{Position: [3]float64{0, 0, -4}, Rotation: attitude(Vector{0, 70, 0})}
		s.play(manual + `a> RST_SIM 0
		a< RST_SIM 0
		a~ 50ms
		a> GET_SENS 0
		a< GET_SENS 0 {"rot":...,"baro":{"pressure":0}}`)
		if e := s.pilot.Estimate(s.agent.Measured(nil)); math.Abs(e.Attitude[3]) > 1e-6 || e.Depth != 0 {
			t.Errorf("got attitude %.3f at %g m, want nothing", e.Attitude, e.Depth)
		}
		s.wantDuty("reset", 4, 0, false)
		if s.pilot.Armed() {
			t.Error("armed, want it disarmed")
		}
	})
}

// TestLog: packets that ask not to be logged are not.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{debug: true})
		s.play("a> PING 2 x\na< PING 2 x\na> ACK 1\na< ACK 129 ...\na< ACK 0 ...\n" + manual)
		log := s.log.String()
		if strings.Contains(log, "packet=PING") || !strings.Contains(log, "packet=ACK") ||
			!strings.Contains(log, `commands the motors" client=a`) {
			t.Errorf("got\n%s\nwant ACK and the commander, not PING", log)
		}
	})
}
