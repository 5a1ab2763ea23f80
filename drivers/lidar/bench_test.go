package lidar

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// stream is what a scanner says in a second or so, and what takes it; true where a scan ended.
type stream struct {
	name  string
	bytes []byte
	take  func() func([]byte) bool
	scans int // of a run
}

// feed gives a stream to what takes it in pieces, as a serial port hands them on.
func (s *stream) feed(take func([]byte) bool) (scans int) {
	for rest := s.bytes; len(rest) > 0; {
		n := min(len(rest), 512)
		if take(rest[:n]) {
			scans++
		}
		rest = rest[n:]
	}
	return scans
}

func streams() []stream {
	lms, urg, nodes, capsules := []byte(nil), []byte(nil), []byte(nil), []byte(nil)
	words, numbers := make([]uint16, 361), make([]int, 1081)
	for i := range words {
		words[i] = uint16(500 + 7*i)
	}
	for i := range numbers {
		numbers[i] = 500 + 20*i
	}
	for range 40 {
		lms = lidarwire.AppendSICK(lms, 0x80, lidarwire.AppendSICKScan(nil, words, 1, 0x10))
		urg = lidarwire.AppendSCIPScan(urg, "MD0000108001000", lidarwire.SCIPData, 1234, numbers, 3)
		nodes = append(nodes, turnOf(0, 360, 1234)...)
		for i := range 18 {
			c := RPCapsule{Encoding: RPLidarExpressed, Start: uint16(i * 20 << 6)}
			for k := range c.Ranges {
				c.Ranges[k] = 1234
			}
			capsules = c.Append(capsules)
		}
	}
	ranges := make([]float64, 1081)
	clock := link{port: servo.PointToPoint{Line: &socket{began: time.Now()}}}
	return []stream{
		{"lms", lms, func() func([]byte) bool {
			d := &SICK{parser: lidarwire.NewSICKParser(0x80), reach: lidarwire.SICKReach{Metres: 8, Mode: 0, Bits: 13},
				scan: ranges[:361]}
			return func(p []byte) bool { ok, _ := d.parse(p); return ok }
		}, 40},
		{"hokuyo", urg, func() func([]byte) bool {
			m, _ := HokuyoModelOf("UTM-30LX")
			d, _ := NewHokuyo(HokuyoSettings{Line: noLine, Model: m})
			return func(p []byte) bool { ok, _ := d.parse(p); return ok }
		}, 40},
		{"rplidar standard", nodes, func() func([]byte) bool {
			d := &RPLidar{link: clock, nodes: lidarwire.NewRPNodeParser(), turn: newTurn(360), scan: ranges[:360]}
			return func(p []byte) bool { ok, _ := d.parse(p); return ok }
		}, 38},
		{"rplidar express", capsules, func() func([]byte) bool {
			d := &RPLidar{link: clock, capsules: NewRPCapsuleParser(RPLidarExpressed), turn: newTurn(360),
				scan: ranges[:360]}
			return func(p []byte) bool { ok, _ := d.parse(p); return ok }
		}, 38},
	}
}

// The streams decoded to ranges. The bound is memory: every byte is read once and copied once on the way in, so the
// rate at which memory is copied, measured in the same run, is what no decoder beats; the ratio says how near it is.
func BenchmarkDecode(b *testing.B) {
	bound := copyRate()
	for _, c := range streams() {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.bytes)))
			b.ReportAllocs()
			take, scans := c.take(), 0
			for b.Loop() {
				scans += c.feed(take)
			}
			if scans < c.scans*b.N*9/10 {
				b.Errorf("got %d scans in %d runs, want %d a run", scans, b.N, c.scans)
			}
			rate := float64(len(c.bytes)) * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(bound/1e6, "copy-MB/s")
			b.ReportMetric(rate/bound, "ratio")
		})
	}
}

// A scan costs no memory, of whichever scanner.
func TestScansAllocateNothing(t *testing.T) {
	for _, c := range streams() {
		take, scans := c.take(), 0
		if n := testing.AllocsPerRun(3, func() { scans = c.feed(take) }); n != 0 || scans < c.scans*9/10 {
			t.Errorf("%s: got %g allocations for %d scans, want none for %d", c.name, n, scans, c.scans)
		}
	}
}

// copyRate is how fast memory is copied, bytes a second, in pieces that no cache holds: the best of some runs.
func copyRate() float64 {
	const size = 64 << 20
	from, to, best := make([]byte, size), make([]byte, size), math.Inf(1)
	for i := range from {
		from[i] = byte(i) // pages that were never written are all the same one
	}
	for range 5 {
		began := time.Now()
		copy(to, from)
		best = math.Min(best, time.Since(began).Seconds())
	}
	return size / best
}
