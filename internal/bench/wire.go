package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The criteria of the comparison with the published table.
const (
	wireClose  = 0.10 // relative error at which a cell counts as reproduced
	BoundCells = 13   // of the 15 measured cells; field.md 3, item 1
	BoundFast  = 200  // Hz, fast sync read of 20 servos at 1 Mbaud on one bus; field.md 4.6, target 2
	// BoundHost bounds the host's time of a cycle with 20 joints; field.md 4.6, target 3.
	BoundHost = 50 * time.Microsecond
)

// publishedTable is the table of measured rates that the chain is held against, with its bus type.
func publishedTable() (t catalog.BusType, p *servo.Published) {
	for _, kind := range catalog.BuiltinBuses().Names() {
		if t = catalog.BuiltinBuses().Of(kind); t.Published != nil {
			return t, t.Published
		}
	}
	return t, nil
}

// WireServos is how many servos the published table has.
func WireServos() int {
	_, p := publishedTable()
	return p.Servos
}

func cellName(c *servo.PublishedCell) string {
	buses := "1 bus"
	if c.Buses > 1 {
		buses = fmt.Sprintf("%d buses", c.Buses)
	}
	return fmt.Sprintf("%d Mbaud, %s, %s", c.Mbaud, buses, c.Adapter)
}

// Wire runs the shipped chain over emulated lines, byte for byte in virtual time, with the one fitted constant:
// emulator.DefaultReply, the delay of a servo before an answer (once before a fast one). wire_hz is the bound: only the
// bytes, at 10 bits each. Buses run concurrently, so the fullest sets the rate.
func Wire(ctx context.Context, size Size, emit func(Result)) (err error) {
	defer must.Catch(&err)
	cycles := size.StepsOr(50)
	near := 0 // cells that came out close
	_, table := publishedTable()
	for _, c := range table.Cells {
		w := must.Get(NewWire((table.Servos+c.Buses-1)/c.Buses, c.Mbaud*1_000_000, false))
		hz := must.Get(w.Rate(ctx, cycles))
		off := hz/c.Hz - 1
		if math.Abs(off) <= wireClose {
			near++
		}
		emit(Result{"wire", cellName(&c), Figures{
			{"published_hz", report.Number(c.Hz)}, {"model_hz", report.Number(hz)}, {"error", report.Number(off)},
			{"wire_hz", report.Number(w.Bound())},
		}})
	}
	emit(Result{"wire", "cells within 10 %", Figures{
		{"within", report.Number(near)}, {"cells", report.Number(len(table.Cells))}, {"bound", BoundCells},
		{"ratio", report.Number(float64(near) / BoundCells)},
		{"reply_us", report.Number(emulator.DefaultReply.Seconds() * 1e6)},
	}})
	w := must.Get(NewWire(table.Servos, 1_000_000, true))
	hz := must.Get(w.Rate(ctx, cycles))
	emit(Result{"wire", "1 Mbaud, 1 bus, fast sync read", Figures{
		{"model_hz", report.Number(hz)}, {"wire_hz", report.Number(w.Bound())}, {"bound_hz", BoundFast},
		{"ratio", report.Number(hz / BoundFast)},
	}})
	return benchHost(ctx, size, emit)
}

// benchHost measures the host's processor time of a cycle of the chain, without emulator and operating system: the
// servos' answers are recorded and played back. The elapsed time is the processor's time, as no call waits. The share
// is relative to the time in which the wire is busy.
func benchHost(ctx context.Context, size Size, emit func(Result)) (err error) {
	defer must.Catch(&err)
	for _, fast := range []bool{false, true} {
		for _, mbaud := range []int{1, 2, 4} {
			w := must.Get(NewWire(WireServos(), mbaud*1_000_000, fast))
			ns := must.Get(w.hostTime(ctx, size.StepsOr(20_000)))
			wire := 1e9 / w.Bound()
			how := map[bool]string{false: "sync read", true: "fast sync read"}[fast]
			emit(Result{"wire", fmt.Sprintf("host, %d servos, %d Mbaud, %s", WireServos(), mbaud, how), Figures{
				{"host_us", report.Number(ns / 1e3)}, {"wire_us", report.Number(wire / 1e3)},
				{"share", report.Number(ns / wire)},
				{"bound_us", report.Number(BoundHost.Seconds() * 1e6)},
				{"ratio", report.Number(ns / float64(BoundHost))},
			}})
		}
	}
	return nil
}

// wireRun is a chain on one emulated line, all its servos driven.
type wireRun struct {
	Chain servo.LineChain
	Tape  *tape
	bytes uint64 // of a cycle
	baud  int
}

// NewWire brings n servos to a steady state: torque on, all checks done. The chain's health polling is off, so that
// each cycle writes only the goal position (116..119) and reads only current, velocity and position (126..135). The
// bytes of a cycle verify that.
func NewWire(n, baud int, fast bool) (_ *wireRun, err error) {
	defer must.Catch(&err)
	t, table := publishedTable()
	spec, ok := actuator.Lookup(table.Model)
	model := t.Lookup(table.Model)
	if !ok || model == nil {
		return nil, fmt.Errorf("bench: wire: %s: no such model", table.Model)
	}
	// A chain reads fast where the model can; the published table was measured before fast reads.
	cfg := servo.ChainConfig{Name: "bench", Health: -1, Watchdog: -1, Reading: servo.SyncReads}
	cycle := table.Sync
	if fast {
		cfg.Reading, cycle = servo.FastReads, table.Fast
	}
	// no return delay, as in the paper; the factory's is 500 µs
	l := budget.Line{Type: t, Baud: baud, Timing: emulator.Timing{Reply: emulator.DefaultReply}}
	for i := range n {
		cfg.Servos, l.Motors = append(cfg.Servos, servo.ServoConfig{ID: byte(i + 1), Model: model}),
			append(l.Motors, spec)
	}
	l.Chain = cfg
	w := &wireRun{baud: baud}
	r := must.Get(l.Open(func(line servo.Line) servo.Line { w.Tape = &tape{Line: line}; return w.Tape }))
	w.Chain = r.Chain
	for i := range n {
		w.Chain.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: model.Units().CentreTicks,
			Limit: 1})
	}
	// Torque is switched on for all at once, but the chain confirms it at one servo per cycle, with a longer read.
	must.Be(Repeat(2*n+10, w.Cycle))
	s := w.Chain.Stats()
	want := cycle.Bytes(n)
	if w.bytes = s.Sent + s.Received; w.bytes != uint64(want) || s.Timeouts > 0 {
		return nil, fmt.Errorf("bench: wire: cycle of %d servos: got %d bytes and %d timeouts, want %d and 0", n,
			w.bytes, s.Timeouts, want)
	}
	return w, nil
}

// Cycle does the work of a rig's cycle on a bus.
func (w *wireRun) Cycle() error {
	if err := w.Chain.Send(); err != nil {
		return err
	}
	return w.Chain.Receive()
}

// Bound returns the rate of only the bytes, Hz.
func (w *wireRun) Bound() float64 { return float64(w.baud) / float64(10*w.bytes) }

// Rate returns the cycles per second of the line's own time.
func (w *wireRun) Rate(ctx context.Context, cycles int) (float64, error) {
	start := w.Tape.Now()
	if err := Repeat(cycles, w.Cycle); err != nil {
		return 0, err
	}
	return float64(cycles) / (w.Tape.Now() - start).Seconds(), ctx.Err()
}

// hostTime returns the time of a cycle of the chain on the tape, ns. From now on the line plays the tape.
func (w *wireRun) hostTime(ctx context.Context, cycles int) (_ float64, err error) {
	defer must.Catch(&err)
	if err := w.Cycle(); err != nil { // this one is recorded
		return 0, err
	}
	w.Tape.Play()
	n := PerBlock(cycles)
	var blocks [Blocks]float64
	for b := range blocks {
		must.Be(ctx.Err())
		start := time.Now()
		must.Be(Repeat(n, w.Cycle))
		blocks[b] = float64(time.Since(start)) / float64(n)
	}
	// A chain that rejects an answer would run another code path than the one to be measured.
	if s := w.Chain.Stats(); s.Timeouts > 0 || s.BadChecksums > 0 {
		return 0, fmt.Errorf("bench: wire: played answers: got %d timeouts and %d bad checksums, want none", s.Timeouts,
			s.BadChecksums)
	}
	// The fastest block lost the least time to other programs: it is nearest to the processor's time.
	return slices.Min(blocks[:]), nil
}

// tape is a line that stores the answer to the last request, and plays it to every request from play on. Since no joint
// moves in between, it equals the servos' answer. Its clock is then stopped: no deadline passes.
type tape struct {
	servo.Line
	answer  []byte
	playing bool
	at      int
	now     time.Duration
	baud    int
}

// TapePiece bounds one read of the tape, bytes: a full packet of an FTDI adapter.
const TapePiece = 62

func (t *tape) Play() { t.now, t.baud, t.playing = t.Line.Now(), t.Line.Baud(), true }

func (t *tape) Write(p []byte) (int, error) {
	t.at = 0
	if t.playing {
		return len(p), nil
	}
	t.answer = t.answer[:0]
	return t.Line.Write(p)
}

func (t *tape) Read(p []byte, timeout time.Duration) (int, error) {
	if !t.playing {
		n, err := t.Line.Read(p, timeout)
		t.answer = append(t.answer, p[:n]...)
		return n, err
	}
	n := copy(p[:min(len(p), TapePiece)], t.answer[t.at:])
	if t.at += n; n == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return n, nil
}

func (t *tape) Discard() error {
	if t.playing {
		return nil
	}
	return t.Line.Discard()
}

func (t *tape) Now() time.Duration {
	if t.playing {
		return t.now
	}
	return t.Line.Now()
}

func (t *tape) Baud() int {
	if t.playing {
		return t.baud
	}
	return t.Line.Baud()
}
