package record

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// flushTime is how much of a recording a killed program may lose.
const flushTime = 500 * time.Millisecond

// restTime is how long the writer sleeps when it is up to date: a cycle that wakes it would pay for that.
const restTime = 10 * time.Millisecond

// endTime is how long Stop waits for a writer that makes no progress.
const endTime = 5 * time.Second

// Stats counts the written and the dropped data of a recording.
type Stats struct {
	Cycles  uint64 `json:"cycles"`
	Dropped uint64 `json:"dropped_cycles"` // the writer was behind
	Orders  uint64 `json:"lost_orders"`
	Ops     uint64 `json:"lost_line_ops"`
	Bytes   int64  `json:"bytes"`

	Pictures uint64 `json:"dropped_pictures"`
}

// Recording is the reader of a rig's journal that makes it a file. The cycle copies; a goroutine of the recording's own
// writes. Where that one is behind in real time, cycles are dropped and counted, orders are kept for the next cycle
// that is written.
type Recording struct {
	all   *Taps // nil = none
	taps  []*tap
	wires []tape // of one cycle, one a tap
	info  Info
	out   *Writer
	count *countingWriter
	ring  *Ring // nil = one file
	log   *slog.Logger

	rig              *hal.Rig
	journal          *hal.Journal
	forms            forms       // of the writer's goroutine
	ending           atomic.Bool // it does not rest
	written, lostOps atomic.Uint64
	pictures         chan picture

	lostPictures atomic.Uint64
	failed       error // of the writer's goroutine
	done         chan struct{}
}

// Start records rig, and the bytes on its lines by taps, into w until Stop; info is the metadata. It replaces the rig's
// journal.
func Start(rig *hal.Rig, taps *Taps, w io.Writer, info Info, log *slog.Logger) (*Recording, error) {
	ring, _ := w.(*Ring)
	r := &Recording{rig: rig, log: log, info: info, ring: ring, forms: forms{}, count: &countingWriter{w: w},
		done: make(chan struct{}), pictures: make(chan picture, maxPictures)}
	if taps != nil {
		r.all, r.taps = taps, taps.all()
		r.wires = make([]tape, len(r.taps))
	}
	r.info.Layouts = layoutsOf(rig)
	var list []*form
	for _, a := range rig.Agents() {
		list = append(list, r.forms.of(a))
	}
	if err := r.begin(list); err != nil {
		return nil, err
	}
	if taps != nil {
		taps.Count(rig)
		taps.Listen()
	}
	// Two seconds of cycles: longer than the wake-up of a disk.
	r.journal = rig.OpenJournal(min(2048, max(64, int(2*time.Second/rig.Period()))))
	go r.write()
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
func (r *Recording) turn(s *hal.CycleRecord) error {
	if r.ring == nil || !r.ring.due(s.Time) {
		return nil
	}
	if err := r.out.Close(); err != nil {
		return err
	}
	if err := r.ring.turn(s.Time); err != nil {
		return err
	}
	r.info.First = s.Number
	var list []*form
	for i := range s.Agents {
		list = append(list, r.forms.of(s.Agents[i].Agent))
	}
	return r.begin(list)
}

// Stop ends the recording and its file. The error is the first failed write, or of kind Timeout where the output
// blocks.
func (r *Recording) Stop() (Stats, error) {
	r.ending.Store(true)
	rest := r.journal.Close()
	if r.all != nil {
		defer r.all.mute() // the writer still reads them
	}
	if !r.ended() {
		return r.Stats(), &hal.Error{Kind: hal.Timeout, Op: "record",
			Err: fmt.Errorf("the output blocks: got no write for %v", endTime)}
	}
	err := r.failed
	if err == nil { // orders since the last written cycle
		_, err = r.writeOrders(&hal.CycleRecord{Orders: rest}, nil)
	}
	if err == nil {
		err = r.out.Close()
	}
	return r.Stats(), err
}

// ended waits for the writer. It reports false where that one is stuck.
func (r *Recording) ended() bool {
	check := time.NewTicker(endTime)
	defer check.Stop()
	for before := int64(-1); ; {
		select {
		case <-r.done:
			return true
		case <-check.C:
			now := r.count.n.Load()
			if now == before {
				return false
			}
			before = now
		}
	}
}

// Stats are those until now.
func (r *Recording) Stats() Stats {
	cycles, orders := r.journal.Losses()
	return Stats{r.written.Load(), cycles, orders, r.lostOps.Load(), r.count.n.Load(), r.lostPictures.Load()}
}

// write is the goroutine that writes; it ends when full is closed.
func (r *Recording) write() {
	defer close(r.done)
	flush := time.NewTicker(flushTime)
	defer flush.Stop()
	rest := time.NewTimer(restTime)
	defer rest.Stop()
	records := r.journal.Records()
	full := records // nil while it rests
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
			full = records
		case <-r.journal.Crowded():
			full = records
		case s, ok := <-full:
			if !ok {
				return
			}
			if last = s.Time; r.failed == nil {
				buf, r.failed = r.writeCycle(s, buf)
				fail(r.failed)
			}
			r.journal.Free(s)
			if len(records) == 0 && !r.ending.Load() {
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

// writeCycle writes one cycle: first the orders before it, last its end.
func (r *Recording) writeCycle(s *hal.CycleRecord, buf []byte) ([]byte, error) {
	n, now := s.Number, s.Time
	if err := r.turn(s); err != nil {
		return buf, err
	}
	if r.ring != nil {
		for _, e := range s.Events {
			r.ring.event(now, r.rig.Events().Name(e))
		}
	}
	buf, err := r.writeOrders(s, buf)
	if err != nil {
		return buf, err
	}
	for i, t := range r.taps {
		wire := &r.wires[i]
		t.take(n, wire)
		r.lostOps.Add(wire.lost)
		if wire.empty() {
			continue
		}
		if buf = wire.append(buf[:0], n); len(buf) > maxMessage { // no reader would take it, nor what follows
			r.lostOps.Add(wire.uses())
			continue
		}
		if err := r.out.Message(LineTopic(t.bus), n, now, buf); err != nil {
			return buf, err
		}
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		f := r.forms.of(a.Agent)
		if !r.out.declared(f.topic) { // one that has joined
			if err := r.out.Channel(f.topic, "halyard.State", f.schema()); err != nil {
				return buf, err
			}
		}
		buf = f.append(buf[:0], a, now, true)
		if err := r.out.Message(f.topic, n, now, buf); err != nil {
			return buf, err
		}
	}
	buf = appendCycle(buf[:0], s, r.rig.Events().Name)
	r.written.Add(1)
	return buf, r.out.Message(cycleTopic, n, now, buf)
}

func (r *Recording) writeOrders(s *hal.CycleRecord, buf []byte) ([]byte, error) {
	for i := range s.Orders {
		buf = appendOrder(buf[:0], &s.Orders[i])
		if err := r.out.Message(ordersTopic, s.Number, s.Time, buf); err != nil {
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
func appendCycle(dst []byte, s *hal.CycleRecord, name func(hal.EventID) string) []byte {
	dst = strconv.AppendUint(append(dst, `{"number":`...), s.Number, 10)
	dst = appendSeconds(append(dst, `,"time":`...), s.Time)
	dst = strconv.AppendInt(append(dst, `,"missed_ns":`...), int64(s.Missed), 10)
	dst = append(dst, `,"events":[`...)
	for i, e := range s.Events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, name(e))
	}
	dst = strconv.AppendUint(append(dst, `],"dropped_cycles":`...), s.Dropped, 10)
	dst = strconv.AppendUint(append(dst, `,"lost_orders":`...), s.LostOrders, 10)
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
