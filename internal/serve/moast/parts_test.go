package moast

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/sim/model"
)

// moastAxes is a pose in MOAST's axes, and back.
func moastAxes(p hal.Pose) hal.Pose {
	at, q := p.Position, p.Rotation
	return hal.Pose{Position: [3]float64{at[0], -at[1], -at[2]}, Rotation: [4]float64{q[0], q[1], -q[2], -q[3]}}
}

// TestMissionFrames: turned about their z axes by the values on the wire, the links of a package put its last one where
// the robot's own joints do.
func TestMissionFrames(t *testing.T) {
	packages := 0
	for _, name := range []string{"usarsim-pioneer", "usarsim-p2at", "usarsim-kenaf", "usarsim-rover",
		"usarsim-tarantula", "usarsim-papagoose", "usarsim-usarbc"} {
		m, err := model.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		v := &vehicle{robot: m, layout: &hal.Layout{Actuators: make([]hal.Actuator, len(m.Joints))}}
		for _, p := range m.Rescue.Packages {
			if len(p.Joints) == 0 {
				continue
			}
			packages++
			links := v.mission(&p).Links
			var tree kinematics.Tree
			var q []float64
			chain := hal.Pose{Rotation: [4]float64{1}}
			for i, joint := range p.Joints {
				j := &m.Joints[joint]
				tree = append(tree, kinematics.Link{Parent: i - 1, Home: m.Bodies[j.Child].Pose, Joint: i,
					Slide:  j.Kind == model.Slide,
					Anchor: j.Anchor, Axis: j.Axis, Times: j.Sign})
				q = append(q, 0.3-0.2*float64(i))
				r := links[i].Rotation
				chain = chain.Times(hal.Pose{Position: [3]float64{links[i].Location.X, links[i].Location.Y,
					links[i].Location.Z}, Rotation: turn(2, r.Y)}.
					Times(hal.Pose{Rotation: turn(1, r.P)}).Times(hal.Pose{Rotation: turn(0, r.R)}))
				move := hal.Pose{Rotation: turn(2, v.wire(joint, q[i]))}
				if links[i].Joint == 1 {
					move = hal.Pose{Position: [3]float64{0, 0, v.wire(joint, q[i])}, Rotation: [4]float64{1}}
				}
				chain = chain.Times(move)
			}
			state, last := tree.NewState(), len(tree)-1
			tree.Forward(state, q, make([]float64, len(q)), hal.Pose{Rotation: [4]float64{1}}, [3]float64{},
				[3]float64{})
			frame := moastAxes(v.joint(p.Joints[last]))
			want := moastAxes(state.Poses[last].Times(tree[last].Home.Inverse()).Times(frame))
			for k, tip := range [][3]float64{{}, {1}, {0, 1}, {0, 0, 1}} {
				a, b := chain.Of(tip), want.Of(tip)
				if d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); !(d < 1e-6) {
					t.Errorf("%s: %s: point %d: got %v, want %v", name, p.Name, k, a, b)
				}
			}
		}
	}
	if packages < 5 {
		t.Errorf("got %d packages, want 5 or more", packages)
	}
}

// turn is the quaternion of a turn about an axis.
func turn(axis int, angle float64) (q [4]float64) {
	q[1+axis], q[0] = math.Sincos(angle / 2)
	return q
}
