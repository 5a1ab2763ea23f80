package hal

import (
	"slices"
	"sync/atomic"
	"time"
)

// Journal is a queue of all that decided the cycles of a rig: external inputs in their order, and how each cycle ended.
// With the same bodies, the orders of a journal, given to Replay before the cycle they name, repeat every decision.
//
// The rig copies values into records and never waits for the reader under a lock. In real time, cycles without a free
// record are dropped and counted, and their orders are in the next record. In lock-step, the next cycle begins when
// there is a free record, after journalPatience without one.
type Journal struct {
	rig     *Rig
	full    chan *CycleRecord // as many as there are records fit in
	crowded chan struct{}
	waits   atomic.Bool // the rig waits for a free record
	hasty   atomic.Bool // it has waited in vain: cycles are dropped until there is one

	mu   leafLock
	free []*CycleRecord
	now  *CycleRecord // receives the orders

	drops, lost atomic.Uint64
}

const (
	// journalPatience is how long a rig in lock-step waits for the reader of its journal.
	journalPatience = 5 * time.Second
	// maxOrders bounds the orders of one record, bytes of memory, roughly.
	maxOrders = 4 << 20
)

// CycleRecord is a cycle that is over, and the orders since the previous record.
type CycleRecord struct {
	Number     uint64        // since the start; the first is 1
	Time       time.Duration // rig time at its end
	Missed     time.Duration // periods missed since the start
	Events     []EventID     // that occurred in it
	Orders     []Order
	Agents     []AgentRecord
	Dropped    uint64 // cycles without a record, since the journal began
	LostOrders uint64 // orders beyond the bound of a record, likewise

	inputs []float64 // of the orders
	weight int       // of the orders, bytes
}

// AgentRecord is the state of an agent: its guard as it decided in the cycle, its frame at the end.
type AgentRecord struct {
	Agent            *Agent
	Inputs, Measured []float64
	Enable           []bool
	Joints           []GuardState // one an actuator
	Status           []Status
	State            GuardState
	Counts           GuardCounts
	Holder           string // of the lease; "" = none
}

// OrderKind is the kind of an order.
type OrderKind uint8

// The orders, with the fields that they use. An agent's name is in Agent where one is meant.
const (
	CommandOrder        OrderKind = iota // Inputs, of a lease's holder
	OverrideOrder                        // Inputs, without a lease
	SteerOrder                           // Inputs, of the autopilot, inside the cycle
	RenewOrder                           // the deadlines begin again
	ReleaseOrder                         // the lease is given back: the body holds still
	ArmOrder                             // by the operator
	RequestArmOrder                      // by the client Name
	DisarmOrder                          // by the operator
	RequestDisarmOrder                   // by the client Name
	LatchOrder                           // a stop has stopped the agent; Name: "client" where only clients ordered it
	StopOrder                            // Name: the reason
	RecoverOrder                         // the stop is cleared
	ArmAllOrder                          // Rig.Arm
	DisarmAllOrder                       // Rig.Disarm
	ResetOrder                           // Seed
	ResetWorldOrder                      // Seed; of the world of Agent
	SaveWorldOrder                       // of the world of Agent
	RestoreWorldOrder                    // of the world of Agent
	SetOrder                             // Name: of the value; Value
	ParkOrder                            // the rig is about to end
	RequestStopOrder                     // by the client Name
	RequestRecoverOrder                  // by the client Name
	paceOrder                            // of the bus Name; Seed: how many cycles its exchange spans
	numOrders
)

var orderNames = [numOrders]string{"command", "override", "steer", "renew", "release", "arm", "request_arm", "disarm",
	"request_disarm", "latch", "stop", "recover", "arm_all", "disarm_all", "reset", "reset_world", "save_world",
	"restore_world", "set", "park", "request_stop", "request_recover", "pace"}

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

// Bus names the bus that has its own rate from the order on, or "".
func (o *Order) Bus() string {
	if o.Kind == paceOrder {
		return o.Name
	}
	return ""
}

// OpenJournal begins a journal of as many records, from the next cycle on. It replaces the previous one, which Close
// ends.
func (r *Rig) OpenJournal(records int) *Journal {
	j := &Journal{rig: r, full: make(chan *CycleRecord, records), crowded: make(chan struct{}, 1)}
	r.lock()
	defer r.mu.Unlock()
	for range records {
		j.free = append(j.free, newCycleRecord(r.agents))
	}
	j.now = newCycleRecord(r.agents)
	r.journal.Store(j)
	return j
}

// newCycleRecord holds a usual cycle of agents without growing.
func newCycleRecord(agents []*Agent) *CycleRecord {
	c := &CycleRecord{Agents: make([]AgentRecord, len(agents)), inputs: []float64{}}
	for i, a := range agents {
		l := a.layout
		c.Agents[i] = AgentRecord{Inputs: make([]float64, 0, len(l.Inputs)),
			Measured: make([]float64, 0, len(l.Outputs)+len(l.Infos)), Enable: make([]bool, 0, len(l.Actuators)),
			Joints: make([]GuardState, 0, len(l.Actuators)), Status: make([]Status, 0, l.Devices())}
	}
	return c
}

// Records receives each record in its order; Close closes it. The reader gives each back by Free.
func (j *Journal) Records() <-chan *CycleRecord { return j.full }

// Crowded receives when half of the records wait for the reader, and when the journal is closed.
func (j *Journal) Crowded() <-chan struct{} { return j.crowded }

// Free gives a record back.
func (j *Journal) Free(c *CycleRecord) {
	clear(c.Orders) // their texts
	c.Orders, c.inputs, c.weight = c.Orders[:0], c.inputs[:0], 0
	j.mu.Lock()
	j.free = append(j.free, c)
	j.mu.Unlock()
	j.hasty.Store(false)
	if j.waits.Load() {
		j.rig.wake()
	}
}

// Close ends the journal and returns the orders since its last record.
func (j *Journal) Close() []Order {
	j.rig.lock()
	j.rig.journal.CompareAndSwap(j, nil)
	close(j.full) // it is filled under the lock only
	j.rig.changed.Broadcast()
	j.rig.mu.Unlock()
	j.rouse()
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.now.Orders)
}

// Losses returns the cycles and orders without a record until now.
func (j *Journal) Losses() (cycles, orders uint64) { return j.drops.Load(), j.lost.Load() }

func (j *Journal) rouse() {
	select {
	case j.crowded <- struct{}{}:
	default:
	}
}

// add copies an order.
func (j *Journal) add(o Order) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.now
	if c.weight > maxOrders {
		j.lost.Add(1)
		return
	}
	c.weight += 200 + 8*len(o.Inputs) + len(o.Agent) + len(o.Name) + len(o.Value.Text)
	if o.Inputs != nil { // the sender's, until it sends the next one
		from := len(c.inputs)
		c.inputs = append(c.inputs, o.Inputs...)
		o.Inputs = c.inputs[from:]
	}
	c.Orders = append(c.Orders, o)
}

// take returns the record of the cycle that ends, nil if there is no other one for the orders of the next.
func (j *Journal) take() *CycleRecord {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := len(j.free) - 1
	if last < 0 {
		j.drops.Add(1)
		return nil
	}
	c := j.now
	j.now, j.free = j.free[last], j.free[:last] // the newest: its memory is still in the processor's caches
	return c
}

// push records the cycle that has ended. Under the rig's lock.
func (j *Journal) push(r *Rig) {
	c := j.take()
	if c == nil {
		return
	}
	c.Number, c.Time, c.Missed, c.Dropped, c.LostOrders = r.total, r.time, r.missed, j.drops.Load(), j.lost.Load()
	c.Events = append(c.Events[:0], r.occurred...)
	if have := cap(c.Agents); have < len(r.agents) {
		c.Agents = append(c.Agents[:have], make([]AgentRecord, len(r.agents)-have)...)
	}
	c.Agents = c.Agents[:len(r.agents)]
	for i, a := range r.agents {
		s, f := &c.Agents[i], a.frame
		s.Agent, s.State, s.Counts, s.Holder = a, a.decision.State, a.decision.Counts, a.decision.Holder
		s.Joints = append(s.Joints[:0], a.decision.Joints...)
		s.Inputs, s.Measured = append(s.Inputs[:0], f.Inputs...), append(s.Measured[:0], f.Measured...)
		s.Enable, s.Status = append(s.Enable[:0], f.Enable...), append(s.Status[:0], f.Status...)
	}
	j.full <- c // as many as there are records fit in
	if len(j.full) > cap(j.full)/2 {
		j.rouse()
	}
}

// lags reports whether a cycle in lock-step waits for the reader of the journal.
func (j *Journal) lags() bool {
	if j == nil || j.rig.config.Mode != Lockstep || j.hasty.Load() {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.free) == 0
}

// wait waits until the next broadcast, and a lagging journal for its patience. It releases the lock meanwhile.
func (r *Rig) wait() {
	if j := r.journal.Load(); j != nil {
		j.waits.Store(true)
		defer j.waits.Store(false)
		if !j.lags() { // a record may have come before waits was set
			if !r.resting() {
				return
			}
		} else {
			defer time.AfterFunc(journalPatience, func() { j.hasty.Store(true); r.wake() }).Stop()
		}
	}
	r.changed.Wait()
}

// wake lets all that wait check again.
func (r *Rig) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed.Broadcast()
}

// enter writes o, of the rig, into the journal. Under the rig's lock, between cycles.
func (r *Rig) enter(o Order) {
	if j := r.journal.Load(); j != nil {
		o.Cycle = r.total + 1
		j.add(o)
	}
}

// enter writes o, of a, into the journal. Under a's lock.
func (a *Agent) enter(o Order) {
	if j := a.rig.journal.Load(); j != nil {
		o.Cycle, o.Agent = a.decided+1, a.name
		j.add(o)
	}
}

// keepDecision copies the state of the guard for the journal. A change after it belongs to the next cycle, as its order
// does. Under a's lock.
func (a *Agent) keepDecision() {
	if a.rig.journal.Load() == nil {
		return
	}
	d, g := &a.decision, a.guard
	d.State, d.Counts, d.Holder = g.state, g.counts, ""
	if a.lease != nil {
		d.Holder = a.lease.session.name
	}
	d.Joints = d.Joints[:0]
	for i := range g.joints {
		d.Joints = append(d.Joints, g.jointState(i))
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
