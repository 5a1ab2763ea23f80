package osp

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// registered opens a session for client a with agent 1 under control.
const registered = hello + `
	a> 64 i1
	a< 65 i1 01 78
`

// losses are transcripts with lost datagrams or without an answer.
var losses = []struct {
	name, text string
	options    Options
	drops      map[protocols.Cause]uint64
}{
	{"an answer is sent again until it is acknowledged", registered + `
	a> 50 i1 i0
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	wait 650ms
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	a> 56 i1
	wait 5s
	a> 46 i0
	a< 47 78
	a< 4b 78
	wait 650ms
	a< 4b 78
	a> 4c
	a> 5a
	a< 5b i1 78
	a< 5c i0 i1 sAgent 00 spendulum 78
	wait 650ms
	a< 5b i1 78
	a< 5c i0 i1 sAgent 00 spendulum 78
	a> 5d
	wait 5s
	`, Options{}, nil},

	{"and given up in the end, without an effect on others", registered + `
	a> 50 i1 i0
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	wait 5s
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	a> 50 i1 i1 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78
	a> 56 i1
	`, Options{AckTries: 2}, map[protocols.Cause]uint64{protocols.Unanswered: 1}},

	{"any command acknowledges", registered + `
	a> 50 i1 i0
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0 f0 78
	a> 50 i1 i1 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78
	a> 32 i1
	a< 33 i-1 s 78
	wait 5s
	`, Options{}, nil},

	{"a step without acknowledgements goes on, same inputs or not", registered + `
	a> 50 i1 i1 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78
	a> 50 i1 i1 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.038197186 f0 78
	a> 56 i1
	`, Options{}, nil},

	{"the same step after a while is a repetition", registered + `
	a> 50 i1 i1 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78
	wait 200ms
	a> 50 i1 i1 f1
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78
	a> 56 i1
	a> 50 i1 i1 f1                             # acknowledged: this one is new
	a< 51 i1 78
	a< 55 i1 i1 i1 i0 i0 f0.038197186 f0 78
	a> 56 i1
	`, Options{}, nil},

	{"numbers identify repetitions at any time", registered + `
	a> 50 i1 i1 f1 78 05
	a< 51 i1 78 05
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78 05
	a> 50 i1 i1 f1 78 05
	a< 51 i1 78 05
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78 05
	a> 56 i1
	a> 50 i1 i1 f1 78 05
	a< 51 i1 78 05
	a< 55 i1 i1 i1 i0 i0 f0.019098593 f0 78 05
	a> 50 i1 i1 f1 78 06
	a< 51 i1 78 06
	a< 55 i1 i1 i1 i0 i0 f0.038197186 f0 78 06
	a> 46 i3 78 07
	a< 47 78 07
	a< 4b 78 07
	a> 46 i3 78 07
	a< 47 78 07
	a< 4b 78 07
	a> 4c
	a> 32 i1
	a< 33 i-1 s 78
	`, Options{}, nil},

	{"a repeated request for a session gets the same one", `
	a> 05 i1 i1
	a< 06 i1 i1 78
	a>> 05 i1 i1
	a< 06 i1 i1 78
	a> 5a
	a< 5b i1 78
	a< 5c i0 i1 sAgent 01 spendulum 78
	a> 5d
	a> 64 i1
	a< 65 i1 01 78
	wait 2s
	a>> 05 i1 i1                               # after a while it is a client that has restarted
	a< 06 i1 i1 78
	a> 5a
	a< 5b i1 78
	a< 5c i0 i1 sAgent 01 spendulum 78
	a> 5d
	`, Options{}, nil},
}

func TestLosses(t *testing.T) {
	for _, c := range losses {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, c.options, "pendulum")
				s.play(c.text)
				s.dropped(c.drops)
			})
		})
	}
}

// TestRepeatedWhilePending: a request that waits for another client is acknowledged again and runs once.
func TestRepeatedWhilePending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "one", "two")
		s.play(helloAgain + `
		b> 64 i1
		b< 65 i1 01 78
		b> 64 i2
		b< 65 i2 01 78
		b> 50 i1 i1 f1
		b< 51 i1 78
		b> 50 i1 i1 f1
		b< 51 i1 78
		b> 50 i1 i1 f-1                        # other inputs take the place of those before
		b< 51 i1 78
		b> 50 i2 i0
		b< 51 i2 78
		b< 55 i1 i1 i1 i0 i0 f-0.019098593 f0 78
		b< 55 i2 i1 i1 i0 i0 f0 f0 78
		b> 56 i1
		b> 56 i2
		`)
	})
}

// TestClientLosses loses the nth datagram in one direction, for every n: the client gets through all the same, every
// step runs exactly once, and the outputs are those of a run without losses.
func TestClientLosses(t *testing.T) {
	var clean []float32
	for lost := -1; lost < 60; lost++ {
		for _, toServer := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, Options{}, "one", "two")
				n := 0
				s.net.Lose = func(from, to netip.AddrPort, b []byte) bool {
					// the client's socket is the first that was given a port
					if up := from.Port() == 50000; up != toServer {
						return false
					}
					n++
					return n-1 == lost
				}
				got := drive(t, s)
				if clean == nil {
					clean = got
				}
				if fmt.Sprint(got) != fmt.Sprint(clean) {
					t.Errorf("datagram %d lost, to server %v:\n got %v\nwant %v", lost, toServer, got, clean)
				}
				if v, _ := s.rig.Values().Get(currentStep(t, s.rig)); v.Int != 6 {
					t.Errorf("datagram %d lost, to server %v: got %d steps, want 6", lost, toServer, v.Int)
				}
			})
		}
	}
}

// drive is a whole session of a client with two agents: 6 steps with the same inputs, and an observed value.
func drive(t *testing.T, s *stage) (outputs []float32) {
	c, err := dialVersion(mainPort, versionNumber{1, 1, true},
		ClientOptions{Listen: s.net.Listen, Resend: 50 * time.Millisecond})
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	agents, err := c.Overview()
	check(err)
	for _, a := range agents {
		_, err = c.AgentInfo(a.ID)
		check(err)
		check(c.Register(a.ID))
	}
	found, err := c.FindValues("/Control/CurrentStep")
	check(err)
	_, err = c.Observe(found[0].ID)
	check(err)
	check(c.Reset(3))
	for range 6 {
		for _, a := range agents {
			check(c.Request(a.ID, []float32{0.2}))
		}
		for _, a := range agents {
			r, err := c.Await(a.ID)
			check(err)
			outputs = append(outputs, r.Outputs...)
			for _, v := range r.Values {
				outputs = append(outputs, float32(v.Content[0]-'0'))
			}
		}
	}
	if err := c.Close(); err != nil && hal.KindOf(err) != hal.Timeout { // the last answer of all may stay lost
		t.Error(err)
	}
	return outputs
}

func currentStep(t testing.TB, rig *hal.Rig) hal.ValueID {
	ids := rig.Values().Find(regexp.MustCompile("/Control/CurrentStep"))
	if len(ids) != 1 {
		t.Fatal("no /Control/CurrentStep")
	}
	return ids[0]
}

// TestSilentClient: a dead client's agents are free after ClientTimeout, and clients that waited for it continue.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{ClientTimeout: 2 * time.Second}, "one", "two")
		s.play(helloAgain + `
		b> 64 i1
		b< 65 i1 01 78
		c> 05 01 01
		c< 06 01 01 78
		c> 5a
		c< 5b i2 78
		c< 5c i0 i1 sAgent 00 sone 78
		c< 5c i1 i2 sAgent 01 stwo 78
		c> 5d
		c> 64 i2
		c< 65 i2 01 78
		c> 50 i2 i0
		c< 51 i2 78
		wait 1s
		wait 1300ms
		c< 55 i2 i1 i1 i0 i0 f0 f0 78           # b is gone; c waited, which is no silence
		c> 56 i2
		wait 1s
		c> 5a
		c< 5b i2 78
		c< 5c i0 i1 sAgent 01 sone 78
		c< 5c i1 i2 sAgent 00 stwo 78
		c> 5d
		wait 10s
		c> 5a                                   # gone too
		`)
		if n := s.server.Sessions(); n != 0 {
			t.Errorf("sessions: got %d, want 0", n)
		}
	})
}

// TestPausedClient: a client that waits for its step is not silent, for a good while.
func TestPausedClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{ClientTimeout: 2 * time.Second}, "pendulum")
		pause := func(on bool) {
			id := s.rig.Values().Find(regexp.MustCompile("/Control/Pause"))[0]
			if err := s.rig.Values().Set(id, hal.Value{Kind: hal.BoolValue, Bool: on}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		pause(true)
		s.play(registered + `
		a> 50 i1 i0
		a< 51 i1 78
		wait 10s
		`)
		pause(false)
		s.play(`
		a< 55 i1 i1 i1 i0 i0 f0 f0 78
		a> 56 i1
		`)
		pause(true)
		s.play(`
		a> 50 i1 i0
		a< 51 i1 78
		wait 30s
		`)
		if n := s.server.Sessions(); n != 0 {
			t.Errorf("sessions: got %d, want 0", n)
		}
	})
}

// TestRepeatedInit: a request for a session whose answer was lost gets the same session, a later one a new session.
func TestRepeatedInit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		ask := func() netip.AddrPort {
			s.play(`
			a>> 05 01 01
			a< 06 01 01 78
			`)
			return s.wire("a").to
		}
		first, second := ask(), ask()
		time.Sleep(2 * sameInit)
		if third := ask(); second != first || third == first {
			t.Errorf("ports: got %v, %v, %v, want one twice, then another", first, second, third)
		}
	})
}

// TestClientGivesUp: every call of a client ends when the main port or the session's port stays silent.
func TestClientGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		start := time.Now()
		s.net.Lose = func(_, to netip.AddrPort, _ []byte) bool { return to.Port() == 50000 }
		if _, err := Dial(mainPort.String(), ClientOptions{Listen: s.net.Listen}); hal.KindOf(err) != hal.Timeout {
			t.Errorf("dial: got %v, want kind %v", err, hal.Timeout)
		}
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("dial: took %v, want about 2 s", d)
		}
	})
}

// TestStepTimeout: another client that never steps does not hold a client's goroutine for ever.
func TestStepTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "one", "two")
		dial := func(agent int32) *Client {
			c, err := Dial(mainPort.String(), ClientOptions{Listen: s.net.Listen})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Overview(); err != nil {
				t.Fatal(err)
			}
			if err := c.Register(agent); err != nil {
				t.Fatal(err)
			}
			return c
		}
		a, b := dial(1), dial(2)
		if _, err := a.Step(1, nil); hal.KindOf(err) != hal.Timeout {
			t.Errorf("step: got %v, want kind %v", err, hal.Timeout)
		}
		if err := b.Register(1); hal.KindOf(err) != hal.Busy {
			t.Errorf("register for another's agent: got %v, want kind %v", err, hal.Busy)
		}
		if err := b.ResetCommunication(); err != nil {
			t.Error(err)
		}
		if _, err := a.Step(1, nil); !errors.Is(err, ErrCommunicationReset) {
			t.Errorf("after a communication reset: got %v, want %v", err, ErrCommunicationReset)
		}
		a.Close()
		b.Close()
	})
}
