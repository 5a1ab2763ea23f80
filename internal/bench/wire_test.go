package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// halyard plan predicts a config's rate within 10 % of halyard bench wire for as many servos at the same rate: the
// difference is the health that a robot's driver reads in turn.
func TestPlanOfWire(t *testing.T) {
	_, table := publishedTable()
	dir := t.TempDir()
	for _, c := range table.Cells {
		n := (table.Servos + c.Buses - 1) / c.Buses
		w, err := NewWire(n, c.Mbaud*1_000_000, false)
		if err != nil {
			t.Fatal(err)
		}
		want, err := w.Rate(context.Background(), 50)
		if err != nil {
			t.Fatal(err)
		}
		var links, joints strings.Builder
		for i := range n {
			fmt.Fprintf(&links, "<link name='l%d'><inertial><mass value='0.1'/><inertia ixx='1e-3' iyy='1e-3' "+
				"izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial></link>"+
				"<joint name='j%d' type='revolute'><parent link='l%d'/><child link='l%d'/><axis xyz='0 0 1'/><limit "+
				"lower='-1' upper='1' effort='1' velocity='1'/></joint>", i+1, i, i, i+1)
			fmt.Fprintf(&joints, "        j%d: {bus: b, id: %d, model: %s}\n", i, i+1, table.Model)
		}
		path := filepath.Join(dir, "r.yaml")
		for name, text := range map[string]string{filepath.Join(dir, "r.urdf"): "<robot name='r'><link name='l0'/>" +
			links.String() + "</robot>",
			path: fmt.Sprintf("name: r\nbuses: {b: {type: dynamixel2, baud: %d}}\nagents:\n  - name: r\n    model: "+
				"r.urdf\n    body: emulated\n    hardware:\n      joints:\n%s", c.Mbaud*1_000_000, &joints)} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := plan.Load(path, configs.Options{}, builtin.Catalog())
		if err != nil {
			t.Fatal(err)
		}
		all, err := budget.Of(p, budget.Options{Read: "sync"})
		if err != nil {
			t.Fatal(err)
		}
		off := float64(all[0].Rate)/want - 1
		t.Logf("%s: bench wire %.0f Hz, plan %.0f Hz, %+.1f %%", cellName(&c), want, float64(all[0].Rate), 100*off)
		if math.Abs(off) > 0.1 {
			t.Errorf("%s: plan is off by %+.1f %%, want 10 %% at most", cellName(&c), 100*off)
		}
	}
}
