package hal

import (
	"slices"
	"time"
)

// Journal receives all external inputs of a rig's decisions, and the end of every cycle. With the same bodies, the orders of
// a journal, given to Replay before the cycle they name, repeat every decision. Its methods run under the rig's lock or an
// agent's: they must not block, allocate, or call the rig or its agents, except Agent.Frame in Cycle.
type Journal interface {
	// Order may come from several goroutines at once, and inside a cycle (Steer). o.Inputs is valid during the call.
	Order(o Order)
	// Cycle is the last call of a cycle. c is valid during the call.
	Cycle(c CycleEnd)
}

// CycleEnd is a cycle that is over.
type CycleEnd struct {
	Number uint64        // since the start; the first is 1
	Time   time.Duration // rig time at its end
	Missed time.Duration // periods missed since the start
	Events []EventID     // that occurred in it
	Agents []*Agent      // as they are after it
}

// OrderKind is the kind of an order.
type OrderKind uint8

// The orders, with the fields that they use. An agent's name is in Agent where one is meant.
const (
	CommandOrder       OrderKind = iota // Inputs, of a lease's holder
	OverrideOrder                       // Inputs, without a lease
	SteerOrder                          // Inputs, of the autopilot, inside the cycle
	RenewOrder                          // the deadlines begin again
	ReleaseOrder                        // the lease is given back: the body holds still
	ArmOrder                            // by the operator
	RequestArmOrder                     // by the client Name
	DisarmOrder                         // by the operator
	RequestDisarmOrder                  // by the client Name
	LatchOrder                          // a stop was seen inside a cycle, before its own order
	StopOrder                           // Name: the reason
	RecoverOrder                        // the stop is cleared
	ArmAllOrder                         // Rig.Arm
	DisarmAllOrder                      // Rig.Disarm
	ResetOrder                          // Seed
	ResetWorldOrder                     // Seed; of the world of Agent
	SaveWorldOrder                      // of the world of Agent
	RestoreWorldOrder                   // of the world of Agent
	SetOrder                            // Name: of the value; Value
	ParkOrder                           // the rig is about to end
	numOrders
)

var orderNames = [numOrders]string{"command", "override", "steer", "renew", "release", "arm", "request_arm", "disarm",
	"request_disarm", "latch", "stop", "recover", "arm_all", "disarm_all", "reset", "reset_world", "save_world",
	"restore_world", "set", "park"}

func (k OrderKind) String() string { return orderNames[min(k, numOrders-1)] }

// OrderNamed is the kind called name; false if absent.
func OrderNamed(name string) (OrderKind, bool) {
	k := slices.Index(orderNames[:], name)
	return OrderKind(max(k, 0)), k >= 0
}

// Order is one thing that was asked of a rig. Which fields count depends on Kind.
type Order struct {
	Kind   OrderKind
	Cycle  uint64 // the first cycle that it counts for
	Agent  string
	Name   string
	Inputs []float64 // SI; NaN keeps
	Seed   int64
	Value  Value
}

// SetJournal sets the rig's journal, between cycles; nil removes it. It does not contain earlier requests.
func (r *Rig) SetJournal(j Journal) {
	r.lock()
	defer r.mu.Unlock()
	for _, a := range r.agents {
		a.mu.Lock()
		defer a.mu.Unlock()
	}
	r.journal = j
}

// enter writes o, of the rig, into the journal. Under the rig's lock, between cycles.
func (r *Rig) enter(o Order) {
	if r.journal != nil {
		o.Cycle = r.total + 1
		r.journal.Order(o)
	}
}

// enter writes o, of a, into the journal. Under a's lock.
func (a *Agent) enter(o Order) {
	if j := a.rig.journal; j != nil {
		o.Cycle, o.Agent = a.decided+1, a.name
		j.Order(o)
	}
}

// inWorld is the name of an agent in w, or "".
func (r *Rig) inWorld(w World) string {
	for _, a := range r.agents {
		if a.world == w {
			return a.name
		}
	}
	return ""
}

// Frame is the agent's frame; only for Journal.Cycle, and only to read.
func (a *Agent) Frame() *Frame { return a.frame }

// Counts are Guard's counts; only for Journal.Cycle.
func (a *Agent) Counts() GuardCounts { return a.guard.counts }
