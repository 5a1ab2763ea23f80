package simloid_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// recorded are the statuses of a recording of the original.
func recorded(t *testing.T, name string) (rows [][]float64) {
	f, err := os.Open("../../../../shared/data/simloid/" + name)
	if err != nil {
		t.Skipf("no recordings here: %v", err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if strings.HasPrefix(in.Text(), "#") {
			continue
		}
		var row []float64
		for word := range strings.FieldsSeq(in.Text()) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return rows
}

// served is a client of a simulated robot of the original, without the original's noise.
func served(t *testing.T, robot int, world string) *simloid.Client {
	t.Helper()
	cfg, err := halyard.Parse("columns", fmt.Appendf(nil, `name: columns
clock: {mode: lockstep, period: 10ms}
world: {scene: flat, %s}
agents: [{name: robot, model: simloid-%d}]
servers: [{protocol: simloid, listen: "127.0.0.1:0", pid: [3.5, 0, 0.1], start_torque: 0.5}]
`, world, robot))
	if err != nil {
		t.Fatal(err)
	}
	_, servers := servetest.Serve(t, cfg)
	c, err := simloid.Dial(servers[0].Address, simloid.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// columns are the numbers of a status, in the order of the wire.
func columns(s *simloid.Status) (all []float64) {
	all = append(append(append(all, s.Time), s.Position...), s.Velocity...)
	for _, a := range s.Accel {
		all = append(all, a[:]...)
	}
	for _, b := range s.Bodies {
		all = append(append(all, b.Position[:]...), b.Velocity[:]...)
	}
	return all
}

// near reports each column that is not as the original's within its noise, 64/32768, and the bound of its kind: the
// accelerations of contacts are those of one solver or the other.
func near(t *testing.T, what string, s *simloid.Status, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d columns, want %d", what, len(got), len(want))
	}
	for i := range want {
		bound, kind := boundOf(s, i, 0)
		if !(math.Abs(got[i]-want[i]) <= bound) {
			t.Errorf("%s: column %d, %s: got %.6f, want %.6f ± %g", what, i, kind, got[i], want[i], bound)
		}
	}
}

// boundOf is how far column i may be from the original's: at rest its noise, 64/32768, and in motion, as a mean, what
// its contacts and the last digits of two solvers make.
func boundOf(s *simloid.Status, i, moving int) (bound float64, kind string) {
	joints := len(s.Position)
	at := i - 1 - 2*joints - 3*len(s.Accel)
	switch {
	case i == 0:
		return 1e-6, "time"
	case i <= joints:
		return [...]float64{0.003, 0.016}[moving], "position"
	case i <= 2*joints:
		return [...]float64{0.003, 0.03}[moving], "velocity"
	case at < 0:
		return [...]float64{0.003, 0.06}[moving], "acceleration"
	case at%6 < 3:
		return [...]float64{1e-5, 0.02}[moving], "place of a body"
	}
	return [...]float64{1e-5, 0.1}[moving], "velocity of a body"
}

// command is what the recording of a robot sends in cycle k.
func command(robot, k int) (list []simloid.Command) {
	if k == 0 {
		list = append(list, simloid.Command{Verb: simloid.GravityOn})
	}
	round := func(v float64) float64 { return math.Round(v*1e4) / 1e4 }
	switch robot {
	case 90:
		u := [...]float64{0.2, -0.2, 0.6, -0.6, 1, -1}[min(k/100, 5)]
		return append(list, simloid.Command{Verb: simloid.UA, Values: []float64{u}})
	case 91:
		return append(list, simloid.Command{Verb: simloid.UX,
			Values: []float64{round(0.6 * math.Sin(0.03*float64(k))), round(0.4 * math.Sin(0.05*float64(k)))}})
	}
	return append(list, simloid.Command{Verb: simloid.UA, Values: []float64{0}})
}

// TestSimloidColumns: each column of a status is the original's at the start, which is weightless with 0.125 of 8 g on
// the accelerometer, with gravity, after RESET, and after a push.
func TestSimloidColumns(t *testing.T) {
	on, off := simloid.Command{Verb: simloid.GravityOn}, simloid.Command{Verb: simloid.GravityOff}
	for robot, file := range map[int]string{90: "90-voltage-steps.txt", 91: "91-voltage-sine.txt",
		31: "31-drop-limp.txt"} {
		t.Run(strconv.Itoa(robot), func(t *testing.T) {
			want := recorded(t, file)
			c := served(t, robot, "gravity: 0")
			cycle := func(commands ...simloid.Command) []float64 {
				t.Helper()
				s, err := c.Cycle(commands...)
				if err != nil {
					t.Fatal(err)
				}
				return columns(s)
			}
			first := columns(c.Status())
			near(t, "start", c.Status(), first, want[0])
			sums := make([]float64, len(first))
			for k := range want {
				got := first
				if k > 0 {
					got = cycle(command(robot, k-1)...)
				}
				for i := range sums {
					sums[i] += (got[i] - want[k][i]) * (got[i] - want[k][i])
				}
			}
			for i := range sums {
				if rms, bound, kind := math.Sqrt(sums[i]/float64(len(want))), 0.0, ""; true {
					if bound, kind = boundOf(c.Status(), i, 1); !(rms <= bound) {
						t.Errorf("recording: column %d, %s: RMS: got %.4f, want at most %g", i, kind, rms, bound)
					}
				}
			}
			again := cycle(simloid.Command{Verb: simloid.Reset}, off)
			near(t, "RESET without gravity", c.Status(), again, want[0])
			cycle(on)
			again = cycle(simloid.Command{Verb: simloid.Reset}) // gravity stays: the original's snapshot is of bodies
			z := len(again) - 6*len(c.Status().Bodies) + 5      // velocity of the first body
			if again[0] != 0.01 || !(again[z] < -0.01) {
				t.Errorf("RESET with gravity: got %g s, %g m/s, want 0.01 s and a falling body", again[0], again[z])
			}

			cycle(simloid.Command{Verb: simloid.Reset}, off)
			push := simloid.Command{Verb: simloid.FI, Index: 0, Values: []float64{0, 0, 50}}
			before := columns(c.Status())
			after := cycle(push)
			if !(after[z] > before[z]+1e-4) {
				t.Errorf("push: got %g m/s after %g", after[z], before[z])
			}
			rest := cycle()
			if math.Abs(rest[z]-after[z]) > 0.2*math.Abs(after[z]) {
				t.Errorf("after the push: got %g m/s, want about %g: it acts for one step", rest[z], after[z])
			}
			if d := after[0] - before[0]; math.Abs(d-0.01) > 1e-9 {
				t.Errorf("time: got %g s more, want 0.01", d)
			}
		})
	}
}
