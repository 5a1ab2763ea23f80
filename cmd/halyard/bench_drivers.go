package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// servoLine is a line of one model at one rate, and the bytes of a cycle of n servos by the data sheets: a goal and a state
// each, the shortest way that the protocol has (hardware.md 7).
type servoLine struct {
	kind, model string
	baud, bits  int // bits of a byte on the wire
	bytes       func(n int) int
}

// servoLines are the lines of the benchmark, at the rates that are usual for them.
func servoLines() []servoLine {
	fast := func(n int) int { return 14 + 5*n + 14 + n + 8 + 14*n } // sync write 4, fast sync read 10
	ax := func(n int) int { return 8 + 5*n + 8*n + 12*n }           // sync write 4 (goal, speed), read 6 alone
	mx := func(n int) int { return 8 + 5*n + 7 + 3*n + 12*n }       // sync write 4, bulk read 6
	sts := func(n int) int { return 8 + 8*n + 8 + n + 14*n }        // sync write 7, sync read 8
	scs := func(n int) int { return 8 + 7*n + 22*n }                // sync write 6, read 8 alone
	lx := func(n int) int { return 24 * n }                         // 10 told, 6 asked, 8 answered
	krs := func(n int) int { return 6 * n }                         // 3 told, 3 answered
	return []servoLine{
		{"dynamixel1", "ax-12a", 115_200, 10, ax}, {"dynamixel1", "ax-12a", 1_000_000, 10, ax},
		{"dynamixel1", "mx-64", 1_000_000, 10, mx},
		{"dynamixel2", "xm430-w350", 57_600, 10, fast}, {"dynamixel2", "xm430-w350", 1_000_000, 10, fast},
		{"dynamixel2", "xm430-w350", 4_000_000, 10, fast},
		{"feetech", "sts3215", 115_200, 10, sts}, {"feetech", "sts3215", 1_000_000, 10, sts},
		{"feetech", "scs0009", 1_000_000, 10, scs},
		{"hiwonder", "lx-16a", 115_200, 10, lx},
		{"kondo", "krs-2552", 115_200, 11, krs}, {"kondo", "krs-2552", 1_250_000, 11, krs},
	}
}

// benchDrivers runs the chain of every brand as shipped, health looked at and watchdogs fed, over emulated lines that add
// nothing to their bytes: cycle_ms is the line's own time, bound_ms that of the bytes of servoLines. cpu_us is the
// processor's time of the driver alone. Then the lasers: how fast what they say is decoded, beside how fast memory is copied.
func benchDrivers(ctx context.Context, size benchSize, emit func(result)) error {
	for _, l := range servoLines() {
		for _, n := range []int{6, 12, 18, 20} {
			f, err := l.measure(ctx, n, size.stepsOr(400))
			if err != nil {
				return fmt.Errorf("bench: drivers: %s: %w", l.model, err)
			}
			emit(result{"drivers", fmt.Sprintf("%s, %d baud, %d servos", l.model, l.baud, n), f})
		}
	}
	return benchDecoders(ctx, size, emit)
}

// measure is the figures of n servos.
func (l *servoLine) measure(ctx context.Context, n, cycles int) (figures, error) {
	t := busTypes[l.kind]
	model := t.lookup(l.model)
	spec, ok := actuator.Lookup(l.model)
	if model == nil || !ok {
		return nil, errors.New("no such model")
	}
	var servos []*emulator.Servo
	cfg := chainConfig{name: "bench", period: time.Second}
	for id := range n {
		s := t.emulate(model, id+1, actuator.NewServo(spec), emulator.Truth{ZeroTicks: model.Units().CentreTicks, Direction: 1, Gear: 1})
		s.Preset("return_delay", 0)
		servos = append(servos, s)
		cfg.servos = append(cfg.servos, chainServo{id: byte(id + 1), model: model})
	}
	line := &clocked{Line: emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: l.baud}, servos...).Line()}
	cfg.line = line
	c := t.chain(cfg)
	defer c.Close()
	if err := c.Open(); err != nil {
		return nil, err
	}
	cycle := func(k int) error {
		for i := range n {
			c.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Limit: 1, Position: model.Units().CentreTicks + float64(k%2)})
		}
		return errors.Join(c.Send(), c.Receive())
	}
	for k := range 3*n + 20 { // until torque is on and nothing is left to see
		if err := cycle(k); err != nil {
			return nil, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	timeouts := c.Stats().Timeouts
	start := line.Now()
	for k := range cycles {
		if err := errors.Join(cycle(k), ctx.Err()); err != nil {
			return nil, err
		}
	}
	took := (line.Now() - start).Seconds() / float64(cycles)
	var cpu [benchBlocks]float64 // us of a cycle
	block := perBlock(cycles)
	line.pieces = true
	for b := range cpu {
		began := time.Now()
		line.spent = 0
		for k := range block {
			if err := errors.Join(cycle(k), ctx.Err()); err != nil {
				return nil, err
			}
		}
		cpu[b] = 1e6 * (time.Since(began) - line.spent).Seconds() / float64(block)
	}
	runtime.ReadMemStats(&after)
	if lost := c.Stats().Timeouts - timeouts; lost > 0 {
		return nil, fmt.Errorf("%d servos: %d timeouts, want none", n, lost)
	}
	bound := servo.WireTime(l.bytes(n), l.bits, l.baud).Seconds()
	return figures{
		{"cycle_ms", number(1e3 * took)}, {"bound_ms", number(1e3 * bound)}, {"ratio", number(bound / took)},
		{"cpu_us", number(slices.Min(cpu[:]))}, // the block that lost the least to others
		{"allocs", number(float64(after.Mallocs-before.Mallocs) / float64(cycles+block*benchBlocks))}, {"bound_allocs", 0},
	}, nil
}

// clocked is a line that knows how long the processor was busy behind it.
type clocked struct {
	servo.Line
	spent  time.Duration
	pieces bool // what comes is handed on in pieces, as adapters do, and not byte by byte
}

func (l *clocked) Write(p []byte) (int, error) {
	defer l.since(time.Now())
	return l.Line.Write(p)
}

func (l *clocked) Read(p []byte, timeout time.Duration) (int, error) {
	defer l.since(time.Now())
	n, err := l.Line.Read(p, timeout)
	for l.pieces && err == nil && n < min(len(p), tapePiece) {
		more, late := l.Line.Read(p[n:], 2*servo.WireTime(1, 11, l.Line.Baud()))
		if n += more; late != nil {
			break
		}
	}
	return n, err
}

func (l *clocked) since(began time.Time) { l.spent += time.Since(began) }
