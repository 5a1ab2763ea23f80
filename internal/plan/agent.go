package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// JointRef is one joint of one agent.
type JointRef struct{ Agent, Joint int }

// Agent returns the agent's configuration for the rig. The original Simloid had no guard, and its controllers depend on
// that: its simulated robots have a guard that bounds but does not delay.
func (p *AgentPlan) Agent(body hal.Body, world hal.World, reality hal.BodyKind) hal.AgentConfig {
	g := p.Config.Guard
	config := hal.AgentConfig{Name: p.Config.Name, Body: body, World: world, BodyKind: reality,
		Guard: hal.GuardConfig{CommandTimeout: g.CommandTimeout, OnTimeout: policies[g.OnTimeout], Slew: g.Slew,
			HomeSpeed: g.HomeSpeed, Disarmed: !g.Armed, Arming: arming[g.Arming], FollowingError: g.FollowingError,
			Passive:    g.Passive,
			Interlock:  p.interlock(),
			TorqueRamp: p.Config.Start.Ramp,
			Direct:     reality == hal.Simulated && p.Robot.Simloid != hal.None && g.Slew == 1}}
	p.onLoss(&config.Guard)
	if f, at := p.Config.Fall, p.attitude(reality == hal.Simulated); f != nil && at != hal.None {
		to := &config.Guard.Fall
		to.Tilt, to.For, to.Then, to.Attitude = f.Tilt, f.For, policies[f.Then], at
	}
	return config
}

// LossOf is what on_loss says of a device: "" is nothing. A device of a part counts where the part is not simulated.
func (p *AgentPlan) LossOf(device int) string {
	on, name := p.Config.OnLoss, ""
	if n := len(p.Layout.Actuators); device < n {
		name = p.Layout.Actuators[device].Name
	} else {
		name = p.Layout.Sensors[device-n].Name
	}
	based := p.Base != nil && p.Base.Body != configs.Sim && (device < len(p.Joints) && p.Base.turns(device) ||
		device >= len(p.Joints) && p.Layout.Sensors[device-len(p.Layout.Actuators)].Kind == "pose")
	if !based && p.Config.BodyOf(name) == configs.Sim {
		return ""
	}
	if based && on[name] == "" {
		name = configs.BasePart
	}
	return cmp.Or(on[name], on[allParts])
}

// allParts is the part of on_loss that is all of them.
const allParts = "all"

// onLoss sets what becomes of the robot when a device is lost.
func (p *AgentPlan) onLoss(c *hal.GuardConfig) {
	on := &c.OnLoss
	for i := range len(p.Layout.Actuators) + len(p.Layout.Sensors) {
		switch p.LossOf(i) {
		case "hold":
			on.Hold = append(on.Hold, i)
		case "torque_off":
			on.TorqueOff = append(on.TorqueOff, i)
		case "stop":
			on.Stop = append(on.Stop, i)
		}
	}
}

// checkLoss checks the parts that on_loss names.
func (r *Resolver) checkLoss(path configs.Path, c *configs.Agent, p *AgentPlan, joints []string) {
	for _, part := range report.SortedKeys(c.OnLoss) {
		at := path.Key("on_loss").Key(part)
		joint := p.Layout.Actuator(part)
		based := p.Base != nil && joint != hal.None && p.Base.turns(joint)
		switch known := part == allParts || part == configs.BasePart && p.Base != nil || joint != hal.None; {
		case !known && !measures(p.Layout, part):
			r.fault(at, part, "all, base or a part of "+p.Robot.Name+": "+strings.Join(joints, ", "),
				catalog.Likely(part, joints))
		case c.OnLoss[part] == "sim" && (part == configs.BasePart ||
			joint == hal.None && part != allParts || based || p.Vehicle != nil):
			r.fault(at, "sim", "stop, hold or torque_off: the physics takes the place of joints alone", "")
		case part != allParts && part != configs.BasePart && c.BodyOf(part) == configs.Sim:
			r.fault(at, part, "a part that is emulated or real", "")
		case c.OnLoss[part] == "sim" && (part != allParts && c.BodyOf(part) != configs.Real || !c.Has(configs.Real)):
			r.fault(at, "sim", "stop, hold or torque_off: the physics takes the place of real joints alone", "")
		}
	}
}

// checkCouple checks the joints that feel a simulated load.
func (r *Resolver) checkCouple(path configs.Path, c *configs.Agent, p *AgentPlan, joints []string) {
	for _, name := range report.SortedKeys(c.Couple) {
		at, i := path.Key("couple").Key(name), p.Layout.Actuator(name)
		switch {
		case i == hal.None:
			r.fault(at, name, "a joint of "+p.Robot.Name+": "+strings.Join(joints, ", "), catalog.Likely(name, joints))
			continue
		case p.Joints[i].Body == configs.Sim || p.Joints[i].Body == configs.Emulated:
			r.fault(at, fmt.Sprintf("%s, which is %s", name, p.Joints[i].Body),
				"a real joint: others move in the scene and feel it anyway", "")
			continue
		case p.Vehicle != nil || p.Base.turns(i):
			r.fault(at, name, "a joint: a wheel or thruster of a base or vehicle cannot feel a load", "")
			continue
		case p.Joints[i].Servo == nil && p.Joints[i].Hardware != nil && p.Joints[i].Hardware.Device == "":
			continue // its servo is a fault of its own
		}
		servo := "a channel of pulses"
		if s := p.Joints[i].Servo; s != nil {
			servo = p.Joints[i].Hardware.Model
		}
		a := &p.Layout.Actuators[i]
		if s := p.Joints[i].Servo; s == nil || !s.Units().Modes[hal.TorqueMode] || a.Goal[hal.TorqueMode] == hal.None {
			r.fault(at, servo, "a servo with a torque mode: "+servo+" takes no torque as its goal", "")
		} else if most := c.Couple[name].Max; most > a.Limits.MaxTorque {
			r.fault(at.Key("max_nm"), fmt.Sprint(most),
				fmt.Sprintf("at most %.3g, the torque of %s", a.Limits.MaxTorque,
					servo), "")
		}
	}
}

// attitude is where the attitude is measured, hal.None without such a sensor. Of devices, a pose is an estimate that
// knows no tilt.
func (p *AgentPlan) attitude(simulated bool) int {
	for _, s := range p.Layout.Sensors {
		if s.Kind == "imu" {
			return s.First
		}
	}
	for _, s := range p.Layout.Sensors {
		if s.Kind == "pose" && s.Count >= 7 && simulated {
			return s.First + 3
		}
	}
	return hal.None
}

// Stand adds a robot or a vehicle to a scene.
func (p *AgentPlan) Stand(s *sim.Scene) (hal.Body, error) {
	if p.Vehicle != nil {
		return s.AddVehicle(p.Config.Name, p.Vehicle, p.Place(), sim.SensorNoise())
	}
	return s.Add(p.Config.Name, p.Robot, p.Place())
}

// Place is where the robot begins.
func (p *AgentPlan) Place() hal.Pose {
	if p.start != nil {
		return *p.start
	}
	return PoseOf(p.Config.Pose)
}

// PascalPerMetre is of fresh water at 20 °C, as the pool's.
const PascalPerMetre = 997 * weight

// weight is the weight of 1 m³ of water with a density of 1 kg/m³, N, by the standard acceleration of free fall.
const weight = 9.80665

// PascalPerMetre is how fast the pressure rises under water, as the config of the agent's pressure sensor has it.
func (p *AgentPlan) PascalPerMetre() float64 {
	for i := range p.Layout.Sensors {
		if s := &p.Layout.Sensors[i]; s.Kind == "pressure" {
			if c, ok := p.Config.Devices().Sensors[s.Name]; ok {
				return c.Density * weight
			}
		}
	}
	return PascalPerMetre
}

// Afloat reports whether a layout is a vehicle's: all its actuators are thrusters.
func Afloat(l *hal.Layout) bool {
	return len(l.Actuators) > 0 &&
		!slices.ContainsFunc(l.Actuators, func(a hal.Actuator) bool { return a.Kind != hal.Thruster })
}

// Estimate adds the estimated poses of the robot's links to a body of devices, if its layout has sensors for them; a
// simulated body has the true ones.
func (p *AgentPlan) Estimate(body hal.Body) (hal.Body, error) {
	if !slices.ContainsFunc(body.Layout().Sensors,
		func(s hal.Sensor) bool { return s.Kind == "body" || s.Kind == "pose" || s.Kind == "odometry" }) {
		return body, nil
	}
	tree, places := TreeOf(p.Robot)
	o := kinematics.Options{Base: PoseOf(p.Config.Pose), Free: !p.Robot.Fixed, Links: map[string]int{}}
	if p.Config.Drive != nil {
		o.Drive = p.Robot.Drive
	}
	for _, s := range p.Robot.Sensors {
		o.Links[s.Name] = places[s.Body]
	}
	return kinematics.Estimate(body, tree, o)
}

// TreeOf is the kinematics of a robot, and where in it each of its bodies is. A passive joint that no motor's joint
// moves is taken to be at 0.
func TreeOf(m *model.Robot) (tree kinematics.Tree, places []int) {
	places = make([]int, len(m.Bodies))
	for _, i := range m.Order() {
		b := &m.Bodies[i]
		l := kinematics.Link{Name: b.Name, Parent: hal.None, Home: b.Pose, Centre: b.CentreOfMass, Joint: hal.None}
		hang := func(k *model.Linkage) {
			l.Parent, l.Anchor, l.Axis, l.Slide = places[k.Parent], k.Anchor, k.Axis, k.Kind == model.Slide
		}
		for j := range m.Joints {
			if k := &m.Joints[j]; k.Child == i {
				hang(&k.Linkage)
				l.Joint, l.Times = j, k.Sign
			}
		}
		for j := range m.Passive {
			if k := &m.Passive[j]; k.Child == i {
				hang(&k.Linkage)
				if k.Mimic != nil {
					l.Joint, l.Times, l.Plus = k.Mimic.Joint, k.Sign*k.Mimic.Times, k.Sign*k.Mimic.Plus
				}
			}
		}
		places[i] = len(tree)
		tree = append(tree, l)
	}
	return tree, places
}
