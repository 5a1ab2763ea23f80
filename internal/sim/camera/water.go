package camera

import (
	"cmp"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/exact"
	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Absorption of red, green and blue by pure water, 1/m: Pope and Fry, at 650, 550 and 450 nm.
var absorption = r3.XYZ(0.340, 0.0565, 0.0092)

const (
	// Particles scatter most light forwards, so daylight loses less than a beam: this share of the turbidity.
	daylightLoss = 0.25
	// The share of the turbidity that scatters light from all sides into a ray.
	intoRay = 0.12
	// Pure water scatters too; without it, clear depths were black.
	clearScatter = 0.006
	// The index of refraction.
	refraction = 1.333
	// The share that the surface mirrors at right angles (Schlick's approximation of Fresnel's formulas).
	mirrored = 0.02
)

// optics is how a scene's water and sky look.
type optics struct {
	wet           bool
	surface       float64 // m; -Inf where it is dry
	beam, day     r3.Vec  // c and K, 1/m
	scatter       r3.Vec  // b, 1/m
	towards, bent r3.Vec  // the sun, in air and in water
	sun, sky      r3.Vec  // light
	fall          fall
}

func (s *Scene) optics() optics {
	o := optics{surface: math.Inf(-1), towards: r3.XYZ(-0.4, 0.25, 0.9)}
	if s.Sun.Direction != ([3]float64{}) {
		o.towards = r3.Pack(s.Sun.Direction)
	}
	o.towards = o.towards.Mul(1 / o.towards.Norm())
	light, sky := cmp.Or(s.Sun.Light, 0.7), cmp.Or(s.Sun.Sky, 0.6)
	o.sun, o.sky = r3.XYZ(light, 0.97*light, 0.9*light), r3.XYZ(0.92*sky, 0.97*sky, sky)
	// In water the sun is higher: sin' = sin / n.
	o.bent = r3.XYZ(o.towards.X/refraction, o.towards.Y/refraction, 0)
	o.bent.Z = math.Sqrt(1 - o.bent.Dot(o.bent))
	o.fall.fill()
	if w := s.Water; w != nil {
		t := r3.XYZ(w.Turbidity, w.Turbidity, w.Turbidity)
		o.wet, o.surface = true, w.Surface
		o.beam, o.day = absorption.Add(t), absorption.Along(daylightLoss, t)
		o.scatter = r3.XYZ(clearScatter, clearScatter, clearScatter).Along(intoRay, t)
	}
	return o
}

// fall is e^-x from a table, to 2e-6: as fast as a product, and the same on every machine.
type fall struct{ at [fallSize + 2]float64 }

const (
	fallStep = 256 // entries to 1
	fallSize = 12 * fallStep
)

func (f *fall) fill() {
	for i := range f.at {
		f.at[i] = exact.Exp(-float64(i) / fallStep)
	}
}

// of returns e^-x for x >= 0.
func (f *fall) of(x float64) float64 {
	x *= fallStep
	if !(x < fallSize) {
		return 0
	}
	i := int(x)
	a, b := f.at[i], f.at[i+1]
	return a + float64((x-float64(i))*(b-a))
}

// through returns the remaining share of light after s metres in water of attenuation c.
func (f *fall) through(c r3.Vec, s float64) r3.Vec {
	return r3.XYZ(f.of(float64(c.X*s)), f.of(float64(c.Y*s)), f.of(float64(c.Z*s)))
}

// glow is the light that the water scatters into a ray on s metres from depth d on, rising by dz a metre; see the
// package comment.
func (o *optics) glow(d, dz, s float64) r3.Vec {
	part := func(b, c, k, light float64) float64 {
		rate := c - float64(k*dz)
		e := float64(b * light * o.fall.of(float64(k*max(d, 0))))
		if math.IsInf(s, 1) {
			return e / rate
		}
		if x := float64(rate * s); x < 1e-3 { // near 0/0
			return float64(e * s)
		}
		return float64(e*(1-o.fall.of(float64(rate*s)))) / rate
	}
	l := o.sun.Add(o.sky)
	return r3.XYZ(
		part(o.scatter.X, o.beam.X, o.day.X, l.X),
		part(o.scatter.Y, o.beam.Y, o.day.Y, l.Y),
		part(o.scatter.Z, o.beam.Z, o.day.Z, l.Z),
	)
}

// above is the sky in the direction d, from the horizon's haze to the zenith's blue.
func (o *optics) above(d r3.Vec) r3.Vec {
	up := max(d.Z, 0)
	haze := (1 - up) * (1 - up)
	c := r3.XYZ(0.16, 0.36, 0.75).Mul(1-haze).Along(haze, r3.XYZ(0.75, 0.84, 0.92))
	if near := d.Dot(o.towards); near > 0.9995 {
		c = r3.XYZ(1, 1, 0.95)
	}
	return c
}

// window is the colour of the surface seen from below along d. Within Snell's window, which compresses everything above
// the horizon to 49 degrees, it is the sky; outside it, the mirrored water. beyond, if not nil, replaces the sky.
func (o *optics) window(d r3.Vec, beyond *r3.Vec) r3.Vec {
	mirror := o.glow(0, -d.Z, math.Inf(1))
	sine := float64(refraction * math.Sqrt(max(0, 1-float64(d.Z*d.Z))))
	if sine >= 1 {
		return mirror
	}
	rise := math.Sqrt(1 - float64(sine*sine))
	seen := o.above(r3.XYZ(float64(refraction*d.X), float64(refraction*d.Y), rise))
	if beyond != nil {
		seen = *beyond
	}
	share := schlick(rise)
	return seen.Mul(1-share).Along(share, mirror)
}

// schlick is the share of light that the surface mirrors; cosine is of the angle to its normal, in air.
func schlick(cosine float64) float64 {
	x := 1 - cosine
	return mirrored + float64((1-mirrored)*float64(x*x*x*x*x))
}
