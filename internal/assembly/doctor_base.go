package assembly

import (
	"fmt"
	"math"
)

// Seen says what a scanner sees, in a few words.
func (s *scanner) Seen(device string, values []float64) string {
	nearest, rays := math.Inf(1), 0
	for _, v := range values {
		if !math.IsNaN(v) {
			nearest, rays = math.Min(nearest, v), rays+1
		}
	}
	return fmt.Sprintf("%s sees with %d of its %d rays, the nearest thing at %.2f m", device, rays, len(values), nearest)
}
