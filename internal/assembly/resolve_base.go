package assembly

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

// BasePlan is a robot's base, resolved.
type BasePlan struct {
	agent   int
	Config  configs.Base
	Body    configs.BodyKind
	Robot   base.Robot
	wheels  []baseWheel
	Serves  []baseUse
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
	Sensor string
	sense  base.Sense
	first  int
	// Of an encoder: the wheel that it counts, as an index of wheels, and rad a tick.
	wheel int
	tick  float64
}

// BaseKinds are the bases that a config may name, each with a robot of which it is the base.
func BaseKinds() map[string]string { return map[string]string{"p2os": "p2at"} }

// based resolves the base of the robot m, whose wheels become what the base makes of them on every body: a speed, within
// what it can. nil where it has none, or a faulty one.
func (r *Resolver) based(path configs.Path, c *configs.Agent, m *model.Robot) *BasePlan {
	if c.Hardware == nil || c.Hardware.Base == nil {
		return nil
	}
	at, p := path.Key("hardware").Key("base"), &BasePlan{Config: *c.Hardware.Base, Body: c.BodyOf(configs.BasePart)}
	if m.Rescue == nil || len(m.Rescue.Left) == 0 || len(m.Rescue.Right) == 0 {
		r.fault(at, p.Config.Device, "no base: the model "+m.Name+" has no wheels on two sides", "usarsim: left and right of a robot file say which they are")
		return nil
	}
	if kinds := BaseKinds(); kinds[p.Config.Device] == "" {
		rule, fix := known(kinds, p.Config.Device)
		r.fault(at.Key("device"), p.Config.Device, rule, fix)
	}
	robots := map[string]base.Robot{}
	for _, known := range base.Robots() {
		robots[known.Name] = known
	}
	ok := false
	if p.Robot, ok = robots[p.Config.Robot]; !ok {
		rule, fix := known(robots, p.Config.Robot)
		r.fault(at.Key("robot"), p.Config.Robot, rule, fix)
	}
	for side, wheels := range [][]int{m.Rescue.Left, m.Rescue.Right} {
		for _, i := range wheels {
			p.wheels = append(p.wheels, baseWheel{i, base.Side(side)})
			r.wheel(path, c, m, i, p)
		}
	}
	r.onBus(at, p.Config.Bus, p.Config.Device, []string{SerialBus})
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
		r.fault(path.Key("parts").Key(j.Name), string(part), fmt.Sprintf("%s as the whole base; parts: {base: %s} is all its wheels", p.Body, part), "")
	}
	if j.Motor == nil || j.Motor.Kind != model.Ideal {
		r.fault(path.Key("hardware").Key("base"), j.Name, "wheels with motor: ideal, for a base holds their speeds itself", "")
		return
	}
	// A base takes speeds and nothing else, and has its own greatest one.
	motor := *j.Motor
	if p.Robot.Radius > 0 {
		motor.MaxVelocity = math.Min(motor.MaxVelocity, p.Robot.MaxSpeed/p.Robot.Radius)
	}
	j.Motor, j.Modes = &motor, [hal.NumModes]bool{hal.VelocityMode: true}
}

// turns tells whether the base turns joint i.
func (p *BasePlan) turns(i int) bool {
	return p != nil && slices.ContainsFunc(p.wheels, func(w baseWheel) bool { return w.actuator == i })
}

// serve finds the sensors of the layout l that the base is: all that it has and no device of their own measures.
func (p *BasePlan) serve(c *configs.Agent, m *model.Robot, l *hal.Layout) {
	p.sonar = none(len(p.Robot.Sonar))
	p.bumpers = [2][]int{none(p.Robot.Bumpers), none(p.Robot.Bumpers)}
	had := map[string]bool{}
	for i := range l.Sensors {
		s := &l.Sensors[i]
		_, own := c.Hardware.Sensors[s.Name]
		k := slices.IndexFunc(m.Sensors, func(x model.Sensor) bool { return x.Name == s.Name })
		// The base has one place of each: a second odometry is somebody else's.
		if own || k < 0 || c.BodyOf(s.Name) == configs.Sim && p.Body != configs.Sim || had[s.Kind] {
			continue
		}
		use := baseUse{Sensor: s.Name}
		d := m.Sensors[k].Device
		switch {
		case s.Kind == "odometry":
			use.sense = base.Odometry
		case s.Kind == "battery" && d != nil:
			use.sense, p.runtime = base.Battery, time.Duration(d.Life*float64(time.Second))
		case s.Kind == "voltage":
			use.sense = base.Volts
		case s.Kind == "gyro" && s.Count == 1 && p.Config.Gyro:
			use.sense = base.Gyro
		case s.Kind == "encoder" && d != nil && p.turns(d.Joint):
			use.sense, use.tick = base.Encoders, d.Resolution
			use.wheel = slices.IndexFunc(p.wheels, func(w baseWheel) bool { return w.actuator == d.Joint })
		case s.Kind == "sonar" && p.Config.Sonar && m.Sensors[k].Body == m.Root():
			use.sense = base.Ring
			if use.first = p.transducer(m.Sensors[k].Pose); use.first == hal.None || p.sonar[use.first] != hal.None {
				continue
			}
			p.sonar[use.first] = i
		case s.Kind == "contact" && p.Config.Bumpers && p.Robot.Bumpers > 0 && m.Sensors[k].Body == m.Root():
			use.sense = base.Bumpers
			ring, segment := p.Segment(m.Sensors[k].Pose)
			if p.bumpers[ring][segment] != hal.None {
				continue
			}
			p.bumpers[ring][segment], use.first = i, ring*p.Robot.Bumpers+segment
		default:
			continue
		}
		had[s.Kind] = !slices.Contains([]string{"sonar", "contact", "encoder"}, s.Kind)
		p.Serves = append(p.Serves, use)
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

// Segment is the bumper that looks as a contact sensor does: a ring goes over a half turn, both clockwise as seen from above, the
// front one from the robot's left to its right, the rear one from its right to its left.
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

// arcos tells whether a base speaks the younger dialect, which says more.
func (p *BasePlan) arcos() bool {
	return strings.HasPrefix(p.Robot.Name, "p3") || strings.HasSuffix(p.Robot.Name, "-sh")
}

// bauds are the rates to find it at: the bus's own first, but for one that nobody may have meant.
func (p *BasePlan) bauds(bus *configs.Bus) []int {
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
