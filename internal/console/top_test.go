package console

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/report"
)

func answer(cycles uint64, at float64) *control.Answer {
	a := &control.Answer{Rig: control.RigStatus{Name: "arm", Clock: "realtime", Cycles: cycles},
		Buses: []control.BusStatus{{Name: "upper", Body: "real", Servos: 2, Cycles: cycles, Wire: 0.001, Spent: 0.002,
			Timeouts: 3}}}
	a.Joints = []control.JointStatus{{Agent: "arm", Joint: "elbow", State: "armed", Holder: "osp", Fault: "bad\x1b[2J"}}
	angle := report.Number(at)
	a.Joints[0].Angle = &angle
	return a
}

func TestPage(t *testing.T) {
	page := strings.Join(Page(answer(150, 0.5), answer(100, 0.25), 500*time.Millisecond), "\n")
	for _, want := range []string{"100.0 cycles/s", "upper  real  2       100.0     2.00      1.00     3",
		"elbow  armed, no torque yet  osp      +0.500    +0.50", "Space stops all, Ctrl-C"} {
		if !strings.Contains(page, want) {
			t.Errorf("got\n%s\nwant %q", page, want)
		}
	}
	stopped := answer(1, 0)
	stopped.Rig.Stopped = true
	if first := strings.Join(Page(stopped, nil, 0), "\n"); !strings.Contains(first, "EMERGENCY STOP") ||
		!strings.Contains(first, "- cycles/s") {
		t.Errorf("got\n%s", first)
	}
}

// TestTop draws twice, cut to the terminal, and leaves it as it was; what a name or an error holds does not reach it.
func TestTop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	asked := 0
	tick := make(chan time.Time, 1)
	tick <- time.Time{}
	err := Top(ctx, &out, tick, func() (int, int) { return 40, 6 }, func() (*control.Answer, error) {
		if asked++; asked == 2 {
			cancel()
			return nil, errors.New("no rig")
		}
		return answer(1, 0), nil
	})
	text := out.String()
	if err != nil || asked != 2 || !strings.HasPrefix(text, enter+home) || !strings.HasSuffix(text, leave) ||
		!strings.Contains(text, "... 3 more lines") {
		t.Errorf("got %q, %v", text, err)
	}
	if strings.Contains(fit([]string{"bad\x1b[2J"}, 80, 5), "\x1b[2J") {
		t.Error("a control sequence of an error reaches the terminal")
	}
	for _, line := range strings.Split(text, "\r\n") {
		if plain := strings.NewReplacer(enter, "", home, "", "\x1b[K", "", endPage, "", leave,
			"").Replace(line); len(plain) > 40 && !strings.Contains(plain, "no rig") {
			t.Errorf("got a line of %d columns, want 40: %q", len(plain), plain)
		}
	}
}
