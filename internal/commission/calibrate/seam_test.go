package calibrate

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
)

// A resumed session counts a servo's turns from 0 again. The one before came to its reference over the seam of the
// encoder: the direction and the range are right all the same.
func TestGuideGoesOnBeyondSeam(t *testing.T) {
	for _, c := range []struct {
		direction       int
		zero, reference float64
	}{{1, 40, 40 + 4096}, {-1, 4050, 4050 - 4096}, {1, 4050, 4050 - 4096}, {-1, 40, 40}} {
		dir, o := t.TempDir(), configs.Options{Body: "emulated"}
		at := "agents[0].hardware.joints.elbow_flex.ground_truth"
		o.Set = []string{fmt.Sprintf("%s.zero=%g", at, c.zero), fmt.Sprintf("%s.direction=%d", at, c.direction)}
		before := fmt.Sprintf(`{"robot": "so101", "body": "emulated", "joints": {"elbow_flex": {"reference_ticks": %g}}}`, c.reference)
		if err := os.WriteFile(filepath.Join(dir, ".so101.calibrate.json"), []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		g, out := guide(t, dir, "\nhand elbow_flex 20\n\nhand elbow_flex 97 elbow_flex -97\n\nhand elbow_flex 0\n\n\n\n", o)
		g.Only = []string{"elbow_flex"}
		_, err := g.Run(context.Background())
		j, fault := calibration.Load(filepath.Join(dir, "elbow_flex.yaml"))
		if err != nil || fault != nil {
			t.Errorf("zero %g, direction %d: got %v, %v\n%s", c.zero, c.direction, err, fault, out)
			continue
		}
		low, high := j.Range()
		if j.Direction != c.direction || math.Abs(low/degree+97) > 2 || math.Abs(high/degree-97) > 2 {
			t.Errorf("got direction %d and %.0f..%.0f degrees, want %d and -97..97", j.Direction, low/degree,
				high/degree, c.direction)
		}
	}
}
