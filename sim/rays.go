package sim

import (
	"cmp"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Groups of geoms for rays: a sensor excludes its own robot, infrared excludes glass. Robots share the remaining bits,
// so with more than thirty robots some do not detect some others.
const (
	solidGroup = 1 << iota
	glassGroup
	mirrorGroup
	firstRobot // and all bits above it, but the last two
)

const (
	robotGroups = 27
	noGroup     = 1 << 30 // of no geom: the mask of a geom without contacts
	ghostGroup  = 1 << 31 // of twins that rays pass
)

// robotGroup is the bit of robot i.
func robotGroup(i int) uint32 { return firstRobot << (i % robotGroups) }

// sight is the scene for the rays of all robots. The poses of its bodies are copied from the system at the first ray of
// an Advance, so an Advance without rays costs nothing.
type sight struct {
	system *dynamics.System
	tree   *ray.BVH       // nil until the first ray if no robot has rays
	geoms  []collide.Geom // its geoms
	poses  []collide.Pose
	fresh  bool // of this Advance
}

// newSight gives every geom of a spec its group, and makes the tree where a robot has rays. Glass and mirrors have
// theirs already.
func newSight(spec *dynamics.Spec, whole []*Body) (s sight, err error) {
	// A geom of the ground has no robot; loose things and underwater vehicles count as ground too.
	looks := false
	for i, b := range whole {
		b.group = robotGroup(i)
		for k := range b.sensors {
			looks = looks || b.sensors[k].device.rays()
		}
	}
	for i := range spec.Geoms {
		g := &spec.Geoms[i]
		g.Group = cmp.Or(g.Group, solidGroup)
		for _, b := range whole {
			if g.Body >= b.at.body && g.Body < b.at.body+len(b.parts) {
				if g.Group = b.group; b.twin == noTwin {
					g.Group = ghostGroup
				}
				if b.twin != solidTwin {
					g.Mask = noGroup
				}
			}
		}
	}
	s = sight{geoms: spec.Geoms, poses: make([]collide.Pose, len(spec.Bodies))}
	if looks {
		// The structure of the tree of moving geoms is built once; its poses are updated at the first ray of an
		// Advance.
		s.tree, err = ray.New(s.geoms, s.poses)
	}
	return s, err
}

// now is the tree with the present poses; nil if the scene's geoms do not make one.
func (s *sight) now() *ray.BVH {
	if s.tree == nil {
		var err error
		if s.tree, err = ray.New(s.geoms, s.poses); err != nil {
			return nil
		}
	}
	if !s.fresh {
		for i := range s.poses {
			s.poses[i] = s.system.Pose(i)
		}
		s.tree.Update(s.poses)
		s.fresh = true
	}
	return s.tree
}

// shine is a ray of a sensor, whose axes are at, along a direction in them.
func (s *sensor) shine(at *hal.Pose, way [3]float64) ray.Ray {
	// A sensor sees past its own housing, or its first hit would be the robot that carries it.
	r := ray.Ray{Origin: at.Position, Direction: at.Turn(way), Max: s.device.spec.Range,
		Mask: ^s.robot.group &^ ghostGroup}
	if s.device.spec.Clear {
		r.Mask &^= glassGroup
	}
	return r
}

// Of a sonar's cone: how many rays go around its middle, half of them on the rim and half of them halfway out, and the
// cosine of the steepest incidence that still sends an echo. Sound that grazes a surface, as the lower rim of the cone
// does the floor, is thrown forward and not back.
const (
	coneRays = 8
	grazing  = 0.26 // 75°
)

// sonar is the distance of the nearest thing in the cone that sends an echo.
func (s *sensor) sonar() float64 {
	d := s.device.spec
	tree, nearest, at := s.robot.scene.sight.now(), d.Range, s.pose()
	for i := range coneRays + 1 {
		wide := 0.5 * d.Beam
		switch {
		case i == coneRays:
			wide = 0
		case i%2 == 1:
			wide *= 0.5
		}
		turn := 2 * math.Pi / coneRays * float64(i)
		out := exact.Sin(wide)
		r := s.shine(&at, [3]float64{exact.Cos(wide), float64(out * exact.Cos(turn)), float64(out * exact.Sin(turn))})
		r.Max = nearest // what is farther away is not asked for
		hit, ok := tree.Cast(&r)
		if ok && hit.Distance < nearest && echoes(&hit, &r) {
			if nearest = hit.Distance; !(nearest > 0) {
				break // in a ray, 0 is no bound
			}
		}
	}
	return s.device.measured(nearest)
}

// echoes reports whether sound comes back from a hit.
func echoes(h *ray.Hit, r *ray.Ray) bool {
	return math.Abs(dot(r.Direction, h.Normal)) >= grazing
}

// beam is the distance along the sensor's axis.
func (s *sensor) beam() float64 {
	at := s.pose()
	r := s.shine(&at, [3]float64{1, 0, 0})
	return s.device.measured(s.robot.scene.sight.light(&r))
}

// scan turns the beam from the right end of the field of view, or the upper of an upright scanner, to the other.
func (s *sensor) scan(to []float64) {
	d, at := s.device.spec, s.pose()
	for i := range to {
		turn := float64(float64(i)*d.Resolution) - float64(0.5*d.FOV)
		r := s.shine(&at, s.way(turn))
		to[i] = s.device.measured(s.robot.scene.sight.light(&r))
	}
}

// CastRays casts rays into the scene at the end of the last Advance, from the pose of one of the layout's ray sensors
// (a range scanner), in its plane. Ray i has the direction first + i·step, rad to the left of straight ahead. ranges[i]
// becomes the distance, m, without noise; +Inf beyond the sensor's greatest range.
func (b *Body) CastRays(i int, first, step float64, ranges []float64) error {
	s, err := b.sensor("look", i, func(s *sensor) bool { return s.device.rays() }, "got a sensor without rays")
	if err != nil {
		return err
	}
	tree, at := b.scene.sight.now(), s.pose()
	for i := range ranges {
		turn := first + float64(float64(i)*step)
		r := s.shine(&at, s.way(turn))
		ranges[i] = math.Inf(1)
		if hit, ok := tree.Cast(&r); ok {
			ranges[i] = hit.Distance
		}
	}
	return nil
}

// way is where a scanner looks when its beam has turned, in its own axes. Upright the first ray looks up: a turn about
// the sensor's y, right-handed, ends below.
func (s *sensor) way(turn float64) [3]float64 {
	if s.device.spec.Upright {
		return [3]float64{exact.Cos(turn), 0, -exact.Sin(turn)}
	}
	return [3]float64{exact.Cos(turn), exact.Sin(turn), 0}
}

// maxTurned is the maximum number of reflections of a beam.
const maxTurned = 4

// light is the length of a beam of light, over mirrors, to the first surface that returns it; beyond the range it is
// the range. A mirror itself returns nothing: reflected objects appear behind it.
func (s *sight) light(r *ray.Ray) float64 {
	tree, most, way := s.now(), r.Max, 0.0
	one := *r
	for range maxTurned + 1 {
		hit, ok := tree.Cast(&one)
		if !ok {
			return most
		}
		if way += hit.Distance; s.geoms[hit.Geom].Group&mirrorGroup == 0 {
			break
		}
		if one.Max -= hit.Distance; one.Max <= 0 {
			break
		}
		along := dot(one.Direction, hit.Normal)
		for k := range one.Direction {
			one.Origin[k] += float64(one.Direction[k]*hit.Distance) - float64(math.Copysign(1e-6, along)*hit.Normal[k])
			one.Direction[k] -= float64(2 * along * hit.Normal[k])
		}
	}
	return math.Min(way, most)
}

// touchReach is how near a thing must be to a button to press it, m (manual 8.7.1).
const touchReach = 0.0047

// pressed casts from the middle of a button and from four places of its rim.
func (s *sensor) pressed() float64 {
	at := s.pose()
	rim := 0.5 * s.device.spec.Diameter
	for _, p := range [...][2]float64{{0, 0}, {rim, 0}, {-rim, 0}, {0, rim}, {0, -rim}} {
		r := ray.Ray{Origin: at.Of([3]float64{0, p[0], p[1]}), Direction: at.Turn([3]float64{1, 0, 0}), Max: touchReach,
			Mask: ^s.robot.group &^ ghostGroup}
		if _, ok := s.robot.scene.sight.now().Cast(&r); ok {
			return 1
		}
	}
	return 0
}
