package servo

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Protocol is a vendor's part of a GenericChain: its packets. i is the index of a servo. All methods are called
// from the chain's goroutine while there is a line; what they return is what went wrong: ErrNoReply or ErrCorrupt of one
// servo, anything else of the line itself.
type Protocol interface {
	// Connect takes the line that has just been opened.
	Connect(x *Exchange)
	// Identify reads model and settings of servo i. It moves nothing and enables no torque. Its error may be a *hal.Error.
	Identify(i int) error
	// Ready reports whether servo i may be given torque now. Where its mode is another than its goal's, it changes that
	// first, when GenericChain.Resting reports that it may. ErrDiffers is a servo that does not take what torque needs.
	Ready(i int) (bool, error)
	// StageTorqueOff stages torque off for servo i, StageTorqueOn one of the Steps of switching torque on at its position.
	StageTorqueOff(i int)
	StageTorqueOn(i, step int)
	// StageGoal stages the goal of servo i; false if that needs another mode, which changes only with torque off.
	StageGoal(i int) bool
	Steps() int
	// Stage ends what has been staged, which goes out before what is staged after; Flush sends it.
	Stage()
	Flush() error
	// SyncRead reads the states of many with one request and calls GenericChain.MarkReceived for each that answers.
	SyncRead(list []int) error
	// ReadState reads the state of servo i with a request of its own, ReadHealth its torque switch and its health.
	ReadState(i int) error
	ReadHealth(i int) error
	// Invalidate notes that what was written to servo i may be gone.
	Invalidate(i int)
	// Clear frees servo i of a latched alarm; torque stays off.
	Clear(i int) error
	// ParserStats is what the line's parser has counted.
	ParserStats() (badChecksums, garbage uint64)
}

// GenericChainConfig describes all servos of one line. Zero values give the defaults.
type GenericChainConfig struct {
	Bus     string // its name in errors
	Line    Line   // owned by the chain from NewGenericChain on
	Reopen  Opener // how to get the line back after it was lost; nil = never
	Devices []DeviceConfig
	LastID  int           // the greatest id of the vendor
	Period  time.Duration // of the cycle; bounds what asking for lost servos may cost in one. 0 = no bound
	Latency time.Duration // what the adapter may hold an answer back (FTDI: its latency timer)
	Health  int           // cycles from one ReadHealth to the next; each serves one servo in turn. 0 = as HealthInterval has it, below 0 = only where something has changed
	Bits    int           // of a byte on the wire
	Out, In int           // bytes of the longest packets, staged together and answered together
	NoLimit bool          // the vendor cannot limit its effort: a limit of zero is made by taking the torque off
}

// DeviceConfig is one servo of a chain.
type DeviceConfig struct {
	ID      int
	Joint   string  // in errors; may be empty
	Grouped bool    // it takes part in SyncRead
	Faults  []error // errors of its config, by its vendor; Open returns them and polls no servo
}

// Faults lists what is wrong with how a servo of a chain is described: its model is not known, or check refuses a setting.
func Faults(known bool, settings []Setting, check func(s Setting) error) (faults []error) {
	if !known {
		return []error{errors.New("no model")}
	}
	for _, s := range settings {
		if err := check(s); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// Device is one servo of a chain with everything known of it that is not of its vendor.
type Device struct {
	DeviceState
	Reading
	ID     int
	Barred bool // another model replies at this id: it is not used
	met    bool
	fresh  bool // armed in this Send
	doubt  bool // back after a loss and not looked at yet: no goals
	base   Level
	clears Clears
}

// The levels of reading.
const (
	groupLevel Level = iota
	aloneLevel
)

// GenericChain runs the cycle of a chain of servos for any vendor's Protocol. It keeps the state of each servo and the line.
// One goroutine calls it. It implements Chain except for Units, which a vendor adds.
//
// Send stages and sends the goals of all servos with torque, changed or not, which repairs a lost packet. Receive reads all
// servos, with one request where possible. A servo that did not reply is polled by itself in the next cycle, after three
// misses in every fiftieth. Each cycle reads the health of at most one more servo: one whose torque switch must be verified,
// or the next in turn.
type GenericChain struct {
	Devices []Device

	cfg      GenericChainConfig
	protocol Protocol
	x        Exchange
	line     Line // nil while it is lost
	reopen   Reconnector
	cycle    uint64
	turn     int  // next servo of the health rotation
	next     int  // next servo asked alone, where the period does not suffice for all
	silences int  // servos that did not answer in this cycle
	prepared bool // a servo was prepared for torque in this Send
	list     []int
	stats    Stats
	cut      cut
}

// HealthInterval is how many cycles of period pass from one look at a servo's health to the next: five, and 50 ms at least. What a
// look sees, heat and a switch that fell, changes no faster in a short cycle, where the wire has the least time for it.
func HealthInterval(period time.Duration) int {
	const least, pause = 5, 50 * time.Millisecond
	if period <= 0 {
		return least
	}
	return max(least, int((pause+period-1)/period))
}

// NewGenericChain returns a chain; nothing is sent until Open.
func NewGenericChain(cfg GenericChainConfig, b Protocol) *GenericChain {
	if cfg.Health == 0 {
		cfg.Health = HealthInterval(cfg.Period)
	}
	r := &GenericChain{cfg: cfg, protocol: b, Devices: make([]Device, len(cfg.Devices)), list: make([]int, 0, len(cfg.Devices))}
	r.reopen = Reconnector{Bus: cfg.Bus, Open: cfg.Reopen}
	for i, c := range cfg.Devices {
		s := &r.Devices[i]
		s.ID = c.ID
		s.Init(cfg.Bus, c.ID, c.Joint)
		if s.base = aloneLevel; c.Grouped {
			s.base = groupLevel
		}
		s.Restart(s.base, aloneLevel)
	}
	if cfg.Line != nil {
		r.connect(cfg.Line)
	}
	return r
}

func (r *GenericChain) connect(line Line) {
	r.line = line
	r.x = NewExchange(line, r.cfg.Bits, r.cfg.Out, r.cfg.In)
	r.x.Latency = r.cfg.Latency
	r.protocol.Connect(&r.x)
}

// Inline lets a lost line be opened within the cycle, for lines in memory; see Reconnector. Call it before Send.
func (r *GenericChain) Inline() { r.reopen.Inline = true }

// SetGoal stages what servo i must do from the next Send on.
func (r *GenericChain) SetGoal(i int, g Goal) { r.Devices[i].Goal = g }

// State returns the last state of servo i. The chain changes it in Send, Receive and Halt.
func (r *GenericChain) State(i int) *State { return &r.Devices[i].State }

// Fault returns why servo i has no torque although it is commanded on, or nil. Torque stays off until Enable has been false
// once.
func (r *GenericChain) Fault(i int) error { return r.Devices[i].State.Inhibit }

// Stats returns the counts so far.
func (r *GenericChain) Stats() Stats { return r.stats }

// IsServoError reports whether err is one servo's silence or noise, and no matter of the line.
func IsServoError(err error) bool { return errors.Is(err, ErrNoReply) || errors.Is(err, ErrCorrupt) }

// Close closes the line and waits for a try to get it back that is under way. Torque stays as it is: Halt first.
func (r *GenericChain) Close() error {
	err := r.reopen.Close()
	if r.line == nil {
		return err
	}
	line := r.line
	r.line = nil
	return errors.Join(err, line.Close())
}

// lineError passes on an error of servo s or of the port, with its place; when the adapter is gone the line is given up.
func (r *GenericChain) lineError(s *Device, op string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrDisconnected) {
		if r.line != nil {
			r.lose(err)
		}
		return r.reopen.Lost()
	}
	var told *hal.Error
	switch {
	case errors.As(err, &told):
		return err
	case s == nil:
		return &hal.Error{Kind: hal.BusFault, Bus: r.cfg.Bus, Err: err}
	case errors.Is(err, ErrNoReply):
		return s.Error(hal.Timeout, op, err)
	}
	return s.Error(hal.BusFault, op, err)
}

// lose closes the line.
func (r *GenericChain) lose(err error) {
	r.line.Close() // it is gone: there is nothing to learn from a second error
	r.line = nil
	r.reopen.Lose(err)
	for i := range r.Devices {
		r.Devices[i].Gone()
	}
}

// attend sees to a lost line and never blocks. nil means that there is a line. The servos of one that is back may have
// lost their power, or hold torque on an old goal.
func (r *GenericChain) attend() error {
	if r.line != nil {
		return nil
	}
	line := r.reopen.Attend()
	if line == nil {
		return r.reopen.Lost()
	}
	r.connect(line)
	r.stats.Reopened++
	for i := range r.Devices {
		s := &r.Devices[i]
		s.Regained()
		s.Restart(s.base, aloneLevel)
		r.protocol.Invalidate(i)
	}
	return nil
}

// wanted reports whether s must have torque.
func (r *GenericChain) wanted(s *Device) bool {
	return s.Goal.Enable && !(r.cfg.NoLimit && s.Share() == 0)
}

// ready reports whether servo i can be given torque now: it answered in the last cycle and no alarm has it latched.
func (r *GenericChain) ready(i int) (bool, error) {
	s := &r.Devices[i]
	switch {
	case s.Barred || s.Lost || !s.met || s.State.Err != nil || math.IsNaN(s.State.Position):
		return false, nil
	// Enabling it again would free it: that is not what latching is for.
	case s.Latched:
		s.Hold(ErrLatched)
		return false, nil
	}
	return r.protocol.Ready(i)
}

// Resting reports whether servo i may be prepared for torque now, which takes some exchanges: its torque was seen to be off,
// not only commanded off, and no other was prepared in this Send. One with torque is switched off.
func (r *GenericChain) Resting(i int) bool {
	s := &r.Devices[i]
	if s.Torque != Off {
		s.Verify = true
		r.protocol.StageTorqueOff(i)
		r.protocol.Stage()
		return false
	}
	was := r.prepared
	r.prepared = true
	return !was
}
