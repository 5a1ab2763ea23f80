package hal

import (
	"math/bits"
)

// EventID names one event of a rig. The zero EventID is no event.
type EventID uint32

// Events are the named things that may happen in a cycle: "/Control/StepCompleted", a collision, a joint's alarm.
// Names are declared once and stay. All methods may be called from any goroutine.
type Events struct {
	mu      leafLock
	names   []string // index = EventID - 1
	ids     map[string]EventID
	pending []uint64 // raised since the last cycle's end: bit n of word w is of names[64*w+n]
	asked   map[EventID]func()
}

func newEvents() *Events { return &Events{ids: map[string]EventID{}, asked: map[EventID]func(){}} }

// Declare makes name known and returns its id, the same one each time.
func (e *Events) Declare(name string) EventID {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id, ok := e.ids[name]; ok {
		return id
	}
	e.names = append(e.names, name)
	id := EventID(len(e.names))
	if len(e.pending)*64 < len(e.names) {
		e.pending = append(e.pending, 0)
	}
	e.ids[name] = id
	return id
}

// DeclareFor is Declare for an event that is costly to detect: asked is called at each lookup, in the goroutine of the
// caller. Detection may start then.
func (e *Events) DeclareFor(name string, asked func()) EventID {
	id := e.Declare(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked[id] = asked
	return id
}

// Lookup finds a declared event.
func (e *Events) Lookup(name string) (EventID, bool) {
	e.mu.Lock()
	id, ok := e.ids[name]
	asked := e.asked[id]
	e.mu.Unlock()
	if asked != nil {
		asked()
	}
	return id, ok
}

// Name is the name that id was declared with, or "".
func (e *Events) Name(id EventID) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id == 0 || int(id) > len(e.names) {
		return ""
	}
	return e.names[id-1]
}

// Raise marks id as having occurred; observers see it once, at the end of the running or next cycle.
func (e *Events) Raise(id EventID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if id != 0 && int(id) <= len(e.names) {
		e.pending[(id-1)/64] |= 1 << ((id - 1) % 64)
	}
}

// drain appends the ids raised since the last call to dst[:0], in order of declaration, and forgets them.
func (e *Events) drain(dst []EventID) []EventID {
	e.mu.Lock()
	defer e.mu.Unlock()
	dst = dst[:0]
	for w, raised := range e.pending {
		for e.pending[w] = 0; raised != 0; raised &= raised - 1 {
			dst = append(dst, EventID(w*64+bits.TrailingZeros64(raised)+1))
		}
	}
	return dst
}
