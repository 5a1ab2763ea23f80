package assembly

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim/model"
)

// openBase opens a base and connects the robot's wheels to it. Its motors stay off.
func (b *Builder) openBase(p *plan.BasePlan) error {
	e, _, err := b.End(p.Config.Bus, p.Body)
	if err != nil {
		return err
	}
	bus := b.Plan.Config.Buses[p.Config.Bus]
	d, err := p.NewBase(e, &bus, false)
	if err != nil {
		return err
	}
	if b.bases[p] = d; p.Body == configs.Emulated {
		d.Inline()
	}
	if err := b.Run(d); err != nil {
		return err
	}
	layout := b.Plan.Agents[p.Agent].Layout
	for i, w := range p.Wheels {
		// Counts are metres by the robot's table, so no calibration is needed.
		u := d.Units(i)
		cal := calibration.Nominal(layout.Actuators[w.Actuator].Name, calibration.Servo{Model: u.Name, ID: i + 1},
			calibration.Model{TicksPerTurn: u.TicksPerTurn, CentreTicks: u.CentreTicks, MinTicks: u.MinTicks,
				MaxTicks: u.MaxTicks, TorqueConstant: u.TorqueConstant})
		b.connected[plan.JointRef{Agent: p.Agent, Joint: w.Actuator}] = drivers.Joint{Chain: d, Index: i,
			Calibration: cal, Bus: p.Config.Bus, ID: i + 1}
	}
	return nil
}

// sourceOf returns the source of a robot's sensor on the base.
func sourceOf(d *base.Base, u plan.BaseUse) drivers.Source {
	if u.Sense == base.Encoders {
		return newTicks(d, u.Wheel, u.Tick)
	}
	return d.Source(u.Sense)
}

// zeroed is a source that can count from here.
type zeroed interface{ Zero() }

var errUncounted = errors.New("got a sensor that does not count")

// ticks is an encoder of the robot, computed from the base's wheel odometry: the base's own counts have no known unit.
type ticks struct {
	base  *base.Base
	place *base.Source // for the age
	wheel int
	tick  float64 // rad
	from  float64 // rad
	spare [3]float64
}

func newTicks(d *base.Base, wheel int, tick float64) *ticks {
	return &ticks{base: d, place: d.Source(base.Odometry), wheel: wheel, tick: tick}
}

func (t *ticks) turned() float64 {
	return t.base.State(t.wheel).Position / t.base.Units(t.wheel).TicksPerTurn * 2 * math.Pi
}

func (t *ticks) Zero() { t.from = t.turned() }

func (t *ticks) Values() int { return 1 }

func (t *ticks) Latest(dst []float64, _ int) (age time.Duration, err error) {
	age, err = t.place.Latest(t.spare[:], 0)
	if v := t.turned(); len(dst) > 0 && !math.IsNaN(v) {
		dst[0] = math.Trunc((v - t.from) / t.tick)
	}
	return age, err
}

// tilted is an imu as the angles of its attitude: roll, pitch and yaw against the attitude at its last zero.
type tilted struct {
	drivers.Source
	next [4]float64 // what the device is asked into
	q    [4]float64 // in the world
	from hal.Pose
	set  bool // from is one; before, the first attitude counts
}

func (t *tilted) Values() int { return 3 }

func (t *tilted) Latest(dst []float64, _ int) (age time.Duration, err error) {
	if age, err = t.Source.Latest(t.next[:], 0); age < 0 || math.IsNaN(t.next[0]+t.next[1]+t.next[2]+t.next[3]) {
		return age, err
	}
	if t.q = t.next; !t.set {
		t.Zero()
	}
	angles := t.from.Inverse().Times(hal.Pose{Rotation: t.q}).RollPitchYaw()
	copy(dst, angles[:])
	return age, err
}

// Zero makes the newest attitude the one that angles count from.
func (t *tilted) Zero() { t.from, t.set = hal.Pose{Rotation: t.q}, t.q != [4]float64{} }

// wheeled is a body of devices on wheels: it computes its pose by dead reckoning, and its counters can be set to zero.
type wheeled struct {
	*kinematics.DeadReckoner
	base  *base.Base
	zeros map[int]zeroed // by the layout's sensor
	place int            // the sensor that is the base's odometry
}

// Zero lets a sensor of the layout count from here: gamebots.Zeroer. It is called at a cycle's edge.
func (w *wheeled) Zero(sensor int) error {
	if z := w.zeros[sensor]; z != nil {
		z.Zero()
		return nil
	}
	if sensor != w.place {
		return &hal.Error{Kind: hal.Invalid, Op: "zero", Err: errUncounted}
	}
	w.base.Zero()
	w.Rebase()
	return nil
}

// reckonWheels adds dead reckoning from start on to a body of agent i, whose wheels a base drives.
func (b *Builder) reckonWheels(i int, body hal.Body, start hal.Pose) (hal.Body, error) {
	a := &b.Plan.Agents[i]
	p, l := a.Base, body.Layout()
	w := kinematics.Wheeled{Start: start, Centre: p.Config.TurnCenter, Odometry: hal.None, Pose: hal.None,
		Radius: p.Robot.Radius, Turn: p.Robot.Difference, Left: p.Wheels[0].Actuator,
		Right: p.Wheels[len(p.Wheels)-1].Actuator, Lag: p.Lag(b.Plan.Config.Buses[p.Config.Bus].Baud)}
	out := &wheeled{base: b.bases[p], zeros: map[int]zeroed{}, place: hal.None}
	for k := range l.Sensors {
		if s := &l.Sensors[k]; s.Kind == "pose" && w.Pose == hal.None {
			w.Pose = k
		}
		if z, ok := b.Sources[plan.JointRef{Agent: i, Joint: k}].(zeroed); ok {
			out.zeros[k] = z
		}
		if t, ok := b.Sources[plan.JointRef{Agent: i, Joint: k}].(*tilted); ok && w.Attitude == nil {
			w.Attitude = attitudeOf(t, a.Robot, l.Sensors[k].Name)
		}
	}
	for _, u := range p.Serves {
		if u.Sense == base.Odometry {
			w.Odometry = catalog.SensorIndex(l, u.Sensor)
		}
	}
	out.place = w.Odometry
	if w.Odometry == hal.None || w.Pose == hal.None {
		return body, nil
	}
	var err error
	out.DeadReckoner, err = kinematics.Reckon(body, w)
	return out, err
}

// attitudeOf is the robot's attitude by an inertial sensor that sits on its chassis, in the axes of the chassis.
func attitudeOf(t *tilted, m *model.Robot, name string) func() ([4]float64, bool) {
	var mount hal.Pose
	for i := range m.Sensors {
		if m.Sensors[i].Name == name {
			mount = m.Sensors[i].Pose
		}
	}
	back := hal.Pose{Rotation: mount.Rotation}.Inverse()
	var q [4]float64
	return func() ([4]float64, bool) {
		age, err := t.Source.Latest(q[:], 0)
		if err != nil || age < 0 || age > staleAttitude || q == ([4]float64{}) {
			return q, false
		}
		return hal.Pose{Rotation: q}.Times(back).Rotation, true
	}
}

// staleAttitude is the age of an attitude above which the wheels' heading is used.
const staleAttitude = 300 * time.Millisecond
