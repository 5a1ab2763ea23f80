package model

import (
	"github.com/halyard-robotics/halyard/sim/collide"
)

// touching are the pairs of bodies whose solids touch in the built pose, as those around a joint do in most robot
// files.
func (r *Robot) touching() (pairs [][2]int) {
	var geoms []collide.Geom
	poses := make([]collide.Pose, len(r.Bodies))
	for i := range r.Bodies {
		poses[i] = collide.Pose(r.Bodies[i].Pose)
		for k := range r.Bodies[i].Shapes {
			if s := &r.Bodies[i].Shapes[k]; s.Collides {
				geoms = append(geoms, collide.Geom{Body: i, Local: collide.Pose(s.Pose),
					Shape: collide.Shape{Kind: collide.Kind(s.Kind), Radius: s.Radius, Half: s.Half, Hull: s.Hull}})
			}
		}
	}
	space, err := collide.New(geoms, nil, 64*len(geoms)+64)
	if err != nil {
		return nil // the physics reports it
	}
	space.Update(poses)
	seen := map[[2]int]bool{}
	for _, c := range space.Contacts() {
		pair := [2]int{space.Geom(c.A).Body, space.Geom(c.B).Body}
		if !seen[pair] {
			seen[pair] = true
			pairs = append(pairs, pair)
		}
	}
	return pairs
}
