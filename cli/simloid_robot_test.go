package cli

import (
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	simloidserve "github.com/halyard-robotics/halyard/internal/serve/simloid"
	"github.com/halyard-robotics/halyard/protocols/simloid"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// simloidPlan is a rig of one robot behind a Simloid server.
func simloidPlan(t testing.TB, id int, more string) *plan.Plan {
	t.Helper()
	c, err := configs.Parse(fmt.Appendf(nil, `
name: simloid
world: {scene: flat}
agents: [{name: robot, model: simloid-%d}]
servers: [{protocol: simloid, listen: "127.0.0.1:0"%s}]
`, id, more), "test", configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSimloidTraits: the traits of all robots are byte for byte those of the original.
func TestSimloidTraits(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "data", "simloid", "traits")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no traits of the original here: %v", err)
	}
	ids := model.SimloidIDs()
	if len(ids) != 14 {
		t.Fatalf("got %d robots, want 14", len(ids))
	}
	for _, id := range ids {
		want, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%d.traits", id)))
		if err != nil {
			t.Fatal(err)
		}
		p := simloidPlan(t, id, "")
		sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Errorf("%d: %v", id, err)
			continue
		}
		r := simloidserve.DescribeSimloid(sys.Rig.Agent("robot"), p.Agents[0].Robot)
		if got := simloid.AppendTraits(nil, &r.Traits, simloid.Document); string(got) != string(want) {
			t.Errorf("%d: got\n%swant\n%s", id, got, want)
		}
		// what the later dialect has beside them
		for i, j := range r.Joints {
			if c := sys.Rig.Agent("robot").Layout().Measured(j.Current); c.Name != "motors/current_"+
				p.Agents[0].Robot.Joints[i].Name {
				t.Errorf("%d: joint %d: got current %q", id, i, c.Name)
			}
		}
		for i, name := range r.Traits.Names {
			if name != p.Agents[0].Robot.Bodies[i].Name {
				t.Errorf("%d: body %d: got %q, want %q", id, i, name, p.Agents[0].Robot.Bodies[i].Name)
			}
		}
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestKinematicsOfSim: forward kinematics says of every body of every robot where the physics has it, and how fast it
// moves. The roots are fixed, so that their motion is known.
func TestKinematicsOfSim(t *testing.T) {
	names := []string{"xl430-pendulum", "a-series"}
	for _, id := range model.SimloidIDs() {
		names = append(names, fmt.Sprintf("simloid-%d", id))
	}
	const period = 10 * time.Millisecond
	for _, name := range names {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		scene := sim.NewScene(sim.SceneConfig{})
		start := hal.Pose{Position: [3]float64{1, 2, 3}, Rotation: [4]float64{0.8, 0, 0, 0.6}}
		body, err := scene.Add("robot", m, start)
		if err != nil {
			t.Fatal(err)
		}
		if root := m.Bodies[m.Root()].Name; !m.Fixed {
			if err := scene.ToggleFixed("robot", root); err != nil {
				t.Fatal(err)
			}
		}
		tree, places := plan.TreeOf(m)
		if err := tree.Validate(len(m.Joints)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		state, l := tree.NewState(), body.Layout()
		f := hal.NewFrame(l)
		q, v := make([]float64, len(m.Joints)), make([]float64, len(m.Joints))
		random := rand.New(rand.NewPCG(1, 2))
		worst, fastest := 0.0, 0.0
		for step := range 50 {
			for i := range l.Actuators {
				a := &l.Actuators[i]
				f.Enable[i] = true
				f.Inputs[a.Goal[hal.PositionMode]] = a.Default + 0.6*(random.Float64()-0.5)
			}
			must(t, body.Write(f))
			must(t, scene.Advance(period))
			f.Time += period
			must(t, body.Read(f))
			for i := range q {
				q[i], v[i] = f.Measured[l.Actuators[i].Position], f.Measured[l.Actuators[i].Velocity]
				if servo := body.Joint(i).Servo; servo != nil {
					q[i] = servo.Position // what is measured has ticks
				}
			}
			tree.Forward(state, q, v, start, [3]float64{}, [3]float64{})
			for i := range m.Bodies {
				got, want := state.Poses[places[i]].Of(m.Bodies[i].CentreOfMass),
					body.Pose(i).Of(m.Bodies[i].CentreOfMass)
				worst = math.Max(worst, distance(got, want))
			}
			for _, s := range l.Sensors {
				if k := m.Body(s.Name); s.Kind == "body" && step > 2 {
					want := [3]float64(f.Measured[s.First+3:][:3])
					got := state.SpeedAt(places[k], [3]float64(f.Measured[s.First:][:3]))
					worst = math.Max(worst, 0.01*distance(got, want))
					fastest = math.Max(fastest, distance(want, [3]float64{}))
				}
			}
		}
		if !(worst < 5e-4) { // what fixes the root gives way a little
			t.Errorf("%s: got %g m apart, want the same within 0.5 mm and 50 mm/s", name, worst)
		}
		t.Logf("%s: %.1e m apart; up to %.2f m/s", name, worst, fastest)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}
