package plan

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/camera"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/usarini"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Plan is a config with all names resolved. No device is open yet.
type Plan struct {
	Config  *configs.Config
	Catalog *catalog.Catalog
	Agents  []AgentPlan
	scene   func(seed int64) (*model.Scene, error)
	Classes map[string]*AgentPlan // the classes of robots that can be spawned
	DevicePlan

	// between hosts and their lines, emulated or real; nil = nothing
	Tap func(bus string, kind configs.BodyKind, open servo.Opener) servo.Opener
	// the same for I2C buses and SPI ports; nil = nothing
	TapBus func(bus string, kind configs.BodyKind, open func() (i2c.Bus, error)) (i2c.Bus, error)
	// the clock of the devices on a bus whose line is another than theirs; nil = their own
	WireClock func(bus string, kind configs.BodyKind) hal.Clock
	// makes the emulated cameras; nil: as sight.go does
	Lens  func(c video.Config) (camera.Opener, *video.Camera, error)
	Clock hal.Clock // of the rig; nil = the wall's
	// nothing real is opened, Tap has its lines; its rig is in lock-step
	Replay bool
}

// AgentPlan is one robot: its model with its actual servos, and the body of each joint.
type AgentPlan struct {
	Config  *configs.Agent
	Robot   *model.Robot
	Vehicle *hydro.Vehicle // of an underwater vehicle; Robot then has only a name
	Layout  *hal.Layout
	Joints  []JointPlan // in the order of the layout's actuators
	Base    *BasePlan   // that drives its wheels; nil without a base
	start   *hal.Pose   // start of a spawned robot; nil: that of the config

	// Of a class: its own devices.
	Devices DevicePlan
}

// JointPlan is one joint. Simulated joints have no servo of the wire.
type JointPlan struct {
	Body        configs.BodyKind
	Hardware    *configs.Joint // nil if the config has none
	Servo       servo.Model
	Calibration *calibration.Joint // nil: nominal values, where the joint is not real
	EEPROM      map[string]int     // of its servo as it was set up: the bus's, then its own
	Pulses      pulsePlan          // where a board's channel drives it, and servo is nil
}

// deviceBuses are the types of bus without servos.
var deviceBuses = []string{catalog.I2CBus, catalog.SPIBus, catalog.SerialBus, catalog.GPIOBus}

// Resolve looks up every name of c in the catalog. All faults are returned together, in the type and with the paths of
// package configs.
func Resolve(c *configs.Config, cat *catalog.Catalog) (*Plan, error) {
	r := Resolver{Config: c, Catalog: cat}
	p := &Plan{Config: c, Catalog: cat}
	for _, name := range report.SortedKeys(c.Buses) {
		bus, at := c.Buses[name], configs.Path("buses").Key(name)
		r.leads(name, &bus)
		if ok := r.Catalog.Buses.Has(bus.Type); !ok && !slices.Contains(deviceBuses, bus.Type) {
			r.fault(at.Key("type"), bus.Type, "one of "+strings.Join(r.Catalog.Buses.Names(), ", ")+", "+
				strings.Join(deviceBuses, ", "),
				catalog.Likely(bus.Type, append(r.Catalog.Buses.Names(), deviceBuses...)))
		}
		if bus.Type == catalog.I2CBus && bus.Frequency > 5_000_000 {
			r.fault(at.Key("frequency"), fmt.Sprint(bus.Frequency), "at most 5000000 on i2c", "")
		}
	}
	for i := range c.Agents {
		path := configs.Path("agents").Index(i)
		p.Agents = append(p.Agents, r.Agent(path, &c.Agents[i]))
		r.Measure(path, i, &c.Agents[i], &p.Agents[i])
		r.wires(path, i, &c.Agents[i])
		r.sights(path, i, &c.Agents[i], &p.Agents[i])
	}
	for i, s := range c.Servers {
		r.Listening(i, &s)
		if cat.Protocols[s.Protocol] == nil {
			known := report.SortedKeys(cat.Protocols)
			r.fault(configs.Path("servers").Index(i).Key("protocol"), s.Protocol, strings.Join(known, " or "),
				catalog.Likely(s.Protocol, known))
		}
	}
	p.DevicePlan = r.devices
	for _, b := range p.Boards {
		b.Alone = !slices.ContainsFunc(p.Boards, func(o *catalog.BoardPlan) bool { return o != b && o.Bus == b.Bus }) &&
			!slices.ContainsFunc(p.Sensors, func(o *catalog.SensorPlan) bool { return o.Config.Bus == b.Bus })
	}
	p.Classes = r.classes()
	p.scene = r.scene()
	for i := range c.Servers {
		r.served(p, i)
	}
	r.foldUncalibrated()
	return p, r.Faults.Err()
}

// foldUncalibrated makes one fault of all the joints without a calibration: one command writes all their files.
func (r *Resolver) foldUncalibrated() {
	first := -1
	var kept configs.Faults
	for _, f := range r.Faults {
		if f.Kind != hal.Uncalibrated || f.Got != gotNone {
			kept = append(kept, f)
			continue
		}
		if first < 0 {
			first, kept = len(kept), append(kept, f)
			continue
		}
		joint := strings.Split(string(f.Path.Parent()), ".")
		kept[first].Got += ", nor for " + joint[len(joint)-1]
	}
	r.Faults = kept
}

// gotNone is what a joint without a calibration has.
const gotNone = "none"

// Listening finds two servers at one address. Protocols over UDP and over TCP do not get in each other's way.
func (r *Resolver) Listening(i int, s *configs.Server) {
	if _, port, _ := net.SplitHostPort(s.Listen); port == "0" || s.Listen == "" {
		return
	}
	for j := range i {
		if o := &r.Config.Servers[j]; o.Listen == s.Listen && o.Protocol != s.Protocol &&
			r.datagram(o.Protocol) == r.datagram(s.Protocol) {
			r.fault(configs.Path("servers").Index(i).Key("listen"), strconv.Quote(s.Listen), "an address of its own",
				fmt.Sprintf("%s has it too", configs.Path("servers").Index(j).Key("listen")))
		}
	}
}

func (r *Resolver) datagram(protocol string) bool {
	p := r.Catalog.Protocols[protocol]
	return p != nil && p.Datagram
}

// served checks that server i and its agent fit together.
func (r *Resolver) served(p *Plan, i int) {
	s, at := &r.Config.Servers[i], configs.Path("servers").Index(i)
	row := r.Catalog.Protocols[s.Protocol]
	if row == nil {
		return
	}
	for k := range p.Agents {
		a := &p.Agents[k]
		if a.Config.Name == s.Agent && a.Layout != nil && row.Check != nil {
			row.Check(&catalog.ServedAgent{Agent: s.Agent, Model: a.Config.Model, Robot: a.Robot, Layout: a.Layout,
				Fault: func(key, got, rule string) { r.fault(at.Key(key), got, rule, "") }})
		}
	}
	if first := slices.IndexFunc(r.Config.Servers,
		func(o configs.Server) bool { return o.Protocol == s.Protocol && o.Agent == s.Agent }); row.Single &&
		first < i {
		r.fault(at.Key("agent"), s.Agent, "one server of "+s.Protocol+" a robot",
			fmt.Sprintf("servers[%d] has it too; any number of clients may share one", first))
	}
}

// Resolver looks up the names of a config.
type Resolver struct {
	Config  *configs.Config
	Catalog *catalog.Catalog
	Faults  configs.Faults
	devices DevicePlan
	seats   map[busPlace]seat
	taken   map[busLine]seat
	rated   map[string]bool          // the buses whose faulty rate is already reported
	inis    map[string]*usarini.Bots // by their files
}

// fitScanners sets the range sensors of m to the geometry of the scanners under hardware; their faults are reported
// with the other devices.
func (r *Resolver) fitScanners(c *configs.Agent, m *model.Robot) {
	for name, s := range c.Devices().Sensors {
		if kind := r.Catalog.Sensors[s.Device]; kind != nil && kind.Scanner != nil {
			bus := r.Config.Buses[s.Bus]
			if of, unfit := kind.Scanner(&s, &bus); unfit == nil {
				of.Fit(m, name)
			}
		}
	}
}

func (r *Resolver) fault(path configs.Path, got, rule, fix string) {
	r.Faults.Add(r.Config.Fault(path, got, rule, fix))
}

// uncalibrated is a fault of kind Uncalibrated.
func (r *Resolver) uncalibrated(path configs.Path, got, rule, fix string) {
	f := r.Config.Fault(path, got, rule, fix)
	f.Kind = hal.Uncalibrated
	r.Faults.Add(f)
}

func (r *Resolver) Agent(path configs.Path, c *configs.Agent) AgentPlan {
	if p, ok := r.vehicle(path, c); ok {
		return p
	}
	robot, err := r.robot(path, c)
	if robot == nil && err == nil {
		return AgentPlan{Config: c} // its faults are already reported
	}
	if err != nil {
		r.fault(path.Key("model"), c.Model, err.Error(), "")
		return AgentPlan{Config: c}
	}
	r.drive(path, c, robot)
	p := AgentPlan{Config: c, Robot: robot, Joints: make([]JointPlan, len(robot.Joints))}
	p.Base = r.based(path, c, robot)
	names := make([]string, len(robot.Joints))
	for i := range robot.Joints {
		if names[i] = robot.Joints[i].Name; p.Base.turns(i) {
			p.Joints[i], robot.Joints[i].Unsensed = JointPlan{Body: p.Base.Body}, true
			continue
		}
		p.Joints[i] = r.Joint(path, c, robot, &robot.Joints[i])
	}
	r.fitScanners(c, robot)
	robot.Gains = c.Gains
	for i := range r.Config.Servers {
		s := &r.Config.Servers[i]
		if row := r.Catalog.Protocols[s.Protocol]; row != nil && row.Prepare != nil && s.Agent == c.Name {
			row.Prepare(s, robot)
		}
	}
	p.Layout = robot.Layout()
	if p.Base != nil {
		p.Base.serve(c, robot, p.Layout)
	}
	if c.Fall != nil && p.attitude(!c.Has(configs.Emulated) && !c.Has(configs.Real)) == hal.None {
		r.fault(path.Key("fall"), robot.Name+", without an imu", "a robot with a sensor of kind imu", "")
	}
	if c.Start.Hold != "none" && (robot.Fixed || len(robot.Bodies) == 0) {
		r.fault(path.Key("start").Key("hold"), c.Start.Hold, "none: the base of "+robot.Name+" does not move", "")
	}
	for joint := range c.Parts {
		if joint != configs.BasePart && robot.Joint(joint) == hal.None && !measures(p.Layout, joint) &&
			!monitored(c, joint) {
			r.fault(path.Key("parts").Key(joint), joint, "a joint of "+robot.Name+": "+strings.Join(names, ", "),
				catalog.Likely(joint, names))
		}
	}
	r.checkLoss(path, c, &p, names)
	r.checkCouple(path, c, &p, names)
	for joint := range c.Devices().Joints {
		if robot.Joint(joint) == hal.None {
			r.fault(path.Key("hardware").Key("joints").Key(joint), joint, "a joint of "+robot.Name+": "+
				strings.Join(names, ", "), catalog.Likely(joint, names))
		}
	}
	return p
}
