package drivers

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// OutputWriterConfig configures an OutputWriter.
type OutputWriterConfig struct {
	Name     string // for errors: the device's name in the config
	Channels int
	// Clock and CycleTime are as in PollerConfig: where CycleTime is nil a goroutine of its own writes.
	Clock     hal.Clock
	CycleTime func() time.Duration
	// Gate, where not nil, cuts all channels off by another way than the bus: the OE pin of a PCA9685, a relay. It is
	// opened by the first write and closed first of all by a halt, without waiting for the bus. It must not block.
	Gate func(open bool) error
}

// refresh is the interval at which unchanged pulses are written again, to detect a loss of the output.
const refresh = 100 * time.Millisecond

// OutputWriter writes the pulses of one output in its own goroutine, so that the caller never waits; the newest pulses
// win. It opens a lost device again, and writes the pulses again. It is a hal.Bus.
type OutputWriter struct {
	output Output
	config OutputWriterConfig

	open    func() error
	use     func() error
	wake    chan struct{} // has room for one: there are new pulses
	stop    chan struct{} // nil while no goroutine runs
	running sync.WaitGroup

	io    chan struct{} // full while the device is used; taken before mu, never after
	link  link
	wrote []time.Duration // as last handed to the device; io's

	mu     sync.Mutex
	goals  []time.Duration // as of the last Send
	staged []time.Duration // of this cycle
	halted bool            // until the next Send
	begun  uint64          // times that pulses began: the device was opened, or was halted
	forgot uint64          // times that what it moves was put elsewhere
	at     time.Duration   // when the device last took its pulses; < 0 = never
	tried  time.Duration   // when it was last tried
	shut   bool            // the gate was lost
	err    error
}

// NewOutputWriter returns the writer of o, no channel with a pulse. It does no I/O.
func NewOutputWriter(o Output, c OutputWriterConfig) *OutputWriter {
	c.Clock = cmp.Or(c.Clock, hal.WallClock())
	f := &OutputWriter{output: o, config: c, wake: make(chan struct{}, 1), io: make(chan struct{}, 1), at: -1,
		tried: -refresh, wrote: make([]time.Duration, c.Channels), goals: make([]time.Duration, c.Channels),
		staged: make([]time.Duration, c.Channels)}
	f.open = func() error {
		// Pulses commanded before the loss do not apply to a device that has just come back.
		f.mu.Lock()
		f.begun++
		clear(f.goals)
		clear(f.wrote)
		f.mu.Unlock()
		return o.Open()
	}
	f.use = func() error { return o.Write(f.wrote) }
	return f
}

// Open opens the output; no channel has pulses then. If it is absent, the error is hal.Absent and no goroutine runs.
func (f *OutputWriter) Open() error {
	if err := f.open(); err != nil {
		return err
	}
	f.link.open = true
	f.mu.Lock()
	f.at = f.config.Clock.Now() // the commanded state is written: no pulses
	f.mu.Unlock()
	if f.config.CycleTime == nil {
		f.stop = make(chan struct{})
		f.running.Go(f.run)
	}
	return nil
}

// Close ends the writing, after the write that is under way, and closes the output. It leaves the pulses as they are:
// to end them, call Halt first.
func (f *OutputWriter) Close() error {
	if f.stop != nil {
		close(f.stop)
		f.running.Wait()
		f.stop = nil
	}
	f.io <- struct{}{}
	defer func() { <-f.io }()
	return f.output.Close()
}

// Stage sets the pulse width of channel i from the next Send on; 0 is no pulses.
func (f *OutputWriter) Stage(i int, pulse time.Duration) {
	f.mu.Lock()
	f.staged[i] = pulse
	f.mu.Unlock()
}

// Send passes the staged pulses on: in virtual time to the device, else to the writer's goroutine. It never fails:
// State has the device's error.
func (f *OutputWriter) Send() error {
	f.mu.Lock()
	copy(f.goals, f.staged)
	f.halted = false
	f.mu.Unlock()
	if f.config.CycleTime != nil {
		if f.config.Clock.Now() <= f.config.CycleTime() { // else the device still has its previous command
			f.feed()
		}
		return nil
	}
	select {
	case f.wake <- struct{}{}:
	default: // it has not seen the last ones yet; it will see these
	}
	return nil
}

// Receive does nothing: an output has no feedback.
func (f *OutputWriter) Receive() error { return nil }

// run is the goroutine of its own. It writes when the cycle sends, never by itself: pulses that another process has
// ended since the cycle hangs do not begin again.
func (f *OutputWriter) run() {
	for {
		select {
		case <-f.stop:
			return
		case <-f.wake:
			f.feed()
		}
	}
}

// feed writes the goals, if they are new or it is time to see whether the device is still there.
func (f *OutputWriter) feed() {
	f.io <- struct{}{}
	defer func() { <-f.io }()
	if !f.due() {
		return
	}
	err := f.link.attempt(f.open, f.use)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.config.Gate != nil && !f.halted {
		err = f.pass()
	}
	now := f.config.Clock.Now()
	if f.tried, f.err = now, err; err == nil {
		f.at = now
	}
}

// pass opens the gate for pulses. One that was lost has cut them off: it must be there again, closed, and then they
// begin again, as those of a board that was away. Under the lock.
func (f *OutputWriter) pass() error {
	if f.shut {
		err := f.config.Gate(false)
		f.shut = err != nil
		return err
	}
	if slices.Max(f.wrote) == 0 {
		return nil
	}
	err := f.config.Gate(true)
	if err != nil {
		f.shut = true
		f.begun++
		clear(f.goals)
	}
	return err
}

// due takes the goals and reports whether the device is to be used for them now. Under io.
func (f *OutputWriter) due() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.halted {
		return false
	}
	changed := !slices.Equal(f.goals, f.wrote)
	since := f.config.Clock.Now() - f.tried
	if !f.link.open && f.err != nil && since < retryEvery || !changed && f.err == nil && since < refresh {
		return false
	}
	copy(f.wrote, f.goals)
	return true
}

// ForgetReadings notes that what the outputs move was put to its defaults: its emulated world was reset.
func (f *OutputWriter) ForgetReadings() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgot++
}

// forgotten counts ForgetReadings.
func (f *OutputWriter) forgotten() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.forgot
}

// State returns the age of the last pulses that the device accepted (< 0: none), the number of restarts of the pulses,
// and the present error of the device. It never waits for the device.
func (f *OutputWriter) State() (age time.Duration, begun uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.config.Clock.Now()
	age, err = -1, f.err
	if f.at >= 0 {
		age = max(0, now-f.at)
	}
	// A write that does not return has no error; only its duration shows the fault.
	if err == nil && f.tried >= 0 && !f.halted && now-f.tried > 3*refresh+staleAfter {
		err = errStale
	}
	return age, f.begun, err
}

// CutTorque implements hal.TorqueCutter: it is Halt, with the acknowledgements requested again.
func (f *OutputWriter) CutTorque() error { return errors.Join(f.Halt()...) }

// Halt ends all pulses, at once by the gate and by the bus, and returns each channel's error, nil if it acknowledged.
// It waits for a running write. Only values staged and sent afterwards start pulses again.
func (f *OutputWriter) Halt() []error {
	var gate error
	f.mu.Lock()
	f.halted = true
	clear(f.goals)
	clear(f.staged)
	f.begun++
	if f.config.Gate != nil {
		gate = f.config.Gate(false)
	}
	f.mu.Unlock()
	f.io <- struct{}{}
	defer func() { <-f.io }()
	clear(f.wrote)
	errs := f.output.Off()
	for len(errs) < f.config.Channels {
		errs = append(errs, nil)
	}
	// A gate that did not close is a fault though the bus executed: it was there for the time when the bus does not.
	for i := range errs {
		errs[i] = cmp.Or(errs[i], gate)
	}
	return errs
}
