package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// DriveOptions say how a robot's wheels carry it.
type DriveOptions struct {
	Kind   string   // differential, skid, ackermann, omni or mecanum
	Wheels []string // joints; nil: all that turn without end and carry something round
	Steer  []string // of Ackermann, the joints that steer, in any order
	Radius float64  // of the wheels, m; 0: of their shapes
}

// rollers is the friction of a wheel with rollers across its grip, as a share of that along it.
const rollers = 0.01

// SetDrive gives the robot a drive, and a sensor of odometry where it has none. The paths of its faults begin at the
// options.
func (r *Robot) SetDrive(o DriveOptions) (faults yaml.Faults) {
	fault := func(path yaml.Path, got, rule string) { faults.Add(yaml.Fault{Path: path, Got: got, Rule: rule}) }
	find := func(key yaml.Path, names []string) (joints []int) {
		for i, name := range names {
			k := r.Joint(name)
			if k == hal.None {
				fault(key.Index(i), name, "the name of a joint")
				continue
			}
			joints = append(joints, k)
		}
		return joints
	}
	wheels, steer := find("wheels", o.Wheels), find("steer", o.Steer)
	if len(faults) > 0 {
		return faults
	}
	if o.Wheels == nil {
		wheels = r.wheels()
	}
	least := map[string]int{"omni": 3, "mecanum": 4}[o.Kind]
	if len(wheels) < max(2, least) || o.Kind == "mecanum" && len(wheels) != 4 {
		fault("wheels", fmt.Sprintf("%d joints that turn without end", len(wheels)),
			fmt.Sprintf("%d wheels", max(2, least)))
		return faults
	}
	if (o.Kind == "ackermann") != (len(steer) > 0) {
		fault("steer", fmt.Sprintf("%d joints", len(steer)), "the joints that steer, of an ackermann drive alone")
		return faults
	}
	r.Bodies = slices.Clone(r.Bodies) // other robots of the model keep theirs
	d := &kinematics.Drive{Sideways: o.Kind == "omni" || o.Kind == "mecanum"}
	for _, i := range wheels {
		w, ok := r.driveWheel(i, steer, o.Radius)
		if !ok {
			fault("radius", "no round solid on "+r.Joints[i].Name+", or an axle that is upright",
				"radius: M, and wheels that lie")
			return faults
		}
		if o.Kind == "mecanum" {
			// The rollers of the four wheels, seen from above, are an X: each grips towards the robot's middle line.
			side := -math.Copysign(1, w.At[0]*w.At[1])
			w.Grip = [2]float64{1, side}
		}
		d.Wheels = append(d.Wheels, w)
		if d.Sideways {
			r.roll(w)
		}
	}
	r.Drive = d
	if !slices.ContainsFunc(r.Sensors, func(s Sensor) bool { return s.Kind == "odometry" }) {
		r.Sensors = append(r.Sensors, Sensor{Name: r.freeName("odometry"), Kind: "odometry", Body: r.Root(),
			Pose: hal.Pose{Rotation: [4]float64{1}}, Device: &Device{Joint: hal.None, Drive: d}})
	}
	return faults
}

// wheels are the joints that turn without end, lie, and carry something round.
func (r *Robot) wheels() (list []int) {
	for i := range r.Joints {
		if j := &r.Joints[i]; j.Wraps && j.Child != hal.None && math.Abs(j.Axis[2]) < 0.5 && r.reach(i) > 0 {
			list = append(list, i)
		}
	}
	return list
}

// driveWheel describes the wheel on joint i.
func (r *Robot) driveWheel(i int, steer []int, radius float64) (w kinematics.DriveWheel, ok bool) {
	j := &r.Joints[i]
	if radius == 0 {
		radius = r.reach(i)
	}
	// The wheel's middle is where its shapes are, not where the file draws its axis.
	at := place(r.Bodies[j.Child].Pose, r.Bodies[j.Child].CentreOfMass)
	roll := cross(j.Axis, vec{0, 0, 1})
	level := math.Hypot(roll[0], roll[1])
	if !(radius > 0) || level < 0.1 {
		return w, false
	}
	k := j.Sign * radius / level
	w = kinematics.DriveWheel{Actuator: i, At: [2]float64{at[0], at[1]}, Roll: [2]float64{k * roll[0], k * roll[1]},
		Steer: hal.None}
	w.Grip = w.Roll
	parents := r.Parents()
	for body := parents[j.Child]; body != hal.None; body = parents[body] {
		for _, s := range steer {
			if r.Joints[s].Child == body {
				w.Steer, w.SteerSign = s, math.Copysign(1, r.Joints[s].Sign*r.Joints[s].Axis[2])
			}
		}
	}
	return w, true
}

// reach is the greatest distance of the child's solids from the axis of joint i, m: the radius of a wheel.
func (r *Robot) reach(i int) (most float64) {
	j := &r.Joints[i]
	body := &r.Bodies[j.Child]
	from := func(p vec) float64 {
		d := add(p, scale(-1, j.Anchor))
		d = add(d, scale(-dot(d, j.Axis), j.Axis))
		return math.Sqrt(dot(d, d))
	}
	for k := range body.Shapes {
		s := &body.Shapes[k]
		at := within(body.Pose, s.Pose)
		if s.Kind == Hull {
			for _, p := range s.Hull.Points() {
				most = max(most, from(place(at, p)))
			}
			continue
		}
		if s.Kind != Box {
			most = max(most, from(at.Position)+s.Radius)
		}
	}
	return most
}

// roll makes a wheel slide across its grip: it has rollers, which the solids of the file have not.
func (r *Robot) roll(w kinematics.DriveWheel) {
	j := &r.Joints[w.Actuator]
	body := &r.Bodies[j.Child]
	// The slip is along the axle, and of Mecanum's wheels at the rollers' angle to it.
	angle := math.Atan2(w.Roll[0]*w.Grip[1]-w.Roll[1]*w.Grip[0], w.Roll[0]*w.Grip[0]+w.Roll[1]*w.Grip[1])
	body.Shapes = slices.Clone(body.Shapes)
	for k := range body.Shapes {
		s := &body.Shapes[k]
		s.Material.Axle, s.Material.Rollers = rollers, angle
		s.Material.AxleAlong = within(inverse(within(body.Pose, s.Pose)),
			hal.Pose{Rotation: [4]float64{1}}).Turn(j.Axis)
	}
}

// freeName is name, or one like it that no sensor has.
func (r *Robot) freeName(name string) string {
	for slices.ContainsFunc(r.Sensors, func(s Sensor) bool { return s.Name == name }) {
		name += "_"
	}
	return name
}
