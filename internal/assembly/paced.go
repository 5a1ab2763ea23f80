package assembly

import (
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// pacedChain is the chain of a line that may be too slow for one exchange a cycle. Its exchange then spans several
// cycles: the first one's Send begins it, the last one's Receive ends it, and the cycles between them go on without it.
// The states keep their time meanwhile; State.Delay is by how much they are older than those of a fast line.
//
// One goroutine calls it, the rig's, but for SetGoal, CutTorque and Halt. The rig sets the number
// of cycles, by what Pace measures. An exchange that takes longer than its cycles keeps the last of them waiting.
type pacedChain struct {
	servo.LineChain
	period time.Duration // of the cycle
	name   string

	// A recording has all uses of the line up to the last cycle of an exchange, so a replay runs it there.
	replay bool

	goals  sync.Mutex // guards staged
	staged []servo.Goal

	flight  sync.Mutex // guards what follows, but the cycle's own
	cycles  int        // an exchange spans
	waits   bool       // of a replay: it has begun, and runs when it ends
	orders  chan struct{}
	done    chan flown
	running bool  // the goroutine has it
	result  error // of the exchange that is over

	begun bool // the cycle's: there is one
	age   int  // of the exchange, cycles
	shown []servo.State
	stats servo.Stats
	taken uint64 // cycles of the chain that Pace has seen
	took  [paceSamples]time.Duration
	fits  int // exchanges in a row that a faster pace has time for
}

// flown is the end of an exchange in the goroutine.
type flown struct {
	err   error
	panic any // nil = none
}

const (
	paceSamples = 8   // the last exchanges, of which
	paceSlow    = 3   // so many must have been too long
	paceFast    = 100 // exchanges in a row must have had time to spare for a faster pace
)

// newPaced returns chain, of so many servos on the bus called name, in cycles of period. With replay the line is a
// recording: an exchange runs in its last cycle, in the caller's goroutine.
func newPaced(chain servo.LineChain, name string, servos int, period time.Duration, replay bool) *pacedChain {
	return &pacedChain{LineChain: chain, name: name, period: period, replay: replay, cycles: 1,
		staged: make([]servo.Goal, servos), shown: make([]servo.State, servos)}
}

// BusName is the bus's, as the config has it.
func (p *pacedChain) BusName() string { return p.name }

// Span is how many cycles an exchange spans. It is called between two cycles.
func (p *pacedChain) Span() int { return p.cycles }

// SetGoal implements servo.Chain. Where an exchange spans several cycles, goals wait for the next one to begin.
func (p *pacedChain) SetGoal(i int, g servo.Goal) {
	p.goals.Lock()
	defer p.goals.Unlock()
	if p.staged[i] = g; p.cycles == 1 {
		p.LineChain.SetGoal(i, g)
	}
}

// stage gives the chain the goals of the next exchange.
func (p *pacedChain) stage() {
	p.goals.Lock()
	defer p.goals.Unlock()
	for i, g := range p.staged {
		p.LineChain.SetGoal(i, g)
	}
}

// State implements servo.Chain: the state that the last exchange brought.
func (p *pacedChain) State(i int) *servo.State {
	if p.cycles == 1 {
		return p.LineChain.State(i)
	}
	return &p.shown[i]
}

// Stats implements servo.LineChain.
func (p *pacedChain) Stats() servo.Stats {
	if p.cycles == 1 {
		return p.LineChain.Stats()
	}
	return p.stats
}

// Send implements hal.Bus. It blocks only where an exchange takes one cycle.
func (p *pacedChain) Send() error {
	if p.cycles == 1 {
		return p.LineChain.Send()
	}
	if p.begun {
		return nil
	}
	p.begun, p.age = true, 0
	p.stage()
	p.flight.Lock()
	defer p.flight.Unlock()
	if p.result = nil; p.replay {
		p.waits = true
		return nil
	}
	if p.orders == nil {
		p.orders, p.done = make(chan struct{}, 1), make(chan flown, 1)
		go func() {
			for range p.orders {
				p.done <- p.fly()
			}
			close(p.done)
		}()
	}
	p.running = true
	p.orders <- struct{}{}
	return nil
}

// fly is an exchange whose panic is the caller's of finish.
func (p *pacedChain) fly() (end flown) {
	defer func() { end.panic = recover() }()
	end.err = p.exchange()
	return end
}

func (p *pacedChain) exchange() error {
	if err := p.LineChain.Send(); err != nil {
		return err
	}
	return p.LineChain.Receive()
}

// Receive implements hal.Bus. It blocks in the last cycle of an exchange.
func (p *pacedChain) Receive() error {
	if p.cycles == 1 {
		return p.LineChain.Receive()
	}
	if p.age++; !p.begun || p.age < p.cycles {
		return nil
	}
	p.flight.Lock()
	defer p.flight.Unlock()
	p.finish()
	p.collect()
	p.begun = false
	return p.result
}

// finish waits for the exchange under way. Under flight.
func (p *pacedChain) finish() {
	if p.waits {
		p.waits, p.result = false, p.exchange()
	}
	if p.running {
		end := <-p.done
		if p.running, p.result = false, end.err; end.panic != nil {
			panic(end.panic)
		}
	}
}

// collect makes the chain's states those that are shown. Under flight, without an exchange under way.
func (p *pacedChain) collect() {
	delay := time.Duration(p.cycles-1) * p.period
	for i := range p.shown {
		s := &p.shown[i]
		*s = *p.LineChain.State(i)
		s.Delay = delay
	}
	p.stats = p.LineChain.Stats()
}

// Pace reports how many cycles of period an exchange takes by the last ones: rising after a few that were too long,
// falling after many that had time to spare. The rig calls it between two cycles.
func (p *pacedChain) Pace(period time.Duration) int {
	p.period = period
	s := p.Stats()
	if s.Cycles == p.taken {
		return p.cycles
	}
	p.took[p.taken%paceSamples] = s.Spent
	p.taken = s.Cycles
	sorted := p.took
	slices.Sort(sorted[:])
	if long := sorted[paceSamples-paceSlow]; long > time.Duration(p.cycles)*period {
		p.fits = 0
		return int(long/period) + 1
	}
	if p.fits++; p.cycles == 1 || s.Spent > time.Duration(p.cycles-1)*period*9/10 {
		p.fits = 0
	}
	if p.fits >= paceFast {
		p.fits = 0
		return p.cycles - 1
	}
	return p.cycles
}

// SetPace lets an exchange span n cycles of period from the next one on. The rig calls it between two cycles.
func (p *pacedChain) SetPace(n int, period time.Duration) {
	p.flight.Lock()
	defer p.flight.Unlock()
	p.finish()
	p.goals.Lock()
	p.period, p.cycles, p.begun = period, n, false
	p.goals.Unlock()
	if c, ok := p.LineChain.(interface{ SetPeriod(time.Duration) }); ok {
		c.SetPeriod(time.Duration(n) * period)
	}
	p.stage()
	p.collect()
}

// Halt implements servo.Chain. It waits for the exchange under way, which CutTorque ends.
func (p *pacedChain) Halt() []error {
	p.flight.Lock()
	defer p.flight.Unlock()
	p.finish()
	p.stage()
	defer p.collect()
	return p.LineChain.Halt()
}

// CutTorque implements hal.TorqueCutter for a chain that is one.
func (p *pacedChain) CutTorque() error {
	if c, ok := p.LineChain.(hal.TorqueCutter); ok {
		return c.CutTorque()
	}
	return nil
}

// ClearAlarms clears the alarms of all servos; see servo.GenericChain.
func (p *pacedChain) ClearAlarms() []error {
	p.flight.Lock()
	defer p.flight.Unlock()
	p.finish()
	if c, ok := p.LineChain.(interface{ ClearAlarms() []error }); ok {
		return c.ClearAlarms()
	}
	return nil
}

// Close implements servo.LineChain. It ends the goroutine of the exchanges.
func (p *pacedChain) Close() error {
	p.flight.Lock()
	defer p.flight.Unlock()
	p.finish()
	if p.orders != nil {
		close(p.orders)
		<-p.done
		p.orders = nil
	}
	return p.LineChain.Close()
}
