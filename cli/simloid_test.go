package cli

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// simloidClient is a client of a server that a running command has announced as its i-th.
func simloidClient(t *testing.T, r *running, i int) *simloid.Client {
	t.Helper()
	c, err := simloid.Dial(r.Servers[i].Address, simloid.ClientOptions{Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func simloidCycle(t *testing.T, c *simloid.Client, commands ...simloid.Command) *simloid.Status {
	t.Helper()
	s, err := c.Cycle(commands...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSimloidCommand: started as the original, several worlds at once, each with one client after another.
func TestSimloidCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	r := start(t, "simloid", "--keep", "--port", "0", "--robot", "31", "-p", "0", "--robot", "50", "--no-noise", "-nr",
		"-ng", "--fps", "off")
	if len(r.Servers) != 2 || r.Servers[0].Protocol != "simloid" || r.Servers[0].Agent != "robot" {
		t.Fatalf("ready: got %+v", r.Servers)
	}
	for i, joints := range []int{12, 22} {
		var first []float64
		for range 3 {
			c := simloidClient(t, r, i)
			if n := len(c.Traits().Joints); n != joints || c.Traits().Bodies != joints+1 {
				t.Fatalf("got %d joints, want %d", n, joints)
			}
			if s := c.Status(); s.Time != 0.01 {
				t.Errorf("first status: got time %g, want 0.01", s.Time)
			}
			for range 10 {
				simloidCycle(t, c, simloid.Command{Verb: simloid.UA, Values: []float64{0.5}})
			}
			at := append([]float64(nil), c.Status().Position...)
			if first == nil {
				first = at
			}
			for k := range at {
				if at[k] != first[k] { // every client finds the robot as at the start
					t.Errorf("joint %d: got %g, want %g as for the first client", k, at[k], first[k])
				}
			}
			if math.Abs(at[joints-1]) < 0.001 {
				t.Errorf("robot %d: a voltage moved nothing: %v", i, at)
			}
			c.Close()
		}
	}
	// One world does not wait for the client of the other.
	idle, busy := simloidClient(t, r, 0), simloidClient(t, r, 1)
	for range 5 {
		simloidCycle(t, busy)
	}
	if idle.Status().Time != 0.01 || busy.Status().Time < 0.059 {
		t.Errorf("times: got %g and %g", idle.Status().Time, busy.Status().Time)
	}
}

// TestSimloidEnds: the program ends when its client has left, as the original, and begins without gravity, as it did.
func TestSimloidEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, conf := range []string{"", "initial_gravity on\n"} { // which the original begins without all the same
		if err := os.WriteFile("simloid.conf", []byte(conf), 0o600); err != nil {
			t.Fatal(err)
		}
		r := start(t, "simloid", "--port", "0", "--robot", "31", "--no-noise")
		r.exit = 0
		client := simloidClient(t, r, 0)
		height := client.Status().Bodies[0].Position[2]
		for range 50 {
			simloidCycle(t, client)
		}
		if fell := height - client.Status().Bodies[0].Position[2]; fell > 0.001 {
			t.Errorf("%q: fell %.3f m in half a second", conf, fell)
		}
		if s := client.Status(); len(s.Accel) == 0 || math.Abs(math.Abs(s.Accel[0][1])-0.125) > 0.01 {
			t.Errorf("%q: accelerometer at rest without gravity: got %v, want one g of 8", conf, s.Accel)
		}
		client.Close()
		select {
		case code := <-r.done:
			if r.done <- code; code != 0 {
				t.Errorf("got exit %d, want 0", code)
			}
		case <-time.After(time.Minute):
			t.Error("still there a minute after its client left")
		}
	}
}

// TestSimloidLater: the later dialect has the names of bodies and the motors' currents; MODEL, MOTOR, FIXED and
// DESCRIPTION reach the world.
func TestSimloidLater(t *testing.T) {
	t.Chdir(t.TempDir())
	r := start(t, "simloid", "--keep", "--port", "0", "--dialect", "later", "--no-noise")
	c, err := simloid.Dial(r.Servers[0].Address, simloid.ClientOptions{Dialect: simloid.Later})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := strings.Join(c.Traits().Names,
		" "); got != "body lfsh rfsh lhsh rhsh lflu rflu lfll rfll lhlu rhlu lhll rhll" {
		t.Errorf("bodies: got %q", got)
	}
	simloidCycle(t, c, simloid.Command{Verb: simloid.UA, Values: []float64{0.5}})
	simloidCycle(t, c)
	// 8 V over 9.59 Ω, less the back-EMF
	if i := simloidCycle(t, c).Current[0]; !(i > 0.1 && i < 0.835) {
		t.Errorf("current: got %g A, want at most 0.834", i)
	}
	if text, err := c.Describe(); err != nil || text != "Simloid 31, wildcat1" {
		t.Errorf("description: got %q, %v", text, err)
	}
	// The body hangs in the air, fixed by its trunk, while the legs swing.
	simloidCycle(t, c, simloid.Command{Verb: simloid.Reset})
	simloidCycle(t, c, simloid.Command{Verb: simloid.Fixed})
	at := simloidCycle(t, c).Bodies[0].Position
	for range 100 {
		simloidCycle(t, c, simloid.Command{Verb: simloid.PA, Values: []float64{0.3}})
	}
	if now := c.Status().Bodies[0].Position; math.Abs(now[2]-at[2]) > 1e-3 {
		t.Errorf("fixed: got height %g, want %g", now[2], at[2])
	}
	// A motor without voltage moves nothing.
	dead := []float64{1e-6, 1.393, 2.563, 9.59, 0.1, 0.2, 0.1, 0.01, 0.01, 1}
	simloidCycle(t, c, simloid.Command{Verb: simloid.Motor, Values: dead},
		simloid.Command{Verb: simloid.UA, Values: []float64{1}})
	simloidCycle(t, c)
	if i := simloidCycle(t, c).Current[0]; math.Abs(i) > 1e-6 {
		t.Errorf("motor of 1 µV: got %g A", i)
	}
	simloidCycle(t, c, simloid.Command{Verb: simloid.Model, Index: 90})
	if n := len(c.Traits().Joints); n != 1 || c.Traits().Names[1] != "lever" {
		t.Errorf("MODEL 90: got %d joints, bodies %v", n, c.Traits().Names)
	}
	for range 50 {
		simloidCycle(t, c, simloid.Command{Verb: simloid.UA, Values: []float64{0.5}})
	}
	if p := c.Status().Position[0]; math.Abs(p) < 0.01 {
		t.Errorf("the new robot: got %g", p)
	}
}

// TestSimloidRefuses: what is wrong on the command line ends with 2 and says what to type.
func TestSimloidRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("bad.conf", []byte("robot x\ntcp_port 99999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--body emulated", []string{"halyard simloid xl430-pendulum --body emulated"}},
		{"--body real", []string{"--body real"}},
		{"--robot 77", []string{"77", "[10 11 20 30 31 40 50 60 90 91 92 93 94 95]"}},
		{"--robot missing", []string{"missing", "simloid-ID"}},
		{"--scene 9", []string{"9", "hurdles"}},
		{"--scene swamp", []string{"swamp", "hurdles"}},
		{"--port 99999", []string{"listen", "99999"}},
		{"--steplength 3", []string{"3", "1 s"}},
		{"--dialect klingon", []string{"klingon", "later"}},
		{"--listen nowhere", []string{"nowhere", "HOST:PORT"}},
		{"--conf absent.conf", []string{"absent.conf"}},
		{"--conf bad.conf", []string{`bad.conf:1: "robot": got "x", want 0..999`, `bad.conf:2: "tcp_port"`}},
		{"xl430-pendulum --robot 31", []string{"--robot", "xl430-pendulum"}},
		{"--set agents[0].guard.slew=7", []string{"agents[0].guard.slew"}},
	} {
		code, out, errText := runApp(t, append([]string{"simloid"}, strings.Fields(c.args)...)...)
		if code != 2 || out != "" {
			t.Errorf("%s: got exit %d, %q; want 2", c.args, code, out)
		}
		for _, want := range c.want {
			if !strings.Contains(errText, want) {
				t.Errorf("%s: got %s, want it to say %q", c.args, errText, want)
			}
		}
	}
}

// TestSimloidConf: a simloid.conf in the working folder counts, the command line counts more.
func TestSimloidConf(t *testing.T) {
	t.Chdir(t.TempDir())
	conf := "# of the original\ntcp_port\t0   # any\nrobot 91\nscene 1\nstep_length 0.005\ninitial_gravity off\nfps " +
		"25\nwhim 3\npidP 7\n"
	if err := os.WriteFile("simloid.conf", []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "simloid", "--keep", "--no-noise")
	c := simloidClient(t, r, 0)
	if len(c.Traits().Joints) != 2 || c.Status().Time != 0.005 {
		t.Errorf("got %d joints at %g s, want those of robot 91 at 0.005 s", len(c.Traits().Joints), c.Status().Time)
	}
	if a := simloidCycle(t, c).Accel[0]; math.Abs(a[0])+math.Abs(a[1])+math.Abs(a[2]-0.125) > 1e-3 {
		t.Errorf("acceleration without gravity: got %v, want that of the original, one g of 8", a)
	}
	r.interrupt(t)
	if !strings.Contains(r.stderr.String(), "simloid.conf:8: no such parameter: \"whim\"") ||
		strings.Contains(r.stderr.String(), "fps") {
		t.Errorf("notes: got %s", r.stderr)
	}
	r = start(t, "simloid", "--keep", "--robot", "90", "--scene", "0", "-s", "0.01")
	if c := simloidClient(t, r, 0); len(c.Traits().Joints) != 1 || c.Status().Time != 0.01 {
		t.Errorf("the command line: got %d joints at %g s", len(c.Traits().Joints), c.Status().Time)
	}
}

// TestPendulumSwings: one client swings the pendulum by voltages and holds it by positions, simulated and on an
// emulated XL430 in its PWM and position modes; the bodies of the latter come from forward kinematics.
func TestPendulumSwings(t *testing.T) {
	for _, body := range []string{"sim", "emulated"} {
		t.Run(body, func(t *testing.T) {
			r := startServe(t, "xl430-pendulum", "--set", "agents[0].body="+body, "--set", "servers[0].noise=false",
				"--listen", "simloid=127.0.0.1:0")
			c := simloidClient(t, r, 0)
			if b := c.Status().Bodies[1].Position; math.Abs(b[2]-0.208) > 0.01 {
				t.Errorf("at rest: got the rod's centre at %v, want about 0.208 high", b)
			}
			// push in the direction of the swing
			least, most, u := 0.0, 0.0, 0.3
			for range 1000 {
				s := simloidCycle(t, c, simloid.Command{Verb: simloid.UX, Values: []float64{u}})
				if v := s.Velocity[0]; math.Abs(v) > 0.002 {
					u = math.Copysign(0.3, v)
				}
				p := s.Position[0]
				if math.Abs(p) > 0.35 {
					u = -math.Copysign(0.3, p)
				}
				least, most = math.Min(least, p), math.Max(most, p)
			}
			t.Logf("%s: swings from %.3f to %.3f of half a turn", body, least, most)
			if !(least < -0.2 && most > 0.2) {
				t.Errorf("swing: got %.3f..%.3f, want beyond ±0.2", least, most)
			}
			for range 300 {
				simloidCycle(t, c, simloid.Command{Verb: simloid.PI, Index: 0, Values: []float64{0.25}},
					simloid.Command{Verb: simloid.TA, Values: []float64{1}})
			}
			s := c.Status()
			if math.Abs(s.Position[0]-0.25) > 0.02 || math.Abs(s.Velocity[0]) > 0.01 {
				t.Errorf("hold: got %.3f at %.3f, want 0.25 at rest", s.Position[0], s.Velocity[0])
			}
			// the rod's centre is 0.142 m below the axis when it hangs
			at, q := s.Bodies[1].Position, s.Position[0]*math.Pi
			if want := [2]float64{-0.142 * math.Sin(q), 0.35 - 0.142*math.Cos(q)}; math.Hypot(at[0]-want[0],
				at[2]-want[1]) > 0.005 {
				t.Errorf("rod: got %v, want x, z %v", at, want)
			}
			// refused or not, it goes on
			simloidCycle(t, c, simloid.Command{Verb: simloid.Save}, simloid.Command{Verb: simloid.Restore})
			if s := simloidCycle(t, c, simloid.Command{Verb: simloid.Reset}); s.Time != 0.01 ||
				math.Abs(s.Position[0]) > 0.02 {
				t.Errorf("reset: got %g s and %g", s.Time, s.Position[0])
			}
		})
	}
}

// TestSimloidSharedWorld: two robots of one config, each behind its own port, step together.
func TestSimloidSharedWorld(t *testing.T) {
	config := filepath.Join(folder(t, map[string]string{"two.yaml": `name: two
agents:
  - {name: cat, model: simloid-31}
  - {name: worm, model: simloid-60, pose: {position: [2, 0, 0]}}
servers:
  - {protocol: simloid, agent: cat, listen: "127.0.0.1:0"}
  - {protocol: simloid, agent: worm, listen: "127.0.0.1:0", dialect: later}
`}), "two.yaml")
	r := startServe(t, config)
	cat := simloidClient(t, r, 0)
	var worm *simloid.Client
	var both sync.WaitGroup
	var errs [2]error
	// Each is waited for from its ACK on, and its first status wants a step of the other.
	both.Go(func() {
		if worm, errs[1] = simloid.Dial(r.Servers[1].Address,
			simloid.ClientOptions{Dialect: simloid.Later}); errs[1] != nil {
			return
		}
		for range 50 {
			if _, err := worm.Cycle(simloid.Command{Verb: simloid.UA, Values: []float64{1}}); err != nil {
				errs[1] = err
				return
			}
		}
		errs[1] = worm.Close()
	})
	both.Go(func() {
		for range 200 { // the worm leaves before; then it is not waited for
			if _, err := cat.Cycle(simloid.Command{Verb: simloid.PA, Values: []float64{0.1}}); err != nil {
				errs[0] = err
				return
			}
		}
	})
	both.Wait()
	if errs[0] != nil || errs[1] != nil {
		t.Fatal(errs)
	}
	if x := worm.Status().Bodies[0].Position[0]; math.Abs(x-2) > 0.5 {
		t.Errorf("the worm: got x %g, want about 2", x)
	}
	if p := worm.Status().Position; math.Abs(p[0]) < 0.1 {
		t.Errorf("the worm: a voltage moved nothing: %v", p)
	}
}

// TestSimloidRestoreRepeats: after RESTORE the same commands give the same statuses to the last digit, noise included,
// after any commands in between.
func TestSimloidRestoreRepeats(t *testing.T) {
	t.Chdir(t.TempDir())
	r := start(t, "simloid", "--keep", "-p", "0", "--robot", "31", "--robot", "50", "-p", "0", "--scene", "1")
	for i := range r.Servers {
		c := simloidClient(t, r, i)
		u := make([]float64, len(c.Traits().Joints))
		play := func(n int, phase float64) (seen []string) {
			for k := range n {
				for j := range u {
					u[j] = 0.5 * math.Sin(0.1*float64(k)+float64(j)+phase)
				}
				push := simloid.Command{Verb: simloid.FI, Index: 1, Values: []float64{0.5, 0, float64(k % 3)}}
				goal := simloid.Command{Verb: simloid.PI, Index: k % len(u), Values: []float64{0.1}}
				s := simloidCycle(t, c, simloid.Command{Verb: simloid.UX, Values: u}, push, goal)
				_, text, _ := strings.Cut(string(simloid.AppendStatus(nil, s)), " ") // the clock goes on
				seen = append(seen, text)
			}
			return seen
		}
		play(30, 0)
		// Commands are obeyed where they stand: SAVE is of the state before its step, and so is what RESTORE returns
		// to.
		save, restore := simloid.Command{Verb: simloid.Save}, simloid.Command{Verb: simloid.Restore}
		simloidCycle(t, c, save)
		want := play(60, 1)
		play(20, 2)
		for range 2 {
			simloidCycle(t, c, restore)
			if got := play(60, 1); !slices.Equal(got, want) {
				t.Errorf("robot %d: the statuses differ", i)
			}
		}
	}
}
