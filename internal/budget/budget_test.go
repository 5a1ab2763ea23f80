package budget

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// robot writes a config with n servos of a model shared among buses, each joint a link of a chain, and returns its
// path.
func robot(t *testing.T, n, buses, baud int, model, kind, period, more string) string {
	t.Helper()
	var urdf, joints, lines strings.Builder
	urdf.WriteString("<robot name='r'><link name='l0'/>")
	for i := range n {
		fmt.Fprintf(&urdf, "<link name='l%d'><inertial><mass value='0.1'/><inertia ixx='1e-3' iyy='1e-3' izz='1e-3' "+
			"ixy='0' ixz='0' iyz='0'/></inertial></link>"+
			"<joint name='j%d' type='revolute'><parent link='l%d'/><child link='l%d'/><axis xyz='0 0 1'/><limit "+
			"lower='-1' upper='1' effort='1' velocity='1'/></joint>", i+1, i, i, i+1)
		fmt.Fprintf(&joints, "        j%d: {bus: b%d, id: %d, model: %s}\n", i, i%buses, i/buses+1, model)
	}
	urdf.WriteString("</robot>")
	for i := range buses {
		fmt.Fprintf(&lines, "  b%d: {type: %s, baud: %d%s}\n", i, kind, baud, more)
	}
	dir := t.TempDir()
	text := "name: r\nclock: {mode: lockstep, period: " + period + "}\nbuses:\n" + lines.String() +
		"agents:\n  - name: r\n    model: r.urdf\n    body: emulated\n    hardware:\n      joints:\n" + joints.String()
	for name, text := range map[string]string{"r.urdf": urdf.String(), "r.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "r.yaml")
}

// budgets are those of the config at path.
func budgets(t *testing.T, path string, o Options) []Bus {
	t.Helper()
	p, err := plan.Load(path, configs.Options{}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	all, err := Of(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The published rates of 20 servos, measured through one kind of adapter on one to four buses: a config of such a robot
// is predicted within 10 %.
func TestPublished(t *testing.T) {
	table := catalog.BuiltinBuses().Of("dynamixel2").Published
	worst := 0.0
	for _, c := range table.Cells {
		if c.Adapter != table.Cells[0].Adapter {
			continue // the others are of adapters with delays of their own
		}
		path := robot(t, table.Servos, c.Buses, c.Mbaud*1_000_000, table.Model, "dynamixel2", "10ms", "")
		rate := math.Inf(1)
		for _, b := range budgets(t, path, Options{Read: "sync"}) {
			rate = min(rate, float64(b.Rate))
		}
		off := rate/c.Hz - 1
		worst = max(worst, math.Abs(off))
		t.Logf("%d Mbaud, %d buses: published %g Hz, planned %.0f Hz, %+.1f %%", c.Mbaud, c.Buses, c.Hz, rate, 100*off)
	}
	if worst > 0.1 {
		t.Errorf("planned rates: off by %.1f %%, want at most 10 %%", 100*worst)
	}
}

// A period that cannot be met is told, with changes that do meet it when they are made.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name, model, kind, period, more string
		n, baud                         int
		want                            []string
	}{
		{"fits", "xl430-w250", "dynamixel2", "20ms", "", 6, 1000000, nil},
		{"slow line", "xl430-w250", "dynamixel2", "10ms", "", 6, 57600,
			[]string{"baud: 1000000", "clock.period: 100ms"}},
		{"return delay", "ax-12a", "dynamixel1", "10ms", ", return_delay: 500us", 18, 1000000,
			[]string{"return_delay: 0s", "the servos on 2 buses", "clock.period: 20ms"}},
		{"too much", "ax-12a", "dynamixel1", "5ms", "", 18, 1000000,
			[]string{"the servos on 2 buses", "clock.period: 8ms"}},
		{"latency timer", "sts3215", "feetech", "20ms", ", timing: {latency_timer: 16ms}", 6, 1000000,
			[]string{"latency timer of 1ms", "clock.period: 50ms"}},
	} {
		b := budgets(t, robot(t, c.n, 1, c.baud, c.model, c.kind, c.period, c.more), Options{})[0]
		for _, change := range b.Changes {
			if rate, ok := strings.CutPrefix(change, "baud: "); ok {
				c.baud, _ = strconv.Atoi(rate)
			} else if buses, ok := strings.CutPrefix(change, "the servos on "); ok {
				n, _ := strconv.Atoi(strings.TrimSuffix(buses, " buses"))
				again := budgets(t, robot(t, c.n, n, c.baud, c.model, c.kind, c.period, c.more), Options{})[0]
				if w := again.Warning(); w != "" {
					t.Errorf("%s: after %q: %s", c.name, change, w)
				}
			}
		}
		if (b.Warning() == "") != (c.want == nil) {
			t.Errorf("%s: got warning %q, want changes %q", c.name, b.Warning(), c.want)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(b.Changes, "; "), want) {
				t.Errorf("%s: got changes %q, want %q", c.name, b.Changes, want)
			}
		}
	}
}

// Every embedded config has a budget, of each of its buses, and only what is there is told to fit.
func TestEmbedded(t *testing.T) {
	for _, name := range configs.Names() {
		for _, b := range budgets(t, name, Options{}) {
			if b.Servos > 0 && !(b.Rate > 0 && b.Wire > 0 && b.Wire <= 1.2) {
				t.Errorf("%s: %+v", name, b)
			}
			if w := b.Warning(); w != "" {
				t.Logf("%s: %s", name, w)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	path := robot(t, 6, 1, 1000000, "sts3215", "feetech", "20ms", "")
	least := 0.0
	for _, adapter := range []string{"ideal", "high-speed", "full-speed", "ftdi-full-speed"} {
		at := float64(budgets(t, path, Options{Adapter: adapter})[0].Cycle)
		if at <= least {
			t.Errorf("%s: got a cycle of %g ms, want more than %g", adapter, at, least)
		}
		least = at
	}
	if one, all := budgets(t, path, Options{Read: "single"})[0].Cycle,
		budgets(t, path, Options{})[0].Cycle; one <= all {
		t.Errorf("read one by one: got %g ms, want more than %g", one, all)
	}
	p, err := plan.Load(path, configs.Options{}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Adapter: "usb"}, {Read: "fast"}} {
		if _, err := Of(p, o); err == nil || !strings.Contains(err.Error(), "want one of") {
			t.Errorf("%+v: got %v, want a refusal", o, err)
		}
	}
}
