package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/supervise"
)

// The silence that counts as a hang covers the slowest cycle of the plan: it grows with the adapter's latency and with
// the servos, is at least the supervisor's, and a plan in which it does not keep the guard's deadline is refused with
// the reason.
func TestHang(t *testing.T) {
	for _, c := range []struct {
		model, kind string
		n           int
		latency     time.Duration
		deadline    string
		refused     bool
	}{
		{"sts3215", "feetech", 6, time.Millisecond, "500ms", false},
		{"sts3215", "feetech", 3, 16 * time.Millisecond, "500ms", false},
		{"sts3215", "feetech", 10, 16 * time.Millisecond, "500ms", false},
		{"ax-12a", "dynamixel1", 10, 16 * time.Millisecond, "500ms", false},
		{"xm430-w350", "dynamixel2", 10, 16 * time.Millisecond, "500ms", false},
		{"xm430-w350", "dynamixel2", 3, 40 * time.Millisecond, "500ms", false},
		{"sts3215", "feetech", 10, 40 * time.Millisecond, "500ms", true},
		{"sts3215", "feetech", 10, 40 * time.Millisecond, "1s", false},
		{"sts3215", "feetech", 3, time.Millisecond, "200ms", true},
		// only a lost answer would be too late: the deadline counts
		{"odrive-v3", "odrive", 1, 40 * time.Millisecond, "500ms", false},
	} {
		path := robot(t, c.n, 1, 1000000, c.model, c.kind, "20ms", ", latency: "+c.latency.String())
		cfg, err := configs.Load(path, configs.Options{Set: []string{"agents[0].guard.command_timeout=" + c.deadline}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.Resolve(cfg, builtin.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Of(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		refused, warning := Refused(p.Config, rows)
		t.Logf("%d %s, %v: %v ms", c.n, c.model, c.latency, rows[0].Hang)
		if (refused != nil) != c.refused || refused != nil && (hal.KindOf(refused) != hal.Invalid || !warning ||
			!strings.Contains(refused.Error(), "guard.command_timeout")) {
			t.Errorf("%+v: got %v, want refused %v", c, refused, c.refused)
		}
		least := 20*time.Millisecond + time.Duration(2)*c.latency // a cycle reads the states and one servo's health
		if got := rows[0].silence.sound; got < max(supervise.MinTimeout, least) {
			t.Errorf("%+v: got %v, want at least %v", c, got, least)
		}
	}
}

// A bus that is slower than the cycle has its own rate; of one whose joints would be lost by then it is said that the
// cycle waits for it.
func TestSlowBus(t *testing.T) {
	for _, c := range []struct {
		n, baud int
		span    int
		says    string
	}{{6, 1000000, 1, ""}, {6, 115200, 2, "every 2 periods"}, {12, 57600, 6, "waits for it beyond 5 periods"}} {
		path := robot(t, c.n, 1, c.baud, "sts3215", "feetech", "10ms", "")
		p, err := plan.Load(path, configs.Options{}, builtin.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Of(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if w := rows[0].Warning(); rows[0].Span != c.span || !strings.Contains(w, c.says) {
			t.Errorf("%d servos at %d Bd: got every %d cycles, %q; want %d, %q", c.n, c.baud, rows[0].Span, w, c.span,
				c.says)
		}
	}
}
