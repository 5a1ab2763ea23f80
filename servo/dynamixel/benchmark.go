package dynamixel

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// The cycles of protocol 2.0 with replies of size bytes: a sync write of 4 bytes, and one way of reading.
func readBytes(how servo.Level, size int) servo.CycleBytes {
	switch how {
	case servo.FastReads:
		return servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 14 + 5*n + 14 + n + 8 + (4+size)*n },
			Delays: servo.OneDelay}
	case servo.SyncReads:
		return servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 14 + 5*n + 14 + n + (11+size)*n },
			Delays: servo.EachDelay}
	}
	return servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 14 + 5*n + 14*n + (11+size)*n },
		Delays: servo.EachDelay}
}

// benchmarks are the usual lines, and with More every cell of hardware.md's table. Those combine each rate, each way of
// reading, 4 and 10 bytes and reply delays of 0, 250 and, by factory default, 500 µs. They have no health reads, so
// that the results match the table's cells.
func (d driver) benchmarks() (all []servo.Benchmark) {
	bare := servo.ChainConfig{Health: -1, Watchdog: -1}
	delays := []time.Duration{0, 250 * time.Microsecond, 500 * time.Microsecond}
	rates := []int{57_600, 115_200, 1_000_000, 2_000_000, 3_000_000, 4_000_000}
	if d.protocol == 1 {
		// AX: sync write 4 (goal, speed), single reads of 6. MX: sync write 4, bulk read 6.
		ax := servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 8 + 5*n + 8*n + 12*n },
			Delays: servo.EachDelay}
		mx := servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 8 + 5*n + 7 + 3*n + 12*n },
			Delays: servo.EachDelay}
		return []servo.Benchmark{
			{Model: "ax-12a", Bauds: []int{115_200, 1_000_000}, Bound: ax.Bound, First: 1},
			{Model: "mx-64", Bauds: []int{57_600, 1_000_000, 3_000_000}, Bound: mx.Bound, First: 1},
			// an MX goes to 3 Mbaud
			{Model: "mx-64", Name: "bare", Config: bare, Bauds: rates[:5], Bound: mx.Bound, First: 1, Delays: delays,
				Long: true},
			{Model: "ax-12a", Name: "bare", Config: bare, Bauds: rates[:3], Bound: ax.Bound, First: 1, Delays: delays,
				Long: true},
		}
	}
	all = []servo.Benchmark{
		{Model: "xm430-w350", Bauds: rates, Bound: readBytes(servo.FastReads, 10).Bound, First: 1},
		// Old MX firmware has no fast read, though the table of the series has.
		{Model: "mx-64-2", Name: "sync read", Config: servo.ChainConfig{Reading: servo.SyncReads}, Bauds: rates[2:3],
			Bound: readBytes(servo.SyncReads, 10).Bound, First: 1},
	}
	ways := []string{servo.FastReads: "fast read", servo.SyncReads: "sync read", servo.SingleReads: "single reads"}
	// The effect of an FTDI adapter's latency timer: a reply of less than 62 bytes waits for it. The bound is still
	// that of the wire.
	for _, latency := range []time.Duration{16 * time.Millisecond, time.Millisecond} {
		for how, name := range ways {
			how := servo.Level(how)
			all = append(all, servo.Benchmark{Model: "xm430-w350", Name: fmt.Sprintf("%s, FTDI %v", name, latency),
				FTDI:   latency,
				Config: servo.ChainConfig{Reading: how}, Bauds: rates[2:3], Counts: []int{20},
				Bound: readBytes(how, 10).Bound, First: 1})
		}
	}
	for _, size := range []int{4, 10} {
		for how, name := range ways {
			cfg := bare
			cfg.Reading, cfg.PositionOnly = servo.Level(how), size == 4
			all = append(all, servo.Benchmark{Model: "xm430-w350",
				Name: fmt.Sprintf("%s of %d bytes alone", name, size), Config: cfg, Bauds: rates,
				Bound: readBytes(cfg.Reading, size).Bound, First: 1, Delays: delays, Long: true})
		}
	}
	return all
}

// published is 20 MX-64 under protocol 2.0, a sync write of 4 bytes and a sync read of 10 bytes a cycle (Bestmann,
// Güldenstein, Zhang, RoboCup 2019; field.md 4.1), through QUADDXL (four buses on one USB) but where others are named.
func published() *servo.Published {
	const quad = "QUADDXL"
	return &servo.Published{
		Model: "mx-64-2", Servos: 20, Sync: readBytes(servo.SyncReads, 10), Fast: readBytes(servo.FastReads, 10),
		Cells: []servo.PublishedCell{
			{Mbaud: 1, Buses: 1, Adapter: quad, Hz: 149}, {Mbaud: 1, Buses: 1, Adapter: "USB2DXL", Hz: 153},
			{Mbaud: 1, Buses: 1, Adapter: "R-DXL", Hz: 132},
			{Mbaud: 2, Buses: 1, Adapter: quad, Hz: 261}, {Mbaud: 2, Buses: 1, Adapter: "USB2DXL", Hz: 272},
			{Mbaud: 4, Buses: 1, Adapter: quad, Hz: 398},
			{Mbaud: 1, Buses: 2, Adapter: quad, Hz: 285}, {Mbaud: 2, Buses: 2, Adapter: quad, Hz: 497},
			{Mbaud: 4, Buses: 2, Adapter: quad, Hz: 744},
			{Mbaud: 1, Buses: 3, Adapter: quad, Hz: 390}, {Mbaud: 2, Buses: 3, Adapter: quad, Hz: 670},
			{Mbaud: 4, Buses: 3, Adapter: quad, Hz: 1003},
			{Mbaud: 1, Buses: 4, Adapter: quad, Hz: 524}, {Mbaud: 2, Buses: 4, Adapter: quad, Hz: 923},
			{Mbaud: 4, Buses: 4, Adapter: quad, Hz: 1373},
		},
	}
}
