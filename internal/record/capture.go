package record

import (
	"bytes"

	"github.com/halyard-robotics/halyard/hal"
)

// Capture is the journal of a rig that repeats a recording: its last cycle in the form of a recording.
type Capture struct {
	taps  *Taps
	forms forms
	shot  shot
	tape  tape

	States map[string][]byte // by topic, without the holder of the lease, which does not exist in a replay
	Lines  map[string][]byte // by topic; only lines that were used
}

// NewCapture listens to taps as well.
func NewCapture(taps *Taps) *Capture {
	taps.Listen()
	return &Capture{taps: taps, forms: forms{}, States: map[string][]byte{}, Lines: map[string][]byte{}}
}

func (*Capture) Order(hal.Order) {}

func (c *Capture) Cycle(e hal.CycleEnd) {
	clear(c.States)
	clear(c.Lines)
	for _, a := range e.Agents {
		f := c.forms.of(a)
		c.shot.take(f, a)
		c.States[f.topic] = c.shot.append(nil, e.Time, false)
	}
	for _, t := range c.taps.all() {
		if t.take(&c.tape); !c.tape.empty() {
			c.Lines[LineTopic(t.bus)] = c.tape.append(nil, e.Number)
		}
	}
}

// sameState reports whether a state that was recorded is the one of a replay.
func sameState(recorded, replayed []byte) bool {
	n := len(replayed) - 1 // its closing brace
	return n > 0 && len(recorded) > n && bytes.Equal(recorded[:n], replayed[:n]) &&
		(recorded[n] == '}' || bytes.HasPrefix(recorded[n:], []byte(`,"holder":`)))
}
