package calibrate

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// What makes a torque measurable by gravity.
const (
	wellPull   = 0.1 // N·m of change over a motion that a joint is offered another pose below
	poseBetter = 1.5 // times the change that another pose must make
	poseSteps  = 5   // angles of each other joint that are tried
	handWeight = 0.1 // m from the axis, where a weight is suggested
	mostWeight = 2.0 // kg that are suggested
	pathSteps  = 20  // places of a way that are checked against the floor
)

// spread is the change of gravity's torque on joint i over its best motion from q, N·m.
func (g *gravity) spread(q []float64, i int, l hal.Limits) float64 {
	low, high := g.bestSweep(q, i, l)
	at := append([]float64(nil), q...)
	least, greatest := math.Inf(1), math.Inf(-1)
	for n := range 13 {
		at[i] = low + (high-low)*float64(n)/12
		v := g.hold(at, i)
		least, greatest = math.Min(least, v), math.Max(greatest, v)
	}
	return greatest - least
}

// bestPose is a pose of the other joints, on a way clear of the floor from q, in which gravity changes most over a
// motion of joint i, and by how much, N·m.
func (g *gravity) bestPose(q []float64, i int, joints []hal.Actuator) (pose []float64, most float64) {
	pose = append(pose, q...)
	most = g.spread(pose, i, joints[i].Limits)
	for range 2 { // each joint once more: what the first needs depends on the others
		for k := range joints {
			l := joints[k].Limits
			if k == i || !(l.MaxPosition > l.MinPosition) || joints[k].Goal[hal.PositionMode] == hal.None {
				continue
			}
			for n := range poseSteps {
				next := append([]float64(nil), pose...)
				next[k] = l.MinPosition + endMargin + (l.MaxPosition-l.MinPosition-2*endMargin)*float64(n)/(poseSteps-1)
				if v := g.spread(next, i, joints[i].Limits); v > most+0.02 && g.clear(q, next) {
					pose, most = next, v
				}
			}
		}
	}
	return pose, most
}

// clear reports that no link comes to the floor on the way from q to pose, one joint after the other.
func (g *gravity) clear(q, pose []float64) bool {
	at := append([]float64(nil), q...)
	for k := range pose {
		if pose[k] == q[k] {
			continue
		}
		for n := range pathSteps {
			at[k] = q[k] + (pose[k]-q[k])*float64(n+1)/pathSteps
			if g.lowest(at, k) < math.Min(floorMargin, g.lowest(q, k)-0.01) {
				return false
			}
		}
	}
	return true
}

// remedy says which pose or weight makes the torque of joint i measurable at q, where gravity must change by need, N·m.
// pose is nil where none is better than q.
func (g *gravity) remedy(q []float64, i int, need float64, joints []hal.Actuator) (words string, pose []float64) {
	now := g.spread(q, i, joints[i].Limits)
	pose, most := g.bestPose(q, i, joints)
	if most < poseBetter*now || most < leastPull {
		pose = nil
	}
	var ways []string
	if pose != nil {
		var moved []string
		for k := range pose {
			if pose[k] != q[k] {
				moved = append(moved, fmt.Sprintf("%s at %.0f", joints[k].Name, pose[k]/degree))
			}
		}
		ways = append(ways, fmt.Sprintf("with %s degrees gravity changes by %.2f N m", strings.Join(moved, ", "), most))
	}
	before := g.weight
	g.put(i, 1, handWeight)
	perKilogram := g.spread(q, i, joints[i].Limits) - now
	g.weight = before
	if kg := (need - now) / perKilogram; perKilogram > 0.1*handWeight*g.fall && kg > 0 && kg <= mostWeight {
		ways = append(ways, fmt.Sprintf("a weight of %.1f kg %.0f cm from its axis is enough", math.Ceil(10*kg)/10,
			100*handWeight))
	}
	if len(ways) == 0 {
		return "neither a pose nor a weight loads it, since its axis stays upright: lay the robot on its side, or take " +
			"the constant of a joint with the same servo", nil
	}
	return strings.Join(ways, "; "), pose
}
