package record

import (
	"bytes"

	"github.com/halyard-robotics/halyard/hal"
)

// Capture is the reader of the journal of a rig that repeats a recording: its last cycle in the form of a recording.
type Capture struct {
	journal *hal.Journal
	taps    *Taps
	forms   forms
	tape    tape

	States map[string][]byte // by topic, without the holder of the lease, which does not exist in a replay
	Lines  map[string][]byte // by topic; only lines that were used
}

// NewCapture reads the journal of rig, and listens to taps as well.
func NewCapture(rig *hal.Rig, taps *Taps) *Capture {
	taps.Count(rig)
	return &Capture{journal: rig.OpenJournal(1), taps: taps, forms: forms{}, States: map[string][]byte{},
		Lines: map[string][]byte{}}
}

// Take takes the cycle that has just ended, if one has.
func (c *Capture) Take() {
	select {
	case e := <-c.journal.Records():
		defer c.journal.Free(e)
		clear(c.States)
		clear(c.Lines)
		for i := range e.Agents {
			f := c.forms.of(e.Agents[i].Agent)
			c.States[f.topic] = f.append(nil, &e.Agents[i], e.Time, false)
		}
		for _, t := range c.taps.all() {
			if t.take(e.Number, &c.tape); !c.tape.empty() {
				c.Lines[LineTopic(t.bus)] = c.tape.append(nil, e.Number)
			}
		}
	default:
	}
}

// sameState reports whether a state that was recorded is the one of a replay.
func sameState(recorded, replayed []byte) bool {
	n := len(replayed) - 1 // its closing brace
	return n > 0 && len(recorded) > n && bytes.Equal(recorded[:n], replayed[:n]) &&
		(recorded[n] == '}' || bytes.HasPrefix(recorded[n:], []byte(`,"holder":`)))
}
