package usarini

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Unreal's meshes hold data that an INI lacks: the shapes of the chassis, of wheels and of parts. Wheels of the
// manual's robots have its sizes (10.1 to 10.4). DrawScale3D changes no size: it is only visual (12.4.2.4).
var tyres = map[string][2]float64{ // radius and width, m
	"p2attire": {0.11, 0.075}, "p2dxtire": {0.0825, 0.037}, "atrvjrtire": {0.165, 0.1}, "pertire": {0.05, 0.04},
	"usartire": {0.1, 0.05}, "omnitire": {0.05, 0.03},
}

// Assumed values without a source.
const (
	wheelMass  = 0.5  // kg
	partMass   = 0.3  // kg
	karmaMass  = 10.0 // kg of a ChassisMass of 1, if there is no Weight
	wheelSpeed = 1.0  // m/s of a wheel's rim at its fastest
	tall       = 0.12 // m, of the chassis above its axles
	thin       = 0.08 // m, a chassis is at least so long and wide
	tyreGrip   = 0.9  // friction of TireRollFriction 15
	tyreSlide  = 0.7  // its share across, of TireLateralFriction 15
)

// piece is a part under construction.
type piece struct {
	part          *Part
	body, joint   string
	pose          hal.Pose // of its body, in the robot's frame
	anchor, spin  [3]float64
	steer         [3]float64 // of a wheel that is steered
	steered       string     // its joint, "" = none
	radius, width float64
}

// build writes the mechanics of a robot from its parts: a box between the wheels, the wheels, and small boxes for parts
// on hinges. It adds a note for each assumption.
func (w *writer) build() {
	r := w.robot
	pieces := make([]piece, len(r.Parts))
	at := map[string]int{}
	for i := range r.Parts {
		pieces[i] = w.piece(&r.Parts[i], pieces, at)
		at[strings.ToLower(r.Parts[i].Name)] = i
	}
	w.names = map[string]bool{} // sensors may be called as joints are
	var wheels []*piece
	for i := range pieces {
		if pieces[i].radius > 0 {
			wheels = append(wheels, &pieces[i])
		}
	}
	if len(wheels) == 0 {
		w.decoder.line = r.Line
		w.fault("JointParts", "no wheel", "parts with JointClass="+Wheel)
		return
	}
	t := &r.Tires
	grip := tyreGrip * t.RollFriction / 15
	slide := 1.0
	if t.RollFriction > 0 {
		slide = tyreSlide * t.LateralFriction / t.RollFriction
	}
	w.line("name: %s\ntitle: %s\n\nsupply: {volts: 12, ohms: 0.05}\n\nmaterials:", w.own(short(r.Class)),
		short(r.Class))
	w.names = map[string]bool{}
	w.line("  default: {friction: 0.6, colour: [0.5, 0.55, 0.62]}")
	w.line("  tyre: {friction: %s, axle: %s, colour: [0.15, 0.15, 0.16]}", num(grip),
		num(math.Min(1, math.Max(0.01, slide))))
	w.line("  roller: {friction: %s, axle: 0.01}\n  slick: {friction: 0}\n\nbodies:", num(grip))
	w.chassis(wheels)
	for i := range pieces {
		w.body(&pieces[i])
	}
	w.line("\njoints:")
	joints := 0
	for i := range pieces {
		joints += w.joint(&pieces[i], joints)
	}
	w.line("")
	w.sides(wheels)
}

// short is a class without its package.
func short(class string) string { return class[strings.LastIndexByte(class, '.')+1:] }

// piece works out where a part is. Its parent is among those before it.
func (w *writer) piece(p *Part, before []piece, at map[string]int) piece {
	k := piece{part: p, body: w.own(p.Name)}
	k.joint = k.body
	parent := hal.Pose{Rotation: [4]float64{1}}
	if p.Parent != "" {
		parent = before[at[strings.ToLower(p.Parent)]].pose
	}
	first, own := p.ParentAxis, p.SelfAxis
	second, other := p.ParentAxis2, p.SelfAxis2
	if p.Joint == Wheel {
		first, own, second, other = second, other, first, own
	}
	if first == ([3]float64{}) {
		w.decoder.line = p.Line
		w.fault("JointParts.ParentAxis", "no axis of "+p.Name, "the axis that it spins about")
		first = [3]float64{0, 0, 1}
	}
	local := hal.Pose{Position: p.ParentPosition, Rotation: align(own, other, first, second)}
	joint := parent.Times(local)
	k.anchor = joint.Position
	k.pose = joint.Times(hal.Pose{Position: [3]float64{-p.SelfPosition[0], -p.SelfPosition[1], -p.SelfPosition[2]},
		Rotation: [4]float64{1}})
	k.spin = parent.Turn(first)
	if p.Joint == Wheel {
		size, ok := tyres[shortClass(p.Class)]
		if !ok {
			size = tyres["usartire"]
			w.note(p.Line, "JointParts.PartClass", p.Class+", whose mesh is not here",
				fmt.Sprintf("nothing: %s is a wheel of %s m radius, %s m wide", p.Name, num(size[0]), num(size[1])))
		}
		k.radius, k.width = size[0], size[1]
		// a rolling wheel turns forward, on either side of the robot
		if math.Abs(k.spin[1]) > 0.9 && k.spin[1] < 0 {
			k.spin = [3]float64{-k.spin[0], -k.spin[1], -k.spin[2]}
		}
		if !p.SteeringLocked && second != ([3]float64{}) {
			k.steer, k.steered = parent.Turn(second), w.own(p.Name+"_steer")
		}
		if !p.SuspensionLocked {
			w.note(p.Line, "JointParts.bSuspensionLocked", "a suspension",
				"nothing: "+p.Name+" is fixed along its steering axis")
		}
	}
	id := strings.ToLower(p.Name)
	w.base.Joints[id] = [2]string{k.joint, k.body}
	w.base.Poses[id] = k.pose
	return k
}

// chassis writes a box on the axles from the first to the last, and casters if all wheels are in one line.
func (w *writer) chassis(wheels []*piece) {
	r := w.robot
	low, high := [3]float64{1e9, 1e9, 1e9}, [3]float64{-1e9, -1e9, -1e9}
	inside, radius := 1e9, 0.0
	for _, k := range wheels {
		for i := range low {
			low[i], high[i] = math.Min(low[i], k.anchor[i]), math.Max(high[i], k.anchor[i])
		}
		inside = math.Min(inside, math.Abs(k.anchor[1])-k.width/2)
		radius = math.Max(radius, k.radius)
	}
	length, width := math.Max(thin, high[0]-low[0]), math.Max(thin, 2*(inside-0.01))
	inLine := high[0]-low[0] < 0.01
	if inLine {
		length = 4 * radius
	}
	middle := (low[0] + high[0]) / 2
	mass := r.Weight
	if mass == 0 {
		mass = karmaMass * r.ChassisMass
		w.note(r.Line, "Weight", "no weight", fmt.Sprintf("nothing: the chassis weighs %s kg", num(mass)))
	}
	w.note(r.Line, "", "a chassis whose mesh is not here",
		fmt.Sprintf("nothing: it is a box of %s by %s by %s m on its axles", num(length), num(width), num(tall)))
	shapes := fmt.Sprintf("{box: [%s, %s, %s], at_m: %s}", num(length), num(width), num(tall),
		list3([3]float64{middle, 0, low[2] + tall/2}))
	if inLine {
		// a caster is a sliding ball, slightly above the floor under the wheels
		const ball, gap = 0.03, 0.002
		for _, end := range [...]float64{-1, 1} {
			at := [3]float64{middle + end*(length/2-ball), 0, low[2] - radius + ball + gap}
			shapes += fmt.Sprintf(", {sphere: %s, at_m: %s, material: slick}", num(ball), list3(at))
		}
	}
	w.place("bodies[0]", r.Line, "Weight")
	w.line("  - {name: chassis, mass_kg: %s, com_m: %s, shapes: [%s]}", num(mass),
		list3([3]float64{middle, 0, low[2] + tall/4}), shapes)
}

// extent is how long, wide and high a robot is over its wheels.
func extent(wheels []*piece) (size [3]float64) {
	low, high := [2]float64{1e9, 1e9}, [2]float64{-1e9, -1e9}
	radius := 0.0
	for _, k := range wheels {
		for i, reach := range [...]float64{k.radius, k.width / 2} {
			low[i], high[i] = math.Min(low[i], k.anchor[i]-reach), math.Max(high[i], k.anchor[i]+reach)
		}
		radius = math.Max(radius, k.radius)
	}
	return [3]float64{high[0] - low[0], high[1] - low[1], radius + tall}
}

// body writes a part. A wheel touches the floor with the middle of its tread, as in the built-in robots.
func (w *writer) body(k *piece) {
	if k.radius == 0 {
		w.line("  - {name: %s, position_m: %s%s, mass_kg: %s, shapes: [{box: [0.06, 0.06, 0.06], collides: false}]}",
			k.body, list3(k.pose.Position), turned(k.pose.Rotation), num(partMass))
		return
	}
	if k.steered != "" {
		w.line("  - {name: %s, position_m: %s, mass_kg: 0.1, shapes: [{sphere: 0.02, collides: false}]}", k.steered,
			list3(k.anchor))
	}
	// the cylinder's own axis along the spin, as the part's axes have it
	axis := k.pose.Inverse().Turn(k.spin)
	lie := turned(least([3]float64{0, 0, 1}, axis))
	for i, name := range [...]string{"x", "y"} {
		if math.Abs(axis[i]) > 1-1e-9 {
			lie = ", along: " + name
		}
	}
	if at := list3(k.pose.Inverse().Of(k.anchor)); at != "[0, 0, 0]" {
		lie += ", at_m: " + at
	}
	w.line("  - {name: %s, position_m: %s%s, mass_kg: %s,", k.body, list3(k.pose.Position), turned(k.pose.Rotation),
		num(wheelMass))
	lie += ", material: " + map[bool]string{false: "tyre",
		true: "roller"}[strings.EqualFold(short(k.part.Class), "OmniTire")]
	w.line("     shapes: [{cylinder: [%s, %s]%s}, {cylinder: [%s, 0.001]%s}]}", num(k.radius-0.002), num(k.width), lie,
		num(k.radius), lie)
}

func turned(q [4]float64) string {
	if turn := list3(turns(q)); turn != "[0, 0, 0]" {
		return ", rotation_deg: " + turn
	}
	return ""
}

// joint writes the joints that move a part, and returns their number.
func (w *writer) joint(k *piece, n int) int {
	r, p := w.robot, k.part
	parent := "chassis"
	if p.Parent != "" {
		parent = w.base.Joints[strings.ToLower(p.Parent)][1]
	}
	const modes = "motor: ideal, torque_nm: %s, speed_rads: %s, modes: [%s]"
	count := 1
	w.place(fmt.Sprintf("joints[%d]", n), p.Line, "JointParts "+p.Name)
	if k.steered != "" {
		w.place(fmt.Sprintf("joints[%d]", n+1), p.Line, "JointParts "+p.Name)
		w.line("  - {name: %s, path: \"/%sSteer\", "+modes+", limits_deg: [-60, 60],", k.steered, p.Name,
			num(math.Max(0.1, r.Joints.SteerTorque/100)), num(math.Max(0.01, radians(r.Joints.SteerSpeed))),
			"position, velocity, torque")
		w.line("     parent: %s, child: %s, anchor_m: %s, axis: %s}", parent, k.steered, list3(k.anchor),
			list3(k.steer))
		parent = k.steered
		count++
	}
	torque := math.Max(0.01, math.Min(r.MotorTorque, r.MaxTorque))
	if k.radius > 0 {
		w.line("  - {name: %s, path: \"/%s\", wraps: true, "+modes+",", k.joint, p.Name, num(torque),
			num(wheelSpeed/k.radius), "velocity, position, torque")
		w.line("     parent: %s, child: %s, anchor_m: %s, axis: %s, friction_nm: 0.02}", parent, k.body,
			list3(k.anchor), list3(k.spin))
		return count
	}
	w.line("  - {name: %s, path: \"/%s\", "+modes+", limits_deg: [-175, 175],", k.joint, p.Name, num(torque),
		num(math.Max(0.01, r.MotorSpeed)), "position, velocity, torque")
	// Karma's hinges keep their angle without power; here the friction of a gear does that.
	w.line("     parent: %s, child: %s, anchor_m: %s, axis: %s, friction_nm: %s}", parent, k.body, list3(k.anchor),
		list3(k.spin), num(0.3*torque))
	return count
}

// sides reports which wheels DRIVE turns, for the section that drive writes.
func (w *writer) sides(wheels []*piece) {
	var left, right, front, rear, steers []string
	for _, k := range wheels {
		switch along := math.Abs(k.spin[1]) > 0.9; {
		case along && k.anchor[1] > 0.01:
			left = append(left, k.joint)
		case along && k.anchor[1] < -0.01:
			right = append(right, k.joint)
		}
		if k.steered == "" {
			continue
		}
		steers = append(steers, k.joint+": "+k.steered)
		if k.anchor[0] >= 0 {
			front = append(front, k.steered)
		} else {
			rear = append(rear, k.steered)
		}
	}
	steering := "SkidSteered"
	switch {
	case len(steers) > 0:
		steering = "AckermanSteered"
	case len(left) == 0 || len(right) == 0:
		steering = "Omni"
	case len(wheels) == 2:
		steering = "Differential"
	}
	s := "usarsim:\n  steering: " + steering + "\n"
	for _, k := range [...]struct {
		key  string
		list []string
	}{{"left", left}, {"right", right}, {"front", front}, {"rear", rear}} {
		if len(k.list) > 0 {
			s += "  " + k.key + ": [" + strings.Join(k.list, ", ") + "]\n"
		}
	}
	if len(steers) > 0 {
		s += "  steers: {" + strings.Join(steers, ", ") + "}\n"
	}
	w.base.YAML = []byte(s + "  size_m: " + list3(extent(wheels)) + "\n")
	w.pack()
}
