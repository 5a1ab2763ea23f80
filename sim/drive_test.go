package sim

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// cart is a URDF of a plate on wheels of 0.05 m radius: where each is, and the direction of its axle, degrees to the
// left of y.
func cart(wheels [][3]float64, steered int) string {
	var b strings.Builder
	b.WriteString(`<robot name="cart"><link name="plate"><inertial><mass value="4"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
		<collision><geometry><box size="0.3 0.2 0.02"/></geometry></collision></link>`)
	for i, w := range wheels {
		parent := "plate"
		at := fmt.Sprintf(`xyz="%g %g 0" rpy="0 0 %g"`, w[0], w[1], w[2]*math.Pi/180)
		if i < steered {
			parent = fmt.Sprintf("fork%d", i)
			fmt.Fprintf(&b, `<link name="%s"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
				<joint name="steer%d" type="revolute"><parent link="plate"/><child link="%s"/><origin %s/><axis xyz="0 0 1"/>
				<limit lower="-0.8" upper="0.8" effort="20" velocity="5"/></joint>`, parent, i, parent, at)
			at = ""
		}
		fmt.Fprintf(&b, `<link name="tyre%d"><inertial><mass value="0.3"/><inertia ixx="4e-4" iyy="4e-4" izz="4e-4"/></inertial>
			<collision><origin rpy="1.5707963 0 0"/><geometry><cylinder radius="0.05" length="0.02"/></geometry></collision></link>
			<joint name="wheel%d" type="continuous"><parent link="%s"/><child link="tyre%d"/><origin %s/><axis xyz="0 1 0"/>
			<limit effort="3" velocity="40"/></joint>`, i, i, parent, i, at)
	}
	b.WriteString(`</robot>`)
	return b.String()
}

// TestDriveKinds: a robot of a file with each kind of drive moves as it is told, and its odometry says so.
func TestDriveKinds(t *testing.T) {
	four := [][3]float64{{0.15, 0.12, 0}, {0.15, -0.12, 0}, {-0.15, 0.12, 0}, {-0.15, -0.12, 0}}
	for _, c := range []struct {
		kind    string
		wheels  [][3]float64
		steered int
		motions [][3]float64
	}{
		{"differential", [][3]float64{{0, 0.12, 0}, {0, -0.12, 0}}, 0,
			[][3]float64{{0.3, 0, 0}, {0, 0, 1}, {0.2, 0, -0.5}}},
		{"ackermann", four, 2, [][3]float64{{0.3, 0, 0}, {0.3, 0, 0.4}, {-0.3, 0, 0.4}}},
		{"omni", [][3]float64{{0.15, 0, -90}, {-0.075, 0.13, 30}, {-0.075, -0.13, 150}}, 0,
			[][3]float64{{0.3, 0, 0}, {0, 0.3, 0}, {0, 0, 1}, {0.2, -0.2, 0}}},
		{"mecanum", four, 0, [][3]float64{{0.3, 0, 0}, {0, 0.3, 0}, {0, 0, 1}, {0.2, -0.2, 0}}},
	} {
		m, err := model.ParseFile([]byte(cart(c.wheels, c.steered)), "cart.urdf", model.FileOptions{Base: "floating"})
		if err != nil {
			t.Fatal(err)
		}
		o := model.DriveOptions{Kind: c.kind}
		for i := range c.steered {
			o.Steer = append(o.Steer, fmt.Sprintf("steer%d", i))
		}
		if f := m.SetDrive(o); f != nil {
			t.Fatalf("%s: %v", c.kind, f)
		}
		for _, want := range c.motions {
			r := &rig{Scene: NewScene(SceneConfig{Seed: 1}), t: t}
			r.body, err = r.Add("cart", m, hal.Pose{Position: [3]float64{0, 0, 0.05}, Rotation: [4]float64{1}})
			r.must(err)
			r.frame = hal.NewFrame(r.body.Layout())
			r.enable(true)
			m.Drive.Goals(want[0], want[1], want[2], func(i int, mode hal.Mode, g float64) {
				r.frame.Inputs[r.body.Layout().Actuators[i].Goal[hal.PositionMode]] = math.NaN()
				r.frame.Inputs[r.body.Layout().Actuators[i].Goal[mode]] = g
			})
			r.cycle(200)
			p := r.body.Pose(0)
			x, y, h := p.Position[0], p.Position[1], p.RollPitchYaw()[2]
			s := r.body.Layout().Sensors[len(r.body.Layout().Sensors)-1]
			place := r.frame.Measured[s.First:][:3]
			// Two seconds, less what the start takes; a wheel under load slips a little.
			way := math.Hypot(place[0]-x, place[1]-y)
			if math.Abs(place[2]-2*want[2]) > 0.02 || math.Abs(h-2*want[2]) > 0.18 || way > 0.03 {
				t.Errorf("%s %v: at %.3f %.3f %.3f, odometry %.3f", c.kind, want, x, y, h, place)
			}
			if want[2] == 0 && math.Hypot(place[0]-2*want[0], place[1]-2*want[1]) > 0.02 {
				t.Errorf("%s %v: odometry %.3f, want 2 s of it", c.kind, want, place)
			}
		}
	}
}
