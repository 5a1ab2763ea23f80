package servo

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// send is Send under the line's lock.
func (r *GenericChain) send() error {
	if err := r.attend(); err != nil {
		return err
	}
	r.stats.Begin(r.x)
	r.x.begin()
	defer r.x.end()
	r.x.Out, r.prepared = r.x.Out[:0], false
	// 1. Torque off, for all that must have it off and are not known to; lost ones may still receive it.
	for i := range r.Devices {
		s := &r.Devices[i]
		wanted := r.wanted(s)
		if s.State.Kept = s.State.Kept && !wanted; s.Barred || s.State.Kept || wanted && !r.runsOn(i) {
			continue
		}
		if !wanted && s.Release() {
			r.protocol.Invalidate(i)
		}
		// Repeated in every Send until it was seen: one lost packet must not leave a joint driven.
		if s.Torque != Off {
			s.Verify = true
			r.protocol.StageTorqueOff(i)
		}
	}
	r.protocol.Stage()
	// 2. Those that must have torque and have not.
	r.list = r.list[:0]
	for i := range r.Devices {
		s := &r.Devices[i]
		if !r.wanted(s) || s.Stage != TorqueOff {
			continue
		}
		ok, err := r.ready(i)
		switch {
		// its own trouble: the others get their goals
		case errors.Is(err, ErrDiffers) || hal.KindOf(err) == hal.Unsafe || errors.Is(err, ErrOutOfLimits):
			s.refuse(err, maxRefusals)
		case err != nil && !IsServoError(err):
			return r.lineError(s, "mode", err)
		case ok && err == nil:
			s.again = s.attempts > 0
			s.Arm()
			s.fresh, s.gains = true, [3]gain{}
			r.list = append(r.list, i)
		}
	}
	for step := range r.protocol.Steps() {
		if r.goals != nil && step == r.goals.TorqueStep() {
			if err := r.verifyGoals(); err != nil {
				return err
			}
		}
		for _, i := range r.list {
			r.protocol.StageTorqueOn(i, step)
		}
		r.protocol.Stage()
	}
	r.tune()
	// 3. All goals; a servo armed in this Send already has its goal, the present position.
	for i := range r.Devices {
		if s := &r.Devices[i]; s.Stage == TorqueOn && !s.fresh && (!s.Lost && !s.doubt || s.still()) {
			if r.protocol.StageGoal(i) {
				s.spins = s.turns()
			} else {
				s.Disarm()
				r.protocol.StageTorqueOff(i)
			}
		}
		r.Devices[i].fresh = false
	}
	r.protocol.Stage()
	return r.lineError(nil, "", r.protocol.Flush())
}

// runsOn reports that servo i waits for Enable, may have torque, and does not hold its position: a wheel would turn on
// at its last goal, and a joint that was pushed away from its goal would rush back to it. What it is commanded
// meanwhile does not matter: the servo is still in the mode of its last goal.
func (r *GenericChain) runsOn(i int) bool {
	s := &r.Devices[i]
	return s.Stage == Inhibited && s.Torque != Off && (s.spins || s.strays(r.Units(i).TicksPerTurn))
}

// tune stages gains that have changed, of a few servos in turn: they must not make the cycle longer.
func (r *GenericChain) tune() {
	n, left := len(r.Devices), gainsInSend
	if r.tuner == nil {
		return
	}
	for k := 0; k < n && left > 0; k++ {
		i := (r.tuned + k) % n
		s := &r.Devices[i]
		if s.Stage != TorqueOn || s.fresh || s.Lost || s.doubt || !s.Goal.Tuned {
			continue
		}
		for g := range s.gains {
			raw, to := int64(math.Round(s.Goal.Gains[g])), &s.gains[g]
			if !to.known || raw != to.raw {
				*to = gain{raw: raw, repeat: gainRepeats, known: true}
			}
			if to.repeat > 0 && left > 0 {
				to.repeat--
				left--
				r.tuner.StageGain(i, g, raw)
				r.tuned = i + 1
			}
		}
	}
}

// verifyGoals leaves in r.list the servos that have taken the goal of their torque-on. The others are tried again in
// the next Send, as are those for which the period leaves no time.
func (r *GenericChain) verifyGoals() error {
	kept := r.list[:0]
	for k, i := range r.list {
		s := &r.Devices[i]
		if k > 0 && r.stats.Late(r.x, r.cfg.Period) {
			s.Disarm()
			continue
		}
		switch err := r.goals.TookGoal(i); {
		case err == nil:
			kept = append(kept, i)
		case errors.Is(err, ErrDiffers):
			s.Disarm()
			s.refuse(err, maxAttempts)
		case IsServoError(err):
			s.Disarm()
		default:
			return r.lineError(s, "goal", err)
		}
	}
	r.list = kept
	return nil
}

// Receive reads every servo's state and blocks for the replies. It takes the wire time of requests and replies; a
// missing reply adds 2 ms and the adapter's latency per request. It returns an error if the line is lost; a servo's own
// error is in its State.Err. An exchange that spans several cycles is waited for in the last one.
func (r *GenericChain) Receive() error {
	if r.flight.long() {
		return r.alight()
	}
	return r.receiveCycle()
}

func (r *GenericChain) receiveCycle() error {
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	if r.line == nil {
		return r.reopen.Lost()
	}
	if r.occupied() {
		return nil
	}
	for i := range r.shown {
		r.shown[i] = r.Devices[i].State
	}
	r.cycle++
	r.stats.Resume(r.x)
	chosen := -1
	if r.long != nil { // the device to read long is chosen before the read
		chosen = r.pick()
		r.long.ReadLong(chosen)
	}
	err := r.readGroup(FastReads)
	if err == nil {
		err = r.readGroup(SyncReads)
	}
	if err == nil {
		err = r.readAlone()
	}
	switch {
	case err != nil:
	case r.long == nil:
		err = r.readHealth(r.pick())
	case chosen >= 0 && r.Devices[chosen].Answered && !r.long.ShowsHealth(chosen):
		err = r.readHealth(chosen)
	}
	for i := range r.Devices { // replies to requests of Send count for the next Receive
		r.Devices[i].Answered = false
	}
	r.silences = 0
	if r.line != nil { // else the cycle is not finished, and not counted
		bad, garbage := r.protocol.ParserStats()
		r.stats.End(r.x, bad, garbage)
		r.pace()
	}
	return err
}

// readGroup reads all servos that take part with one request and counts the missing replies. The first missing one, in
// the order requested, may have blocked the replies after it.
func (r *GenericChain) readGroup(way Level) error {
	r.list = r.list[:0]
	for i := range r.Devices {
		if s := &r.Devices[i]; !s.Barred && s.Joins(way, r.cycle) {
			r.list = append(r.list, i)
		}
	}
	if len(r.list) == 0 {
		return nil
	}
	if err := r.protocol.SyncRead(way, r.list); err != nil && !IsServoError(err) {
		return r.lineError(nil, "", err)
	}
	first := true
	for _, i := range r.list {
		s := &r.Devices[i]
		if s.Answered {
			s.Kept(way, r.cycle)
			continue
		}
		s.Broke(way, r.cycle, first)
		first = false
		r.missed(s)
	}
	return nil
}

// readAlone reads single servos: those whose level has no group read, that missed the last group, or that are lost and
// due for a retry. After a servo did not reply, the rest is read only within the period, and first in the next cycle.
// At most one silent lost servo is read per cycle.
func (r *GenericChain) readAlone() error {
	n, over, first, some := len(r.Devices), false, r.next, false
	for pass := range 2 {
		lost := pass == 1
		if lost && !some {
			break
		}
		for k, i := 0, first; k < n; k, i = k+1, i+1 {
			if i == n {
				i = 0
			}
			s := &r.Devices[i]
			some = some || s.Lost
			if s.Barred || s.Lost != lost || !s.IsAlone(r.cycle) {
				continue
			}
			if !over && (r.silences > 0 || s.Misses > 0) && r.stats.Late(r.x, r.cfg.Period) {
				over, r.next = true, i
			}
			if over {
				if !lost {
					s.State.Err = s.Skipped
				}
				continue
			}
			if err := r.readOne(i); err != nil {
				return err
			}
			some = some || s.Lost
			if lost && s.Lost {
				return nil
			}
		}
	}
	return nil
}

// readOne asks servo i on its own. One that was not there when the chain was opened is met first.
func (r *GenericChain) readOne(i int) error {
	s := &r.Devices[i]
	if !s.met {
		err := r.identify(i)
		if r.line == nil {
			return err
		}
		if err != nil {
			return nil
		}
	}
	err := r.protocol.ReadState(i)
	switch {
	case err == nil:
		if !s.Answered { // else the protocol has noted it
			r.MarkReceived(i)
		}
	case IsServoError(err):
		s.Garbled = errors.Is(err, ErrCorrupt)
		r.missed(s)
	default:
		return r.lineError(s, "read", err)
	}
	return nil
}

// missed counts a miss of s and gives it up for a while after too many.
func (r *GenericChain) missed(s *Device) {
	if s.Miss(&s.DeviceState, r.cycle, r.x.Port.Now()) {
		r.stats.Timeouts++
		r.silences++
	}
}

// Missed is for a Protocol whose Flush waits for replies: servo i sent none, or a bad one.
func (r *GenericChain) Missed(i int, garbled bool) {
	s := &r.Devices[i]
	s.Garbled, s.Answered = garbled, true // polled in this cycle
	r.missed(s)
}

// MarkReceived notes that servo i answered; its vendor has filled its State but for Time and Err.
func (r *GenericChain) MarkReceived(i int) {
	s := &r.Devices[i]
	s.State.Time, s.State.Err = r.x.Port.Now(), nil
	returned, fell := s.Received(r.cycle)
	if fell {
		r.stats.Fallbacks++
	}
	// It may have lost its power meanwhile: written values are unknown until they have been read.
	if returned {
		r.protocol.Invalidate(i)
		if r.spec.TorqueUnreported && s.Stage == TorqueOn {
			s.Hold(ErrReturned)
		}
		if r.long == nil || !r.long.ShowsHealth(i) { // else it was read long
			s.Verify, s.doubt = true, true
		}
	}
}

// pick chooses the servo whose health is read in this cycle: one that must be verified, else the next in turn in every
// Health-th cycle, else -1. The rotation continues from there, so that a servo that must often be verified does not
// block the others.
func (r *GenericChain) pick() int {
	n, routine := len(r.Devices), r.cfg.Health > 0 && r.cycle%uint64(max(1, r.cfg.Health)) == 0
	chosen := -1
	for k := range n {
		i := (r.turn + k) % n
		s := &r.Devices[i]
		if s.Barred || s.Lost || !s.met || s.State.Err != nil && r.long == nil {
			continue
		}
		// A normal read may confirm the torque, but doubt ends only with a health read.
		if s.Verify || s.doubt {
			chosen = i
			break
		}
		if routine && chosen < 0 {
			chosen = i
		}
	}
	if chosen >= 0 {
		r.turn = (chosen + 1) % n
	}
	return chosen
}

// readHealth reads the torque switch and the health of servo i, -1 = no servo.
func (r *GenericChain) readHealth(i int) error {
	if i < 0 {
		return nil
	}
	s := &r.Devices[i]
	was := s.Stage
	switch err := r.protocol.ReadHealth(i); {
	case err == nil:
		s.doubt, s.looked, s.State.Torque = false, true, s.Torque == On
		if was == TorqueOn && s.Stage != TorqueOn { // its power or an alarm took the torque
			r.protocol.Invalidate(i)
		}
		return nil
	case IsServoError(err): // whether it is there is the state's reading to find out
		r.stats.Timeouts++
		return nil
	default:
		return r.lineError(s, "health", err)
	}
}

// ForgetReadings forgets where the servos were, and alarms: they were put elsewhere, as by the reset of an emulated
// world. Torque must be off. It is called between cycles.
func (r *GenericChain) ForgetReadings() {
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	r.busy = 0
	for i := range r.Devices {
		d := &r.Devices[i]
		d.State.Position, d.State.Voltage, d.State.Temperature = math.NaN(), math.NaN(), math.NaN()
		d.doubted, d.Latched, d.attempts = false, false, 0
	}
}
