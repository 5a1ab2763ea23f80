package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// identify checks the servos of c as the doctor does, refuses a robot that would not run, and stores each servo's
// identity for its file.
func (g *Guide) identify(ctx context.Context, c *configs.Config) error {
	found, list, err := examine(ctx, c, g.Catalog)
	if err != nil {
		return err
	}
	var faults []error
	for _, f := range found {
		if f.State == doctor.StateFail && f.Check != "calibration" {
			faults = append(faults, &hal.Error{Kind: f.Kind, Bus: f.Bus, Joint: f.Joint, Op: f.Check,
				Err: errors.New(f.Found), Try: f.Fix})
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	g.printf("%s:", g.robot.Name)
	for _, j := range g.joints {
		m := g.notes.of(j.Name)
		m.Servo = servoName(j)
		for _, d := range list {
			if d.Bus == j.Bus && d.ID == j.ID {
				m.Firmware, m.Homing = d.Firmware, d.Homing
			}
		}
		g.printf("  %-16s %s on %s, firmware %s", j.Name, m.Servo, j.Bus, m.Firmware)
	}
	return g.keep()
}

// examine is the doctor's findings about the buses of c, and the servos that answered.
func examine(ctx context.Context, c *configs.Config, cat *halyard.Catalog) ([]doctor.Finding, []doctor.Identity,
	error) {
	p, err := plan.Resolve(c, cat)
	if err != nil {
		return nil, nil, err
	}
	d, err := doctor.NewExamination(p, "as configured", nil)
	if err != nil {
		return nil, nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, nil, err
	}
	return d.Found, d.Identities(), nil
}

// positive describes the positive direction of joint i of a robot at 0 by the motion of its far end.
func positive(a *plan.AgentPlan, i int) string {
	tree, _ := plan.TreeOf(a.Robot)
	n := len(a.Robot.Joints)
	at, turned := tree.NewState(), tree.NewState()
	q, still := make([]float64, n), make([]float64, n)
	base := hal.Pose{Rotation: [4]float64{1}}
	tree.Forward(at, q, still, base, [3]float64{}, [3]float64{})
	q[i] = 0.1
	tree.Forward(turned, q, still, base, [3]float64{}, [3]float64{})
	var way [3]float64
	most := 0.0
	for k := range tree {
		a, b := at.Poses[k].Of(tree[k].Centre), turned.Poses[k].Of(tree[k].Centre)
		d := [3]float64{b[0] - a[0], b[1] - a[1], b[2] - a[2]}
		if size := math.Hypot(math.Hypot(d[0], d[1]), d[2]); size > most {
			way, most = d, size
		}
	}
	words := [3][2]string{{"backward", "forward"}, {"to the right", "to the left"}, {"down", "up"}}
	axis, side := longest(way), 0
	if way[axis] > 0 {
		side = 1
	}
	if most > 0.002 {
		return "its far end goes " + words[axis][side]
	}
	for k := range tree { // it turns in place
		if l := &tree[k]; l.Joint == i {
			ax := [3]float64{l.Axis[0] * l.Times, l.Axis[1] * l.Times, l.Axis[2] * l.Times}
			big := longest(ax)
			from := [3]string{"from the front, anticlockwise", "from the left, anticlockwise",
				"from above, anticlockwise"}
			if ax[big] < 0 {
				from = [3]string{"from the front, clockwise", "from the left, clockwise", "from above, clockwise"}
			}
			return "seen " + from[big]
		}
	}
	return "as the robot's model counts it"
}

// longest is the axis along which v is longest.
func longest(v [3]float64) (axis int) {
	for k := range v {
		if math.Abs(v[k]) > math.Abs(v[axis]) {
			axis = k
		}
	}
	return axis
}

// drawn describes the direction of the load of joint i while the robot is at 0, as seen from the joint's axis; "" if it
// is too near to the axis.
func drawn(a *plan.AgentPlan, i int) string {
	const seen = 0.01 // m
	tree, _ := plan.TreeOf(a.Robot)
	at := tree.NewState()
	n := make([]float64, len(a.Robot.Joints))
	tree.Forward(at, n, n, hal.Pose{Rotation: [4]float64{1}}, [3]float64{}, [3]float64{})
	carried := make([]bool, len(tree))
	var far [3]float64
	most := seen
	for k := range tree {
		l := &tree[k]
		own := l.Joint == i
		if carried[k] = own || l.Parent != hal.None && carried[l.Parent]; !carried[k] {
			continue
		}
		c, from := at.Poses[k].Of(l.Centre), anchorOf(tree, i)
		d := [3]float64{c[0] - from[0], c[1] - from[1], c[2] - from[2]}
		if size := math.Hypot(math.Hypot(d[0], d[1]), d[2]); size > most {
			far, most = d, size
		}
	}
	var words []string
	for k, names := range [3][2]string{{"backward", "forward"}, {"right", "left"}, {"down", "up"}} {
		if side := math.Abs(far[k]); side > 0.4*most {
			words = append(words, names[map[bool]int{true: 1}[far[k] > 0]])
		}
	}
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf("its far end, %.0f cm away, is %s of its axis", 100*most, strings.Join(words, " and "))
}

// anchorOf returns a point of the axis of joint i of a robot at 0.
func anchorOf(tree kinematics.Tree, i int) [3]float64 {
	for k := range tree {
		if tree[k].Joint == i {
			return tree[k].Anchor
		}
	}
	return [3]float64{}
}
