package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/configs/usarini"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// plan is a config with every name in it resolved to what it means. Nothing is open yet.
type plan struct {
	config  *configs.Config
	agents  []agentPlan
	scene   func(seed int64) (*model.Scene, error)
	classes map[string]*agentPlan // what can be spawned
	devicePlan

	tap         func(bus string, open servo.Opener) servo.Opener           // between hosts and emulated lines, where faults are tried; nil = nothing
	lens        func(c video.Config) (camera.Opener, *video.Camera, error) // makes the emulated cameras; nil: as sight.go does
	clock       hal.Clock                                                  // of the rig; nil = the wall's
	startTorque float64                                                    // Simloid's position controllers at the start, 0..1; 0 = as the original
}

// agentPlan is one robot: its model with the servos that it really has, and what each joint is made of.
type agentPlan struct {
	config  *configs.Agent
	robot   *model.Robot
	vehicle *hydro.Vehicle // where it is one; robot then has a name alone
	layout  *hal.Layout
	joints  []jointPlan // in the order of the layout's actuators
	base    *basePlan   // that turns its wheels; nil where none does
	start   *hal.Pose   // where a spawned one begins; nil: where the config says

	// Of a class: what hangs on its buses, apart from all others'.
	devices devicePlan
}

// jointPlan is one joint. Simulated joints have no servo of the wire.
type jointPlan struct {
	body        configs.BodyKind
	hardware    *configs.Joint // nil where the config names none
	servo       servoModel
	calibration *calibration.Joint // nil: nominal values, where the joint is not real
	pulses      pulsePlan          // where a board's channel drives it, and servo is nil
}

// hardware is the servo that the config names for joint.
func (p *agentPlan) hardware(joint string) (*configs.Joint, bool) {
	i := p.layout.Actuator(joint)
	if i == hal.None || p.joints[i].hardware == nil {
		return nil, false
	}
	return p.joints[i].hardware, true
}

// busProtocols are the types of line of Dynamixel servos and the protocol of each.
var busProtocols = map[string]int{"dynamixel1": 1, "dynamixel2": 2}

// serverProtocols are what servers speak.
var serverProtocols = []string{"gamebots", "imageserver", "odcp", "okon", "okon-video", "osp", "simloid"}

// resolve looks up every name of c. All faults come together, in the type and with the paths of configs' own.
func resolve(c *configs.Config) (*plan, error) {
	r := resolver{config: c}
	p := &plan{config: c}
	for name, bus := range c.Buses {
		if _, ok := busTypes[bus.Type]; !ok && bus.Type != i2cBus && bus.Type != serialBus && bus.Type != gpioBus {
			r.fault(configs.Path("buses").Key(name).Key("type"), bus.Type, "one of "+typeNames()+", "+i2cBus+", "+serialBus+", "+gpioBus, "")
		}
	}
	for i := range c.Agents {
		path := configs.Path("agents").Index(i)
		p.agents = append(p.agents, r.agent(path, &c.Agents[i]))
		r.measure(path, i, &c.Agents[i], &p.agents[i])
		r.wires(path, i, &c.Agents[i])
		r.sights(path, i, &c.Agents[i], &p.agents[i])
	}
	for i, s := range c.Servers {
		if !slices.Contains(serverProtocols, s.Protocol) {
			r.fault(configs.Path("servers").Index(i).Key("protocol"), s.Protocol, strings.Join(serverProtocols, " or "), "")
		}
	}
	p.devicePlan = r.devices
	p.classes = r.classes()
	p.scene = r.scene()
	r.checkSimloid(p)
	r.checkOkon(p)
	slices.SortStableFunc(r.faults, func(a, b configs.Fault) int { return a.Line - b.Line })
	return p, r.faults.Err()
}

type resolver struct {
	config  *configs.Config
	faults  configs.Faults
	devices devicePlan
	seats   map[busPlace]seat
	taken   map[busLine]seat
	inis    map[string]*usarini.Bots // by their files
}

// fitScanners makes the range sensors of m what the scanners are that the hardware names for them; what is wrong with one
// is told with the other devices.
func (r *resolver) fitScanners(c *configs.Agent, m *model.Robot) {
	if c.Hardware == nil {
		return
	}
	kinds := sensorKinds()
	for name, s := range c.Hardware.Sensors {
		if kind := kinds[s.Device]; kind != nil && kind.scanner != nil {
			bus := r.config.Buses[s.Bus]
			if of, unfit := kind.scanner(&s, &bus); unfit == nil {
				of.fit(m, name)
			}
		}
	}
}

func (r *resolver) fault(path configs.Path, got, rule, fix string) {
	r.faults.Add(r.config.Fault(path, got, rule, fix))
}

// uncalibrated is a fault of kind Uncalibrated.
func (r *resolver) uncalibrated(path configs.Path, got, rule, fix string) {
	f := r.config.Fault(path, got, rule, fix)
	f.Kind = hal.Uncalibrated
	r.faults.Add(f)
}

func (r *resolver) agent(path configs.Path, c *configs.Agent) agentPlan {
	if p, ok := r.vehicle(path, c); ok {
		return p
	}
	robot, err := r.robot(path, c)
	if robot == nil && err == nil {
		return agentPlan{config: c} // its faults are told already
	}
	if err != nil {
		r.fault(path.Key("model"), c.Model, err.Error(), "")
		return agentPlan{config: c}
	}
	p := agentPlan{config: c, robot: robot, joints: make([]jointPlan, len(robot.Joints))}
	p.base = r.based(path, c, robot)
	names := make([]string, len(robot.Joints))
	for i := range robot.Joints {
		if names[i] = robot.Joints[i].Name; p.base.turns(i) {
			p.joints[i] = jointPlan{body: p.base.body}
			continue
		}
		p.joints[i] = r.joint(path, c, robot, &robot.Joints[i])
	}
	r.fitScanners(c, robot)
	p.layout = robot.Layout()
	if p.base != nil {
		p.base.serve(c, robot, p.layout)
	}
	for joint := range c.Parts {
		if joint != configs.BasePart && robot.Joint(joint) == hal.None && !measures(p.layout, joint) {
			r.fault(path.Key("parts").Key(joint), joint, "a joint of "+robot.Name+": "+strings.Join(names, ", "), "")
		}
	}
	if c.Hardware != nil {
		for joint := range c.Hardware.Joints {
			if robot.Joint(joint) == hal.None {
				r.fault(path.Key("hardware").Key("joints").Key(joint), joint, "a joint of "+robot.Name+": "+strings.Join(names, ", "), "")
			}
		}
	}
	return p
}

// joint resolves the joint j of the agent c at path. The simulated joint has the servo that the hardware names, so
// that all three bodies are of the same make.
func (r *resolver) joint(path configs.Path, c *configs.Agent, robot *model.Robot, j *model.Joint) jointPlan {
	p := jointPlan{body: c.BodyOf(j.Name)}
	if c.Hardware != nil {
		if hw, ok := c.Hardware.Joints[j.Name]; ok {
			p.hardware = &hw
		}
	}
	at := path.Key("hardware").Key("joints").Key(j.Name)
	if p.hardware == nil {
		if p.body != configs.Sim {
			r.fault(at, "none", fmt.Sprintf("the servo of %s, which is %s", j.Name, p.body), "")
		}
		return p
	}
	if p.hardware.Device != "" {
		p.pulses = r.pulses(at, p.hardware, p.body)
		r.pulsed(at, &p, j)
		return p
	}
	p.servo = lookupServo(p.hardware.Model)
	line := busTypes[r.config.Buses[p.hardware.Bus].Type]
	spec, simulated := actuator.Lookup(p.hardware.Model)
	switch {
	case p.servo == nil:
		r.fault(at.Key("model"), p.hardware.Model, "a known servo", "halyard scan says what is on a line")
		return p
	case line.lookup == nil: // the type of the bus is a fault of its own
		return p
	case line.lookup(p.hardware.Model) == nil:
		r.fault(at.Key("model"), p.hardware.Model, "a servo that speaks "+r.config.Buses[p.hardware.Bus].Type, "")
	}
	if simulated {
		equip(robot, j, spec)
	} else if p.body == configs.Emulated {
		r.fault(at.Key("model"), p.hardware.Model, "a servo with an actuator model, to be emulated", "")
	}
	for name, v := range p.hardware.Registers {
		reg := p.servo.Register(name)
		if reg == nil {
			r.fault(at.Key("registers").Key(name), name, "a register of "+p.hardware.Model, "")
		} else if !line.setting(reg) {
			r.fault(at.Key("registers").Key(name), name, "a setting in RAM; halyard setup writes what stays", "")
		} else if int64(v) < reg.Min || int64(v) > reg.Max {
			r.fault(at.Key("registers").Key(name), fmt.Sprint(v), fmt.Sprintf("%d..%d", reg.Min, reg.Max), "")
		}
	}
	p.calibration = r.calibration(at, &p)
	return p
}

// calibration reads a joint's calibration file. Without one a simulated or emulated joint runs on nominal values: nil.
func (r *resolver) calibration(at configs.Path, p *jointPlan) *calibration.Joint {
	at = at.Key("calibration")
	const must = "a calibration file of this servo, since the joint is real"
	if p.hardware.Calibration == "" {
		if p.body == configs.Real {
			r.uncalibrated(at, "none", must, "halyard doctor "+r.config.Source)
		}
		return nil
	}
	c, err := calibration.Load(r.config.Resolve(p.hardware.Calibration))
	switch {
	case hal.KindOf(err) == hal.Uncalibrated && p.body != configs.Real:
		return nil // the file is yet to be made
	case err != nil:
		f := r.config.Fault(at, p.hardware.Calibration, must, err.Error())
		f.Kind = hal.KindOf(err)
		r.faults.Add(f)
	case c.Servo.Model != p.hardware.Model || c.Servo.ID != p.hardware.ID:
		r.uncalibrated(at, fmt.Sprintf("one of %s id %d", c.Servo.Model, c.Servo.ID),
			fmt.Sprintf("one of %s id %d", p.hardware.Model, p.hardware.ID), "halyard doctor "+r.config.Source)
	}
	return c
}
