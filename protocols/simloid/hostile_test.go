package simloid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

// hostile are lines without effect: the status after them is the same as without them.
var hostile = []string{
	"UX nan", "UA inf", "UA -Infinity", "UA 1e999", "UA", "UX", "UA 0x", "UI 99 1", "UI -1 1", "UI 0",
	"UI 4294967296 1",
	"PA NaN", "PI 1 0.5", "PI 0 nan", "TA 7", "TA -1", "TA nan", "TI 5 1", "FI 9 1 1 1", "IM 0 nan 0 0", "FA 1 1",
	"FX inf 0 0",
	"", " ", "\x00\x01\x02", "\xff\xfe\xfd", "done", "ua 1", "GRAVITY", "%s%n", strings.Repeat("9", 3000),
	"UX " + strings.Repeat("z", 5000),
	strings.Repeat("x", 3*maxLine),
}

func TestHostileLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{powerful: true, Options: Options{Exact: true}})
		s.play(hello)
		for i, line := range hostile {
			s.conn("a").Write([]byte(line + "\n"))
			s.play("a> DONE\n" + status(fmt.Sprintf("%.6f 0.000000 0.000000", 0.02+0.01*float64(i))))
		}
		if got := s.body.happened(); got != "reset; clock" {
			t.Errorf("the world: got %q, want nothing but the start", got)
		}
	})
}

// TestTooManyUnknown: 42 unknown lines before a DONE are borne, the 43rd ends the session; the next client finds all
// as it should be. A line without end is so many unknown ones.
func TestTooManyUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{powerful: true, Options: Options{Exact: true}})
		s.play(hello)
		accepted := strings.Repeat("a> WHAT\n", maxUnknown)
		s.play(accepted + "a> DONE\n" + status("0.020000 0.000000 0.000000") + accepted + "a> UA 0.5\na> DONE\n" +
			status("0.030000 0.003174 0.079559"))
		s.play(accepted + "a> WHAT\na|\n")

		b := s.conn("b")
		s.receive("b")
		b.Write([]byte("ACK\n"))
		s.receive("b")
		chunk, sent := bytes.Repeat([]byte("x"), 1000), 0
		for {
			if _, err := b.Write(chunk); err != nil {
				break
			}
			sent += len(chunk)
		}
		if most := (maxUnknown + 1) * maxLine; sent > most || sent < most-2*len(chunk) {
			t.Errorf("an endless line: got %d bytes taken, want %d", sent, most)
		}
		s.play(strings.ReplaceAll(hello, "\ta", "\tc"))
	})
}

// TestNoise sends a session ten thousand damaged messages; it answers a good one afterwards and nothing is NaN.
func TestNoise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{powerful: true, Options: Options{Dialect: Later}})
		c, err := NewClient(s.lines.Dial(), ClientOptions{Dialect: Later})
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 10_000 {
			k := commands[random.IntN(len(commands))]
			if v := k.value.Verb; v == exit || v == pause || v == done || v == Ack || v == Model || v == Description {
				continue
			}
			b := []byte(k.line)
			for range random.IntN(4) {
				b[2+random.IntN(len(b)-2)] = byte(' ' + random.IntN(224))
			}
			c.conn.Write(append(b[:random.IntN(len(b)+1)], '\n'))
			if st := cycle(t, c); !(st.Position[0] >= -1 && st.Position[0] <= 1) {
				t.Fatalf("after %q: got position %g", b, st.Position[0])
			}
		}
		c.Close()
	})
}

// TestSlowReader: a client that sends and never reads is disconnected; in real time no other client waits for it.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime, Options: Options{Exact: true, WriteTimeout: time.Second}})
		runs(t, s.rig)
		a := s.conn("a")
		s.receive("a")
		start := time.Now()
		ended := make(chan error, 1)
		go func() {
			_, err := a.Write([]byte("ACK\n" + strings.Repeat("UA 1\nDONE\n", 10_000)))
			ended <- err
		}()
		ticks := func() uint64 { var st hal.Stats; s.rig.Stats(&st); return st.Ticks }
		before := ticks()
		<-time.After(500 * time.Millisecond)
		if n := ticks() - before; n < 49 {
			t.Errorf("the rig: got %d ticks in half a second, want 50", n)
		}
		if err := <-ended; !errors.Is(err, io.ErrClosedPipe) || time.Since(start) > 2*time.Second {
			t.Errorf("got %v after %v, want the end after a second", err, time.Since(start))
		}
		synctest.Wait()
		s.dropped(map[protocols.Cause]uint64{protocols.Unsent: 1})
		if s.robot.Agent.Holder() != "" {
			t.Errorf("the agent: held by %s, want free", s.robot.Agent.Holder())
		}
	})
}

// TestTimeouts: a client that does not acknowledge holds no robot and is disconnected; a silent client is disconnected
// if ClientTimeout is set.
func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Exact: true, ClientTimeout: time.Minute}})
		start := time.Now()
		s.play(traits)
		s.conns["a"].SetReadDeadline(time.Time{})
		if _, err := s.conns["a"].Read(make([]byte, 1)); !errors.Is(err, io.EOF) ||
			time.Since(start) != 30*time.Second {
			t.Errorf("no ACK: got %v after %v, want the end after 30 s", err, time.Since(start))
		}
		delete(s.conns, "a")

		s.play(hello)
		start = time.Now()
		<-time.After(50 * time.Second)
		s.play("a> DONE\n" + status("0.020000 0.000000 0.000000"))
		<-time.After(50 * time.Second)
		s.play("a> DONE\n" + status("0.030000 0.000000 0.000000"))
		s.conns["a"].SetReadDeadline(time.Time{})
		if _, err := s.conns["a"].Read(make([]byte, 1)); !errors.Is(err, io.EOF) ||
			time.Since(start).Round(time.Second) != 160*time.Second {
			t.Errorf("silent: got %v after %v, want the end after 160 s", err, time.Since(start))
		}
	})
}

// TestDisconnect: a client that disconnects within a line leaves no state behind, also when repeated.
func TestDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Exact: true}})
		was := 0
		for i := range 50 {
			s.play(hello + "a> UA 1\na- DON\na.")
			synctest.Wait()
			if n := runtime.NumGoroutine(); i == 0 {
				was = n
			} else if n > was+5 { // the runtime has some of its own
				t.Fatalf("client %d: got %d goroutines, want about %d", i, n, was)
			}
			if h := s.robot.Agent.Holder(); h != "" {
				t.Fatalf("client %d: the agent is held by %s, want free", i, h)
			}
		}
		if got := s.body.Position[0]; got != 0 {
			t.Errorf("position: got %g, want 0: no DONE came", got)
		}
	})
}

// TestHeldAgent: an agent that another party holds ends the session, clearly and before anything moves.
func TestHeldAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{powerful: true, Options: Options{Exact: true}})
		p := s.rig.NewSession("other", nil)
		if _, err := p.Acquire(s.robot.Agent); err != nil {
			t.Fatal(err)
		}
		s.play(traits + "a> ACK\na|")
		synctest.Wait()
		if got := s.body.happened(); got != "" || !strings.Contains(s.log.String(), "held by other") {
			t.Errorf("the world: got %q, want nothing\n%s", got, s.log)
		}
		p.Close()
		s.play(hello)
	})
}

// TestClosing: the end of the server ends a session that waits for its client, and one whose step waits for others.
func TestClosing(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{Options: Options{Exact: true}})
			s.play(hello)
			if waits {
				other, err := s.rig.Add(hal.AgentConfig{Name: "other", Body: newPuppet(layout("x"))})
				if err != nil {
					t.Fatal(err)
				}
				p := s.rig.NewSession("other", nil)
				defer p.Close()
				if _, err := p.Acquire(other); err != nil {
					t.Fatal(err)
				}
				s.play("a> DONE")
				s.conns["a"].SetReadDeadline(time.Now().Add(time.Second))
				if _, err := s.conns["a"].Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("a status while another holds time: got %v", err)
				}
			}
		})
	}
}

// TestRobotRefused: a description that does not fit its agent is refused with every fault.
func TestRobotRefused(t *testing.T) {
	rig, err := hal.New(hal.Config{Period: period})
	if err != nil {
		t.Fatal(err)
	}
	agent, err := rig.Add(hal.AgentConfig{Name: "robot", Body: newPuppet(layout("j"))})
	if err != nil {
		t.Fatal(err)
	}
	r := Describe(agent)
	r.Traits.Joints[0] = Joint{Name: "two words", Partner: 3, Low: 1, High: -1}
	r.Joints[0].Duty = 99
	r.Accels[0][1] = -7
	r.Traits.Names[0] = ""
	r.Bodies = r.Bodies[:1]
	_, err = NewServer(rig, protocolstest.NewPipes("pipes"), r, Options{})
	if hal.KindOf(err) != hal.Invalid {
		t.Fatalf("got %v, want invalid", err)
	}
	for _, want := range []string{"two words", "partner: got 3", "stops", "got 99", "accels[0]", "bodies[0]: name",
		"body channels: got 1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %q", err, want)
		}
	}
	if _, err := NewServer(rig, protocolstest.NewPipes("pipes"), &Robot{}, Options{}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("no agent: got %v, want invalid", err)
	}
}

// TestNoiseOfSensors: the same seed is the same noise, another another; it is small, and RESTORE repeats it.
func TestNoiseOfSensors(t *testing.T) {
	run := func(seed int64) (all []float64) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{powerful: true, Options: Options{Seed: seed}})
			c, err := NewClient(s.lines.Dial(), ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for range 5 {
				all = append(all, cycle(t, c).Position...)
			}
			first := slices.Clone(cycle(t, c, Command{Verb: Save}).Accel)
			cycle(t, c)
			if again := cycle(t, c, Command{Verb: Restore}).Accel; !slices.Equal(again, first) {
				t.Errorf("after RESTORE: got %v, want %v", again, first)
			}
		})
		return all
	}
	one, again, other := run(1), run(1), run(2)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("got %v, %v, and %v with another seed", one, again, other)
	}
	s := newSensors(false, 1)
	var sum, squares, greatest float64
	const n = 100_000
	for range n {
		v := s.fine(0.25) - 0.25
		sum, squares, greatest = sum+v, squares+v*v, max(greatest, v, -v)
	}
	mean, variance := sum/n*steps, squares/n*steps*steps
	if mean < -1 || mean > 0.2 || variance < 15*15 || variance > 17*17 || greatest*steps > 64 {
		t.Errorf("noise: got mean %g, variance %g, greatest %g of 1/32768, want 0, 256, at most 64", mean, variance,
			greatest*steps)
	}
}
