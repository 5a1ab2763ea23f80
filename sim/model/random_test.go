package model

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// loose is a robot with everything random that may be.
const loose = `
name: loose
supply: {volts: 12}
joint_defaults: {random: {strength: 5%}}
materials: {default: {friction: 0.5}}
bodies:
  - {name: trunk, mass_kg: 1, shapes: [{box: [0.1, 0.2, 0.3]}], random: {mass: 10%, friction: 20%}}
  - {name: arm, position_m: [0, 0, 0.3], mass_kg: 0.5, shapes: [{capsule: [0.02, 0.2]}]}
  - {name: tail, position_m: [0, 0, -0.3], mass_kg: 0.1, shapes: [{sphere: 0.02}]}
joints:
  - {name: lift, servo: xm430-w350, limits_deg: [-90, 90], parent: trunk, child: arm, anchor_m: [0, 0, 0.2], axis: [0, 1, 0],
     friction_nm: 0.1, damping_nms: 0.01, random: {strength: 50%, friction: 30 %, damping: 90%}}
passive:
  - {name: wag, parent: trunk, child: tail, anchor_m: [0, 0, -0.2], axis: [0, 1, 0], damping_nms: 0.02, random: {damping: 40%}}
`

// always draws the same number.
func always(x float64) func(list, name, figure string) float64 {
	return func(string, string, string) float64 { return x }
}

func TestDraw(t *testing.T) {
	r, err := Parse([]byte(loose), "f")
	if err != nil {
		t.Fatal(err)
	}
	if !r.Random() {
		t.Fatal("got a robot without random values")
	}
	for _, c := range []struct{ draw, mass, friction, strength, dry, damping, wag float64 }{
		{0, 0.9, 0.4, 0.5, 0.07, 0.001, 0.012},
		{0.5, 1, 0.5, 1, 0.1, 0.01, 0.02},
		{1, 1.1, 0.6, 1.5, 0.13, 0.019, 0.028},
	} {
		d := r.Draw(always(c.draw))
		b, j := &d.Bodies[0], &d.Joints[0]
		for _, v := range []struct {
			what      string
			got, want float64
		}{
			{"mass", b.Mass, c.mass}, {"mass of the shape", b.Shapes[0].Mass, c.mass},
			{"inertia", b.Inertia[0], c.mass / 12 * (0.2*0.2 + 0.3*0.3)},
			{"surface", b.Shapes[0].Material.Friction, c.friction},
			{"torque constant", j.Servo.Kt, c.strength * r.Joints[0].Servo.Kt},
			{"stall torque", j.MaxTorque(), r.Joints[0].MaxTorque()},
			{"friction", j.Friction, c.dry}, {"damping", j.Damping, c.damping},
			{"damping of wag", d.Passive[0].Damping, c.wag},
			{"mass of another", d.Bodies[1].Mass, 0.5},
		} {
			if math.Abs(v.got-v.want) > 1e-12 {
				t.Errorf("draw %g: %s: got %g, want %g", c.draw, v.what, v.got, v.want)
			}
		}
	}
	if b := &r.Bodies[0]; b.Mass != 1 || b.Shapes[0].Mass != 1 || r.Joints[0].Strength != 1 ||
		r.Passive[0].Damping != 0.02 {
		t.Error("the robot that was drawn from has changed")
	}
	// Every value is drawn under a name of its own.
	asked := map[string]bool{}
	r.Draw(func(list, name, figure string) float64 {
		key := list + "/" + name + "/" + figure
		if asked[key] {
			t.Errorf("%s: drawn twice", key)
		}
		asked[key] = true
		return 0.5
	})
	if len(asked) != 6 {
		t.Errorf("got %d draws, want 6: %v", len(asked), asked)
	}
}

func TestDrawMotor(t *testing.T) {
	r, err := LoadSimloid(90)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Clone()
	d.Joints[0].Strength = 0.5
	if got, want := d.Draw(always(0.5)).Joints[0].MaxTorque(), r.Joints[0].MaxTorque()/2; got != want {
		t.Errorf("stall torque at half the strength: got %g, want %g", got, want)
	}
}

func TestRandomFaults(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"mass: 10%", "mass: 0.1", `bodies[0].random.mass: got "0.1", want a share above 0%, at most 90%`},
		{"mass: 10%", "mass: 91%", "bodies[0].random.mass"},
		{"mass: 10%", "mass: -1%", "bodies[0].random.mass"},
		{"mass: 10%", "mass: NaN%", "bodies[0].random.mass"},
		{"mass: 10%", "colour: 10%", "random.colour: got an unknown key"},
		{"friction: 0.5", "friction: 0", "bodies[0].random.friction: got 20% of 0"},
		{"friction_nm: 0.1, ", "", "joints[0].random.friction: got 30 % of 0, want friction_nm too"},
		{"{damping: 40%}", "{strength: 40%}", "passive[0].random.strength: got 40% without a motor"},
	} {
		text := strings.Replace(loose, c.old, c.new, 1)
		if _, err := Parse([]byte(text), "f"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: got %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

// A body that is resized is the body of a file with that size.
func TestResize(t *testing.T) {
	const body = `
name: one
supply: {volts: 12}
base: fixed
bodies:
  - name: base
  - name: stone
    %s
    shapes:
      - {box: [%g, 0.2, 0.1], at_m: [0.1, 0, 0], rotation_deg: [10, 20, 30]%s}
      - {cylinder: [%g, %g], at_m: [-0.1, 0.05, 0], along: x%s}
      - {sphere: %g%s}
joints: [{name: j, servo: ax-12a, limits_deg: [-90, 90], parent: base, child: stone, anchor_m: [0, 0, 0], axis: [0, 0, 1]}]
`
	masses := []any{", mass_kg: 0.3", ", mass_kg: 0.2", ", mass_kg: 0.1"}
	parse := func(width, radius, length, ball float64) Body {
		r, err := Parse(fmt.Appendf(nil, body, "", width, masses[0], radius, length, masses[1], ball, masses[2]), "f")
		if err != nil {
			t.Fatal(err)
		}
		return r.Bodies[1]
	}
	b, want := parse(0.3, 0.05, 0.2, 0.03), parse(0.2, 0.07, 0.1, 0.05)
	for i := range b.Shapes {
		b.Resize(i, want.Shapes[i].Radius, want.Shapes[i].Half)
	}
	for i := range b.Inertia {
		if math.Abs(b.Inertia[i]-want.Inertia[i]) > 1e-15 {
			t.Errorf("inertia[%d]: got %g, want %g", i, b.Inertia[i], want.Inertia[i])
		}
	}
	if b.Mass != want.Mass || b.CentreOfMass != want.CentreOfMass {
		t.Errorf("got %g kg at %v, want %g kg at %v", b.Mass, b.CentreOfMass, want.Mass, want.CentreOfMass)
	}
}
