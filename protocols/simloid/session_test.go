package simloid

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// hello is the first bytes to a client of the pendulum. Its stops are haltest's ±2 rad. rest is a status without its
// time and joint: gravity, and the two bodies.
const (
	traits = `
	a< 2 1 1
	a< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 joint0
	`
	rest = " 0.000000 0.000000 0.125000 0.000000 0.000000 0.500000 0.000000 0.000000 0.000000 1.000000 0.000000 " +
		"0.500000 0.000000 0.000000 0.000000"
	hello = traits + `
	a> ACK
	a< 0.010000 0.000000 0.000000` + rest + "\n"
)

func status(values string) string { return "a< " + values + rest + "\n" }

var transcripts = []struct {
	name string
	config
	text   string
	events string
	drops  map[protocols.Cause]uint64
	only   []hal.BodyKind // nil = simulated and emulated
}{
	{name: "a whole session", config: config{powerful: true}, text: hello + `
	a> UA 0.5
	a> DONE
	` + status("0.020000 0.003174 0.079559") + ` # 1 rad/s of 4π, 0.01 rad of π
	a> DONE                                        # a voltage stays
	` + status("0.030000 0.006348 0.079559") + `
	a> PA 0.25
	a> TA 1
	a> DONE                                        # 6 rad/s towards π/4; the guard begins where the joint is
	` + status("0.040000 0.025452 0.000000") + `
	a> EXIT
	a|
	`, events: "reset; clock"},

	{name: "the file's end is an EXIT", text: hello + `
	a> UA 1
	a.
	b< 2 1 1
	b< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 joint0
	b> ACK
	b< 0.010000 0.000000 0.000000` + rest + `
	`},

	{name: "the clock", config: config{powerful: true}, text: hello + `
	a> UA 0.5
	a> DONE
	` + status("0.020000 0.003174 0.079559") + `
	a> NEWTIME
	a> DONE
	` + status("0.010000 0.006348 0.079559") + `
	a> RESET
	a> DONE
	` + status("0.010000 0.000000 0.000000") + ` # no voltage any more
	a> DONE
	` + status("0.020000 0.000000 0.000000") + `
	a> UA 1                                        # a command before the reset is gone with it
	a> RESET
	a> UA 0.5
	a> DONE
	` + status("0.010000 0.003174 0.079559") + `
	`, events: "reset; clock; clock; reset; clock; reset; clock"},

	{name: "save and restore", config: config{powerful: true}, text: hello + `
	a> UA 0.5
	a> SAVE
	a> DONE
	` + status("0.020000 0.003174 0.079559") + `
	a> DONE
	` + status("0.030000 0.006348 0.079559") + `
	a> RESTORE
	a> DONE                                        # the clock goes on, and so does the voltage
	` + status("0.040000 0.003174 0.079559") + `
	`, events: "reset; clock; save; restore", only: []hal.BodyKind{hal.Simulated}},

	{name: "devices keep no states", config: config{powerful: true}, text: hello + `
	a> UA 0.5
	a> RESTORE
	a> DONE
	` + status("0.020000 0.003174 0.079559") + `
	a> SAVE
	a> RESTORE
	a> DONE                                        # nothing jumps
	` + status("0.030000 0.006348 0.079559") + `
	`, events: "reset; clock", drops: map[protocols.Cause]uint64{protocols.Refused: 3}, only: []hal.BodyKind{hal.Emulated}},

	{name: "a restore restores the commands", config: config{powerful: true}, text: hello + `
	a> RESTORE                                     # nothing saved: to the start, but for the clock
	a> UA 0.5
	a> DONE
	` + status("0.020000 0.003174 0.079559") + `
	a> SAVE
	a> DONE
	` + status("0.030000 0.006348 0.079559") + `
	a> UA -1
	a> DONE
	` + status("0.040000 0.000000 -0.159149") + `
	a> RESTORE
	a> DONE
	` + status("0.050000 0.006348 0.079559") + `
	a> UA -1                                       # what comes in one message with it counts, before or after
	a> RESTORE
	a> DONE
	` + status("0.060000 -0.003174 -0.159149") + `
	a> EXIT
	a|
	b< 2 1 1
	b< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 joint0
	b> ACK
	b< 0.010000 0.000000 0.000000` + rest + `
	b> RESTORE                                     # the client before has saved, this one has not
	b> DONE
	` + strings.ReplaceAll(status("0.020000 0.000000 0.000000"), "a<", "b<") + `
	`, events: "reset; clock; reset; save; restore; restore; reset; clock; reset", only: []hal.BodyKind{hal.Simulated}},

	{name: "forces", config: config{powerful: true}, text: hello + `
	a> IM 1 0 100 0
	a> FI 1 0 100 0
	a> FI 2 1 1 1
	a> DONE
	a< 0.020000 0.000000 0.000000 0.000000 0.000000 0.125000 0.000000 0.000000 0.500000 0.000000 0.000000 0.000000 1.000000 0.200000 0.500000 0.000000 0.000000 0.000000
	a> FX 0 1 0 0 2 0
	a> DONE
	a< 0.030000 0.000000 0.000000 0.000000 0.000000 0.125000 0.000000 0.001000 0.500000 0.000000 0.000000 0.000000 1.000000 0.202000 0.500000 0.000000 0.000000 0.000000
	a> FA 0 -1 0
	a> FX 0 0
	a> DONE
	a< 0.040000 0.000000 0.000000 0.000000 0.000000 0.125000 0.000000 0.000000 0.500000 0.000000 0.000000 0.000000 1.000000 0.201000 0.500000 0.000000 0.000000 0.000000
	a> DONE
	a< 0.050000 0.000000 0.000000 0.000000 0.000000 0.125000 0.000000 0.000000 0.500000 0.000000 0.000000 0.000000 1.000000 0.201000 0.500000 0.000000 0.000000 0.000000
	`, events: "reset; clock; push robot lever [0 200 0]; push robot base [0 1 0]; push robot lever [0 2 0]; " +
		"push robot base [0 -1 0]; push robot lever [0 -1 0]",
		drops: map[protocols.Cause]uint64{protocols.Truncated: 2}},

	{name: "gravity", config: config{powerful: true}, text: hello + `
	a> GRAVITY OFF
	a> DONE
	a< 0.020000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.500000 0.000000 0.000000 0.000000 1.000000 0.000000 0.500000 0.000000 0.000000 0.000000
	a> GRAVITY ON
	a> DONE
	` + status("0.030000 0.000000 0.000000") + `
	a> GRAVITY OFF
	a> RESET                                       # leaves gravity as it is
	a> DONE
	a< 0.010000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.500000 0.000000 0.000000 0.000000 1.000000 0.000000 0.500000 0.000000 0.000000 0.000000
	a> EXIT                                        # the next client finds it on
	a|
	b< 2 1 1
	b< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 joint0
	b> ACK
	b< 0.010000 0.000000 0.000000` + rest + `
	`, events: "reset; clock; gravity [0 0 0]; gravity [0 0 -9.81]; gravity [0 0 0]; reset; gravity [0 0 0]; clock; " +
		"gravity [0 0 -9.81]; reset; clock"},

	{name: "a joint without a voltage input", config: config{joints: []string{"servo"}},
		text: strings.ReplaceAll(hello, "joint0", "servo") + `
	a> UA 0.5
	a> DONE
	` + status("0.020000 0.000000 0.000000") + `
	a> PA 0.5
	a> DONE
	` + status("0.030000 0.019073 0.000000") + `
	a> UA 0                                        # no torque, as far as possible
	a> DONE
	` + status("0.040000 0.019073 0.000000") + `
	a> PA 0.5
	a> DONE
	` + status("0.050000 0.038177 0.000000") + `
	`, drops: map[protocols.Cause]uint64{protocols.Refused: 1}},

	{name: "two joints", config: config{joints: []string{"l", "r"}}, text: `
	a< 2 2 1
	a< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 l
	a< 1 0 1 -6.366198e-01 6.366198e-01 0.000000e+00 r
	a> ACK
	a< 0.010000 0.000000 0.000000 0.000000 0.000000` + rest + `
	a> UX 0.5                                      # too few: those there are
	a> DONE
	a< 0.020000 0.003174 0.000000 0.079559 0.000000` + rest + `
	a> UX 1 1 1 1                                  # too many: as many as there are
	a> DONE
	a< 0.030000 0.009521 0.006348 0.159149 0.159149` + rest + `
	a> UX 0 nan                                    # no number: nothing of it
	a> UI 1 0
	a> UI 2 0.5
	a> DONE
	a< 0.040000 0.015900 0.006348 0.159149 0.000000` + rest + `
	a> UX -7 0.25                                  # clipped
	a> DONE
	a< 0.050000 0.009521 0.007935 -0.159149 0.039764` + rest + `
	`, drops: map[protocols.Cause]uint64{protocols.Truncated: 3}},

	{name: "positions and torques of each joint", config: config{joints: []string{"l", "r"}}, text: `
	a< 2 2 1
	a< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 l
	a< 1 0 1 -6.366198e-01 6.366198e-01 0.000000e+00 r
	a> ACK
	a< 0.010000 0.000000 0.000000 0.000000 0.000000` + rest + `
	a> TX 0.5 1
	a> TI 0 1
	a> TI 2 1                                      # no such joint
	a> PX 0.25 -0.25
	a> DONE
	a< 0.020000 0.019073 -0.019073 0.000000 0.000000` + rest + `
	a> PI 1 0
	a> DONE
	a< 0.030000 0.038177 0.000000 0.000000 0.000000` + rest + `
	a> TX 0 0                                      # without torque both stay
	a> DONE
	a< 0.040000 0.038177 0.000000 0.000000 0.000000` + rest + `
	`, drops: map[protocols.Cause]uint64{protocols.Truncated: 1}, only: []hal.BodyKind{hal.Simulated}},

	{name: "what nothing here can do", text: hello + `
	a> SAVE
	a> RESTORE
	a> GRAVITY OFF
	a> GRAVITY ON                                  # it is
	a> IM 0 1 2 3
	a> IM 0 1 2 3
	a> FA 1 2 3
	a> NEWTIME
	a> DONE
	` + status("0.010000 0.000000 0.000000") + `
	`, drops: map[protocols.Cause]uint64{protocols.Refused: 6}},

	{name: "a reset that is the rig's", text: hello + `
	a> UA 0.5
	a> DONE
	` + status("0.020000 0.003174 0.079559") + `
	a> RESET
	a> DONE
	` + status("0.010000 0.000000 0.000000") + `
	`, events: "reset"},

	{name: "a client that continues", config: config{powerful: true, Options: Options{Continue: true}}, text: hello + `
	a> UA 0.5
	a> DONE
	` + status("0.020000 0.003174 0.079559") + `
	a.
	b< 2 1 1
	b< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 joint0
	b> ACK
	b< 0.010000 0.003174 0.000000` + rest + `
	`, events: "clock; clock"},

	{name: "no acknowledgement", text: traits + `
	a> DONE
	a|
	`},

	{name: "a second client", text: hello + `
	b|
	a> DONE
	` + status("0.020000 0.000000 0.000000") + `
	`, drops: map[protocols.Cause]uint64{protocols.Full: 1}},

	{name: "commands of the later dialect", text: hello + `
	a> PAUSE
	a> MODEL 31 0
	a> ACK
	a> DESCRIPTION
	a> DONE
	` + status("0.020000 0.000000 0.000000") + `
	`, drops: map[protocols.Cause]uint64{protocols.Unknown: 4}},

	{name: "the later dialect", config: config{powerful: true, Options: Options{Dialect: Later}}, text: later + `
	a< 0.010000 0.000000 0.000000 nan` + rest + `
	a> UA 0.5
	a> DONE                                        # the world before it
	a< 0.020000 0.000000 0.000000 nan` + rest + `
	a> ACK                                         # as DONE
	a< 0.030000 0.003174 0.079559 nan` + rest + `
	a> NEWTIME
	a> DONE                                        # is seen one status later
	a< 0.040000 0.006348 0.079559 nan` + rest + `
	a> DONE
	a< 0.010000 0.009521 0.079559 nan` + rest + `
	a> UA 0
	a> PAUSE
	a> DONE                                        # nothing
	a> PAUSE
	a> DONE
	a> DONE
	a< 0.020000 0.012726 0.079559 nan` + rest + `
	a> SEQUENTIAL MODE
	a> DONE
	a< 0.040000 0.012726 0.000000 nan` + rest + `
	a> INTERLACED MODE
	a> DONE
	a< 0.040000 0.012726 0.000000 nan` + rest + `
	a> RECORD
	a> DESCRIPTION
	a< <EMPTY>
	a> MOTOR 2 12 0.5
	a> FIXED 1
	a> FIXED 2
	a> DONE
	a< 0.050000 0.012726 0.000000 nan` + rest + `
	`, events: "reset; clock; clock; motor robot [12 0.5]; fixed robot lever", drops: map[protocols.Cause]uint64{protocols.Truncated: 1}},

	{name: "the order chosen before the acknowledgement", config: config{Options: Options{Dialect: Later}},
		text: strings.Replace(later, "\ta> ACK", "\ta> SEQUENTIAL MODE\n\ta> ACK", 1) + `
	a< 0.020000 0.000000 0.000000 nan` + rest + ` # ACK is as good as DONE: the world has made two steps
	a> UA 1
	a> DONE
	a< 0.030000 0.006348 0.159149 nan` + rest + `
	`},

	{name: "interlaced before the acknowledgement", config: config{Options: Options{Dialect: Later}},
		text: strings.Replace(later, "\ta> ACK", "\ta> INTERLACED MODE\n\ta> ACK", 1) + `
	a< 0.010000 0.000000 0.000000 nan` + rest + `
	a> UA 1
	a> DONE
	a< 0.020000 0.000000 0.000000 nan` + rest + `
	`},

	{name: "poor sensors", config: config{Options: Options{Dialect: Later}}, text: later + `
	a< 0.010000 0.000000 0.000000 nan` + rest + `
	a> SEQUENTIAL MODE
	a> SENSORS POOR
	a> UA 1
	a> DONE
	a< 0.030000 0.006836 0.000000 nan` + rest + `
	a> DONE
	a< 0.040000 0.012695 0.146484 nan` + rest + ` # 6/1024 of π in 10 ms
	a> SENSORS GOOD
	a> DONE
	a< 0.050000 0.019073 0.159149 nan` + rest + `
	`},

	{name: "nothing of the later dialect's", config: config{Options: Options{Dialect: Later}}, text: later + `
	a< 0.010000 0.000000 0.000000 nan` + rest + `
	a> MOTOR 1 1
	a> MODEL 31 0
	a> FIXED 0
	a> DONE
	a< 0.020000 0.000000 0.000000 nan` + rest + `
	`, drops: map[protocols.Cause]uint64{protocols.Refused: 3}},
}

const later = `
	a< 2 1 1
	a< 0 0 0 -6.366198e-01 6.366198e-01 0.000000e+00 joint0
	a< 0 base
	a< 1 lever
	a> ACK
	`

func TestTranscripts(t *testing.T) {
	for _, kind := range []hal.BodyKind{hal.Simulated, hal.Emulated} {
		for _, k := range transcripts {
			if k.only != nil && !slices.Contains(k.only, kind) {
				continue
			}
			t.Run(kind.String()+" "+k.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					k.Exact, k.reality = true, kind
					s := newStage(t, k.config)
					s.play(k.text)
					for name, conn := range s.conns {
						conn.Close()
						delete(s.conns, name)
					}
					synctest.Wait()
					if got := s.body.happened(); got != k.events {
						t.Errorf("the world: got %q, want %q", got, k.events)
					}
					s.dropped(k.drops)
				})
			})
		}
	}
}

// dropped compares the counts of dropped commands, and checks that each refusal is logged once.
func (s *stage) dropped(want map[protocols.Cause]uint64) {
	s.t.Helper()
	for cause := range protocols.NumCauses {
		if got := s.server.Traffic().Dropped(cause); got != want[cause] {
			s.t.Errorf("dropped as %v: got %d, want %d\n%s", cause, got, want[cause], s.log)
		}
	}
	for _, verb := range []string{"SAVE", "IM"} {
		if n := strings.Count(s.log.String(), "command="+verb+" "); n > 1 {
			s.t.Errorf("%s in the log: got %d times, want once\n%s", verb, n, s.log)
		}
	}
}

// TestReal: a real body is never teleported, for any World of the server; RESET moves it home, and a client that only
// connects moves nothing.
func TestReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{powerful: true, reality: hal.Real, mode: hal.Realtime,
			guard: hal.GuardConfig{CommandTimeout: 500 * time.Millisecond}, Options: Options{Exact: true}})
		runs(t, s.rig)
		c, err := NewClient(s.lines.Dial(), ClientOptions{})
		if err != nil {
			t.Fatal(err, s.log)
		}
		for range 20 {
			cycle(t, c, Command{Verb: UA, Values: []float64{0.5}}, Command{Verb: Save},
				Command{Verb: fa, Values: []float64{1, 1, 1}})
		}
		at := cycle(t, c, Command{Verb: Restore}, Command{Verb: GravityOff}).Position[0]
		if at < 0.05 {
			t.Errorf("after 0.2 s at half the voltage: got %g, want 0.06", at)
		}
		if got := s.body.happened(); got != "" {
			t.Errorf("the world: got %q, want nothing", got)
		}

		// commands persist while the client requests steps; a hung client requests none
		for range 100 {
			cycle(t, c)
		}
		if got := cycle(t, c).Velocity[0]; got == 0 {
			t.Errorf("after a second of DONE: got velocity %g, want the voltage's", got)
		}
		<-time.After(time.Second)
		if got := cycle(t, c).Velocity[0]; got != 0 {
			t.Errorf("after a second of silence: got velocity %g, want 0", got)
		}
		st := cycle(t, c, Command{Verb: Reset})
		if st.Time > 0.05 || st.Position[0] > 0.02 {
			t.Errorf("after RESET: got %g at %g s, want home at 0.01", st.Position[0], st.Time)
		}
		c.Close()
	})
}

// TestLeaveInReset: a real robot stops on its way home when its client leaves, and another client may have it. What the
// client sent behind the RESET is not lost while it stays.
func TestLeaveInReset(t *testing.T) {
	for _, leaves := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{reality: hal.Real, mode: hal.Realtime,
				guard:   hal.GuardConfig{CommandTimeout: 500 * time.Millisecond, HomeSpeed: 0.1},
				Options: Options{Exact: true}})
			runs(t, s.rig)
			conn := s.lines.Dial()
			c, err := NewClient(conn, ClientOptions{})
			if err != nil {
				t.Fatal(err, s.log)
			}
			for range 300 {
				cycle(t, c, Command{Verb: PA, Values: []float64{0.3}})
			}
			position := func() float64 {
				return s.robot.Agent.Measured(nil)[s.robot.Agent.Layout().Actuators[0].Position]
			}
			begin := position()
			conn.Write([]byte("RESET\nDONE\nPA 0\nDONE\n"))
			<-time.After(time.Second)
			if !leaves {
				conn.SetReadDeadline(time.Now().Add(30 * time.Second))
				var all []byte
				for b := make([]byte, 1000); strings.Count(string(all), "\n") < 2; {
					n, err := conn.Read(b)
					if all = append(all, b[:n]...); err != nil {
						t.Fatalf("got %q, %v, want two statuses", all, err)
					}
				}
				c.Close()
				return
			}
			conn.Close() // without EXIT
			<-time.After(200 * time.Millisecond)
			left := position()
			<-time.After(2 * time.Second)
			if now := position(); begin-left < 0.01 || left-now > 0.005 || s.robot.Agent.Holder() != "" {
				t.Errorf("from %.3f rad: got %.3f when it left, %.3f 2 s later, held by %q; want it where it was, "+
					"and free", begin, left, now, s.robot.Agent.Holder())
			}
		})
	}
}

// TestResetRepeats: the same commands after a RESET give the same statuses, noise included; a RESET does not wait for
// that of another lock-step client of the rig.
func TestResetRepeats(t *testing.T) {
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{powerful: true})
			c, err := NewClient(s.lines.Dial(), ClientOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			run := func() (text string) {
				for i := range 50 {
					k := Command{Verb: PA, Values: []float64{0.5}} // ends on the other side of where it begins
					if i < 20 {
						k.Values[0] = -0.5
					} else if i > 40 {
						k.Verb = UA
					}
					message := []Command{k}
					if i == 0 {
						message = []Command{{Verb: Reset}, k}
					}
					text += string(AppendStatus(nil, cycle(t, c, message...)))
				}
				return text
			}
			if !shared {
				if first, second := run(), run(); first != second {
					t.Errorf("got\n%swant\n%s", second, first)
				}
				return
			}
			other, err := s.rig.Add(hal.AgentConfig{Name: "other", Body: newPuppet(layout("x"))})
			if err != nil {
				t.Fatal(err)
			}
			b := &stepper{}
			b.party = s.rig.NewSession("other", b)
			if b.lease, err = b.party.Acquire(other); err != nil {
				t.Fatal(err)
			}
			b.run(t)
			run()
			cycle(t, c, Command{Verb: Reset})
			cycle(t, c)
			if got := s.body.Position[0]; got > 1e-5 || got < -1e-5 {
				t.Errorf("after a RESET without commands: got %g rad, want 0: nothing drives it", got)
			}
			b.party.Close()
		})
	}
}

// stepper is another lock-step party, which requests step after step and never a reset.
type stepper struct {
	party *hal.Session
	lease *hal.Lease
	next  chan struct{}
}

func (b *stepper) Cycle(*hal.Cycle) {
	if b.lease.Stepped() {
		b.next <- struct{}{}
	}
}

func (b *stepper) run(t *testing.T) {
	b.next = make(chan struct{}, 1)
	b.next <- struct{}{}
	ctx := t.Context()
	go func() {
		for {
			select {
			case <-b.next:
				b.party.Step(b.lease, nil)
			case <-ctx.Done():
				return
			}
		}
	}()
}

func cycle(t testing.TB, c *Client, commands ...Command) *Status {
	t.Helper()
	s, err := c.Cycle(commands...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNoiseOfBodies: a simulated robot has the original's noise; a real or emulated one has that of its devices alone.
func TestNoiseOfBodies(t *testing.T) {
	for kind, noisy := range map[hal.BodyKind]bool{hal.Simulated: true, hal.Emulated: false, hal.Real: false} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{reality: kind, mode: hal.Realtime})
			runs(t, s.rig)
			c, err := NewClient(s.lines.Dial(), ClientOptions{})
			if err != nil {
				t.Fatal(err, s.log)
			}
			defer c.Close()
			values := map[float64]bool{}
			for range 20 {
				values[cycle(t, c).Position[0]] = true
			}
			if got := len(values) > 1; got != noisy {
				t.Errorf("%v: got %d positions at rest, want noise: %v", kind, len(values), noisy)
			}
		})
	}
}
