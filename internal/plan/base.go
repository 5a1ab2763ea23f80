package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/model"
)

// BasePlan is a robot's base, resolved.
type BasePlan struct {
	Agent   int
	Config  configs.Base
	Body    configs.BodyKind
	Robot   base.Robot
	Wheels  []baseWheel
	Serves  []BaseUse
	Runtime time.Duration // of a full battery; 0 = the robot has no battery sensor
	// The robot's sensor for each transducer and each segment of the two rings of bumpers, or hal.None.
	Sonar   []int
	Bumpers [2][]int
}

// baseWheel is one of the robot's actuators that the base turns.
type baseWheel struct {
	Actuator int
	Side     base.Side
}

// BaseUse is a sensor of the robot that the base is, from a value of one of its senses on.
type BaseUse struct {
	Sensor string
	Sense  base.Sense
	First  int
	// Of an encoder: the wheel that it counts, as an index of wheels, and rad a tick.
	Wheel int
	Tick  float64
}

// BaseKinds are the bases that a config may name, each with a robot of which it is the base.
func BaseKinds() map[string]string { return map[string]string{"p2os": "p2at"} }

// based resolves the base of the robot m. On every body the wheels then accept only speeds within the base's limit. It
// returns nil without a base, or for a faulty one.
func (r *Resolver) based(path configs.Path, c *configs.Agent, m *model.Robot) *BasePlan {
	if c.Hardware == nil || c.Hardware.Base == nil {
		return nil
	}
	at, p := path.Key("hardware").Key("base"), &BasePlan{Config: *c.Hardware.Base, Body: c.BodyOf(configs.BasePart)}
	if m.Rescue == nil || len(m.Rescue.Left) == 0 || len(m.Rescue.Right) == 0 {
		r.fault(at, p.Config.Device, "no base: the model "+m.Name+" has no wheels on two sides",
			"usarsim: left and right of a robot file name them")
		return nil
	}
	if kinds := BaseKinds(); kinds[p.Config.Device] == "" {
		rule, fix := catalog.Known(kinds, p.Config.Device)
		r.fault(at.Key("device"), p.Config.Device, rule, fix)
	}
	robots := map[string]base.Robot{}
	for _, known := range base.Robots() {
		robots[known.Name] = known
	}
	var err error
	if p.Robot, err = base.RobotOf(p.Config.Robot); err != nil {
		rule, fix := catalog.Known(robots, p.Config.Robot)
		r.fault(at.Key("robot"), p.Config.Robot, rule, fix)
	}
	for side, wheels := range [][]int{m.Rescue.Left, m.Rescue.Right} {
		for _, i := range wheels {
			p.Wheels = append(p.Wheels, baseWheel{i, base.Side(side)})
			r.wheel(path, c, m, i, p)
		}
	}
	r.onBus(at, p.Config.Bus, p.Config.Device, []string{catalog.SerialBus})
	r.sit(at, p.Config.Bus, p.Config.Device+" "+string(at), 0)
	return p
}

// wheel makes joint i of m a wheel of the base p.
func (r *Resolver) wheel(path configs.Path, c *configs.Agent, m *model.Robot, i int, p *BasePlan) {
	j := &m.Joints[i]
	if _, also := c.Hardware.Joints[j.Name]; also {
		r.fault(path.Key("hardware").Key("joints").Key(j.Name), j.Name, "no device of its own: the base turns it", "")
	}
	if part, also := c.Parts[j.Name]; also && part != p.Body {
		r.fault(path.Key("parts").Key(j.Name), string(part),
			fmt.Sprintf("%s as the whole base; parts: {base: %s} is all its wheels", p.Body, part), "")
	}
	if j.Motor == nil || j.Motor.Kind != model.Ideal {
		r.fault(path.Key("hardware").Key("base"), j.Name,
			"wheels with motor: ideal, for a base holds their speeds itself", "")
		return
	}
	// A base accepts only speeds, up to its own maximum.
	motor := *j.Motor
	if p.Robot.Radius > 0 {
		motor.MaxVelocity = math.Min(motor.MaxVelocity, p.Robot.MaxSpeed/p.Robot.Radius)
	}
	j.Motor, j.Modes = &motor, [hal.NumModes]bool{hal.VelocityMode: true}
}

// turns reports whether the base turns joint i.
func (p *BasePlan) turns(i int) bool {
	return p != nil && slices.ContainsFunc(p.Wheels, func(w baseWheel) bool { return w.Actuator == i })
}

// serve finds the sensors of the layout l that the base is: all that it has and no device of their own measures.
func (p *BasePlan) serve(c *configs.Agent, m *model.Robot, l *hal.Layout) {
	p.Sonar = catalog.None(len(p.Robot.Sonar))
	p.Bumpers = [2][]int{catalog.None(p.Robot.Bumpers), catalog.None(p.Robot.Bumpers)}
	had := map[string]bool{}
	for i := range l.Sensors {
		s := &l.Sensors[i]
		_, own := c.Hardware.Sensors[s.Name]
		k := slices.IndexFunc(m.Sensors, func(x model.Sensor) bool { return x.Name == s.Name })
		// The base provides its sensors, unless parts overrides them. It has one of each kind: a second odometry is
		// another device's.
		part, given := c.Parts[s.Name]
		if own || k < 0 || given && part == configs.Sim && p.Body != configs.Sim || had[s.Kind] {
			continue
		}
		use := BaseUse{Sensor: s.Name}
		d := m.Sensors[k].Device
		switch {
		case s.Kind == "odometry":
			use.Sense = base.Odometry
			m.Sensors[k].Device = p.reckons(m, d)
		case s.Kind == "battery" && d != nil:
			use.Sense, p.Runtime = base.Battery, time.Duration(d.Life*float64(time.Second))
		case s.Kind == "voltage":
			use.Sense = base.Volts
		case s.Kind == "gyro" && s.Count == 1 && p.Config.Gyro:
			use.Sense = base.Gyro
		case s.Kind == "encoder" && d != nil && p.turns(d.Joint):
			use.Sense, use.Tick = base.Encoders, d.Resolution
			use.Wheel = slices.IndexFunc(p.Wheels, func(w baseWheel) bool { return w.Actuator == d.Joint })
		case s.Kind == "sonar" && p.Config.Sonar && m.Sensors[k].Body == m.Root():
			use.Sense = base.Ring
			if use.First = p.transducer(m.Sensors[k].Pose); use.First == hal.None || p.Sonar[use.First] != hal.None {
				continue
			}
			p.Sonar[use.First] = i
		case s.Kind == "contact" && p.Config.Bumpers && p.Robot.Bumpers > 0 && m.Sensors[k].Body == m.Root():
			use.Sense = base.Bumpers
			ring, segment := p.Segment(m.Sensors[k].Pose)
			if p.Bumpers[ring][segment] != hal.None {
				continue
			}
			p.Bumpers[ring][segment], use.First = i, ring*p.Robot.Bumpers+segment
		default:
			continue
		}
		had[s.Kind] = !slices.Contains([]string{"sonar", "contact", "encoder"}, s.Kind)
		p.Serves = append(p.Serves, use)
	}
}

// reckons is the device of a simulated odometry that counts as the base's firmware does, on every body: along the arc,
// with the width that its factor for turns stands for, which for wheels that skid is more than that between them.
func (p *BasePlan) reckons(m *model.Robot, d *model.Device) *model.Device {
	const report = 0.1 // s
	if d == nil || !(p.Robot.Difference > 0) {
		return d
	}
	own := *d
	own.Interval = report
	own.Drive = kinematics.Sides(m.Rescue.Left, m.Rescue.Right, m.Wheel(m.Rescue.Left[0]), 2/p.Robot.Difference)
	return &own
}

// headingOf returns the direction of a sensor on the chassis, rad to the left.
func headingOf(at hal.Pose) float64 {
	v := at.Turn([3]float64{1, 0, 0})
	return math.Atan2(v[1], v[0])
}

// transducer returns the transducer of the base's ring with the direction and position of a sonar, within 15° and 15
// cm, or hal.None.
func (p *BasePlan) transducer(at hal.Pose) int {
	best, least := hal.None, math.Inf(1)
	for i, t := range p.Robot.Sonar {
		turn := math.Abs(math.Remainder(t.Heading-headingOf(at), 2*math.Pi))
		way := math.Hypot(t.X-at.Position[0], t.Y-at.Position[1])
		if turn <= 15*math.Pi/180 && way <= 0.15 && turn+way < least {
			best, least = i, turn+way
		}
	}
	return best
}

// Segment returns the bumper segment in the direction of a contact sensor. A ring spans a half turn, both clockwise as
// seen from above: the front one from the robot's left to its right, the rear one from its right to its left.
func (p *BasePlan) Segment(at hal.Pose) (ring, segment int) {
	h := headingOf(at)
	if math.Abs(h) > 100*math.Pi/180 {
		ring, h = 1, math.Remainder(h+math.Pi, 2*math.Pi)
	}
	if n := p.Robot.Bumpers; n > 1 {
		segment = int(math.Round((math.Pi/2 - h) / math.Pi * float64(n-1)))
		segment = max(0, min(n-1, segment))
	}
	return ring, segment
}

// Arcos reports whether a base uses the newer dialect, ARCOS, which reports more values.
func (p *BasePlan) Arcos() bool {
	return strings.HasPrefix(p.Robot.Name, "p3") || strings.HasSuffix(p.Robot.Name, "-sh")
}

// Bauds returns the rates at which to find the base, that of the config first.
func (p *BasePlan) Bauds(bus *configs.Bus) []int {
	if bus.GivenBaud == nil {
		return []int{9600, 38400, 115200}
	}
	list := []int{bus.Baud}
	for _, b := range []int{9600, 38400} {
		if b != bus.Baud {
			list = append(list, b)
		}
	}
	return list
}

// NewBase is the driver of a base at the end of a line. only reports that it is nowhere but at the bus's rate.
func (p *BasePlan) NewBase(e catalog.Connection, bus *configs.Bus, only bool) (*base.Base, error) {
	s := base.Settings{Name: e.Name, Robot: p.Robot, Line: e.Open, Clock: e.Clock, Bauds: p.Bauds(bus),
		Acceleration: p.Config.Acceleration, Odometry: p.odometry(),
		SonarOff: !p.Config.Sonar, Gyro: p.Config.Gyro, Runtime: p.Runtime}
	for _, w := range p.Wheels {
		s.Wheels = append(s.Wheels, w.Side)
	}
	if only {
		s.Bauds = []int{bus.Baud}
	}
	return base.New(s)
}

// Lag is how long a report of the base is on its wire, and half of the board's own tick.
func (p *BasePlan) Lag(baud int) time.Duration {
	const head, tick = 31, 20 * time.Millisecond // bytes of a report but for its echoes
	return servo.WireTime(head+3*min(8, len(p.Robot.Sonar)), 10, baud) + tick/2
}

// interlock lists the devices whose loss stops the wheels of a robot with a base: all devices on a cable, except those
// with required: false in the config.
func (p *AgentPlan) interlock() (k hal.Interlock) {
	if p.Base == nil || p.Base.Body == configs.Sim {
		return k
	}
	for i := range p.Joints {
		switch j := &p.Joints[i]; {
		case p.Base.turns(i):
			k.Actuators = append(k.Actuators, i)
			k.Devices = append(k.Devices, i)
		case j.Hardware != nil && j.Body != configs.Sim:
			k.Devices = append(k.Devices, i)
		}
	}
	for i := range p.Layout.Sensors {
		name := p.Layout.Sensors[i].Name
		if s, ok := p.Config.Hardware.Sensors[name]; ok && s.Required && p.Config.BodyOf(name) != configs.Sim {
			k.Devices = append(k.Devices, len(p.Layout.Actuators)+i)
		}
	}
	return k
}

// odometry returns the correction of the base's dead reckoning, zero if the config has none.
func (p *BasePlan) odometry() base.Correction {
	if c := p.Config.Odometry; c != (configs.Reckon{}) && c != (configs.Reckon{Distance: 1, Turn: 1}) {
		return base.Correction(c)
	}
	return base.Correction{}
}
