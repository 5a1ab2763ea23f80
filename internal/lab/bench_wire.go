package lab

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
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// What the published table is held to.
const (
	wireClose  = 0.10 // a cell counts when it comes out this near
	BoundCells = 13   // of the 15 measured cells; field.md 3, item 1
	BoundFast  = 200  // Hz, fast sync read of 20 servos at 1 Mbaud on one bus; field.md 4.6, target 2
	// BoundHost is what a cycle may cost the host with 20 joints; field.md 4.6, target 3.
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

// BenchWire runs the chain as shipped over emulated lines, byte for byte in virtual time, with the one figure that was
// fitted: emulator.DefaultReply, what a servo needs before an answer (once before a fast one). wire_hz is the bound:
// the bytes alone at 10 bits each. Buses run side by side, so the fullest sets the rate.
func BenchWire(ctx context.Context, size BenchSize, emit func(Result)) error {
	cycles := size.stepsOr(50)
	near := 0 // cells that came out close
	_, table := publishedTable()
	for _, c := range table.Cells {
		w, err := NewWire((table.Servos+c.Buses-1)/c.Buses, c.Mbaud*1_000_000, false)
		if err != nil {
			return err
		}
		hz, err := w.Rate(ctx, cycles)
		if err != nil {
			return err
		}
		off := hz/c.Hz - 1
		if math.Abs(off) <= wireClose {
			near++
		}
		emit(Result{"wire", cellName(&c), Figures{
			{"published_hz", report.Number(c.Hz)}, {"model_hz", report.Number(hz)}, {"error", report.Number(off)}, {"wire_hz", report.Number(w.Bound())},
		}})
	}
	emit(Result{"wire", "cells within 10 %", Figures{
		{"within", report.Number(near)}, {"cells", report.Number(len(table.Cells))}, {"bound", BoundCells},
		{"ratio", report.Number(float64(near) / BoundCells)}, {"reply_us", report.Number(emulator.DefaultReply.Seconds() * 1e6)},
	}})
	w, err := NewWire(table.Servos, 1_000_000, true)
	if err != nil {
		return err
	}
	hz, err := w.Rate(ctx, cycles)
	if err != nil {
		return err
	}
	emit(Result{"wire", "1 Mbaud, 1 bus, fast sync read", Figures{
		{"model_hz", report.Number(hz)}, {"wire_hz", report.Number(w.Bound())}, {"bound_hz", BoundFast}, {"ratio", report.Number(hz / BoundFast)},
	}})
	return benchHost(ctx, size, emit)
}

// benchHost measures what a cycle of the chain costs the host's processor, without emulator and operating system: the
// servos' answers were recorded and are played back. What it takes is the processor's time, as nothing in it waits; the
// share is of the time in which the wire is busy anyway.
func benchHost(ctx context.Context, size BenchSize, emit func(Result)) error {
	for _, fast := range []bool{false, true} {
		for _, mbaud := range []int{1, 2, 4} {
			w, err := NewWire(WireServos(), mbaud*1_000_000, fast)
			if err != nil {
				return err
			}
			ns, err := w.hostTime(ctx, size.stepsOr(20_000))
			if err != nil {
				return err
			}
			wire := 1e9 / w.Bound()
			how := map[bool]string{false: "sync read", true: "fast sync read"}[fast]
			emit(Result{"wire", fmt.Sprintf("host, %d servos, %d Mbaud, %s", WireServos(), mbaud, how), Figures{
				{"host_us", report.Number(ns / 1e3)}, {"wire_us", report.Number(wire / 1e3)}, {"share", report.Number(ns / wire)},
				{"bound_us", report.Number(BoundHost.Seconds() * 1e6)}, {"ratio", report.Number(ns / float64(BoundHost))},
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

// NewWire brings n servos to where each cycle is like the one before: torque on, nothing left to check. The chain's
// reading of health in turn is off, so that each cycle writes the goal position (116..119) and reads current, velocity
// and position (126..135) and no others. That this is so is checked by the bytes of a cycle.
func NewWire(n, baud int, fast bool) (*wireRun, error) {
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
	l := budget.Line{Type: t, Baud: baud, Timing: emulator.Timing{Reply: emulator.DefaultReply}} // no return delay, as in the paper; the factory's is 500 µs
	for i := range n {
		cfg.Servos, l.Motors = append(cfg.Servos, servo.ServoConfig{ID: byte(i + 1), Model: model}), append(l.Motors, spec)
	}
	l.Chain = cfg
	w := &wireRun{baud: baud}
	r, err := l.Open(func(line servo.Line) servo.Line { w.Tape = &tape{Line: line}; return w.Tape })
	if err != nil {
		return nil, err
	}
	w.Chain = r.Chain
	for i := range n {
		w.Chain.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: model.Units().CentreTicks, Limit: 1})
	}
	// Torque goes on for all at once, but the chain has it confirmed by one servo a cycle, with a longer read.
	for range 2*n + 10 {
		if err := w.Cycle(); err != nil {
			return nil, err
		}
	}
	s := w.Chain.Stats()
	want := cycle.Bytes(n)
	if w.bytes = s.Sent + s.Received; w.bytes != uint64(want) || s.Timeouts > 0 {
		return nil, fmt.Errorf("bench: wire: cycle of %d servos: got %d bytes and %d timeouts, want %d and 0", n, w.bytes, s.Timeouts, want)
	}
	return w, nil
}

// Cycle is what a rig does with a bus in one cycle.
func (w *wireRun) Cycle() error {
	if err := w.Chain.Send(); err != nil {
		return err
	}
	return w.Chain.Receive()
}

// Bound is the rate of the bytes alone, Hz.
func (w *wireRun) Bound() float64 { return float64(w.baud) / float64(10*w.bytes) }

// Rate is how many cycles the line does in a second of its own time.
func (w *wireRun) Rate(ctx context.Context, cycles int) (float64, error) {
	start := w.Tape.Now()
	for range cycles {
		if err := w.Cycle(); err != nil {
			return 0, err
		}
	}
	return float64(cycles) / (w.Tape.Now() - start).Seconds(), ctx.Err()
}

// hostTime is what a cycle of the chain takes on the tape, ns. The wire is on tape from here on.
func (w *wireRun) hostTime(ctx context.Context, cycles int) (float64, error) {
	if err := w.Cycle(); err != nil { // this one is recorded
		return 0, err
	}
	w.Tape.Play()
	n := perBlock(cycles)
	var blocks [benchBlocks]float64
	for b := range blocks {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		for range n {
			if err := w.Cycle(); err != nil {
				return 0, err
			}
		}
		blocks[b] = float64(time.Since(start)) / float64(n)
	}
	// A chain that was not satisfied with what it received would have done something else than was to be measured.
	if s := w.Chain.Stats(); s.Timeouts > 0 || s.BadChecksums > 0 {
		return 0, fmt.Errorf("bench: wire: played answers: got %d timeouts and %d bad checksums, want none", s.Timeouts, s.BadChecksums)
	}
	// The fastest block is the one that lost the least to others: the nearest to the processor's time that the wall
	// clock tells.
	return slices.Min(blocks[:]), nil
}

// tape is a line that keeps what was answered to the last request, and plays it to every request from play on. Since
// nothing moves in between, it is what the servos would answer. Its clock does not move then: no deadline passes.
type tape struct {
	servo.Line
	answer  []byte
	playing bool
	at      int
	now     time.Duration
	baud    int
}

// tapePiece is what one read of the tape returns at most: a full packet of an FTDI adapter.
const tapePiece = 62

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
	n := copy(p[:min(len(p), tapePiece)], t.answer[t.at:])
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
