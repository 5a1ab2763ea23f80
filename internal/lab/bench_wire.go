package lab

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The published table: 20 MX-64 under protocol 2.0, a sync write of 4 bytes and a sync read of 10 bytes a cycle
// (Bestmann, Güldenstein, Zhang, RoboCup 2019; field.md 4.1).
const (
	WireServos = 20
	wireModel  = "mx-64-2"
	wireClose  = 0.10 // a cell counts when it comes out this near
	BoundCells = 13   // of the 15 measured cells; field.md 3, item 1
	BoundFast  = 200  // Hz, fast sync read of 20 servos at 1 Mbaud on one bus; field.md 4.6, target 2
	// BoundHost is what a cycle may cost the host with 20 joints; field.md 4.6, target 3.
	BoundHost = 50 * time.Microsecond
)

// wireCell is one measured cell. The rows with one bus were measured through several adapters.
type wireCell struct {
	mbaud, buses int
	adapter      string
	hz           float64
}

func (c wireCell) String() string {
	buses := "1 bus"
	if c.buses > 1 {
		buses = fmt.Sprintf("%d buses", c.buses)
	}
	return fmt.Sprintf("%d Mbaud, %s, %s", c.mbaud, buses, c.adapter)
}

// wireCells are the 15 measured cells of the table, through QUADDXL (four buses on one USB) but where others are named.
func wireCells() []wireCell {
	const quad = "QUADDXL"
	return []wireCell{
		{1, 1, quad, 149}, {1, 1, "USB2DXL", 153}, {1, 1, "R-DXL", 132},
		{2, 1, quad, 261}, {2, 1, "USB2DXL", 272}, {4, 1, quad, 398},
		{1, 2, quad, 285}, {2, 2, quad, 497}, {4, 2, quad, 744},
		{1, 3, quad, 390}, {2, 3, quad, 670}, {4, 3, quad, 1003},
		{1, 4, quad, 524}, {2, 4, quad, 923}, {4, 4, quad, 1373},
	}
}

// BenchWire runs the chain as shipped over emulated lines, byte for byte in virtual time, with the one figure that was
// fitted: emulator.DefaultReply, what a servo needs before an answer (once before a fast one). wire_hz is the bound:
// the bytes alone at 10 bits each. Buses run side by side, so the fullest sets the rate.
func BenchWire(ctx context.Context, size BenchSize, emit func(Result)) error {
	cycles := size.stepsOr(50)
	near := 0 // cells that came out close
	for _, c := range wireCells() {
		w, err := NewWire((WireServos+c.buses-1)/c.buses, c.mbaud*1_000_000, false)
		if err != nil {
			return err
		}
		hz, err := w.Rate(ctx, cycles)
		if err != nil {
			return err
		}
		off := hz/c.hz - 1
		if math.Abs(off) <= wireClose {
			near++
		}
		emit(Result{"wire", c.String(), Figures{
			{"published_hz", report.Number(c.hz)}, {"model_hz", report.Number(hz)}, {"error", report.Number(off)}, {"wire_hz", report.Number(w.Bound())},
		}})
	}
	emit(Result{"wire", "cells within 10 %", Figures{
		{"within", report.Number(near)}, {"cells", report.Number(len(wireCells()))}, {"bound", BoundCells},
		{"ratio", report.Number(float64(near) / BoundCells)}, {"reply_us", report.Number(emulator.DefaultReply.Seconds() * 1e6)},
	}})
	w, err := NewWire(WireServos, 1_000_000, true)
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
			w, err := NewWire(WireServos, mbaud*1_000_000, fast)
			if err != nil {
				return err
			}
			ns, err := w.hostTime(ctx, size.stepsOr(20_000))
			if err != nil {
				return err
			}
			wire := 1e9 / w.Bound()
			how := map[bool]string{false: "sync read", true: "fast sync read"}[fast]
			emit(Result{"wire", fmt.Sprintf("host, %d servos, %d Mbaud, %s", WireServos, mbaud, how), Figures{
				{"host_us", report.Number(ns / 1e3)}, {"wire_us", report.Number(wire / 1e3)}, {"share", report.Number(ns / wire)},
				{"bound_us", report.Number(BoundHost.Seconds() * 1e6)}, {"ratio", report.Number(ns / float64(BoundHost))},
			}})
		}
	}
	return nil
}

// wireRun is a chain on one emulated line, all its servos driven.
type wireRun struct {
	Chain *dynamixel.Chain
	Tape  *tape
	bytes uint64 // of a cycle
	baud  int
}

// NewWire brings n servos to where each cycle is like the one before: torque on, nothing left to check. The chain's
// reading of health in turn is off, so that each cycle writes the goal position (116..119) and reads current, velocity
// and position (126..135) and no others. That this is so is checked by the bytes of a cycle.
func NewWire(n, baud int, fast bool) (*wireRun, error) {
	spec, ok := actuator.Lookup(wireModel)
	known := dynamixel.ModelByName(wireModel)
	if !ok || known == nil {
		return nil, fmt.Errorf("bench: wire: %s: no such model", wireModel)
	}
	// A chain reads fast where the model can; the published table was measured before fast reads.
	model := *known
	model.FastRead = fast
	servos := make([]*emulator.Servo, n)
	configs := make([]dynamixel.ServoConfig, n)
	for i := range servos {
		servos[i] = emulator.NewServo(known, i+1, actuator.NewServo(spec), emulator.GroundTruth{})
		servos[i].Preset("return_delay", 0) // as in the paper; the factory's is 500 µs
		configs[i] = dynamixel.ServoConfig{ID: byte(i + 1), Model: &model}
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: baud,
		Timing: emulator.Timing{Reply: emulator.DefaultReply}}, servos...)
	w := &wireRun{Tape: &tape{Line: bus.Line()}, baud: baud}
	w.Chain = dynamixel.NewChain(dynamixel.ChainConfig{Name: "bench", Servos: configs, Line: w.Tape, Health: -1, Watchdog: -1})
	if err := w.Chain.Open(); err != nil {
		return nil, err
	}
	for i := range servos {
		w.Chain.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 2048, Limit: 1})
	}
	// Torque goes on for all at once, but the chain has it confirmed by one servo a cycle, with a longer read.
	for range 2*n + 10 {
		if err := w.Cycle(); err != nil {
			return nil, err
		}
	}
	s := w.Chain.Stats()
	// 14 + 5n of sync write, 14 + n of request, then n answers of 11 + 10, or one of 8 + n(4 + 10); hardware.md 7.
	want := 14 + 5*n + 14 + n + 21*n
	if fast {
		want = 14 + 5*n + 14 + n + 8 + 14*n
	}
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
	// A chain that was not satisfied with what it heard would have done something else than was to be measured.
	if s := w.Chain.Stats(); s.Timeouts > 0 || s.BadChecksums > 0 {
		return 0, fmt.Errorf("bench: wire: played answers: got %d timeouts and %d bad checksums, want none", s.Timeouts, s.BadChecksums)
	}
	// The fastest block is the one that lost the least to others: the nearest to the processor's time that the wall
	// clock tells.
	return slices.Min(blocks[:]), nil
}

// tape is a line that keeps what was answered to the last request, and plays it to every request from play on. Since
// nothing moves in between, it is what the servos would answer. Its clock stands still then: no deadline passes.
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
