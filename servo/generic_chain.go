package servo

import (
	"cmp"
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Protocol is a vendor's part of a GenericChain: its packets. i is the index of a servo. All methods are called
// from the chain's goroutine while there is a line. ErrNoReply and ErrCorrupt are errors of one servo, all others are
// errors of the line.
type Protocol interface {
	// Connect takes the line that has just been opened.
	Connect(x *Exchange)
	// Identify reads model and settings of servo i. It moves nothing and enables no torque. Its error may be a
	// *hal.Error.
	Identify(i int) error
	// Ready reports whether torque of servo i may be switched on now. If its mode differs from its goal's, Ready
	// changes the mode first, once GenericChain.Resting allows it. ErrDiffers: the servo did not store a setting that
	// torque requires.
	Ready(i int) (bool, error)
	// StageTorqueOff stages torque off for servo i, StageTorqueOn one of the Steps of switching torque on at its
	// position.
	StageTorqueOff(i int)
	StageTorqueOn(i, step int)
	// StageGoal stages the goal of servo i; false if that needs another mode, which changes only with torque off.
	StageGoal(i int) bool
	Steps() int
	// Stage ends a group of staged packets, which is sent before later ones; Flush sends all.
	Stage()
	Flush() error
	// SyncRead reads the states of many with one request, fast or not, and calls GenericChain.MarkReceived for each
	// that replies.
	SyncRead(way Level, list []int) error
	// ReadState reads the state of servo i with a request of its own, ReadHealth its torque switch and its health.
	ReadState(i int) error
	ReadHealth(i int) error
	// Invalidate notes that values written to servo i may be lost.
	Invalidate(i int)
	// Clear clears a latched alarm of servo i; torque stays off.
	Clear(i int) error
	// ParserStats returns the counters of the line's parser.
	ParserStats() (badChecksums, garbage uint64)
}

// longReader is a Protocol without a separate request for health: SyncRead and ReadState read one device long.
type longReader interface {
	// ReadLong selects the device that the reads of this cycle read long, -1 = none; a lost device is always read long.
	ReadLong(i int)
	// ShowsHealth reports whether a long read shows the torque switch of servo i; else ReadHealth follows it.
	ShowsHealth(i int) bool
}

// tuner is a Protocol whose devices take the gains of their position control with torque on.
type tuner interface {
	// StageGain stages register P, I or D, 0 to 2, of servo i.
	StageGain(i, gain int, raw int64)
}

// Holder is a Protocol whose devices tell whether one that has torque holds a position: to switch it off would drop the
// joint.
type Holder interface {
	// Holds reports whether servo i is in its position mode and near its goal.
	Holds(i int) (bool, error)
}

// NearGoal reports whether a servo of turn ticks a turn that is at ticks holds a goal, as far as noise, play and load
// allow.
func NearGoal(goal, ticks, turn float64) bool { return math.Abs(goal-ticks) <= 2*jitterShare*turn }

// GoalVerifier is a Protocol whose devices go to their goal register at torque-on. A lost packet leaves an old goal
// there.
type GoalVerifier interface {
	// TorqueStep is the step of StageTorqueOn that switches torque on. The steps before it write the goal.
	TorqueStep() int
	// TookGoal reads the goal of servo i back. ErrDiffers is another goal than was written.
	TookGoal(i int) error
}

// SameGoal compares a position goal, ticks, as read back and as written, of a servo of turn ticks a turn. It allows
// what noise and play allow: while torque is off a firmware may let its goal follow the position.
func SameGoal(got, want int64, turn float64) error {
	if math.Abs(float64(got-want)) <= jitterShare*turn {
		return nil
	}
	return Unequal(got, want)
}

// ChainSpec is a vendor's chain without its config.
type ChainSpec struct {
	LastID           int  // maximum id
	Bits             int  // of a byte on the wire
	Out, In          int  // bytes of the longest packets: all staged together, all replies together
	NoLimit          bool // devices cannot limit their effort: a limit of zero is made by switching torque off
	TorqueUnreported bool // devices do not report their torque state: after a loss, Enable must have been false once
	// Base is the best way to read servo i; nil = SingleReads.
	Base  func(i int) Level
	Known func(i int) bool // the model of servo i is one of the vendor's
	// Faults are faults in the config of servo i, in addition to its id and its settings; nil = none. Open reports
	// them.
	Faults func(i int) []error
}

// Device is one servo of a chain: its state that does not depend on the vendor.
type Device struct {
	DeviceState
	Reading
	ID     int
	Barred bool // another model replies at this id: it is not used
	met    bool
	looked bool // its health was read since it was met
	fresh  bool // armed in this Send
	again  bool // and not for the first time: its torque was not confirmed
	doubt  bool // back after a loss and not checked yet: gets no goals
	gains  [3]gain
	base   Level
	clears clearLimit
}

// gain is one register of a servo's gains: its value as written, and how often it is written again, since no reply
// confirms it.
type gain struct {
	raw    int64
	repeat int8
	known  bool
}

// The gains written in one Send, and how often each is.
const (
	gainsInSend = 4
	gainRepeats = 3
)

// GenericChain runs the cycle of a chain of servos for any vendor's Protocol. It keeps the state of each servo, which
// of them has torque, and the line. One goroutine calls it. It is a Chain.
//
// Send stages and sends the goals of all servos with torque, changed or not, which repairs a lost packet. Receive reads
// all servos, with one request where possible. A servo that did not reply is polled by itself in the next cycle, after
// three misses in every fiftieth cycle. Each cycle reads the health of at most one more servo: one whose torque switch
// must be verified, or the next in turn.
type GenericChain struct {
	Devices []Device
	staged  []Goal // of the next Send

	cfg      ChainConfig
	spec     ChainSpec
	protocol Protocol
	long     longReader   // nil if the protocol does not implement it
	tuner    tuner        // likewise
	tuned    int          // the next servo whose gains are looked at
	goals    GoalVerifier // likewise
	x        *Exchange
	line     Line // nil while it is lost
	reopen   Reconnector
	cycle    uint64
	turn     int  // next servo of the health rotation
	next     int  // next servo to read by itself, if the period is too short for all
	silences int  // servos that did not answer in this cycle
	prepared bool // a servo was prepared for torque in this Send
	list     []int
	stats    Stats
	cut      cut

	busy  int     // of a paced line: further cycles of the exchange that is under way
	shown []State // what State shows meanwhile

	flight flight
}

// healthInterval is the number of cycles of period between two health reads: at least five, and at least 50 ms. Heat
// and the torque switch do not change faster in a short cycle, and a short cycle has the least bus time for reads.
func healthInterval(period time.Duration) int {
	const least, pause = 5, 50 * time.Millisecond
	if period <= 0 {
		return least
	}
	return max(least, int((pause+period-1)/period))
}

// NewGenericChain returns a chain; nothing is sent until Open.
func NewGenericChain(cfg ChainConfig, spec ChainSpec, p Protocol) *GenericChain {
	cfg.Health = cmp.Or(cfg.Health, healthInterval(cfg.Period))
	r := &GenericChain{cfg: cfg, spec: spec, protocol: p, Devices: make([]Device, len(cfg.Servos)),
		staged: make([]Goal, len(cfg.Servos)), list: make([]int, 0, len(cfg.Servos)), x: &Exchange{}}
	r.long, _ = p.(longReader)
	r.tuner, _ = p.(tuner)
	r.goals, _ = p.(GoalVerifier)
	r.reopen = Reconnector{Bus: cfg.Name, Open: cfg.Reopen}
	for i := range cfg.Servos {
		s, c := &r.Devices[i], &cfg.Servos[i]
		s.ID = int(c.ID)
		s.Init(cfg.Name, s.ID, c.Joint)
		if s.base = SingleReads; spec.Base != nil {
			s.base = max(spec.Base(i), cfg.Reading)
		}
		s.Restart(s.base)
	}
	r.flight.cycles = 1
	if cfg.Spans {
		r.flight.shown, r.flight.goals = make([]State, len(cfg.Servos)), make([]Goal, len(cfg.Servos))
	}
	if cfg.Paced {
		r.shown = make([]State, len(cfg.Servos))
	}
	if cfg.Line != nil {
		r.connect(cfg.Line)
	}
	return r
}

func (r *GenericChain) connect(line Line) {
	abort := r.x.Abort
	r.line, r.x = line, NewExchange(line, r.spec.Bits, r.spec.Out, r.spec.In)
	r.x.Latency, r.x.Abort = r.cfg.Latency, abort
	r.protocol.Connect(r.x)
}

// Units returns the units and ranges of servo i's values.
func (r *GenericChain) Units(i int) Units { return r.cfg.Servos[i].Model.Units() }

// Inline lets a lost line be opened within the cycle, for lines in memory; see Reconnector. Call it before Send.
func (r *GenericChain) Inline() { r.reopen.Inline = true }

// SetGoal stages the goal of servo i from the next Send on. It may be called while another body of the line halts.
func (r *GenericChain) SetGoal(i int, g Goal) {
	r.cut.goals.Lock()
	r.staged[i] = g
	r.cut.goals.Unlock()
}

// takeGoals makes the staged goals those of the servos; of an exchange that spans cycles those that were when it began.
func (r *GenericChain) takeGoals() {
	r.cut.goals.Lock()
	from := r.staged
	if r.flight.long() {
		from = r.flight.goals
	}
	for i := range r.Devices {
		r.Devices[i].Goal = from[i]
	}
	r.cut.goals.Unlock()
}

// State returns the last state of servo i. The chain changes it in Send, Receive and Halt.
func (r *GenericChain) State(i int) *State {
	switch {
	case r.flight.long():
		return &r.flight.shown[i]
	case r.busy > 0:
		return &r.shown[i]
	}
	return &r.Devices[i].State
}

// occupied counts a cycle of an exchange that is longer than the period, and reports whether there is one.
func (r *GenericChain) occupied() bool {
	if r.busy == 0 {
		return false
	}
	r.busy--
	return true
}

// pace notes for how many further cycles the exchange that has just ended occupies its line.
func (r *GenericChain) pace() {
	if r.cfg.Period > 0 && r.stats.Spent > r.cfg.Period {
		r.stats.Overran++
		if r.cfg.Paced {
			r.busy = int((r.stats.Spent - 1) / r.cfg.Period)
		}
	}
}

// Fault returns why servo i has no torque although it is commanded on, or nil. Torque stays off until Enable has been
// false once.
func (r *GenericChain) Fault(i int) error { return r.State(i).Inhibit }

// Stats returns the counts so far.
func (r *GenericChain) Stats() Stats {
	from := &r.stats
	if r.flight.long() {
		from = &r.flight.stats
	}
	s := *from
	s.Span = r.flight.cycles
	return s
}

// IsServoError reports whether err is a missing or corrupt reply of one servo, not an error of the line.
func IsServoError(err error) bool { return errors.Is(err, ErrNoReply) || errors.Is(err, ErrCorrupt) }

// Close closes the line and waits for a running attempt to reopen it. It does not switch torque off: call Halt first.
func (r *GenericChain) Close() error {
	r.ground()
	err := r.reopen.Close()
	if r.line == nil {
		return err
	}
	line := r.line
	r.line = nil
	return errors.Join(err, line.Close())
}

// lineError adds bus and servo to an error of servo s or of the port. If the adapter is lost it closes the line.
func (r *GenericChain) lineError(s *Device, op string, err error) error {
	if errors.Is(err, ErrDisconnected) {
		if r.line != nil {
			r.lose(err)
		}
		return r.reopen.Lost()
	}
	_, known := errors.AsType[*hal.Error](err)
	switch {
	case err == nil || known:
		return err
	case s == nil:
		return &hal.Error{Kind: hal.BusFault, Bus: r.cfg.Name, Err: err}
	case errors.Is(err, ErrNoReply):
		return s.Error(hal.Timeout, op, err)
	}
	return s.Error(hal.BusFault, op, err)
}

// lose closes the line.
func (r *GenericChain) lose(err error) {
	r.line.Close() // it is lost: a second error adds nothing
	r.line = nil
	r.reopen.Lose(err)
	for i := range r.Devices {
		r.Devices[i].Gone()
	}
}

// attend reopens a lost line and never blocks. nil means that there is a line. After the loss servos may have lost
// their power, or hold torque on an old goal.
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
		s.Restart(s.base)
		r.protocol.Invalidate(i)
	}
	return nil
}

// wanted reports whether s must have torque.
func (r *GenericChain) wanted(s *Device) bool {
	return s.Goal.Enable && !(r.spec.NoLimit && s.Share() == 0)
}

// ready reports whether torque of servo i can be switched on now: it replied in the last cycle and no alarm is latched.
func (r *GenericChain) ready(i int) (bool, error) {
	s := &r.Devices[i]
	switch {
	case s.Barred || s.Lost || !s.met || s.State.Err != nil || math.IsNaN(s.State.Position):
		return false, nil
	// Enabling it again would clear the latch.
	case s.Latched:
		s.Hold(ErrLatched)
		return false, nil
	}
	// Its first goal would be its nearer soft limit.
	if g := &s.Goal; g.Low < g.High {
		if err := s.Outside(g.Low, g.High, r.Units(i).TicksPerTurn); err != nil {
			return false, err
		}
	}
	return r.protocol.Ready(i)
}

// Resting reports whether servo i may be prepared for torque now, which takes some exchanges: its torque is confirmed
// off, not only commanded off, and no other was prepared in this Send. A servo with torque is switched off.
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
