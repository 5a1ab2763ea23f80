package hal_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// ledger is all that a journal has.
type ledger struct {
	journal *hal.Journal
	orders  []hal.Order
	cycles  []string // result of each cycle
	missed  []time.Duration
}

// read reads the records that there are.
func (l *ledger) read() {
	for {
		select {
		case c := <-l.journal.Records():
			for _, o := range c.Orders {
				o.Inputs = slices.Clone(o.Inputs)
				l.orders = append(l.orders, o)
			}
			s := fmt.Sprint(c.Number, c.Time, c.Missed, c.Events)
			for _, a := range c.Agents {
				s += fmt.Sprint(" ", a.Agent.Name(), a.State, a.Joints, a.Inputs, a.Enable, a.Measured, a.Status,
					a.Counts)
			}
			l.cycles, l.missed = append(l.cycles, s), append(l.missed, c.Missed)
			l.journal.Free(c)
		default:
			return
		}
	}
}

// sway is an autopilot that swings its first joint, and sometimes commands nothing.
type sway struct{ n int }

func (s *sway) Update(_ *hal.Frame, inputs []float64, _ time.Duration) bool {
	s.n++
	inputs[0] = math.Sin(float64(s.n) / 9)
	return s.n%7 != 0
}
func (s *sway) Disengage() { s.n++ }

// journaled is a lock-step rig of a manual and a piloted robot with deadlines, and its journal.
func journaled(t *testing.T) (*hal.Rig, []*hal.Agent, *ledger) {
	t.Helper()
	r := newRig(t, hal.Lockstep)
	g := hal.GuardConfig{CommandTimeout: 4 * period, OnTimeout: hal.Park}
	agents := []*hal.Agent{add(t, r, "arm", haltest.NewBody("a", "b"), hal.Emulated, g),
		add(t, r, "rover", haltest.NewBody("w"), hal.Emulated, hal.GuardConfig{CommandTimeout: 30 * period})}
	return r, agents, &ledger{journal: r.OpenJournal(1)}
}

// TestJournalRepeats gives a rig ten thousand random orders, and its journal to another rig: every cycle ends the same.
func TestJournalRepeats(t *testing.T) {
	first, agents, kept := journaled(t)
	agents[1].SetAutopilot(&sway{})
	rng := rand.New(rand.NewPCG(3, 4))
	session := first.NewSession("client", &recorder{})
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			if v[i] = rng.Float64()*5 - 2.5; rng.IntN(3) == 0 {
				v[i] = nan
			}
		}
		return v
	}
	id := first.Values().Find(numberOfSteps)[0]
	missed := time.Duration(0)
	for range 3000 {
		for range rng.IntN(5) {
			a := agents[rng.IntN(2)]
			switch n := rng.IntN(60); {
			case n < 20:
				a.Override(random(len(a.Layout().Inputs)))
			case n < 30:
				a.Renew()
			case n < 40:
				if l, err := session.Acquire(a); err == nil {
					session.Release(l)
				}
			case n < 43:
				a.RequestDisarm("client")
			case n < 50:
				a.RequestArm("client")
			case n < 51:
				if rng.IntN(2) == 0 {
					first.EmergencyStop("test")
				} else {
					first.RequestStop("client")
					if rng.IntN(2) == 0 {
						first.RequestRecover("client")
					}
				}
			case n < 54:
				first.Recover()
				first.Arm()
			case n < 55:
				a.Disarm()
			case n < 57:
				a.Arm()
			case n < 58:
				first.Disarm()
			case n < 59:
				first.ResetWorld(a.World(), int64(n))
			default:
				first.Values().Set(id, hal.Value{Kind: hal.IntValue, Int: int64(rng.IntN(100))})
			}
		}
		if rng.IntN(10) == 0 {
			missed += time.Duration(rng.IntN(3)) * period
		}
		if err := first.ReplayCycle(missed); err != nil {
			t.Fatal(err)
		}
		kept.read()
	}

	second, _, got := journaled(t)
	second.BeginReplay()
	orders := kept.orders
	seen := map[hal.OrderKind]bool{}
	for i, want := range kept.cycles {
		for len(orders) > 0 && orders[0].Cycle == uint64(i+1) {
			seen[orders[0].Kind] = true
			if err := second.Replay(&orders[0]); err != nil {
				t.Fatal(err)
			}
			orders = orders[1:]
		}
		if err := second.ReplayCycle(kept.missed[i]); err != nil {
			t.Fatal(err)
		}
		got.read()
		if got.cycles[i] != want {
			t.Fatalf("cycle %d:\ngot  %s\nwant %s", i+1, got.cycles[i], want)
		}
	}
	if len(orders) > 0 {
		t.Errorf("order %v of cycle %d was never given", orders[0].Kind, orders[0].Cycle)
	}
	for _, k := range []hal.OrderKind{hal.OverrideOrder, hal.SteerOrder, hal.RenewOrder, hal.ReleaseOrder,
		hal.StopOrder,
		hal.RequestArmOrder, hal.RequestDisarmOrder, hal.RecoverOrder, hal.ResetWorldOrder, hal.SetOrder,
		hal.RequestStopOrder, hal.RequestRecoverOrder} {
		if !seen[k] {
			t.Errorf("no %v among the orders", k)
		}
	}
}

func TestOrderNames(t *testing.T) {
	for k := hal.CommandOrder; k <= hal.RequestRecoverOrder+1; k++ {
		if got, ok := hal.OrderNamed(k.String()); !ok || got != k {
			t.Errorf("OrderNamed(%q): got %v, want %d", k, got, k)
		}
	}
	if _, ok := hal.OrderNamed("dance"); ok {
		t.Error("OrderNamed(dance): got a kind, want none")
	}
}
