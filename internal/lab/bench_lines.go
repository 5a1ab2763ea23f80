package lab

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// wireBytes are the bytes of a cycle of n servos by the data sheets: a goal and a state each, the shortest way that the
// protocol has (hardware.md 7). replies is how many answers wait for the return delay one after the other.
type wireBytes struct {
	bits    int // of a byte on the wire
	bytes   func(n int) int
	replies func(n int) int
}

func apiece(n int) int { return n }

func once(int) int { return 1 }

func never(int) int { return 0 }

// The cycles of Dynamixel 2.0, with answers of size bytes.
func syncBytes(size int) wireBytes {
	return wireBytes{10, func(n int) int { return 14 + 5*n + 14 + n + (11+size)*n }, apiece}
}

func fastBytes(size int) wireBytes {
	return wireBytes{10, func(n int) int { return 14 + 5*n + 14 + n + 8 + (4+size)*n }, once}
}

func singleBytes(size int) wireBytes {
	return wireBytes{10, func(n int) int { return 14 + 5*n + 14*n + (11+size)*n }, apiece}
}

// The cycles of the others.
func axBytes() wireBytes { // sync write 4 (goal, speed), read 6 alone
	return wireBytes{10, func(n int) int { return 8 + 5*n + 8*n + 12*n }, apiece}
}

func mxBytes() wireBytes { // sync write 4, bulk read 6
	return wireBytes{10, func(n int) int { return 8 + 5*n + 7 + 3*n + 12*n }, apiece}
}

func stsBytes() wireBytes { // sync write 7, sync read 8
	return wireBytes{10, func(n int) int { return 8 + 8*n + 8 + n + 14*n }, apiece}
}

func scsBytes() wireBytes { // sync write 6, read 8 alone
	return wireBytes{10, func(n int) int { return 8 + 7*n + 22*n }, apiece}
}

func lxBytes() wireBytes { // 10 told, 6 asked, 8 answered
	return wireBytes{10, func(n int) int { return 24 * n }, never}
}

func krsBytes() wireBytes { // 3 told, 3 answered
	return wireBytes{11, func(n int) int { return 6 * n }, never}
}

// at is the bound of a cycle at a rate.
func (w wireBytes) at(baud int, delay time.Duration) func(n int) time.Duration {
	return func(n int) time.Duration {
		return servo.WireTime(w.bytes(n), w.bits, baud) + time.Duration(w.replies(n))*delay
	}
}

// tableCounts are the chains of hardware.md's table.
func tableCounts() []int { return []int{6, 12, 18, 20} }

// servoLines are the lines of servos at the rates that are usual for them, each chain as shipped, with no return delay.
func servoLines() []benchLine {
	var all []benchLine
	for _, l := range []struct {
		kind, model string
		wire        wireBytes
		rates       []int
	}{
		{"dynamixel1", "ax-12a", axBytes(), []int{115_200, 1_000_000}},
		{"dynamixel1", "mx-64", mxBytes(), []int{57_600, 1_000_000, 3_000_000}},
		{"dynamixel2", "xm430-w350", fastBytes(10), tableRates()},
		{"dynamixel2", "mx-64-2", syncBytes(10), []int{1_000_000}},
		{"feetech", "sts3215", stsBytes(), []int{115_200, 1_000_000}},
		{"feetech", "scs0009", scsBytes(), []int{115_200, 1_000_000}},
		{"hiwonder", "lx-16a", lxBytes(), []int{115_200}},
		{"kondo", "krs-2552", krsBytes(), []int{115_200, 625_000, 1_250_000}},
	} {
		for _, baud := range l.rates {
			line := benchLine{kind: l.kind, model: l.model, baud: baud, counts: tableCounts(), bound: l.wire.at(baud, 0), first: 1}
			// Old MX firmware has no fast read, though the table of the series has.
			if l.model == "mx-64-2" {
				line.how, line.chain = "sync read", robotis(syncRead, dynamixel.ChainConfig{})
			}
			all = append(all, line)
		}
	}
	return all
}

// tableRates are the rates of hardware.md's table, bit/s.
func tableRates() []int { return []int{57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000} }

// The ways of reading of Dynamixel 2.0.
const (
	fastRead = iota
	syncRead
	singleRead
)

// robotis makes chains that read in one way, with the options of base.
func robotis(how int, base dynamixel.ChainConfig) func(c catalog.ChainConfig) catalog.Chain {
	return func(c catalog.ChainConfig) catalog.Chain {
		cfg := base
		cfg.Name, cfg.Line, cfg.Period, cfg.Latency = c.Name, c.Line, c.Period, c.Latency
		for _, s := range c.Servos {
			// A chain reads the best way that the model can.
			model := *catalog.DynamixelOf(s.Model)
			model.FastRead, model.BulkRead = model.FastRead && how == fastRead, model.BulkRead && how != singleRead
			cfg.Servos = append(cfg.Servos, dynamixel.ServoConfig{ID: s.Id, Model: &model})
		}
		return dynamixel.NewChain(cfg)
	}
}

// TableLines are all cells of hardware.md's table, and its rows below it: every rate, every way to read, 4 and 10 bytes,
// return delays of 0, 250 and, from the factory, 500 µs. Nothing is looked at in its own goroutine there, so that the figures are
// the cells.
func TableLines() []benchLine {
	var all []benchLine
	for _, delay := range []time.Duration{0, 250 * time.Microsecond, 500 * time.Microsecond} {
		add := func(kind, model, how string, baud int, w wireBytes, chain func(catalog.ChainConfig) catalog.Chain) {
			all = append(all, benchLine{kind: kind, model: model, how: how, baud: baud, delay: delay, counts: tableCounts(),
				bound: w.at(baud, delay), first: 1, chain: chain})
		}
		for _, size := range []int{4, 10} {
			bare := dynamixel.ChainConfig{Health: -1, Watchdog: -1, PositionOnly: size == 4}
			for how, way := range []struct {
				name string
				wire wireBytes
			}{{"fast read", fastBytes(size)}, {"sync read", syncBytes(size)}, {"single reads", singleBytes(size)}} {
				for _, baud := range tableRates() {
					add("dynamixel2", "xm430-w350", fmt.Sprintf("%s of %d bytes alone", way.name, size), baud, way.wire, robotis(how, bare))
				}
			}
		}
		bare := dynamixel.ChainConfig{Health: -1, Watchdog: -1}
		for _, baud := range tableRates()[:5] { // an MX goes to 3 Mbaud
			add("dynamixel1", "mx-64", "bare", baud, mxBytes(), robotis(fastRead, bare))
		}
		for _, baud := range tableRates()[:3] {
			add("dynamixel1", "ax-12a", "bare", baud, axBytes(), robotis(fastRead, bare))
			add("feetech", "sts3215", "bare", baud, stsBytes(), bareFeetech)
			add("feetech", "scs0009", "bare", baud, scsBytes(), bareFeetech)
		}
	}
	return all
}

// bareFeetech makes chains that look at nothing in its own goroutine.
func bareFeetech(c catalog.ChainConfig) catalog.Chain {
	cfg := feetech.ChainConfig{Name: c.Name, Line: c.Line, Period: c.Period, Latency: c.Latency, Health: -1}
	for _, s := range c.Servos {
		m, _ := s.Model.(*feetech.Model)
		cfg.Servos = append(cfg.Servos, feetech.ServoConfig{ID: s.Id, Model: m})
	}
	return feetech.NewChain(cfg)
}

// adapterLines are what a U2D2 makes of a line, by its latency timer: an answer of less than 62 bytes waits for it. The bound
// stays the wire's.
func adapterLines() []benchLine {
	var all []benchLine
	for _, latency := range []time.Duration{16 * time.Millisecond, time.Millisecond} {
		for how, w := range []wireBytes{fastBytes(10), syncBytes(10), singleBytes(10)} {
			name := [...]string{"fast read", "sync read", "single reads"}[how]
			all = append(all, benchLine{kind: "dynamixel2", model: "xm430-w350", how: fmt.Sprintf("%s, FTDI %v", name, latency), baud: 1_000_000,
				timing: emulator.FTDI(latency), counts: []int{20}, bound: w.at(1_000_000, 0), first: 1, chain: robotis(how, dynamixel.ChainConfig{})})
		}
	}
	return all
}
