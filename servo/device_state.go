package servo

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Why a servo's values are not of this cycle, or its torque is off. They are the same for every vendor.
var (
	ErrNoReply = errors.New("no answer")
	ErrCorrupt = errors.New("answer mangled")
	ErrSkipped = errors.New("not asked: the period was over")
	ErrLost    = errors.New("lost: asked again every fiftieth cycle")

	ErrDiffers     = errors.New("reads back another value")
	ErrOutOfLimits = errors.New("outside of its limits, to which torque would make it leap: move the joint into " +
		"range by hand")

	ErrLatched   = errors.New("an alarm has taken the torque: clear it, then enable again")
	ErrPowerLost = errors.New("torque went off and it names no fault: its supply failed, or another program " +
		"switched it off: enable again")
	ErrNoTorque = errors.New("torque does not go on")
	ErrHalted   = errors.New("halted: enable again")
	ErrReturned = errors.New("was lost, and does not report whether it has torque: enable again")
	ErrRegained = errors.New("the line was lost and is back: enable again")
)

// Stage is where a servo is on its way to torque.
type Stage uint8

// The stages.
const (
	TorqueOff Stage = iota // torque off, as commanded, or not on yet
	TorqueOn               // torque was commanded on and goals are written
	// torque was lost without a command: no goal is written until Enable has been false once; State.Inhibit is the
	// reason
	Inhibited
)

// Switch is the last known state of a torque switch that only some reads show.
type Switch uint8

// The states of a switch.
const (
	Unknown Switch = iota
	Off
	On
)

// SwitchOf is On or Off.
func SwitchOf(on bool) Switch {
	if on {
		return On
	}
	return Off
}

// DeviceState is the vendor-independent state of one servo of a chain: its command, its feedback, and its stage of
// switching torque on. Call Init before use; only its chain writes to it.
type DeviceState struct {
	Goal  Goal
	State State

	Stage   Stage
	Torque  Switch // as last read
	Seen    bool   // torque was read as on since it was commanded on
	Verify  bool   // the switch must be read
	Latched bool   // an alarm took the torque: it has to be cleared first
	Opening bool   // torque was commanded on, and it takes no goals yet: its brake opens

	// Errors of the cycle, made once: a servo without a reply for an hour causes no allocation.
	NoReply, Corrupt, Unasked, Skipped, Away *hal.Error

	strange   float64 // an implausible position, accepted if the next one agrees
	strangeAt time.Duration
	doubted   bool

	attempts int  // of switching torque on without seeing it
	spins    bool // the last goal written was no position
	resting  bool
	restAt   float64
	written  float64 // the last position goal; NaN = none
}

// Init forgets everything; bus, id and joint name the servo in its errors.
func (m *DeviceState) Init(bus string, id int, joint string) {
	fault := func(kind hal.Kind, err error) *hal.Error {
		return &hal.Error{Kind: kind, Bus: bus, ID: id, Joint: joint, Op: "read", Err: err}
	}
	// Nothing is known yet: NaN, and a time before all others.
	nan := math.NaN()
	*m = DeviceState{
		State: State{Position: nan, Velocity: nan, Effort: nan, Ceiling: nan, Homing: nan, Voltage: nan,
			Temperature: nan, Time: -1},
		NoReply: fault(hal.Timeout, ErrNoReply), Corrupt: fault(hal.BusFault, ErrCorrupt),
		Unasked: fault(hal.Timeout, ErrLost), Skipped: fault(hal.Timeout, ErrSkipped),
		Away: fault(hal.Absent, ErrDisconnected), written: nan,
	}
	m.State.Err = m.Unasked
}

// Maximum number of attempts to switch torque on without a confirmation, and of refused settings that torque requires.
const (
	maxAttempts = 5
	maxRefusals = 3
)

// SawTorque compares the switch, as just read, with the command. taken reports that an alarm has switched torque off.
// It reports whether torque is on and meant to be.
func (m *DeviceState) SawTorque(s Switch, taken bool) bool {
	m.Torque, m.Verify = s, false
	switch {
	case m.Stage != TorqueOn:
		// Commanded off: keep reading until it is.
		m.Verify = s == On && !m.Goal.Enable
	// The servo protects itself: only clearing the alarm may end that.
	case taken:
		m.Latched = true
		m.Hold(ErrLatched)
	// It was not commanded: its RAM is lost, and with it settings and goals.
	case s == Off && m.Seen:
		m.Hold(ErrPowerLost)
	case s == Off:
		// The switch was never seen on: the packet may have been lost. Try again a few times.
		m.Stage = TorqueOff
		m.refuse(ErrNoTorque, maxAttempts)
	default:
		m.Seen, m.attempts = true, 0
		return true
	}
	return false
}

// Hold stops writing to m until Enable has been false once.
func (m *DeviceState) Hold(why error) {
	m.Stage, m.Seen, m.attempts = Inhibited, false, 0
	// A copy: the caller may keep it while the next one is made.
	e := *m.NoReply
	e.Kind, e.Op, e.Err = hal.BusFault, "torque", why
	m.State.Inhibit = &e
}

// refuse notes that torque did not go on, or that the servo did not store a setting that torque requires. A single
// refusal may be an error of the line: after limit in a row torque stays off until Enable has been false once.
func (m *DeviceState) refuse(why error, limit int) {
	if m.attempts++; m.attempts >= limit {
		m.Hold(why)
	}
}

// Release begins the way to torque again, as the fall of Enable does: earlier errors are forgotten. It reports
// whether there was anything to forget.
func (m *DeviceState) Release() bool {
	m.attempts = 0
	if m.Stage == TorqueOff {
		return false
	}
	m.Stage, m.State.Inhibit, m.Torque, m.Seen = TorqueOff, nil, Unknown, false
	return true
}

// Arm notes that torque was commanded on; the switch must be verified.
func (m *DeviceState) Arm() {
	m.spins = m.turns()
	m.Stage, m.Torque, m.Seen, m.Verify, m.State.Inhibit = TorqueOn, Unknown, false, true, nil
}

// Disarm notes that torque was commanded off for a while, for a change that requires it.
func (m *DeviceState) Disarm() { m.Stage, m.Torque, m.Seen, m.Verify = TorqueOff, Unknown, false, true }

// Position is the position goal, ticks within low..high. If idle (the goal is not a position, or rest is requested) it
// is the servo's position when that began: a joint that is pushed away returns to it.
func (m *DeviceState) Position(rest, idle bool, low, high float64) float64 {
	idle = idle || math.IsNaN(m.Goal.Position)
	if rest || idle && !m.resting {
		m.restAt = m.State.Position
	}
	m.resting = rest || idle
	v := m.Goal.Position
	if m.resting {
		v = m.restAt
	}
	if g := &m.Goal; g.Low < g.High && !m.turns() {
		v = min(max(v, g.Low), g.High)
	}
	m.written = min(max(v, low), high)
	return m.written
}

// Outside is ErrOutOfLimits if the servo, which has turn ticks a turn, is outside low..high, except for noise and
// backlash: its first goal would be the nearer limit, not its position.
func (m *DeviceState) Outside(low, high, turn float64) error {
	at, near := m.State.Position, turn*jitterShare
	if m.turns() || at >= low-near && at <= high+near {
		return nil
	}
	return fmt.Errorf("position: got %.0f ticks, want %.0f..%.0f, %w", at, low, high, ErrOutOfLimits)
}

// turns reports that the goal is not a position: the servo may turn freely.
func (m *DeviceState) turns() bool {
	return m.Goal.Mode != hal.PositionMode && m.Goal.Mode != hal.NoMode
}

// Bounded is a goal of a mode without positions: v within ±limit, 0 at rest and where it is not known.
func Bounded(v, limit float64, rest bool) float64 {
	if rest || math.IsNaN(v) {
		return 0
	}
	return min(max(v, -limit), limit)
}

// Share is the goal's limit, 0..1; unknown means everything.
func (m *DeviceState) Share() float64 {
	if math.IsNaN(m.Goal.Limit) {
		return 1
	}
	return min(max(m.Goal.Limit, 0), 1)
}

// Greatest distance between two positions, in addition to the turn at twice the maximum speed: a share of a turn for
// noise and play; and the greatest distance after any time.
const (
	jitterShare = 1. / 128
	farShare    = 1. / 8
)

// strayShare of a turn is how far from its last goal a servo may be that is sent no other: more than it gives way
// under its load.
const strayShare = 1. / 20

// Believes reports whether the servo, which has turn ticks a turn and turns at speed rad/s, can be at ticks at now. The
// distance from the last position must be possible in the time since, unless the position is received twice. An eight
// bit checksum passes one corrupt reply in 256, and some lines have no checksum. If the servo turns freely, or crosses
// a dead sector, every position is accepted.
func (m *DeviceState) Believes(ticks, turn, speed float64, now time.Duration) bool {
	near := math.Abs(ticks-m.State.Position) <= jitterShare*turn // the usual case
	if near || m.turns() || math.IsNaN(m.State.Position) ||
		reaches(ticks, m.State.Position, turn, speed, now-m.State.Time) ||
		m.doubted && reaches(ticks, m.strange, turn, speed, now-m.strangeAt) {
		m.doubted = false
		return true
	}
	m.strange, m.strangeAt, m.doubted = ticks, now, true
	return false
}

// reaches reports whether a servo can turn from one position to another in dt.
func reaches(to, from, turn, speed float64, dt time.Duration) bool {
	way := speed * turn / math.Pi * dt.Seconds()
	far := math.Abs(to - from)
	far = min(far, math.Abs(far-turn)) // it may count from 0 again
	return far <= min(way, farShare*turn)+jitterShare*turn
}

// Gone notes that the line was lost: whether the servo still holds torque is not known.
func (m *DeviceState) Gone() { m.State.Err, m.State.Torque, m.Torque = m.Away, false, Unknown }

// Regained notes that the line is back. A goal of some seconds ago is no goal of now: a servo that had torque waits for
// Enable to have been false once.
func (m *DeviceState) Regained() {
	if m.Stage == TorqueOn {
		m.Hold(ErrRegained)
	}
	m.Verify = true
}

// strays reports that m, which has turn ticks a turn, is far from its last position goal.
func (m *DeviceState) strays(turn float64) bool {
	return math.Abs(math.Remainder(m.State.Position-m.written, turn)) > strayShare*turn
}

// Error is an error of m.
func (m *DeviceState) Error(kind hal.Kind, op string, err error) error {
	e := *m.NoReply
	e.Kind, e.Op, e.Err = kind, op, err
	if e.ID == 0 { // hal.Error leaves out id 0, which is a servo here
		e.Op = "id 0: " + op
	}
	return &e
}
