package main

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/configs/usarini"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
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

// deviceBuses are the types of bus on which no servos hang.
var deviceBuses = []string{i2cBus, spiBus, serialBus, gpioBus}

// serverProtocols are what servers speak.
var serverProtocols = []string{"gamebots", "imageserver", "odcp", "okon", "okon-video", "osp", "simloid"}

// resolve looks up every name of c. All faults come together, in the type and with the paths of configs' own.
func resolve(c *configs.Config) (*plan, error) {
	r := resolver{config: c}
	p := &plan{config: c}
	for _, name := range sortedKeys(c.Buses) {
		bus, at := c.Buses[name], configs.Path("buses").Key(name)
		r.leads(name, &bus)
		if _, ok := busTypes[bus.Type]; !ok && !slices.Contains(deviceBuses, bus.Type) {
			r.fault(at.Key("type"), bus.Type, "one of "+typeNames()+", "+strings.Join(deviceBuses, ", "), likely(bus.Type, append(sortedKeys(busTypes), deviceBuses...)))
		}
		if bus.Type == i2cBus && bus.Hertz > 5_000_000 {
			r.fault(at.Key("hertz"), fmt.Sprint(bus.Hertz), "at most 5000000 on i2c", "")
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
		r.listening(i, &s)
		if !slices.Contains(serverProtocols, s.Protocol) {
			r.fault(configs.Path("servers").Index(i).Key("protocol"), s.Protocol, strings.Join(serverProtocols, " or "), likely(s.Protocol, serverProtocols))
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

// listening finds two servers at one address. Protocols over UDP and over TCP do not get in each other's way.
func (r *resolver) listening(i int, s *configs.Server) {
	if _, port, _ := net.SplitHostPort(s.Listen); port == "0" || s.Listen == "" {
		return
	}
	for j := range i {
		if o := &r.config.Servers[j]; o.Listen == s.Listen && o.Protocol != s.Protocol && overUDP(o.Protocol) == overUDP(s.Protocol) {
			r.fault(configs.Path("servers").Index(i).Key("listen"), strconv.Quote(s.Listen), "an address of its own",
				fmt.Sprintf("%s has it too", configs.Path("servers").Index(j).Key("listen")))
		}
	}
}

// overUDP tells of a protocol whether its telegrams are datagrams.
func overUDP(protocol string) bool { return protocol == "osp" || protocol == "odcp" }

type resolver struct {
	config  *configs.Config
	faults  configs.Faults
	devices devicePlan
	seats   map[busPlace]seat
	taken   map[busLine]seat
	rated   map[string]bool          // the buses whose rate is a fault that is told
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
		if joint != configs.BasePart && robot.Joint(joint) == hal.None && !measures(p.layout, joint) && !monitored(c, joint) {
			r.fault(path.Key("parts").Key(joint), joint, "a joint of "+robot.Name+": "+strings.Join(names, ", "), likely(joint, names))
		}
	}
	if c.Hardware != nil {
		for joint := range c.Hardware.Joints {
			if robot.Joint(joint) == hal.None {
				r.fault(path.Key("hardware").Key("joints").Key(joint), joint, "a joint of "+robot.Name+": "+strings.Join(names, ", "), likely(joint, names))
			}
		}
	}
	return p
}
