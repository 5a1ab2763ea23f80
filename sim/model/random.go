package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Random holds the random spread of values of a body or a joint, as a share of the file's value: 0.1 is a uniform
// distribution within ±10 %. 0 keeps the file's value.
type Random struct {
	Mass     float64 // of a body, with its inertia
	Friction float64 // of a body: of the surface of all its shapes; of a joint: its dry friction
	Damping  float64 // of a joint
	Strength float64 // of a joint with a motor
}

// maxRandom keeps drawn values well above 0.
const maxRandom = 0.9

// Random reports whether any value of the file is random.
func (r *Robot) Random() bool {
	return slices.ContainsFunc(r.Bodies, func(b Body) bool { return b.Random != Random{} }) ||
		slices.ContainsFunc(r.Joints, func(j Joint) bool { return j.Random != Random{} }) ||
		slices.ContainsFunc(r.Passive, func(p Passive) bool { return p.Random != Random{} })
}

// Clone returns a copy of r whose bodies, shapes and joints may be changed. Servos and motors stay shared: replace them
// by changed copies.
func (r *Robot) Clone() *Robot {
	c := *r
	c.Bodies = cloneBodies(r.Bodies)
	c.Joints, c.Passive, c.Supplies = slices.Clone(r.Joints), slices.Clone(r.Passive), slices.Clone(r.Supplies)
	return &c
}

func cloneBodies(list []Body) []Body {
	list = slices.Clone(list)
	for i := range list {
		list[i].Shapes = slices.Clone(list[i].Shapes)
	}
	return list
}

// Draw returns one sample of the robot: random values are drawn, and motors have the strength of Joint.Strength.
// uniform returns a number from 0 to 1 for a value of the entry called name in the list "bodies" or "joints". It must
// not depend on the order of calls, so that an additional random value does not change others.
func (r *Robot) Draw(uniform func(list, name, value string) float64) *Robot {
	d := r.Clone()
	draw := spread(uniform)
	for i := range d.Bodies {
		d.Bodies[i].draw("bodies", draw)
	}
	link := func(l *Linkage, name string) {
		l.Friction *= draw("joints", name, "friction", l.Random.Friction)
		l.Damping *= draw("joints", name, "damping", l.Random.Damping)
	}
	for i := range d.Joints {
		j := &d.Joints[i]
		link(&j.Linkage, j.Name)
		j.Strength *= draw("joints", j.Name, "strength", j.Random.Strength)
		j.strengthen()
	}
	for i := range d.Passive {
		link(&d.Passive[i].Linkage, d.Passive[i].Name)
	}
	return d
}

// Draw returns the scene with the random values of its loose things drawn, from the list "things"; see Robot.Draw.
func (s *Scene) Draw(uniform func(list, name, value string) float64) *Scene {
	d, draw := *s, spread(uniform)
	d.Free = cloneBodies(s.Free)
	for i := range d.Free {
		d.Free[i].draw("things", draw)
	}
	return &d
}

// spread turns a draw from 0 to 1 into one of a factor about 1.
func spread(uniform func(list, name, value string) float64) func(list, name, value string, share float64) float64 {
	return func(list, name, value string, share float64) float64 {
		if share == 0 {
			return 1 // exactly, and without a draw: other values stay the same to the bit
		}
		return 1 + float64(share*(2*uniform(list, name, value)-1))
	}
}

func (b *Body) draw(list string, draw func(list, name, value string, share float64) float64) {
	if b.Random.Mass > 0 {
		b.Weigh(b.Mass * draw(list, b.Name, "mass", b.Random.Mass))
	}
	// One draw for all shapes: a body consists of one batch of rubber.
	surface := draw(list, b.Name, "friction", b.Random.Friction)
	for k := range b.Shapes {
		b.Shapes[k].Material.Friction *= surface
	}
}

// strengthen gives the joint a motor of its strength. A servo's data sheet values do not change: drivers and firmware
// use them, and cannot detect that this servo is weaker.
func (j *Joint) strengthen() {
	switch {
	case j.Strength == 1:
	case j.Servo != nil:
		own := *j.Servo
		own.Kt *= j.Strength
		j.Servo = &own
	default:
		own := *j.Motor
		own.Factor, own.MaxTorque = own.Factor*j.Strength, own.MaxTorque*j.Strength
		j.Motor = &own
	}
}

// Weigh sets the body's mass, kg, above 0, and scales its inertia. The old mass must not be 0.
func (b *Body) Weigh(mass float64) {
	times := mass / b.Mass
	b.Mass = mass
	for i := range b.Inertia {
		b.Inertia[i] *= times
	}
	// The shapes keep their shares of the mass, which Resize needs.
	for i := range b.Shapes {
		b.Shapes[i].Mass *= times
	}
}

// Resize sets the dimensions of shape i, m; see Shape. The shape keeps its mass and pose, so only the body's inertia
// changes. Shapes without a mass in the file share the body's mass by volume.
func (b *Body) Resize(i int, radius float64, half [3]float64) {
	s := &b.Shapes[i]
	mass, all, volume := s.Mass, 0.0, 0.0
	for k := range b.Shapes {
		all, volume = all+b.Shapes[k].Mass, volume+b.Shapes[k].Volume()
	}
	if all == 0 {
		mass = b.Mass * s.Volume() / volume
	}
	// Subtracting the old solid and adding the new one keeps the part of the file's inertia that is not from the
	// shapes. About the body's centre both have the same parallel-axis term, which cancels.
	about := symmetric(b.Inertia)
	about.add(turned(s.inertia(-mass), s.Pose.Rotation))
	s.Radius, s.Half = radius, half
	about.add(turned(s.inertia(mass), s.Pose.Rotation))
	b.Inertia = about.list()
}

// bodyRandomFile holds the random shares of a body: "10%".
type bodyRandomFile struct {
	Mass     string `yaml:"mass" form:"bare"`
	Friction string `yaml:"friction" form:"bare"`
}

func (f *bodyRandomFile) read(path yaml.Path, b *Body, faults *faults) (r Random) {
	// A share of a value that is 0 is a mistake that would have no visible effect.
	r.Mass = faults.share(path+".mass", f.Mass, "mass_kg", b.Mass)
	rough := 0.0
	for i := range b.Shapes {
		rough = max(rough, b.Shapes[i].Material.Friction)
	}
	r.Friction = faults.share(path+".friction", f.Friction, "a shape with friction", rough)
	return r
}

// jointRandomFile holds the random shares of a joint: "10%". The start position has start_spread_deg.
type jointRandomFile struct {
	Strength string `yaml:"strength" form:"bare"`
	Friction string `yaml:"friction" form:"bare"`
	Damping  string `yaml:"damping" form:"bare"`
}

func (f *jointRandomFile) read(path yaml.Path, l *linkFile, faults *faults) (r Random) {
	r.Strength = faults.share(path+".strength", f.Strength, "", 1)
	r.Friction = faults.share(path+".friction", f.Friction, "friction_nm", l.Friction)
	r.Damping = faults.share(path+".damping", f.Damping, "damping_nms", l.Damping)
	return r
}

// share reads "10%" as 0.1, and "" as 0. A share of a value that is 0 is a fault; want names the missing key.
func (f *faults) share(path yaml.Path, text, want string, value float64) float64 {
	if text == "" {
		return 0
	}
	number, ok := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil || !(percent > 0 && percent <= 100*maxRandom) {
		f.add(path, "got %q, want a share above 0%%, at most %g%%", text, 100*maxRandom)
		return 0
	}
	if value == 0 {
		f.add(path, "got %s of 0, want %s too", text, want)
	}
	return percent / 100
}
