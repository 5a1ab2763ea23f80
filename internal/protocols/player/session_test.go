package player

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// open opens a device and fails the test where that fails.
func open(t *testing.T, c *Client, d Device) {
	t.Helper()
	if driver, err := c.Open(d); err != nil || driver != "halyard" {
		t.Fatalf("open %v: got %q, %v", d, driver, err)
	}
}

// data waits for data of a device and decodes it.
func data(t *testing.T, c *Client, d Device, subtype uint8, p payload) {
	t.Helper()
	for range 1000 {
		m, err := c.Next()
		if err != nil {
			t.Fatalf("%v: data: %v", d, err)
		}
		if m.Type == Data && m.Device == d && m.Subtype == subtype {
			if err := decodePayload(m.Payload, p); err != nil {
				t.Fatalf("%v: %v", d, err)
			}
			return
		}
	}
	t.Fatalf("%v: got no data", d)
}

const player0 = "00000000 00000000 00000001 00000000 00000003"

// answer is a server's header without its time, which S lines leave out.
const answer = "0100007f 00001a09"

// transcripts are sessions as bytes, C from the client, S from the server; times of the server are not compared.
// Without a lease no time passes in lock-step tests but by the rig's own clock.
var transcripts = []struct{ name, lines string }{
	{"pull", `
S ` + hex.EncodeToString([]byte("Player v.3.1.1-dev")) + strings.Repeat("00", 14) + `
C ` + player0 + ` 00000005 41dac0ef00000000 00000001 00000004 00000002
S ` + answer + ` 00000001 00000000 00000004 00000005 tttttttttttttttt 00000001 00000000`},
	{"open, geometry, close", `
S ` + hex.EncodeToString([]byte("Player v.3.1.1-dev")) + strings.Repeat("00", 14) + `
C ` + player0 + ` 00000005 0000000000000000 00000001 00000004 00000002
S ` + answer + ` 00000001 00000000 00000004 00000005 tttttttttttttttt 00000001 00000000
C ` + player0 + ` 00000003 0000000000000000 00000002 0000001c 00000000 00000000 00000004 00000000 00000001 00000000 00000000
S ` + answer + ` 00000001 00000000 00000004 00000003 tttttttttttttttt 00000002 00000024 ` + answer + ` 00000004 00000000 00000001 00000008 00000008 68616c7961726400
C 00000000 00000000 00000004 00000000 00000003 00000001 0000000000000000 00000003 00000000
S ` + answer + ` 00000004 00000000 00000004 00000001 tttttttttttttttt 00000003 00000048 ` + strings.Repeat("00", 48) + `3fe0000000000000 3fe3333333333333 3fd999999999999a
C ` + player0 + ` 00000003 0000000000000000 00000004 0000001c 00000000 00000000 00000004 00000000 00000002 00000000 00000000
S ` + answer + ` 00000001 00000000 00000004 00000003 tttttttttttttttt 00000004 00000024 ` + answer + ` 00000004 00000000 00000002 00000008 00000008 68616c7961726400`},
	{"refused", `
S ` + hex.EncodeToString([]byte("Player v.3.1.1-dev")) + strings.Repeat("00", 14) + `
C ` + player0 + ` 00000003 0000000000000000 00000001 0000001c 00000000 00000000 0000002a 00000000 00000001 00000000 00000000
S ` + answer + ` 00000001 00000000 00000006 00000003 tttttttttttttttt 00000001 0000001c ` + answer + ` 0000002a 00000000 00000003 00000000 00000000
C 00000000 00000000 0000002a 00000000 00000003 00000001 0000000000000000 00000002 00000000
S ` + answer + ` 0000002a 00000000 00000006 00000001 tttttttttttttttt 00000002 00000000
C 00000000 00000000 00000004 00000000 00000003 00000063 0000000000000000 00000003 00000004 00000000
S ` + answer + ` 00000004 00000000 00000006 00000063 tttttttttttttttt 00000003 00000000
C ` + player0 + ` 00000005 0000000000000000 00000004 00000004 00000009
S ` + answer + ` 00000001 00000000 00000006 00000005 tttttttttttttttt 00000004 00000000
C ` + player0 + ` 00000005 0000000000000000 00000005 00000002 0000
S ` + answer + ` 00000001 00000000 00000006 00000005 tttttttttttttttt 00000005 00000000
C ` + player0 + ` 0000000a 0000000000000000 00000006 00000014 ffffffff ffffffff 00000001 ffffffff 00000003
S ` + answer + ` 00000001 00000000 00000006 0000000a tttttttttttttttt 00000006 00000000
C ` + player0 + ` 0000003f 0000000000000000 00000007 00000000
S ` + answer + ` 00000001 00000000 00000006 0000003f tttttttttttttttt 00000007 00000000`},
}

func TestTranscripts(t *testing.T) {
	for _, k := range transcripts {
		t.Run(k.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, config{mode: hal.Realtime}, nil)
				conn := s.pipes.Dial()
				defer conn.Close()
				for line := range strings.Lines(strings.TrimSpace(k.lines)) {
					if line[0] == 'C' {
						conn.Write(fromHex(line[1:]))
						continue
					}
					want := fromHex(strings.ReplaceAll(line[1:], "t", "0"))
					got := make([]byte, len(want))
					_, err := io.ReadFull(conn, got)
					if strings.Contains(line, "tt") && err == nil {
						copy(got[24:32], want[24:32])
					}
					if err != nil || !bytes.Equal(got, want) {
						t.Fatalf("got\nS %x, %v, want\n%s", got, err, line)
					}
				}
			})
		})
	}
}

func TestDrive(t *testing.T) {
	for _, mode := range []hal.ClockMode{hal.Realtime, hal.Lockstep} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{mode: mode, bodyKind: hal.Emulated,
				guard: hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}}, nil)
			c := s.dial(t)
			defer c.Close()
			open(t, c, Device{Position2D, 0})
			if err := c.Drive(0.5, 0.4); err != nil {
				t.Fatal(err)
			}
			go func() { // a client that reads
				for {
					if _, err := c.receive(); err != nil {
						return
					}
				}
			}()
			for range 10 { // any message keeps the command
				time.Sleep(200 * time.Millisecond)
				c.send(Header{Device: Device{Position2D, 0}, Type: Req, Subtype: 1}, nil)
			}
			if left, right, on := s.rover.commands(); math.Abs(left-4) > 1e-6 || math.Abs(right-6) > 1e-6 || !on {
				t.Errorf("%v: wheels after 2 s: got %g, %g, %v, want 4, 6 rad/s", mode, left, right, on)
			}
			time.Sleep(time.Second)
			if left, right, _ := s.rover.commands(); left != 0 || right != 0 {
				t.Errorf("%v: a client that hangs: got %g, %g", mode, left, right)
			}
			c.Drive(0.5, 0)
			c.command(Device{Position2D, 0}, 1, &position2Velocity{pose2{X: 1}, 0})
			time.Sleep(100 * time.Millisecond)
			if left, right, _ := s.rover.commands(); left != 0 || right != 0 {
				t.Errorf("%v: motors off: got %g, %g", mode, left, right)
			}
			c.command(Device{Position2D, 0}, 2, &position2Goal{Pose: pose2{X: 100}, Motors: 1})
			time.Sleep(2 * time.Second)
			if left, right, _ := s.rover.commands(); left != 0 || right != 0 {
				t.Errorf("%v: a client hung before its goal was reached: got %g, %g", mode, left, right)
			}
			c.command(Device{Position2D, 0}, 3, &carCommand{0.5, 0})
			time.Sleep(time.Second)
			c.Close()
			time.Sleep(time.Second)
			if left, right, _ := s.rover.commands(); left != 0 || right != 0 || s.agent.Holder() != "" {
				t.Errorf("%v: a client that left: got %g, %g, held by %q", mode, left, right, s.agent.Holder())
			}
		})
	}
}

// TestDeaf: a client that no longer reads stops the robot, and loses its connection.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime, bodyKind: hal.Emulated,
			guard: hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}}, nil)
		c := s.dial(t)
		defer c.Close()
		open(t, c, Device{Position2D, 0})
		c.Drive(0.5, 0)
		time.Sleep(400 * time.Millisecond)
		if left, _, _ := s.rover.commands(); left == 0 {
			t.Error("at first: got no motion")
		}
		time.Sleep(1500 * time.Millisecond)
		if left, right, _ := s.rover.commands(); left != 0 || right != 0 {
			t.Errorf("after 2 s unread: got %g, %g, want 0", left, right)
		}
		time.Sleep(6 * time.Second)
		if err := c.Drive(1, 0); err == nil {
			t.Error("after 8 s unread: got a connection that is open")
		}
	})
}

// TestDeafDriver: a client that goes on commanding without reading does not keep its robot moving.
func TestDeafDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime, bodyKind: hal.Emulated,
			guard: hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}}, nil)
		c := s.dial(t)
		defer c.Close()
		open(t, c, Device{Position2D, 0})
		for i := range 20 {
			c.Drive(0.5, 0)
			time.Sleep(100 * time.Millisecond)
			if left, _, _ := s.rover.commands(); i == 2 && left == 0 {
				t.Error("at first: got no motion")
			}
		}
		if left, right, _ := s.rover.commands(); left != 0 || right != 0 {
			t.Errorf("after 2 s unread: got %g, %g, want 0", left, right)
		}
	})
}

func TestGoal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := s.dial(t)
		defer c.Close()
		position := Device{Position2D, 0}
		open(t, c, position)
		c.command(position, 2, &position2Goal{Pose: pose2{1, -0.5, 1}, Motors: 1})
		var at position2Data
		for range 200 {
			data(t, c, position, 1, &at)
		}
		if p := at.Pose; math.Hypot(p.X-1, p.Y+0.5) > 2*goalNear || math.Abs(p.A-1) > 2*goalAngle ||
			at.Velocity != (pose2{}) {
			t.Errorf("after 20 s: got %+v, want 1, -0.5, 1 rad at rest", at)
		}
		_ = s
	})
}

// TestLease: who commands first holds the robot; others are refused and see their requests refused.
func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		a, b := s.dial(t), s.dial(t)
		defer a.Close()
		defer b.Close()
		a.Drive(0.1, 0)
		time.Sleep(100 * time.Millisecond)
		b.Drive(9, 9)
		if err := b.request(Device{Position2D, 0}, 2, &number{0}, nil); !errors.Is(err, ErrRefused) {
			t.Errorf("motors off by another: got %v, want %v", err, ErrRefused)
		}
		if left, _, _ := s.rover.commands(); math.Abs(left-1) > 1e-6 ||
			s.server.Traffic().Dropped(protocols.Refused) != 2 {
			t.Errorf("two clients: got %g rad/s, %d refused, want 1 and 2", left,
				s.server.Traffic().Dropped(protocols.Refused))
		}
		if err := a.request(Device{Position2D, 0}, 2, &number{0}, nil); err != nil {
			t.Error(err)
		}
		if state, _, _ := s.agent.Guard(); state != hal.Disarmed {
			t.Errorf("motors off: got %v", state)
		}
		if err := a.request(Device{Position2D, 0}, 2, &number{1}, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestArming: a client does not arm a real robot.
func TestArming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime, bodyKind: hal.Real, guard: hal.GuardConfig{Disarmed: true}}, nil)
		c := s.dial(t)
		defer c.Close()
		if err := c.request(Device{ActArray, 0}, 1, &number{1}, nil); !errors.Is(err, ErrRefused) {
			t.Errorf("a real robot: got %v, want %v", err, ErrRefused)
		}
		if err := c.request(Device{Simulation, 0}, 2, &simulationPose{"rover", pose2{}}, nil); !errors.Is(err,
			ErrRefused) || s.rover.placed != 0 {
			t.Errorf("placing a real robot: got %v, placed %d", err, s.rover.placed)
		}
	})
}

// TestOperatorsDisarm: a client does not arm what the operator has disarmed or stopped, in any body.
func TestOperatorsDisarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := s.dial(t)
		defer c.Close()
		power := func(on uint32) error { return c.request(Device{Position2D, 0}, 2, &number{on}, nil) }
		refused := func(when string) {
			t.Helper()
			if err := power(1); !errors.Is(err, ErrRefused) {
				t.Errorf("%s: got %v, want %v", when, err, ErrRefused)
			}
		}
		power(0)
		s.agent.Disarm()
		refused("disarmed by both")
		s.agent.Arm()
		s.rig.EmergencyStop("button")
		refused("stopped")
		s.rig.Recover()
		refused("reset")
	})
}

// TestRules: pull mode with replacement sends the newest of each kind and a SYNCH; an ignored device sends nothing.
func TestRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := s.dial(t)
		defer c.Close()
		meta := Device{Player, 0}
		for _, p := range []*replaceRule{{-1, -1, int32(Data), -1, ruleReplace},
			{int32(Sonar), -1, -1, -1, ruleIgnore}} {
			if err := c.request(meta, reqReplaceRule, p, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.request(meta, reqDataMode, &number{modePull}, nil); err != nil {
			t.Fatal(err)
		}
		open(t, c, Device{Position2D, 0})
		open(t, c, Device{Sonar, 0})
		time.Sleep(5 * time.Second)
		if err := c.request(meta, reqData, nil, nil); err != nil {
			t.Fatal(err)
		}
		var kinds []Type
		var newest float64
		for {
			m, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, m.Type)
			if m.Type == Synch {
				break
			}
			newest = m.Time
		}
		if len(kinds) != 2 || newest < 4.8 {
			t.Errorf("one round: got %v of %g s, want data of 4.8 s or later and a synch", kinds, newest)
		}
		_ = s
	})
}

// TestOverflow: without replacement, data that waits is bounded and the SYNCH counts what was dropped.
func TestOverflow(t *testing.T) {
	q := newQueue()
	q.mode(true)
	for i := range maxQueue + 5 {
		q.put(Header{Device: Device{Sonar, 0}, Type: Data, Seq: uint32(i)}, make([]byte, 40))
	}
	if out, synch, _ := q.take(nil); len(out) != 0 || synch {
		t.Errorf("unasked: got %d bytes", len(out))
	}
	q.ask(1)
	if out, synch, dropped := q.take(nil); len(out) != 40*maxQueue || !synch || dropped != 5 {
		t.Errorf("asked: got %d bytes, %v, %d dropped, want %d, true, 5", len(out), synch, dropped, 40*maxQueue)
	}
	for range 4096 {
		if err := q.answer(Header{}, make([]byte, 8<<10)); err != nil {
			return
		}
	}
	t.Error("answers without end: got no error")
}
