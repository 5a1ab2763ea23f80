package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Each vendor's chain drives its servos over a pseudo terminal, on the wall's clock, as over a port.
func TestBrandsOnAPTY(t *testing.T) {
	for _, c := range []struct {
		model  string
		baud   int
		make   func(id int) *emulator.Servo
		open   func(line servo.Line, latency time.Duration) servo.Chain
		goal   float64
		within float64
	}{
		{"sts3215", 1000000, func(id int) *emulator.Servo { return newFeetech(t, "sts3215", id) },
			func(line servo.Line, latency time.Duration) servo.Chain {
				m := feetech.ModelByName("sts3215")
				return feetech.NewChain(servo.ChainConfig{Line: line, Latency: latency,
					Servos: []servo.ServoConfig{{ID: 1, Model: m}, {ID: 2, Model: m}}})
			}, 2300, 20},
		{"lx-16a", 115200, func(id int) *emulator.Servo { return newHiwonder(t, id) },
			func(line servo.Line, latency time.Duration) servo.Chain {
				m := hiwonder.ModelByName("lx-16a")
				return hiwonder.NewChain(servo.ChainConfig{Line: line, Latency: latency,
					Servos: []servo.ServoConfig{{ID: 1, Model: m}, {ID: 2, Model: m}}})
			}, 550, 8},
		{"krs-2552", 115200, func(id int) *emulator.Servo { return newKondo(t, id) },
			func(line servo.Line, latency time.Duration) servo.Chain {
				m := kondo.ModelByName("krs-2552")
				return kondo.NewChain(servo.ChainConfig{Line: line, Latency: latency,
					Servos: []servo.ServoConfig{{ID: 1, Model: m}, {ID: 2, Model: m}}})
			}, 8000, 60},
	} {
		t.Run(c.model, func(t *testing.T) {
			var mu sync.Mutex // held around the physics, too
			servos := []*emulator.Servo{c.make(1), c.make(2)}
			bus := emulator.NewBus(emulator.BusConfig{Name: c.model, Baud: c.baud, Mutex: &mu}, servos...)
			ctx, cancel := context.WithCancel(t.Context())
			link := filepath.Join(t.TempDir(), "line")
			_, wait, err := bus.ServePTY(ctx, link)
			if err != nil {
				cancel()
				t.Skipf("no pseudo terminals here: %v", err)
			}
			defer func() {
				cancel()
				if err := wait(); err != nil {
					t.Error(err)
				}
			}()
			chain := c.open(openTTY(t, link, c.baud), ptyTimeout)
			if err := chain.Open(); err != nil {
				t.Fatal(err)
			}
			// The world is moved here, so that the test takes as long as the bytes do.
			onPTY(t, chain, servos, &mu, c.goal, c.within)
			haltsOnPTY(t, chain, servos, &mu)
		})
	}
}

// onPTY drives servos to a goal on a line of the operating system. The world is moved here, so that the test takes as
// long as the bytes do. A busy machine may leave this process or its answers waiting for too long, which ends the
// torque: it then begins again.
func onPTY(t *testing.T, chain servo.Chain, servos []*emulator.Servo, mu *sync.Mutex, goal, within float64) {
	t.Helper()
	there := func() (err error) {
		for i := range servos {
			if st := chain.State(i); st.Err != nil || math.Abs(st.Position-goal) > within || !st.Torque {
				err = errors.Join(err, fmt.Errorf("servo %d: got %.0f, torque %v, %v; want %.0f", i+1, st.Position,
					st.Torque, st.Err, goal))
			}
		}
		return err
	}
	var last error
	for range 50 {
		for k := range 130 {
			g := to(goal)
			if k < 5 {
				g = servo.Goal{}
			}
			for i := range servos {
				chain.SetGoal(i, g)
			}
			last = errors.Join(chain.Send(), chain.Receive())
			mu.Lock()
			for range 10 {
				for _, s := range servos {
					s.Actuator().Step(0.001)
				}
			}
			mu.Unlock()
		}
		if last = errors.Join(last, there()); last == nil {
			return
		}
	}
	t.Fatal(last)
}

// haltsOnPTY halts servos until all have acknowledged.
func haltsOnPTY(t *testing.T, chain servo.Chain, servos []*emulator.Servo, mu *sync.Mutex) {
	t.Helper()
	var err error
	for range 10 {
		if err = errors.Join(chain.Halt()...); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("halt: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	for i, s := range servos {
		if s.Actuator().Enable {
			t.Errorf("halt: servo %d is driven", i+1)
		}
	}
}
