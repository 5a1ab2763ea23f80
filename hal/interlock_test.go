package hal

import (
	"errors"
	"testing"
	"time"
)

// watched is a wheel with an interlock on a scanner.
func watched() *guarded {
	l := oneJoint()
	l.Outputs = append(l.Outputs, Channel{Name: "scanner", Max: 8})
	l.Sensors = []Sensor{{Name: "scanner", Kind: "range", First: 1, Count: 1}}
	g := &guarded{guard: newGuard(l, GuardConfig{Interlock: Interlock{Devices: []int{0, 1}, Actuators: []int{0}}}),
		f: NewFrame(l)}
	g.f.Measured[0] = 0
	return g
}

// device sets the status of device i: without a fault now, lost since before, or present and switched off.
func (g *guarded) device(i int, err error) {
	if g.f.Status[i].Err = err; err != errPulled {
		g.f.Status[i].Time = g.now
	}
}

// run lets d pass with the given faults of the scanner and the wheel.
func (g *guarded) run(d time.Duration, wheel, scanner error) {
	for range d / tick {
		g.device(0, wheel)
		g.device(1, scanner)
		g.tick()
	}
}

var errPulled, errOff = errors.New("the cable is out"), errors.New("off")

func TestInterlock(t *testing.T) {
	g := watched()
	g.run(100*time.Millisecond, nil, nil)
	g.command(nan, 1.5, nan, nan, nan)
	g.run(100*time.Millisecond, nil, nil)
	turning := func(want float64, enabled bool, when string) {
		t.Helper()
		if got := g.f.Inputs[1]; enabled != g.f.Enable[0] || enabled && got != want {
			t.Errorf("%s: got %g, enabled %v; want %g, %v", when, got, g.f.Enable[0], want, enabled)
		}
	}
	turning(1.5, true, "all well")
	g.run(900*time.Millisecond, nil, errPulled)
	turning(1.5, true, "a scan late")
	g.run(200*time.Millisecond, nil, errPulled)
	turning(0, true, "a scanner lost")
	g.command(nan, 1, nan, nan, nan)
	g.run(100*time.Millisecond, nil, errPulled)
	turning(0, true, "a command without eyes")
	g.run(100*time.Millisecond, nil, nil)
	turning(0, true, "the scanner is back")
	g.command(nan, 1, nan, nan, nan)
	g.run(100*time.Millisecond, nil, nil)
	turning(1, true, "a new command")
	g.run(400*time.Millisecond, errPulled, nil)
	turning(0, true, "the wheel itself lost: it may hear a zero")
	g.run(800*time.Millisecond, errPulled, nil)
	turning(0, false, "the wheel lost for long: it may hear that its torque is to go")
	g.run(100*time.Millisecond, nil, nil)
	turning(0, false, "the wheel is back")
	g.command(nan, 1, nan, nan, nan)
	g.run(1200*time.Millisecond, errPulled, nil)
	turning(0, false, "the wheel lost again")
	g.run(100*time.Millisecond, errOff, nil)
	turning(0, false, "the wheel is back, and off")
	g.command(nan, 1, nan, nan, nan)
	g.run(100*time.Millisecond, nil, nil)
	turning(1, true, "commanded again")
	if g.counts.Locked != 3 || g.counts.Refused != 1 {
		t.Errorf("got locked %d times, %d refused; want 3, 1", g.counts.Locked, g.counts.Refused)
	}
	// A scanner that was never present has the same effect as a lost one.
	g = watched()
	g.f.Status[1] = Status{Time: -1, Err: errPulled}
	g.tick()
	g.command(nan, 1, nan, nan, nan)
	g.tick()
	turning(0, false, "no scanner at all")
}
