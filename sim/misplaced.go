package sim

import "github.com/halyard-robotics/halyard/internal/sim/ray"

// deepest is how far down a floor is looked for, m.
const deepest = 10

// Misplaced returns the fault of the robot's pose: it is beyond the outermost walls of an arena, a part is inside
// another body, or there is no floor below it; "" if the pose is valid. Call it between cycles.
func (b *Body) Misplaced() string {
	if len(b.parts) == 0 {
		return "" // it is nowhere in the scene
	}
	tree := b.scene.sight.now()
	if tree == nil {
		return ""
	}
	if lo, hi, ok := tree.Extent(); ok && b.scene.ground != nil && len(b.scene.ground.Course.Starts) > 0 {
		at := b.scene.system.Pose(b.at.body + b.root).Position
		if at[0] < lo[0] || at[0] > hi[0] || at[1] < lo[1] || at[1] > hi[1] {
			return "it is outside the arena"
		}
	}
	for i := range b.parts {
		at := b.scene.system.Pose(b.at.body + i).Position
		hit, ok := tree.Cast(&ray.Ray{Origin: at, Direction: [3]float64{0, 0, -1}, Max: deepest, Mask: ^b.group})
		switch {
		case ok && hit.Inside:
			return "its " + b.parts[i].Name + " is inside something"
		case !ok && i == b.root:
			return "there is no floor beneath it"
		}
	}
	return ""
}
