package gamebots

import (
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

// TestHostile: invalid input of a client does not move its robot, is answered as the manual specifies, and does not
// disturb another client.
func TestHostile(t *testing.T) {
	bubble(t, config{change: func(r *Robot) { plain(r); r.Interval = time.Hour }}, func(s *stage) {
		init := "INIT {ClassName USARBot.P2AT} {Name R1}"
		sta := "STA {Time 0.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000} {Velocity " +
			"0.0000,0.0000,0.0000} {LightToggle False} {LightIntensity 0} {Battery 3600}"
		s.play("a> DRIVE {Left 1}\na> GETGEO {Type Sonar}\na> CAMERA {Zoom 1}\n") // before INIT
		s.receive("a")
		s.play(`
		a> INIT {ClassName USARBot.Tank} {Name T}
		a< RES {Time 0.00} {Type USARBot.Tank} {Name T} {Status Failed}
		a> INIT
		a< RES {Time 0.00} {Type None} {Name None} {Status Failed}
		a> INIT {ClassName USARBot.P2AT} {Name R1} {Location 1e300,0,0}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R1} {Status Failed}
		a> INIT {ClassName USARBot.P2AT} {Name R1} {Location nan,0,0}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R1} {Status Failed}
		a> INIT {ClassName USARBot.P2AT} {Name R1} {Location 1,2}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R1} {Status Failed}
		a> INIT {ClassName USARBot.P2AT} {Name R/1}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R/1} {Status Failed}
		a> INIT {ClassName USARBot.P2AT} {Name R1} {Start nowhere}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R1} {Status Failed}
		a> ` + init + `
		a< ` + sta + `
		a> ` + init + `
		a< RES {Time 0.01} {Type USARBot.P2AT} {Name R1} {Status Failed}
		b> ` + init + `
		`)
		s.receive("b")
		s.play(`
		b< RES {Time 0.01} {Type USARBot.P2AT} {Name R1} {Status Failed}
		`)
		for _, line := range []string{
			"DRIVE {Left 1e999}", "DRIVE {Left inf}", "DRIVE {Left 0x1p4}", "DRIVE {Left}", "DRIVE Left 1",
			"DRIVE {Left 1", "{Left 1}", "\x00\x01\xff {Left 1}",
			"FLY {Left 1}", "DRIVE {Left 1} {Name} {Value 1}", strings.Repeat("{", 1<<20),
			strings.Repeat("DRIVE {", 20000),
			"GETGEO", "GETCONF {Type " + strings.Repeat("x", 500) + "}", "SET", "MISPKG {Name Nothing}",
			"OMNIDRIVE {ROT 1}",
		} {
			s.play("a> " + line)
		}
		// the answer to SET comes last
		s.play("a< RES {Time 0.01} {Type None} {Name None} {Status Failed}")
		synctest.Wait()
		p := s.town.puppet("R1")
		for i := range p.layout.Inputs {
			if v := p.goal(p.layout.Inputs[i].Name); v == v {
				t.Errorf("%s: got %g, want nothing", p.layout.Inputs[i].Name, v)
			}
		}
		s.play("a> DRIVE {Left 2}\n")
		<-time.After(3 * period)
		if v := p.goal("LeftFWheel/velocity"); v != 2 {
			t.Errorf("after it all: got %g rad/s, want 2\n%s", v, s.log)
		}
		if n := strings.Count(s.log.String(), "\n"); n > 20 {
			t.Errorf("log: got %d lines, want each kind of fault once\n%s", n, s.log)
		}
		// a client that disconnects within a line: its robot is removed and its name is free
		s.play("a- DRIVE {Left\na.")
		synctest.Wait()
		if p.halts == 0 || s.rig.Agent("R1") != nil {
			t.Errorf("the robot of a client that left: halts %d, want it gone", p.halts)
		}
		s.play("b> " + init)
		if got := s.receive("b"); !strings.HasPrefix(got, "STA") {
			t.Errorf("its name, again: got %s", got)
		}
	})
}

// TestConnections: a connection above the limit is closed, and accepted once a client has left.
func TestConnections(t *testing.T) {
	bubble(t, config{Options: Options{MaxConnections: 2}}, func(s *stage) {
		s.play(nfoLine + "a> GETSTARTPOSES\nb> GETSTARTPOSES")
		synctest.Wait()
		s.play("c|\na.\n")
		synctest.Wait()
		s.play("d> X\n")
		if got := s.receive("d"); !strings.HasPrefix(got, "NFO") {
			t.Errorf("got %q, want NFO", got)
		}
		if n := s.server.Traffic().Dropped(protocols.Full); n != 1 {
			t.Errorf("turned away: got %d, want 1", n)
		}
	})
}

// TestDeafDriver: a client that goes on commanding without reading does not keep its robot moving.
func TestDeafDriver(t *testing.T) {
	guard := hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}
	bubble(t, config{reality: hal.Emulated, guard: guard, change: plain}, func(s *stage) {
		s.play("a> INIT {ClassName P2AT} {Name R1}")
		for range 30 {
			s.play("a> DRIVE {Left 1} {Right 1}")
			time.Sleep(100 * time.Millisecond)
		}
		if v := s.town.puppet("R1").goal("LeftFWheel/velocity"); v != 0 {
			t.Errorf("after 3 s without a read: got %g rad/s, want 0", v)
		}
	})
}

// TestDeaf: a client that never reads is disconnected, its queue stays bounded, and its robot stops before that.
func TestDeaf(t *testing.T) {
	guard := hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}
	bubble(t, config{reality: hal.Emulated, guard: guard, change: plain}, func(s *stage) {
		s.play("a> INIT {ClassName P2AT} {Name R1}\na> DRIVE {Left 1} {Right 1}\nb> INIT {ClassName P2AT} {Name " +
			"R2}\nb> DRIVE {Left 1} {Right 1}\n")
		deaf, well := s.town.puppet("R1"), s.town.puppet("R2")
		gone := make(chan struct{})
		go func() { // b reads and sends nothing
			defer close(gone)
			for {
				if _, err := s.received["b"].ReadString('\n'); err != nil {
					return
				}
			}
		}()
		<-time.After(2 * time.Second)
		if v := deaf.goal("LeftFWheel/velocity"); v != 0 {
			t.Errorf("after 2 s without a read: got %g rad/s, want 0", v)
		}
		if v := well.goal("LeftFWheel/velocity"); v != 0 {
			t.Errorf("of a client that reads and is silent: got %g rad/s, want 0: it may hang", v)
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		if s.rig.Agent("R1") != nil || s.rig.Agent("R2") == nil {
			t.Errorf("after 7 s: R1 %v, R2 %v, want R2 alone", s.rig.Agent("R1"), s.rig.Agent("R2"))
		}
		s.conns["b"].Close()
		<-gone
	})
	bubble(t, config{change: plain}, func(s *stage) { // a client that sends queries without end
		s.play("a> INIT {ClassName P2AT} {Name R1}\n")
		c := s.conns["a"]
		sent := 0
		for c.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
			if _, err := c.Write([]byte("GETGEO {Type Nothing}\n")); err != nil {
				break
			}
			if sent++; sent > 1e5 {
				t.Fatal("got 100000 questions taken, want the end")
			}
		}
		if n := sent * len("GEO {Type Nothing}\r\n"); n > 2*maxReplies {
			t.Errorf("waiting: got %d bytes, want at most about %d", n, maxReplies)
		}
	})
}

// TestLockstep: in lock-step a client advances time at the pace of the wall clock, and a flood of commands does not
// accelerate it.
func TestLockstep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Lockstep, change: plain}, protocolstest.NewPipes("pipes"),
			&bubbleClock{time.Now()})
		s.play("a> INIT {ClassName P2AT} {Name R1}\n")
		go func() {
			for s.receive("a") != "" {
			}
		}()
		for range 1000 {
			s.play("a> DRIVE {Left 1} {Right 1}\n")
		}
		s.play("a> DRIVE {Name LeftFWheel} {Order 2} {Value 3}\n")
		<-time.After(time.Second)
		p := s.town.puppet("R1")
		if at := p.value(p.layout.Actuators[1].Position); at < 0.9 || at > 1.1 {
			t.Errorf("after a second at 1 rad/s: got %g rad", at)
		}
		if v := p.goal("LeftFWheel/velocity"); v == v {
			t.Errorf("a torque after a speed in one step: got the speed %g as well", v)
		}
		s.conns["a"].Close()
		synctest.Wait()
		s.hang("a")
	})
}

// TestFaults: a robot that does not fit its layout, a spawner that fails, and a listener that breaks.
func TestFaults(t *testing.T) {
	for _, change := range []func(r *Robot){
		func(r *Robot) { r.State = 99 },
		func(r *Robot) { r.Joints[0].Actuator = 99 },
		func(r *Robot) { r.Joints[0].Name = "two words" },
		func(r *Robot) { r.Joints[0].Steer = -2 },
		func(r *Robot) { r.Left = []int{99} },
		func(r *Robot) { r.Sensors[0].Index = 99 },
		func(r *Robot) { r.Sensors[0].Name = "" },
		func(r *Robot) { r.Cameras[0].Package = 9 },
		func(r *Robot) { r.Effecters[0].Type = "{" },
		func(r *Robot) { r.Packages[0].Name = "a,b" },
		func(r *Robot) { r.Packages[0].Parts[1].Axis = [3]float64{} },
		func(r *Robot) { r.Packages[0].Parts[1].Joint = 99 },
	} {
		p := newPuppet()
		r := p.robot()
		if change(r); hal.KindOf(r.complete(p.layout)) != hal.Invalid {
			t.Errorf("got %v, want invalid", r.complete(p.layout))
		}
	}
	p := newPuppet()
	if err := p.robot().complete(p.layout); err != nil {
		t.Error(err)
	}
	bubble(t, config{change: func(r *Robot) { r.State = 99 }}, func(s *stage) {
		s.play(nfoLine + `
		a> INIT {ClassName USARBot.P2AT} {Name R1}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R1} {Status Failed}
		`)
		if s.rig.Agent("R1") != nil {
			t.Error("a robot that does not fit: it is there, want it removed")
		}
	})
	bubble(t, config{arena: func(a *Arena) { a.Spawner = nil }}, func(s *stage) {
		s.play(nfoLine + `
		a> INIT {ClassName USARBot.P2AT} {Name R1}
		a< RES {Time 0.00} {Type USARBot.P2AT} {Name R1} {Status Failed}
		`)
	})
	rig, err := hal.New(hal.Config{Period: period})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := NewServer(rig, brokenListener{protocolstest.NewPipes("pipes"), broken}, Arena{},
		Options{}).Serve(t.Context()); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type brokenListener struct {
	*protocolstest.Pipes
	err error
}

func (b brokenListener) Accept() (net.Conn, error) { return nil, b.err }

// agentOf puts p into a rig of its own.
func agentOf(t testing.TB, p *puppet) *hal.Agent {
	t.Helper()
	rig, err := hal.New(hal.Config{Period: period})
	if err != nil {
		t.Fatal(err)
	}
	a, err := rig.Add(hal.AgentConfig{Name: "R1", Body: p, World: p})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSafety18SessionPanic: a panic in one client's session stops every robot and ends only that session.
func TestSafety18SessionPanic(t *testing.T) {
	bug := map[string]Command{"BUG": func(*Control) error { panic("a bug") }}
	bubble(t, config{reality: hal.Emulated, change: plain, Options: Options{Commands: bug}}, func(s *stage) {
		s.play("a> INIT {ClassName P2AT} {Name R1}\na> DRIVE {Left 1}\nb> INIT {ClassName P2AT} {Name R2}\n")
		<-time.After(3 * period)
		if v := s.town.puppet("R1").goal("LeftFWheel/velocity"); v != 1 {
			t.Fatalf("before: got %g rad/s, want 1", v)
		}
		s.play("b> BUG\n")
		<-time.After(3 * period)
		synctest.Wait()
		if c := s.rig.Agent("R1").Condition(); c.State != hal.Stopped || !strings.Contains(c.Reason, "a bug") ||
			!s.rig.Latched() {
			t.Errorf("after: got %+v, want stopped by the panic", c)
		}
		if s.rig.Agent("R2") != nil {
			t.Error("the robot of the session that ended is there")
		}
		for range 4 { // the server continues
			s.receive("a")
		}
		s.play("c> INIT {ClassName P2AT} {Name R3}\n")
		s.receive("c")
	})
}
