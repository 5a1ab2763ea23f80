package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Segment is a part of a victim that turns to and fro about an axis through its joint, as long as the scene's clock
// goes (manual, 12.1.3).
type Segment struct {
	Name  string
	Pose  hal.Pose   // of its joint in the scene, at its initial turn; its frame is the joint's
	Axis  [3]float64 // a unit vector in that frame
	Angle float64    // rad, from the initial turn to the final one
	Rate  float64    // rad/s, on the way from one to the other, in the mean
	Shape Shape      // in the joint's frame
}

// Period is how long it takes to and fro, s.
func (s *Segment) Period() float64 { return 2 * s.Angle / s.Rate }

// segmentFile is a Segment as written. Turns are roll, pitch and yaw in the axes of the victim: x to its head, z up.
type segmentFile struct {
	Name string     `yaml:"name" required:"true" enum:"head|left_arm|right_arm|left_leg|right_leg"`
	From [3]float64 `yaml:"from_deg" min:"-360" max:"360"`
	To   [3]float64 `yaml:"to_deg" min:"-360" max:"360"`
	Rate float64    `yaml:"rate_degs" required:"true" above:"0" max:"3600"`
}

// limb is the position of a segment's joint on a victim, m, and the size of the segment: towards the feet, except the
// head.
type limb struct {
	joint          [3]float64
	radius, length float64
}

func limbs() map[string]limb {
	return map[string]limb{
		"head":     {[3]float64{0.26, 0, 0}, 0.11, -0.12},
		"left_arm": {[3]float64{0.12, 0.19, 0}, 0.05, 0.5}, "right_arm": {[3]float64{0.12, -0.19, 0}, 0.05, 0.5},
		"left_leg": {[3]float64{-0.275, 0.1, 0}, 0.07, 0.65}, "right_leg": {[3]float64{-0.275, -0.1, 0}, 0.07, 0.65},
	}
}

// segments reads the moving parts of a victim, and returns their names. The values for the human-motion sensor are
// those of the widest part, unless the file gives them.
func (f *victimFile) segments(path yaml.Path, v *Victim, m Material, faults *faults) (moving map[string]bool) {
	moving = map[string]bool{}
	if f.False && len(f.Segments) > 0 {
		faults.add(path+".segments", "got %d of a false positive, want none", len(f.Segments))
	}
	at := hal.Pose{Position: v.At, Rotation: rollPitchYaw(0, 0, radians(f.Turn))}
	for i, s := range f.Segments {
		own := (path + ".segments").Index(i)
		l := limbs()[s.Name]
		moving[s.Name] = true
		from, to := turn(s.From), turn(s.To)
		// From the one turn to the other it is one turn about one axis, the short way.
		between := hal.Pose{Rotation: from}.Inverse().Times(hal.Pose{Rotation: to}).Rotation
		if between[0] < 0 {
			for k := range between {
				between[k] = -between[k]
			}
		}
		sin := math.Sqrt(float64(between[1]*between[1]) + float64(between[2]*between[2]) +
			float64(between[3]*between[3]))
		if sin < 1e-6 {
			faults.add(own+".to_deg", "got %v, want another turn than from_deg", s.To)
			continue
		}
		g := Segment{Name: s.Name, Pose: at.Times(hal.Pose{Position: l.joint, Rotation: from}),
			Angle: 2 * math.Atan2(sin, between[0]), Rate: radians(s.Rate),
			Axis: [3]float64{between[1] / sin, between[2] / sin, between[3] / sin}}
		g.Shape = Shape{Kind: Capsule, Radius: l.radius, Half: [3]float64{0, 0, l.length / 2}, Material: m,
			Collides: true,
			Pose:     hal.Pose{Position: [3]float64{-l.length / 2, 0, 0}, Rotation: rollPitchYaw(0, math.Pi/2, 0)}}
		if s.Name == "head" {
			g.Shape.Kind, g.Shape.Half = Sphere, [3]float64{}
			g.Shape.Pose.Position = [3]float64{-l.length, 0, 0}
		}
		v.Segments = append(v.Segments, g)
		if amplitude := math.Abs(l.length) * math.Sin(math.Min(g.Angle, math.Pi)/2); f.Amplitude == 0 &&
			amplitude > v.Amplitude && s.Rate > 0 {
			v.Amplitude, v.Period = amplitude, g.Period()
		}
	}
	return moving
}

// parts places the parts of a victim whose head is ahead, rotated by turn: a false alarm is a chest.
func (v *Victim) parts(turn float64) {
	sin, cos := math.Sincos(turn)
	for _, p := range [...]struct {
		name          string
		along, across float64 // m, towards the head and to the left
	}{{"Chest", 0, 0}, {"Head", 0.38, 0}, {"Pelvis", -0.25, 0}, {"Leg", -0.6, 0.1}, {"Leg", -0.6, -0.1},
		{"Foot", -0.95, 0.1}, {"Foot", -0.95, -0.1}} {
		v.Parts = append(v.Parts, Part{p.name,
			[3]float64{v.At[0] + p.along*cos - p.across*sin, v.At[1] + p.along*sin + p.across*cos, v.At[2]}})
		if v.False {
			return
		}
	}
}
