package ros2

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// URDF describes a robot for robot_description: its links, joints and limits; no masses, shapes or meshes. A link whose
// joint turns about a line beside the link's own frame gets a link NAME_axis before it. A joint that follows another
// one's actuator mimics it. It returns "" for a robot without links.
func URDF(r *topics.Robot) string {
	if len(r.Tree) == 0 {
		return ""
	}
	l := r.Agent.Layout()
	b := bytes.NewBufferString("<?xml version=\"1.0\"?>\n")
	fmt.Fprintf(b, "<robot name=\"%s\">\n", escape(r.Agent.Name()))
	state := r.Tree.NewState()
	zero := make([]float64, len(l.Actuators))
	r.Tree.Forward(state, zero, zero, hal.Pose{Rotation: [4]float64{1}}, [3]float64{}, [3]float64{})
	names := []string{topics.Base}
	fmt.Fprintf(b, "  <link name=\"%s\"/>\n", topics.Base)
	direct := map[int]bool{}
	for i := 1; i < len(r.Tree); i++ {
		names = append(names, r.Tree[i].Name)
		if k := &r.Tree[i]; k.Joint != hal.None && math.Abs(k.Times) == 1 && k.Plus == 0 {
			direct[k.Joint] = true
		}
	}
	named := map[int]bool{}
	for i := 1; i < len(r.Tree); i++ {
		link := &r.Tree[i]
		parent, from := topics.Base, state.Poses[0]
		if link.Parent != hal.None {
			parent, from = names[link.Parent], state.Poses[link.Parent]
		}
		own := link.Home.Inverse()
		at := own.Times(hal.Pose{Position: link.Anchor, Rotation: [4]float64{1}}).Position
		axis := (hal.Pose{Rotation: own.Rotation}).Turn(link.Axis)
		off := along(at, axis)
		origin, child := from.Inverse().Times(state.Poses[i]), link.Name
		if beside := off != [3]float64{} && !link.Slide && link.Joint != hal.None; beside {
			child += "_axis"
			fmt.Fprintf(b, "  <link name=\"%s\"/>\n", escape(child))
			writeJoint(b, link.Name+"_fixed", "fixed", child, link.Name,
				hal.Pose{Position: [3]float64{-off[0], -off[1], -off[2]}, Rotation: [4]float64{1}}, "")
			origin = origin.Times(hal.Pose{Position: off, Rotation: [4]float64{1}})
		}
		fmt.Fprintf(b, "  <link name=\"%s\"/>\n", escape(link.Name))
		if link.Joint == hal.None {
			writeJoint(b, link.Name+"_fixed", "fixed", parent, child, origin, "")
			continue
		}
		a := &l.Actuators[link.Joint]
		kind, more := limitsOf(a, link.Slide)
		name := a.Name
		plain := math.Abs(link.Times) == 1 && link.Plus == 0 && !named[link.Joint]
		if plain {
			named[link.Joint] = true
			for k := range axis {
				axis[k] *= link.Times
			}
		} else if direct[link.Joint] {
			name = link.Name + "_joint"
			more += fmt.Sprintf("    <mimic joint=\"%s\" multiplier=\"%s\" offset=\"%s\"/>\n", escape(a.Name),
				number(link.Times), number(link.Plus))
		} else if named[link.Joint] = true; true { // geared, and nothing turns with its actuator
			direct[link.Joint] = true
			fmt.Fprintf(b, "  <link name=\"%s_drive\"/>\n", escape(a.Name))
			writeJoint(b, a.Name, kind, topics.Base, a.Name+"_drive", hal.Pose{Rotation: [4]float64{1}}, more)
			name = link.Name + "_joint"
			more += fmt.Sprintf("    <mimic joint=\"%s\" multiplier=\"%s\" offset=\"%s\"/>\n", escape(a.Name),
				number(link.Times), number(link.Plus))
		}
		more = fmt.Sprintf("    <axis xyz=\"%s %s %s\"/>\n", number(axis[0]), number(axis[1]), number(axis[2])) + more
		writeJoint(b, name, kind, parent, child, origin, more)
	}
	b.WriteString("</robot>\n")
	return b.String()
}

// along is the part of at that is not along axis: how far the axis is from the origin; 0 below a nanometre.
func along(at, axis [3]float64) (off [3]float64) {
	dot := at[0]*axis[0] + at[1]*axis[1] + at[2]*axis[2]
	far := false
	for k := range off {
		off[k] = at[k] - dot*axis[k]
		far = far || math.Abs(off[k]) > 1e-9
	}
	if !far {
		return [3]float64{}
	}
	return off
}

func escape(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

// number is v with 9 digits; what rounding leaves of 0 is 0.
func number(v float64) string {
	if math.Abs(v) < 1e-12 {
		v = 0
	}
	return fmt.Sprintf("%.9g", v)
}

// limitsOf is the kind of a joint and its limits.
func limitsOf(a *hal.Actuator, slide bool) (kind, limits string) {
	lim := &a.Limits
	bounded := lim.MinPosition < lim.MaxPosition && !math.IsInf(lim.MaxPosition-lim.MinPosition, 0) && !a.Wraps
	bounds := fmt.Sprintf("lower=\"%s\" upper=\"%s\" ", number(lim.MinPosition), number(lim.MaxPosition))
	switch kind = "revolute"; {
	case slide:
		kind = "prismatic"
	case !bounded:
		kind, bounds = "continuous", ""
	}
	return kind, fmt.Sprintf("    <limit %seffort=\"%s\" velocity=\"%s\"/>\n", bounds, number(lim.MaxTorque),
		number(lim.MaxVelocity))
}

func writeJoint(b *bytes.Buffer, name, kind, parent, child string, origin hal.Pose, more string) {
	p, rpy := origin.Position, origin.RollPitchYaw()
	fmt.Fprintf(b, "  <joint name=\"%s\" type=\"%s\">\n    <parent link=\"%s\"/>\n    <child link=\"%s\"/>\n"+
		"    <origin xyz=\"%s %s %s\" rpy=\"%s %s %s\"/>\n%s  </joint>\n", escape(name), kind, escape(parent),
		escape(child),
		number(p[0]), number(p[1]), number(p[2]), number(rpy[0]), number(rpy[1]), number(rpy[2]), more)
}
