package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// basePlan is a robot's base, resolved.
type basePlan struct {
	agent   int
	config  configs.Base
	body    configs.BodyKind
	robot   base.Robot
	wheels  []baseWheel
	serves  []baseUse
	runtime time.Duration // of a full battery; 0 = the robot tells of none
	// Of each transducer and of each segment of the two rings of bumpers: the robot's sensor that it is, or hal.None.
	sonar   []int
	bumpers [2][]int
}

// baseWheel is one of the robot's actuators that the base turns.
type baseWheel struct {
	actuator int
	side     base.Side
}

// baseUse is a sensor of the robot that the base is, from a value of one of its senses on.
type baseUse struct {
	sensor string
	sense  base.Sense
	first  int
	// Of an encoder: the wheel that it counts, as an index of wheels, and rad a tick.
	wheel int
	tick  float64
}

// baseKinds are the bases that a config may name, each with a robot of which it is the base.
func baseKinds() map[string]string { return map[string]string{"p2os": "p2at"} }

// based resolves the base of the robot m, whose wheels become what the base makes of them on every body: a speed, within
// what it can. nil where it has none, or a faulty one.
func (r *resolver) based(path configs.Path, c *configs.Agent, m *model.Robot) *basePlan {
	if c.Hardware == nil || c.Hardware.Base == nil {
		return nil
	}
	at, p := path.Key("hardware").Key("base"), &basePlan{config: *c.Hardware.Base, body: c.BodyOf(configs.BasePart)}
	if m.Rescue == nil || len(m.Rescue.Left) == 0 || len(m.Rescue.Right) == 0 {
		r.fault(at, p.config.Device, "no base: the model "+m.Name+" has no wheels on two sides", "usarsim: left and right of a robot file say which they are")
		return nil
	}
	if kinds := baseKinds(); kinds[p.config.Device] == "" {
		rule, fix := known(kinds, p.config.Device)
		r.fault(at.Key("device"), p.config.Device, rule, fix)
	}
	robots := map[string]base.Robot{}
	for _, known := range base.Robots() {
		robots[known.Name] = known
	}
	ok := false
	if p.robot, ok = robots[p.config.Robot]; !ok {
		rule, fix := known(robots, p.config.Robot)
		r.fault(at.Key("robot"), p.config.Robot, rule, fix)
	}
	for side, wheels := range [][]int{m.Rescue.Left, m.Rescue.Right} {
		for _, i := range wheels {
			p.wheels = append(p.wheels, baseWheel{i, base.Side(side)})
			r.wheel(path, c, m, i, p)
		}
	}
	r.onBus(at, p.config.Bus, p.config.Device, []string{serialBus})
	r.sit(at, p.config.Bus, p.config.Device+" "+string(at), 0)
	return p
}

// wheel makes joint i of m a wheel of the base p.
func (r *resolver) wheel(path configs.Path, c *configs.Agent, m *model.Robot, i int, p *basePlan) {
	j := &m.Joints[i]
	if _, also := c.Hardware.Joints[j.Name]; also {
		r.fault(path.Key("hardware").Key("joints").Key(j.Name), j.Name, "no device of its own: the base turns it", "")
	}
	if part, also := c.Parts[j.Name]; also && part != p.body {
		r.fault(path.Key("parts").Key(j.Name), string(part), fmt.Sprintf("%s as the whole base; parts: {base: %s} is all its wheels", p.body, part), "")
	}
	if j.Motor == nil || j.Motor.Kind != model.Ideal {
		r.fault(path.Key("hardware").Key("base"), j.Name, "wheels with motor: ideal, for a base holds their speeds itself", "")
		return
	}
	// A base takes speeds and nothing else, and has its own greatest one.
	motor := *j.Motor
	if p.robot.Radius > 0 {
		motor.MaxVelocity = math.Min(motor.MaxVelocity, p.robot.MaxSpeed/p.robot.Radius)
	}
	j.Motor, j.Modes = &motor, [hal.NumModes]bool{hal.VelocityMode: true}
}

// turns tells whether the base turns joint i.
func (p *basePlan) turns(i int) bool {
	return p != nil && slices.ContainsFunc(p.wheels, func(w baseWheel) bool { return w.actuator == i })
}

// serve finds the sensors of the layout l that the base is: all that it has and no device of their own measures.
func (p *basePlan) serve(c *configs.Agent, m *model.Robot, l *hal.Layout) {
	p.sonar = none(len(p.robot.Sonar))
	p.bumpers = [2][]int{none(p.robot.Bumpers), none(p.robot.Bumpers)}
	had := map[string]bool{}
	for i := range l.Sensors {
		s := &l.Sensors[i]
		_, own := c.Hardware.Sensors[s.Name]
		k := slices.IndexFunc(m.Sensors, func(x model.Sensor) bool { return x.Name == s.Name })
		// The base has one place of each: a second odometry is somebody else's.
		if own || k < 0 || c.BodyOf(s.Name) == configs.Sim && p.body != configs.Sim || had[s.Kind] {
			continue
		}
		use := baseUse{sensor: s.Name}
		d := m.Sensors[k].Device
		switch {
		case s.Kind == "odometry":
			use.sense = base.Odometry
		case s.Kind == "battery" && d != nil:
			use.sense, p.runtime = base.Battery, time.Duration(d.Life*float64(time.Second))
		case s.Kind == "voltage":
			use.sense = base.Volts
		case s.Kind == "gyro" && s.Count == 1 && p.config.Gyro:
			use.sense = base.Gyro
		case s.Kind == "encoder" && d != nil && p.turns(d.Joint):
			use.sense, use.tick = base.Encoders, d.Resolution
			use.wheel = slices.IndexFunc(p.wheels, func(w baseWheel) bool { return w.actuator == d.Joint })
		case s.Kind == "sonar" && p.config.Sonar && m.Sensors[k].Body == m.Root():
			use.sense = base.Ring
			if use.first = p.transducer(m.Sensors[k].Pose); use.first == hal.None || p.sonar[use.first] != hal.None {
				continue
			}
			p.sonar[use.first] = i
		case s.Kind == "contact" && p.config.Bumpers && p.robot.Bumpers > 0 && m.Sensors[k].Body == m.Root():
			use.sense = base.Bumpers
			ring, segment := p.segment(m.Sensors[k].Pose)
			if p.bumpers[ring][segment] != hal.None {
				continue
			}
			p.bumpers[ring][segment], use.first = i, ring*p.robot.Bumpers+segment
		default:
			continue
		}
		had[s.Kind] = !slices.Contains([]string{"sonar", "contact", "encoder"}, s.Kind)
		p.serves = append(p.serves, use)
	}
}

func none(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = hal.None
	}
	return list
}

// headingOf is where a sensor on the chassis looks, rad to the left.
func headingOf(at hal.Pose) float64 {
	v := at.Turn([3]float64{1, 0, 0})
	return math.Atan2(v[1], v[0])
}

// transducer is the one of the base's ring that sits and looks as a sonar does, within 15° and 15 cm, or hal.None.
func (p *basePlan) transducer(at hal.Pose) int {
	best, least := hal.None, math.Inf(1)
	for i, t := range p.robot.Sonar {
		turn := math.Abs(math.Remainder(t.Heading-headingOf(at), 2*math.Pi))
		way := math.Hypot(t.X-at.Position[0], t.Y-at.Position[1])
		if turn <= 15*math.Pi/180 && way <= 0.15 && turn+way < least {
			best, least = i, turn+way
		}
	}
	return best
}

// segment is the bumper that looks as a contact sensor does: a ring goes over a half turn, both clockwise as seen from above, the
// front one from the robot's left to its right, the rear one from its right to its left.
func (p *basePlan) segment(at hal.Pose) (ring, segment int) {
	h := headingOf(at)
	if math.Abs(h) > 100*math.Pi/180 {
		ring, h = 1, math.Remainder(h+math.Pi, 2*math.Pi)
	}
	if n := p.robot.Bumpers; n > 1 {
		segment = int(math.Round((math.Pi/2 - h) / math.Pi * float64(n-1)))
		segment = max(0, min(n-1, segment))
	}
	return ring, segment
}

// arcos tells whether a base speaks the younger dialect, which says more.
func (p *basePlan) arcos() bool {
	return strings.HasPrefix(p.robot.Name, "p3") || strings.HasSuffix(p.robot.Name, "-sh")
}

// bauds are the rates to find it at: the bus's own first, but for one that nobody may have meant.
func (p *basePlan) bauds(bus *configs.Bus) []int {
	if bus.Baud == 115200 {
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
