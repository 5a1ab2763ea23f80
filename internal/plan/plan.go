package plan

import (
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

func NewScene(p *Plan) (*sim.Scene, error) {
	w := &p.Config.World
	s := sim.NewScene(sim.SceneConfig{Seed: w.Seed, Substep: p.substep(), Scene: p.scene})
	return s, s.SetGravity([3]float64{0, 0, -w.Gravity})
}

// substep returns the step of the physics: the config's, or the step that the robots need. If all robots are Simloid's
// it is a whole cycle, as in the original, for which their motors, joints and contacts are tuned; cycles above 10 ms
// are divided. Vehicles in water, and robots that are spawned later, use the config's default.
func (p *Plan) substep() time.Duration {
	w, period := &p.Config.World, p.Config.Clock.Period
	if w.GivenSubstep != nil || len(p.Classes) > 0 {
		return w.Substep
	}
	simloid := true
	var robots []*model.Robot
	for i := range p.Agents {
		a := &p.Agents[i]
		if a.Vehicle != nil {
			return w.Substep
		}
		simloid = simloid && a.Robot.Simloid != hal.None
		robots = append(robots, a.Robot)
	}
	if simloid {
		return part(period, 10*time.Millisecond)
	}
	return max(w.Substep, part(period, sim.Need(robots)))
}

// part is the longest part of period, in whole microseconds, that is no longer than most.
func part(period, most time.Duration) time.Duration {
	n := (period + most - 1) / most
	for n < period/time.Microsecond && period%(n*time.Microsecond) != 0 {
		n++
	}
	return period / n
}

// PoseOf turns roll, pitch and yaw into a unit quaternion (w, x, y, z).
func PoseOf(p configs.Pose) hal.Pose {
	return hal.Pose{Position: p.Position, Rotation: hal.RotationOf(p.Rotation)}
}

var policies = map[string]hal.Policy{"hold": hal.Hold, "torque_off": hal.TorqueOff, "park": hal.Park}

// arming maps a config's word to the source of arm commands.
var arming = map[string]hal.Arming{"client": hal.ClientArms, "operator": hal.OperatorArms}

// On lists the joints of one kind that are connected to a bus, in the order of the agents and their robots.
func (p *Plan) On(bus string, kind configs.BodyKind) []JointRef {
	var list []JointRef
	for i := range p.Agents {
		for k := range p.Agents[i].Joints {
			if j := &p.Agents[i].Joints[k]; j.Body == kind && j.Servo != nil && j.Hardware.Bus == bus {
				list = append(list, JointRef{i, k})
			}
		}
	}
	return list
}

func (p *Plan) Joint(h JointRef) *JointPlan { return &p.Agents[h.Agent].Joints[h.Joint] }

// JointName is AGENT/JOINT.
func (p *Plan) JointName(h JointRef) string {
	a := &p.Agents[h.Agent]
	return a.Config.Name + "/" + a.Layout.Actuators[h.Joint].Name
}

// Agent is the plan of an agent of the config, nil if absent: a spawned one has none.
func (p *Plan) Agent(name string) *AgentPlan {
	i := slices.IndexFunc(p.Agents, func(a AgentPlan) bool { return a.Config.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Agents[i]
}

// ServoConfig returns the configuration of a servo for its chain.
func (p *Plan) ServoConfig(h JointRef) servo.ServoConfig {
	j := p.Joint(h)
	s := servo.ServoConfig{ID: byte(j.Hardware.ID), Model: j.Servo, Joint: p.Agents[h.Agent].Robot.Joints[h.Joint].Name,
		Calibrated: j.Calibration != nil}
	for _, name := range report.SortedKeys(j.Hardware.Registers) {
		s.Settings = append(s.Settings, servo.Setting{Register: name, Value: int64(j.Hardware.Registers[name])})
	}
	return s
}

// Emulates reports whether anything that is no servo on a line is emulated.
func (p *DevicePlan) Emulates() bool {
	line := func(w *catalog.WirePlan) bool { return w.Body == configs.Emulated }
	return slices.ContainsFunc(p.Boards, func(p *catalog.BoardPlan) bool { return p.Body == configs.Emulated }) ||
		slices.ContainsFunc(p.Sensors, func(p *catalog.SensorPlan) bool { return p.Body == configs.Emulated }) ||
		slices.ContainsFunc(p.Bases, func(p *BasePlan) bool { return p.Body == configs.Emulated }) ||
		slices.ContainsFunc(p.Estops, line) || slices.ContainsFunc(p.Lights, line)
}

// IdsOn returns the ids of the config's joints on a bus, for any body.
func (p *Plan) IdsOn(bus string) (ids []int) {
	for i := range p.Agents {
		for _, j := range p.Agents[i].Joints {
			if hw := j.Hardware; hw != nil && hw.Device == "" && hw.Bus == bus {
				ids = append(ids, hw.ID)
			}
		}
	}
	return ids
}
