package drivers

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// PollerConfig describes how a sensor is polled.
type PollerConfig struct {
	Name   string        // for errors: the sensor's name in the layout
	Values int           // how many it measures, at least 1
	Period time.Duration // between the beginnings of two reads; 0 = each follows the one before
	// Clock is the one that the sensor waits by; nil = the wall's. Virtual time needs one.
	Clock hal.Clock
	// CycleTime, if not nil, is the time of the cycle's edge in a world of virtual time. The sensor is then read in
	// Receive, in step with the cycle; a reading that ends after the edge is visible at a later one. With nil the
	// poller reads in its own goroutine.
	CycleTime func() time.Duration
	// Jump is the greatest change of each value that is accepted at once; a larger one must be confirmed by the next
	// reading. I2C has no checksum, and one wrong bit is a wrong value. 0, or a slice that is too short: any change.
	Jump []float64
}

// Poller reads one sensor at its own rate, in its own goroutine, which it never keeps waiting: a reading has its time
// and its fault. It opens a lost device again. It is a hal.Bus, for the sake of virtual time.
type Poller struct {
	sensor Sensor
	config PollerConfig

	open    func() error // the sensor's Open and a read into scratch, made once: a cycle does not allocate
	use     func() error
	link    link      // the reader's
	scratch reading   // the reader's
	good    []float64 // the last values that were believed, and those that wait to be; the reader's
	doubted []float64
	next    time.Duration // when to read again; the reader's
	pending bool          // scratch waits for its time to come (virtual time)
	stop    chan struct{} // nil while no goroutine runs
	running sync.WaitGroup

	mu     sync.Mutex
	shown  reading
	opened time.Duration
	spinUp time.Duration // of its first reading, on top of staleAfter
}

// reading is the result of one read.
type reading struct {
	values []float64
	at     time.Duration // when the values were measured; < 0 = never
	ended  time.Duration // when the read was over, well or not
	err    error
	note   string
}

// NewPoller returns the poller of s. It does no I/O.
func NewPoller(s Sensor, c PollerConfig) *Poller {
	c.Clock = cmp.Or(c.Clock, hal.WallClock())
	p := &Poller{sensor: s, config: c, open: s.Open}
	unknown := func() []float64 { return slices.Repeat([]float64{math.NaN()}, max(1, c.Values)) }
	p.good, p.doubted = unknown(), unknown()
	if s, ok := s.(Patient); ok {
		p.spinUp = s.Patience()
	}
	p.use = func() error {
		for i := range p.scratch.values {
			p.scratch.values[i] = math.NaN()
		}
		return s.Read(p.scratch.values)
	}
	for _, r := range [...]*reading{&p.scratch, &p.shown} {
		r.values, r.at, r.ended = unknown(), -1, -1
	}
	return p
}

// Open opens the sensor and begins to read it. If it is absent, the error is hal.Absent and no goroutine runs.
func (p *Poller) Open() error {
	if err := p.sensor.Open(); err != nil {
		return err
	}
	p.link.open = true
	p.mu.Lock()
	p.opened, p.shown.note = p.config.Clock.Now(), NoteOf(p.sensor)
	p.mu.Unlock()
	if p.config.CycleTime == nil {
		p.stop = make(chan struct{})
		p.running.Go(p.run)
	}
	return nil
}

// Close ends the reading, waits for the read that is under way, and closes the sensor.
func (p *Poller) Close() error {
	if p.stop != nil {
		close(p.stop)
		p.running.Wait()
		p.stop = nil
	}
	return p.sensor.Close()
}

// Send does nothing: a sensor has no commands.
func (p *Poller) Send() error { return nil }

// Receive reads the sensor if it is due, in virtual time; with a goroutine it does nothing. It never fails: Latest has
// the sensor's error.
func (p *Poller) Receive() error {
	if p.config.CycleTime == nil {
		return nil
	}
	edge := p.config.CycleTime()
	// A reading that ended since the edge before is shown, and the next one begins at this one: every cycle has a new
	// reading.
	for range 2 {
		if p.pending && p.scratch.ended <= edge {
			p.pending = false
			p.show()
		}
		if !p.pending && p.next <= edge {
			p.read()
			p.pending = true
		}
	}
	return nil
}

// run is the goroutine of its own.
func (p *Poller) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-timer.C:
		}
		p.read()
		p.show()
		timer.Reset(max(0, p.next-p.config.Clock.Now()))
	}
}

// read takes one reading into scratch and sets when the next is due. Values of a failed read are the ones before.
func (p *Poller) read() {
	begin, r := p.config.Clock.Now(), &p.scratch
	if r.err = p.link.attempt(p.open, p.use); r.err == nil {
		r.err = p.believe(r.values) // a jump is no failure of the device: it is not opened again for it
	}
	r.ended, r.note = p.config.Clock.Now(), NoteOf(p.sensor)
	p.next = max(begin+p.config.Period, r.ended)
	switch {
	case r.err == nil:
		r.at = r.ended
		if l, ok := p.sensor.(Lagging); ok {
			r.at = max(0, r.ended-l.Lag())
		}
	case !p.link.open:
		p.next = max(p.next, r.ended+retryEvery)
	}
}

var errJump = errors.New("a value jumped; it is accepted if the next reading confirms it")

// believe holds back values that jump until a second reading confirms them.
func (p *Poller) believe(values []float64) error {
	if p.jumps(values, p.good) && p.jumps(values, p.doubted) {
		copy(p.doubted, values)
		return errJump
	}
	copy(p.good, values)
	copy(p.doubted, values)
	return nil
}

// jumps reports whether any of values is too far from the previous reading. NaN is never too far.
func (p *Poller) jumps(values, before []float64) bool {
	for i, most := range p.config.Jump {
		if i < len(values) && most > 0 && math.Abs(values[i]-before[i]) > most {
			return true
		}
	}
	return false
}

// show makes scratch the latest reading.
func (p *Poller) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown.err, p.shown.ended, p.shown.note = p.scratch.err, p.scratch.ended, p.scratch.note
	if p.scratch.err == nil {
		p.shown.at = p.scratch.at
		copy(p.shown.values, p.scratch.values)
	}
}

// Listen lets f be notified of the tags that the sensor reads; false: it is no Reader. See there.
func (p *Poller) Listen(f func(tag int)) bool {
	r, ok := p.sensor.(Reader)
	if ok {
		r.Listen(f)
	}
	return ok
}

// ForgetReadings forgets all readings of a sensor that is read in step with the cycle, and takes the next one at once:
// its world was reset. A reading that takes longer than a few cycles, as a scan does, comes when it is whole.
func (p *Poller) ForgetReadings() {
	if p.config.CycleTime == nil {
		return
	}
	if r, ok := p.sensor.(interface{ Restart() }); ok {
		r.Restart()
	}
	for i := range p.good {
		p.good[i], p.doubted[i] = math.NaN(), math.NaN()
	}
	p.mu.Lock()
	p.shown.at = -1
	p.mu.Unlock()
	const quick = 50 * time.Millisecond
	begin := p.config.Clock.Now()
	p.read()
	if p.pending = p.scratch.ended-begin > quick; !p.pending {
		p.show()
	}
}

// Note is the sensor's; see Noted. It may be called from any goroutine.
func (p *Poller) Note() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.note
}

// Values is how many the sensor measures.
func (p *Poller) Values() int { return len(p.shown.values) }

// Latest copies the newest good values into dst, from the sensor's value first on. It returns their age (< 0: no values
// yet) and the present error of the sensor. It never waits for the sensor and may be called from any goroutine.
func (p *Poller) Latest(dst []float64, first int) (age time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	age, err = -1, p.shown.err
	if p.shown.at >= 0 {
		age = max(0, now-p.shown.at)
		copy(dst, p.shown.values[min(first, len(p.shown.values)):])
	}
	// A read that does not return has no error; only its duration shows the fault.
	limit := 3*p.config.Period + staleAfter
	if p.shown.ended < p.opened {
		limit += p.spinUp
	}
	if err == nil && now-max(p.shown.ended, p.opened) > limit {
		err = errStale
	}
	return age, err
}

// now is the time that readings are seen at.
func (p *Poller) now() time.Duration {
	if p.config.CycleTime != nil {
		return p.config.CycleTime()
	}
	return p.config.Clock.Now()
}
