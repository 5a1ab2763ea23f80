package wire

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Never is the time of an event that does not occur.
const Never = time.Duration(math.MaxInt64)

// Medium is the common part of every emulated line, bus, chip and camera: a clock, a plug and a plan of faults, under
// one lock. It is a hal.Clock. An embedding type must hold the lock for the members marked so.
type Medium struct {
	*sync.Mutex        // the lock of everything on the medium
	Plan               // under the lock
	Name        string // in errors

	edge   time.Duration // the end of the last period that has passed
	own    time.Duration // the host's time, at or beyond the edge
	gone   bool          // unplugged
	plug   int           // counts unpluggings: a line opened before the last one stays lost, like a device file
	note   func(now time.Duration)
	busy   bool // there was a fault when it was noticed last
	cycled bool // it is stepped in cycles
}

// NewMedium returns a medium that is plugged in. notice, if not nil, is called under the lock when a fault may have
// begun or ended. mu is the lock, nil = one of its own. seed and stream, the family of the line, seed the faults'
// random sources.
func NewMedium(name string, seed int64, stream uint64, mu *sync.Mutex, notice func(now time.Duration)) Medium {
	if mu == nil {
		mu = new(sync.Mutex)
	}
	if notice == nil {
		notice = func(time.Duration) {}
	}
	return Medium{Plan: newPlan(seed, stream), Name: name, Mutex: mu, note: notice}
}

// Time is the host's time. Under the lock.
func (m *Medium) Time() time.Duration { return m.own }

// EdgeTime is Edge. Under the lock.
func (m *Medium) EdgeTime() time.Duration { return m.edge }

// Pass moves the host's time to t, or leaves it where it is beyond, and lets everything notice. Under the lock.
func (m *Medium) Pass(t time.Duration) {
	m.own = max(m.own, t)
	faults := len(m.planted) > 0
	if !faults && !m.busy {
		return
	}
	m.busy = faults
	if gone := m.Find(Unplugged, All, m.own) != nil; gone != m.gone {
		if m.gone = gone; gone {
			m.plug++
		}
	}
	m.note(m.own)
}

// Lose makes everything that is open now be gone for good, as after an adapter was reset. Under the lock.
func (m *Medium) Lose() { m.plug++ }

// Plant is Fault under the lock, for media with own targets, which may be 0.
func (m *Medium) Plant(f Fault) {
	m.Add(f, m.own)
	m.Pass(m.own)
}

// Heal ends the faults of a kind and a target, and leaves all others. Under the lock.
func (m *Medium) Heal(kind Kind, target int) {
	m.planted = slices.DeleteFunc(slices.Clone(m.planted),
		func(p *Planted) bool { return p.Kind == kind && p.Target == target })
	m.Pass(m.moment())
}

// moment is the time at which faults are cleared: the cycle's edge, even if a host has waited beyond it; without
// cycles, the host's time.
func (m *Medium) moment() time.Duration {
	if m.cycled {
		return m.edge
	}
	return m.own
}

// Period moves the edge by dt. Under the lock.
func (m *Medium) Period(dt time.Duration) {
	m.edge += dt
	m.cycled = true
}

// Step ends a period of dt: the edge moves by it, and the host's time to the edge at least. Under the lock.
func (m *Medium) Step(dt time.Duration) {
	m.Period(dt)
	m.Pass(m.edge)
}

// Catch moves the edge to the host's time if the host's transfers took longer than the period. It reports whether they
// did. Under the lock.
func (m *Medium) Catch() bool {
	late := m.own > m.edge
	m.edge = max(m.edge, m.own)
	return late
}

// Edge is the time of the cycle's edge, for a poller in step with the cycle.
func (m *Medium) Edge() time.Duration {
	m.Lock()
	defer m.Unlock()
	return m.edge
}

// Now is the host's own time: the edge's, or later after its waits.
func (m *Medium) Now() time.Duration {
	m.Lock()
	defer m.Unlock()
	return m.own
}

// SleepUntil returns at once; the host's time is t then, or later.
func (m *Medium) SleepUntil(t time.Duration) {
	m.Lock()
	defer m.Unlock()
	m.Pass(t)
}

// Fault plants f, whose time begins now. Target 0 is All.
func (m *Medium) Fault(f Fault) {
	m.Lock()
	defer m.Unlock()
	f.Target = cmp.Or(f.Target, All)
	m.Plant(f)
}

// ClearFaults ends all faults. Devices without power start as at power-on.
func (m *Medium) ClearFaults() {
	m.Lock()
	defer m.Unlock()
	m.planted, m.busy, m.gone = nil, false, false
	m.note(m.moment())
}

// IsGone reports whether it is unplugged now. Under the lock.
func (m *Medium) IsGone() bool { return m.gone }

// Gone reports whether a line that was opened at this count of plug is lost. Under the lock.
func (m *Medium) Gone(plug int) bool { return m.gone || plug != m.plug }

// Plugged returns the count for Gone, or an error of kind hal.Absent while the medium is unplugged. Under the lock.
func (m *Medium) Plugged() (plug int, err error) {
	if m.gone {
		return m.plug, &hal.Error{Kind: hal.Absent, Bus: m.Name, Op: "open", Err: servo.ErrDisconnected}
	}
	return m.plug, nil
}
