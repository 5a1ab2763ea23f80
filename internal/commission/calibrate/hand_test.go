package calibrate

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
)

// While the torque is on, an order to the hand of a simulated robot is refused, and the prompt repeats.
func TestHandUnderTorque(t *testing.T) {
	answers := "\nhand elbow_flex 10\n\nhand elbow_flex 97 elbow_flex -97\n\n\n\ny\n" + "hand elbow_flex 20\n" + "n\n"
	g, out := guide(t, t.TempDir(), answers, configs.Options{Body: "emulated"})
	g.Only = []string{"elbow_flex"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := g.Run(ctx); err != nil ||
		!strings.Contains(out.String(), "want a simulated robot whose torque is off") {
		t.Errorf("got %v and\n%s\nwant the order refused", err, out)
	}
}
