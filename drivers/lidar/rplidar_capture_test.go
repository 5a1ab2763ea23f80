package lidar

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// Captured capsules decode to the samples that SLAMTEC's own arithmetic makes of them, to the bit.
func TestCapturedCapsules(t *testing.T) {
	for _, c := range []struct {
		file     string
		encoding RPLidarEncoding
	}{{"rplidar_express.txt", RPLidarExpressed}, {"rplidar_ultra.txt", RPLidarUltra}} {
		t.Run(c.file, func(t *testing.T) {
			lines := haltest.Capture(t, c.file)
			p := NewRPCapsuleParser(c.encoding)
			var capsule RPCapsule
			next, samples := 0, 0
			for _, line := range lines {
				if text, ok := strings.CutPrefix(line, "C "); ok {
					b := haltest.Bytes(t, text)
					p.Feed(b)
					next = 0
					if !p.Next(&capsule) {
						next = -1
						continue
					}
					if capsule.Encoding != RPLidarUltra && !slices.Equal(capsule.Append(nil), p.previous) {
						t.Errorf("encoded again: got % X, want % X", capsule.Append(nil), p.previous)
					}
					continue
				}
				var q14, q2, start int
				if _, err := fmt.Sscanf(line, "N %d %d %d", &q14, &q2, &start); err != nil || next < 0 {
					t.Fatalf("%s: got %v before any capsule", line, err)
				}
				angle, mm := capsule.Sample(next)
				angle = (angle + lidarwire.TurnQ6) % lidarwire.TurnQ6
				if got := angle << 8 / 90; got != q14 || 4*mm != q2 {
					t.Errorf("sample %d: got %d %d, want %d %d", next, got, 4*mm, q14, q2)
				}
				next, samples = next+1, samples+1
			}
			if samples < 100 || p.Garbage != 0 {
				t.Errorf("got %d samples and %d bytes lost", samples, p.Garbage)
			}
		})
	}
}

// A captured standard scan loses no node, and every ray of the turn that has a node with a range has a value.
func TestCapturedNodes(t *testing.T) {
	for _, file := range []string{"rplidar_a3_standard.txt", "rplidar_a3_valid_data_2.txt",
		"rplidar_a3_values_at_60_v3.txt"} {
		t.Run(file, func(t *testing.T) {
			p := lidarwire.NewRPNodeParser()
			turn := newTurn(360)
			sent, got, ends := 0, 0, 0
			var now time.Duration
			want := map[int]float64{} // by ray of 1 degree, of all turns: whether there is a range
			for _, line := range haltest.Capture(t, file) {
				bytes, expected, told := strings.Cut(line, "|")
				b := haltest.Bytes(t, bytes)
				sent++
				p.Feed(b)
				var alone lidarwire.RPNode
				if !alone.Decode(b) {
					t.Fatalf("%s: refused", line)
				}
				var angle, mm float64
				if _, err := fmt.Sscanf(expected, "%f %f", &angle, &mm); told && (err != nil ||
					math.Abs(angle-float64(alone.Angle)/64) > 0.001 || math.Abs(mm-float64(alone.Range)/4) > 0.001) {
					t.Errorf("%s: got %g %g", line, float64(alone.Angle)/64, float64(alone.Range)/4)
				}
				if alone.Range > 0 {
					want[int(alone.Angle)>>6] = float64(alone.Range) / 4000
				}
				for n := (lidarwire.RPNode{}); p.Next(&n); got++ {
					now += 500 * time.Microsecond
					if !turn.add(int(n.Angle), float64(n.Range)/4000, now) {
						continue
					}
					if ends++; ends < 2 {
						continue
					}
					// No blind sector: where any turn saw something for five degrees in a row, this one did somewhere.
					for at := range 360 {
						seen, blind := 0, 0
						for k := range 5 {
							if _, ok := want[(at+k)%360]; ok {
								seen++
							}
							if math.IsNaN(turn.was[(180-at-k+720)%360]) {
								blind++
							}
						}
						if seen == 5 && blind == 5 {
							t.Errorf("turn %d: blind from %d degrees on", ends, at)
						}
					}
				}
			}
			if got != sent-lidarwire.Ahead || p.Garbage != 0 {
				t.Errorf("got %d nodes of %d, %d bytes lost", got, sent-lidarwire.Ahead, p.Garbage)
			}
			if ends < 3 {
				t.Errorf("got %d turns, want 3 or more", ends)
			}
		})
	}
}
