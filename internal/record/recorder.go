package record

import (
	"encoding/json"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// flushTime is how much of a recording a killed program may lose.
const flushTime = 500 * time.Millisecond

// restTime is how long the writer sleeps when it is up to date: a cycle that wakes it would pay for that.
const restTime = 10 * time.Millisecond

// maxOrders bounds the orders of one cycle, bytes of memory, roughly.
const maxOrders = 4 << 20

// Stats counts the written and the dropped data of a recording.
type Stats struct {
	Cycles  uint64 `json:"cycles"`
	Dropped uint64 `json:"dropped_cycles"` // the writer was behind
	Orders  uint64 `json:"lost_orders"`
	Ops     uint64 `json:"lost_line_ops"`
	Bytes   int64  `json:"bytes"`

	Pictures uint64 `json:"dropped_pictures"`
}

// slot is all of one cycle, on its way to the writer.
type slot struct {
	end         hal.CycleEnd // without its slices
	events      []hal.EventID
	agents      []shot
	n           int // agents in use
	wires       []tape
	orders      []hal.Order
	inputs      []float64 // of the orders
	weight      int       // of the orders, bytes
	drops, lost uint64
}

// newSlot holds a usual cycle of agents and as many lines without growing.
func newSlot(agents []*hal.Agent, lines int) *slot {
	s := &slot{agents: make([]shot, len(agents)), wires: make([]tape, lines), inputs: []float64{}}
	for i, a := range agents {
		l := a.Layout()
		s.agents[i] = shot{inputs: make([]float64, 0, len(l.Inputs)), measured: make([]float64, 0, len(l.Outputs)+len(l.Infos)), enable: make([]bool, 0, len(l.Actuators)),
			joints: make([]hal.GuardState, 0, len(l.Actuators)), status: make([]hal.Status, 0, l.Devices())}
	}
	for i := range s.wires {
		s.wires[i].data = make([]byte, 0, usualTape)
	}
	return s
}

func (s *slot) clear() {
	clear(s.orders) // their texts
	s.events, s.n, s.orders, s.inputs, s.weight = s.events[:0], 0, s.orders[:0], s.inputs[:0], 0
	for i := range s.wires {
		s.wires[i].clear()
	}
}

// pile holds empty slots. The newest is taken first: its memory is still in the processor's caches.
type pile struct {
	mu   sync.Mutex
	came sync.Cond
	list []*slot
}

func (p *pile) put(s *slot) {
	p.mu.Lock()
	p.list = append(p.list, s)
	p.mu.Unlock()
	p.came.Signal()
}

// take waits for a slot, or returns nil where the writer is behind.
func (p *pile) take(wait bool) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.list) == 0 {
		if !wait {
			return nil
		}
		p.came.Wait()
	}
	last := len(p.list) - 1
	s := p.list[last]
	p.list = p.list[:last]
	return s
}

// Recording is the journal of a rig that becomes a file. The cycle copies; a goroutine of the recording's own writes. Where
// that one is behind, cycles are dropped and counted, orders are kept for the next cycle that is written.
type Recording struct {
	rig   *hal.Rig
	all   *Taps // nil = none
	taps  []*tap
	info  Info
	out   *Writer
	count *countingWriter
	ring  *Ring // nil = one file
	log   *slog.Logger

	mu    sync.Mutex // guards the fields below; locked after the rig's and the agents' locks
	now   *slot
	forms forms

	patient                       bool // in lock-step the cycle waits for the writer, and no cycle is dropped
	free                          pile
	full                          chan *slot
	wake                          chan struct{} // the writer, before its rest is over
	ending                        atomic.Bool   // it does not rest
	written, lostOps, drops, lost atomic.Uint64
	pictures                      chan picture

	lostPictures atomic.Uint64
	failed       error // of the writer's goroutine
	done         chan struct{}
}

// Start records rig, and the bytes on its lines by taps, into w until Stop; info is the metadata. It replaces the rig's
// journal.
func Start(rig *hal.Rig, taps *Taps, w io.Writer, info Info, log *slog.Logger) (*Recording, error) {
	ring, _ := w.(*Ring)
	r := &Recording{rig: rig, log: log, info: info, ring: ring, forms: forms{}, count: &countingWriter{w: w}, patient: rig.Mode() == hal.Lockstep, done: make(chan struct{}), pictures: make(chan picture, maxPictures)}
	if taps != nil {
		r.all, r.taps = taps, taps.all()
	}
	var list []*form
	for _, a := range rig.Agents() {
		list = append(list, r.forms.of(a))
	}
	if err := r.begin(list); err != nil {
		return nil, err
	}
	// Two seconds of cycles: longer than the wake-up of a disk.
	n := min(2048, max(64, int(2*time.Second/rig.Period())))
	r.full, r.wake = make(chan *slot, n), make(chan struct{}, 1)
	r.free.came.L = &r.free.mu
	for range n {
		r.free.put(newSlot(rig.Agents(), len(r.taps)))
	}
	r.now = newSlot(rig.Agents(), len(r.taps))
	go r.write()
	if taps != nil {
		taps.Listen()
	}
	rig.SetJournal(r)
	return r, nil
}

// begin begins a file with its channels, those of agents by their forms.
func (r *Recording) begin(forms []*form) error {
	out, err := NewWriter(r.count, &r.info)
	if err != nil {
		return err
	}
	r.out = out
	for _, c := range fixedChannels {
		if err := out.Channel(c.topic, c.name, c.schema); err != nil {
			return err
		}
	}
	for _, t := range r.taps {
		if err := out.Channel(LineTopic(t.bus), "halyard.Line", lineSchema); err != nil {
			return err
		}
	}
	for _, f := range forms {
		if err := out.Channel(f.topic, "halyard.State", f.schema()); err != nil {
			return err
		}
	}
	return nil
}

// turn begins the next file of a ring where that is due before s.
func (r *Recording) turn(s *slot) error {
	if r.ring == nil || !r.ring.due(s.end.Time) {
		return nil
	}
	if err := r.out.Close(); err != nil {
		return err
	}
	if err := r.ring.turn(s.end.Time); err != nil {
		return err
	}
	r.info.First = s.end.Number
	var list []*form
	for i := range s.agents[:s.n] {
		list = append(list, s.agents[i].form)
	}
	return r.begin(list)
}

func (r *Recording) Order(o hal.Order) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.now
	if s.weight > maxOrders {
		r.lost.Add(1)
		return
	}
	s.weight += 200 + 8*len(o.Inputs) + len(o.Agent) + len(o.Name) + len(o.Value.Text)
	if o.Inputs != nil { // the sender's, until it sends the next one
		from := len(s.inputs)
		s.inputs = append(s.inputs, o.Inputs...)
		o.Inputs = s.inputs[from:]
	}
	s.orders = append(s.orders, o)
}

func (r *Recording) Cycle(c hal.CycleEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.now
	for i, t := range r.taps {
		t.take(&s.wires[i])
	}
	next := r.free.take(r.patient)
	if next == nil {
		r.drops.Add(1)
		return
	}
	s.end, s.n, s.drops, s.lost = c, len(c.Agents), r.drops.Load(), r.lost.Load()
	s.end.Events, s.end.Agents = nil, nil
	s.events = append(s.events[:0], c.Events...)
	for len(s.agents) < len(c.Agents) {
		s.agents = append(s.agents, shot{})
	}
	for i, a := range c.Agents {
		s.agents[i].take(r.forms.of(a), a)
	}
	r.full <- s // as many as there are slots fit in
	if len(r.full) > cap(r.full)/2 {
		r.rouse()
	}
	r.now = next
}

// rouse ends the writer's rest.
func (r *Recording) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Stop ends the recording and its file. The error is the first failed write.
func (r *Recording) Stop() (Stats, error) {
	r.rig.SetJournal(nil)
	if r.all != nil {
		r.all.mute()
	}
	r.ending.Store(true)
	close(r.full)
	r.rouse()
	<-r.done
	err := r.failed
	if err == nil { // orders since the last written cycle
		_, err = r.writeOrders(r.now, nil)
	}
	if err == nil {
		err = r.out.Close()
	}
	return r.Stats(), err
}

// Stats are those until now.
func (r *Recording) Stats() Stats {
	return Stats{r.written.Load(), r.drops.Load(), r.lost.Load(), r.lostOps.Load(), r.count.n.Load(), r.lostPictures.Load()}
}

// write is the goroutine that writes; it ends when full is closed.
func (r *Recording) write() {
	defer close(r.done)
	flush := time.NewTicker(flushTime)
	defer flush.Stop()
	rest := time.NewTimer(restTime)
	defer rest.Stop()
	full := r.full // nil while it rests
	var buf []byte
	var last time.Duration // rig time of the last cycle
	fail := func(err error) {
		if r.failed = err; err != nil {
			r.log.Error("recording ended", "fault", err)
		}
	}
	for {
		select {
		case <-rest.C:
			full = r.full
		case <-r.wake:
			full = r.full
		case s, ok := <-full:
			if !ok {
				return
			}
			if last = s.end.Time; r.failed == nil {
				buf, r.failed = r.writeSlot(s, buf)
				fail(r.failed)
			}
			s.clear()
			r.free.put(s)
			if len(r.full) == 0 && !r.ending.Load() {
				full = nil
				rest.Reset(restTime)
			}
		case p := <-r.pictures:
			if r.failed == nil {
				buf, r.failed = r.writePicture(&p, buf)
				fail(r.failed)
			}
		case <-flush.C:
			if r.failed == nil && r.out.chunked {
				text, _ := json.Marshal(r.Stats())
				fail(r.out.last(fileTopic, r.written.Load(), last, text))
			}
		}
	}
}

// writeSlot writes one cycle: first the orders before it, last its end.
func (r *Recording) writeSlot(s *slot, buf []byte) ([]byte, error) {
	n, now := s.end.Number, s.end.Time
	if err := r.turn(s); err != nil {
		return buf, err
	}
	if r.ring != nil {
		for _, e := range s.events {
			r.ring.event(now, r.rig.Events().Name(e))
		}
	}
	buf, err := r.writeOrders(s, buf)
	if err != nil {
		return buf, err
	}
	for i := range s.wires {
		if s.wires[i].empty() {
			continue
		}
		buf = s.wires[i].append(buf[:0], n)
		r.lostOps.Add(s.wires[i].lost)
		if len(buf) > maxMessage { // no reader would take it, nor what follows
			r.lostOps.Add(s.wires[i].uses())
			continue
		}
		if err := r.out.Message(LineTopic(r.taps[i].bus), n, now, buf); err != nil {
			return buf, err
		}
	}
	for i := range s.agents[:s.n] {
		a := &s.agents[i]
		if !r.out.declared(a.form.topic) { // one that has joined
			if err := r.out.Channel(a.form.topic, "halyard.State", a.form.schema()); err != nil {
				return buf, err
			}
		}
		buf = a.append(buf[:0], now, true)
		if err := r.out.Message(a.form.topic, n, now, buf); err != nil {
			return buf, err
		}
	}
	buf = appendCycle(buf[:0], s, r.rig.Events().Name)
	r.written.Add(1)
	return buf, r.out.Message(cycleTopic, n, now, buf)
}

func (r *Recording) writeOrders(s *slot, buf []byte) ([]byte, error) {
	for i := range s.orders {
		buf = appendOrder(buf[:0], &s.orders[i])
		if err := r.out.Message(ordersTopic, s.end.Number, s.end.Time, buf); err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// append appends the uses of a line in a cycle as JSON.
func (t *tape) append(dst []byte, cycle uint64) []byte {
	dst = append(strconv.AppendUint(append(dst, `{"cycle":`...), cycle, 10), `,"ops":[`...)
	first := true
	t.each(func(o op, data []byte) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendOp(dst, &o, data)
	})
	return append(dst, "]}"...)
}

// appendCycle writes the end of a cycle as JSON; see CycleMessage.
func appendCycle(dst []byte, s *slot, name func(hal.EventID) string) []byte {
	dst = strconv.AppendUint(append(dst, `{"number":`...), s.end.Number, 10)
	dst = appendSeconds(append(dst, `,"time":`...), s.end.Time)
	dst = strconv.AppendInt(append(dst, `,"missed_ns":`...), int64(s.end.Missed), 10)
	dst = append(dst, `,"events":[`...)
	for i, e := range s.events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, name(e))
	}
	dst = strconv.AppendUint(append(dst, `],"dropped_cycles":`...), s.drops, 10)
	dst = strconv.AppendUint(append(dst, `,"lost_orders":`...), s.lost, 10)
	return append(dst, '}')
}

// countingWriter counts the written bytes.
type countingWriter struct {
	w io.Writer
	n atomic.Int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}
