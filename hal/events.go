package hal

import "sync"

// EventID names one event of a rig. The zero EventID is no event.
type EventID uint32

// Events are the named things that may happen in a cycle: "/Control/StepCompleted", a collision, a joint's alarm.
// Names are declared once and stay. All methods may be called from any goroutine.
type Events struct {
	mu      sync.Mutex
	names   []string // index = EventID - 1
	ids     map[string]EventID
	pending []bool // raised since the last cycle's end
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
	e.pending = append(e.pending, false)
	id := EventID(len(e.names))
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
	if id != 0 && int(id) <= len(e.pending) {
		e.pending[id-1] = true
	}
}

// drain appends the ids raised since the last call to dst[:0], in order of declaration, and forgets them.
func (e *Events) drain(dst []EventID) []EventID {
	e.mu.Lock()
	defer e.mu.Unlock()
	dst = dst[:0]
	for i, p := range e.pending {
		if p {
			dst = append(dst, EventID(i+1))
			e.pending[i] = false
		}
	}
	return dst
}
