package gamebots

import (
	"math"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// rescuer describes a robot to the protocol. body is its simulated body or nil; the caller is between two cycles.
type rescuer struct {
	m      *model.Robot
	body   *sim.Body
	layout *hal.Layout
	parts  []string // one a body: the item that it is, "" = the chassis
	out    *gamebots.Robot
}

// DescribeRescue describes agent, made of m and simulated by body, to Gamebots. Without a body in the scene it lacks
// the operations that need a scene.
func DescribeRescue(class string, agent *hal.Agent, m *model.Robot, body *sim.Body) *gamebots.Robot {
	k := m.Rescue
	r := &rescuer{m: m, body: body, layout: agent.Layout(), parts: make([]string, len(m.Bodies))}
	if k == nil {
		r.out = gamebots.Describe(class, agent)
		for i := range m.Joints {
			if c := m.Joints[i].Child; c != hal.None {
				r.parts[c] = r.out.Joints[i].Name
			}
		}
		r.packages(arms(m))
		return r.out
	}
	r.out = &gamebots.Robot{
		Class: class, State: hal.None, Interval: seconds(k.Interval), AbsoluteCamera: k.Absolute, Torque: k.Torque,
		Left: k.Left, Right: k.Right, Front: k.Front, Rear: k.Rear}
	if body != nil {
		r.out.Zeroer, r.out.Flipper, r.out.Zoomer, r.out.Pacer = body, body, body, body
	}
	if k.Headlight && body != nil {
		r.out.Light = body
	}
	r.joints()
	r.packages(k.Packages)
	r.sensors()
	r.cameras()
	r.size()
	// The body is its own releaser: it counts the tags that it has dropped, also after a reset.
	if k.Tags > 0 && body != nil {
		r.out.Effecters = []gamebots.Effecter{{Type: "RFIDReleaser", Name: k.ReleaserName, Pose: k.ReleaserPose,
			Releaser: body,
			Settings: []gamebots.Setting{{Name: "NumTags", Value: float64(k.Tags)}}}}
	}
	return r.out
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// joints are the layout's actuators. A wheel turns forward; all others turn as the axes of the wire do.
func (r *rescuer) joints() {
	for i := range r.m.Joints {
		j := &r.m.Joints[i]
		joint := gamebots.Joint{Name: plan.WireName(j.Path, j.Name), Actuator: i, Reversed: !j.Wraps && j.Against(),
			Steer: hal.None}
		for _, s := range r.m.Rescue.Steers {
			if s.Wheel == i {
				joint.Steer, joint.SteerReversed = s.Joint, r.m.Joints[s.Joint].Against()
			}
		}
		r.out.Joints = append(r.out.Joints, joint)
		// The item that a joint moves is called as the joint is, as in the manual: CameraPan carries CameraTilt.
		if j.Child != hal.None {
			r.parts[j.Child] = joint.Name
		}
	}
}

// packages are rows of joints: each part is connected to the one before it, the first to the chassis. A part is at its
// body's frame; on the wire its pose is relative to the part before it.
func (r *rescuer) packages(list []model.MissionPackage) {
	for _, p := range list {
		out := gamebots.Package{Type: p.Type, Name: p.Name}
		for i, joint := range p.Joints {
			j := &r.m.Joints[joint]
			at := r.m.Bodies[j.Parent].Pose.Inverse().Times(r.m.Bodies[j.Child].Pose)
			axis := r.m.Bodies[j.Child].Pose.Inverse().Turn(j.Axis)
			for k := range axis {
				axis[k] *= j.Sign
			}
			part := gamebots.Part{Name: r.parts[j.Child], Joint: joint, Axis: axis, Pose: at}
			if i == 0 {
				out.Pose, part.Pose = at, hal.Pose{Rotation: [4]float64{1}}
			} else {
				last := &out.Parts[i-1]
				part.Parent = last.Name
				last.Mounts = append(last.Mounts, gamebots.Mount{Carries: part.Name, Pose: at})
			}
			out.Parts = append(out.Parts, part)
		}
		if !simple(p.Type) && len(p.Joints) > 0 {
			// A package whose joints make no arm, two in a ring say, is moved joint by joint.
			if solver, err := newArmSolver(r.m, &p); err == nil {
				out.Solver = solver
			}
		}
		r.out.Packages = append(r.out.Packages, out)
	}
}

func (r *rescuer) sensors() {
	for i := range r.layout.Sensors {
		s := &r.layout.Sensors[i]
		if s.Kind == "pose" {
			r.pose(i)
			continue
		}
		kind := gamebots.SensorType(s.Kind)
		if kind == "" {
			continue
		}
		out := gamebots.Sensor{Type: kind, Name: plan.WireName(s.Path, s.Name), Index: i, TimeStamp: true}
		for k := range r.m.Sensors {
			if have := &r.m.Sensors[k]; have.Name == s.Name {
				out.Mount = r.parts[have.Body]
				if have.Device != nil {
					r.device(&out, s.Kind, have.Device)
				}
			}
		}
		r.out.Sensors = append(r.out.Sensors, out)
		if s.Kind == "victim" {
			r.victimSensor(out)
		}
	}
}

// victimSensor is the VictSensor of the later dialects, where a robot's reader of victims is.
func (r *rescuer) victimSensor(reader gamebots.Sensor) {
	if r.body == nil {
		return
	}
	out := gamebots.Sensor{Type: "VictSensor", Name: "VictSensor", Mount: reader.Mount, Index: reader.Index,
		TimeStamp: true, Since: gamebots.Later, Parts: &gamebots.Parts{},
		Settings: []gamebots.Setting{{Name: "MaxRange", Value: sim.VictimReach},
			{Name: "HorizontalFOV", Value: sim.VictimView}, {Name: "VerticalFOV", Value: sim.VictimView}}}
	err := r.body.Look(out.Index, func(seen []sim.SeenPart) {
		out.Parts.Set(len(seen), func(i int) gamebots.BodyPart {
			return gamebots.BodyPart{Name: seen[i].Name, At: seen[i].At}
		})
	})
	if err == nil {
		r.out.Sensors = append(r.out.Sensors, out)
	}
}

// pose is a sensor that measures where the robot is. STA's is the first; from the later dialect on it is a sensor of
// its own, and there is an INS in addition to the INU. A robot file may name more of them.
func (r *rescuer) pose(i int) {
	s := &r.layout.Sensors[i]
	out := gamebots.Sensor{Name: plan.WireName(s.Path, s.Name), Index: i, Since: gamebots.Later}
	named := map[string]bool{}
	for k := range r.m.Sensors {
		have := &r.m.Sensors[k]
		if named[have.Message] = true; have.Name == s.Name {
			out.Type, out.Mount = have.Message, r.parts[have.Body]
		}
	}
	first := r.out.State == hal.None
	if first {
		r.out.State = i
	}
	switch {
	case out.Type != "":
		r.out.Sensors = append(r.out.Sensors, out)
	case first:
		for _, kind := range []string{"GroundTruth", "INS"} {
			if out.Type = kind; named[kind] {
				continue
			}
			if kind == "INS" {
				out.Name = kind
			}
			r.out.Sensors = append(r.out.Sensors, out)
		}
	}
}

// device fills in the settings of a sensor, by the names of USARBot.ini.
func (r *rescuer) device(out *gamebots.Sensor, kind string, d *model.Device) {
	set := func(name string, value float64) {
		out.Settings = append(out.Settings, gamebots.Setting{Name: name, Value: value})
	}
	out.Interval, out.Manual, out.TimeStamp = seconds(d.Interval), d.Manual, d.TimeStamp
	switch kind {
	case "sonar":
		set("MaxRange", d.Range)
		set("BeamAngle", d.Beam)
	case "infrared", "rfid":
		set("MaxRange", d.Range)
	case "range":
		// One kind to hal, two types on the wire: they differ at glass.
		if d.Clear {
			out.Type = "IRScanner"
		}
		out.Resolution, out.FOV = d.Resolution, d.FOV
		out.Unpaced = !d.Paced
		set("MaxRange", d.Range)
		out.Settings = append(out.Settings, gamebots.Setting{Name: "MinRange", Since: gamebots.Later})
		set("ScanInterval", d.Interval)
		set("Resolution", d.Resolution)
		set("ScanFov", d.FOV)
	case "odometry":
		set("ScanInterval", d.Interval)
		set("EncoderResolution", d.Resolution)
	case "inertial":
		set("ScanInterval", d.Interval)
	case "encoder":
		set("Resolution", d.Resolution)
	case "contact":
		set("Diameter", d.Diameter)
	case "victim":
		set("FPMinRange", d.Range)
		set("VictMinRange", d.Near)
		set("VictStatusRange", d.Nearest)
		set("RFIDFOV", d.FOV)
	case "motion":
		set("MaxRange", d.Range)
		set("FOV", d.FOV)
	}
	if d.Noise > 0 {
		set("Noise", d.Noise)
	}
	if kind == "rfid" || kind == "victim" {
		r.reader(out, kind)
	}
}

// reader stores what a reader finds until the client is sent it.
func (r *rescuer) reader(out *gamebots.Sensor, kind string) {
	if r.body == nil {
		return
	}
	// The scene finds in the cycle's goroutine, the session reads in its own: Hits is between them.
	hits := &gamebots.Hits{}
	err := r.body.Listen(out.Index, func(f sim.Found) {
		h := gamebots.Hit{Tag: f.Tag, ID: f.Name, State: f.State, At: f.At}
		if kind == "rfid" {
			h.ID = strconv.Itoa(f.Tag)
		}
		hits.Put(h)
	})
	if err == nil {
		out.Hits = hits
	}
}

func (r *rescuer) cameras() {
	for i := range r.m.Cameras {
		c := &r.m.Cameras[i]
		out := gamebots.Camera{Name: plan.WireName(c.Path, c.Name), Mount: r.parts[c.Body], Index: i, Package: hal.None,
			Default: c.FOV, Min: c.MinFOV, Max: c.MaxFOV}
		for k := range r.out.Packages {
			if r.out.Packages[k].Name == c.Package {
				out.Package = k
			}
		}
		r.out.Cameras = append(r.out.Cameras, out)
	}
}

// size describes the whole robot, for the later dialect.
func (r *rescuer) size() {
	k := r.m.Rescue
	out := &r.out.Size
	out.Steering, out.Dimensions, out.Mass, out.Centre = k.Steering, k.Size, r.m.Mass(), r.m.CentreOfMass()
	// A platform without sides has no track.
	if len(k.Left) == 0 || len(k.Right) == 0 {
		return
	}
	out.WheelRadius, out.Separation = r.m.Wheel(k.Left[0]), r.m.Span(k.Left[0], k.Right[0], 1)
	for _, i := range k.Left {
		out.WheelBase = max(out.WheelBase, r.m.Span(k.Left[0], i, 0))
	}
	for axle, to := range map[*float64][]int{&out.MaxFrontSteer: k.Front, &out.MaxRearSteer: k.Rear} {
		if len(to) > 0 {
			*axle = r.m.Joints[to[0]].Limits[1]
		}
	}
}
