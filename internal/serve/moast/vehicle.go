package moast

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/moast/echelon"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// vehicle is an agent as MOAST's servo sees it: x ahead, y right, z down, yaw clockwise. The goroutine of the hierarchy
// uses it.
type vehicle struct {
	rig      *hal.Rig
	session  *hal.Session
	agent    *hal.Agent
	layout   *hal.Layout
	robot    *model.Robot
	offset   [3]float64   // m, north, east, down: from the map to absolute coordinates
	body     *sim.Body    // its simulated one; nil = none
	placer   hal.Placer   // nil = it cannot be placed
	light    headlight    // nil = none
	lease    *hal.Lease   // while a part of it moves
	moving   map[int]bool // the parts that do, by echelon's numbers
	packages []model.MissionPackage
	about    echelon.Description
	inputs   []float64
	held     []float64 // in lock-step: until the next step
	measured []float64
	status   []hal.Status
}

func newVehicle(rig *hal.Rig, agent *hal.Agent, m *model.Robot, s *configs.Server) *vehicle {
	v := &vehicle{rig: rig, agent: agent, layout: agent.Layout(), robot: m, moving: map[int]bool{}}
	if s.UTMOffset != nil {
		v.offset = *s.UTMOffset
	}
	v.session = rig.NewSession("nml", v)
	v.inputs, v.held = make([]float64, len(v.layout.Inputs)), make([]float64, len(v.layout.Inputs))
	hal.FillNaN(v.inputs)
	hal.FillNaN(v.held)
	v.describe()
	return v
}

// Cycle is the rig's call after each cycle; the hierarchy has its own.
func (v *vehicle) Cycle(*hal.Cycle) {}

// ask lets the next step of lock-step pass.
func (v *vehicle) ask() {
	if v.lease != nil && v.rig.Mode() == hal.Lockstep && !v.lease.Pending() {
		v.session.Step(v.lease, v.held)
		hal.FillNaN(v.held)
	}
}

// Observe also lets a step of lock-step pass: MOAST does not ask for steps.
func (v *vehicle) Observe(o *echelon.Observation) {
	v.ask()
	var newest time.Duration
	v.measured, v.status, newest = protocols.Measure(v.agent, v.measured, v.status)
	o.Time = max(o.Time, newest.Seconds())
	o.Volts, o.Charge = math.NaN(), math.NaN()
	o.Scans, o.Sonars = o.Scans[:0], o.Sonars[:0]
	o.Absolute.Tran.X, o.Odometry.Tran.X = math.NaN(), math.NaN()
	posed := time.Duration(-1)
	for i := range v.layout.Sensors {
		s := &v.layout.Sensors[i]
		values := v.measured[s.First : s.First+s.Count]
		at := v.status[len(v.layout.Actuators)+i].Time
		switch s.Kind {
		case "pose":
			o.Absolute, posed = motionOf(values), at
		case "odometry":
			// two wheels cannot count what a platform does that moves sideways
			if len(values) >= 3 && v.about.Steer != moast.OmniSteer {
				o.Odometry = moast.Motion{Tran: moast.Cartesian{X: values[0], Y: -values[1]},
					RPY: moast.RPY{Y: -values[2]}}
				v.roll(&o.Odometry)
			}
		case "range":
			o.Scans = append(o.Scans, v.scan(s, values, at))
		case "sonar":
			o.Sonars = append(o.Sonars, echelon.Range{Mount: mount(s), Time: at.Seconds(), Range: values[0],
				MaxRange: v.layout.Measured(s.First).Max})
		case "voltage":
			o.Volts = values[0]
		case "battery":
			o.Charge = v.layout.Measured(s.First).Fraction(values[0])
		}
	}
	v.observeJoints(o)
	// where the vehicle is counts before what its wheels do: they skid
	if math.IsNaN(o.Absolute.Tran.X) {
		o.Absolute = o.Odometry
		return
	}
	// an estimated pose lags behind the others
	const most = 0.3 // s
	late := min(o.Time-posed.Seconds(), most)
	o.Absolute.Tran.X += late * o.Absolute.TranRate.X
	o.Absolute.Tran.Y += late * o.Absolute.TranRate.Y
	o.Odometry = o.Absolute
	o.Absolute.Tran.X, o.Absolute.Tran.Y, o.Absolute.Tran.Z = o.Absolute.Tran.X+v.offset[0],
		o.Absolute.Tran.Y+v.offset[1], o.Absolute.Tran.Z+v.offset[2]
}

// roll adds the rates that the wheels of both sides have, NaN where one is lost, in the odometry's axes.
func (v *vehicle) roll(m *moast.Motion) {
	var rim [2]float64 // m/s of each side
	for side, joints := range [...][]int{v.robot.Rescue.Left, v.robot.Rescue.Right} {
		for _, i := range joints {
			rim[side] += hal.At(v.measured, v.layout.Actuators[i].Velocity) * v.about.WheelRadius / float64(len(joints))
		}
	}
	speed := (rim[0] + rim[1]) / 2
	m.TranRate.X, m.TranRate.Y = speed*math.Cos(m.RPY.Y), speed*math.Sin(m.RPY.Y)
	m.RPYRate.Y = (rim[0] - rim[1]) / v.about.WheelSeparation
}

// motionOf is a pose sensor's reading: position, quaternion, velocity, turn rates.
func motionOf(v []float64) (m moast.Motion) {
	const pose, rates = 7, 13
	if len(v) < pose {
		m.Tran.X = math.NaN()
		return m
	}
	p := hal.Pose{Rotation: [4]float64(v[3:7])}
	r := p.RollPitchYaw()
	m.Tran, m.RPY = moast.Cartesian{X: v[0], Y: -v[1], Z: -v[2]}, moast.RPY{R: r[0], P: -r[1], Y: -r[2]}
	if len(v) >= rates {
		m.TranRate, m.RPYRate = moast.Cartesian{X: v[7], Y: -v[8], Z: -v[9]}, moast.RPY{R: v[10], P: -v[11], Y: -v[12]}
	}
	return m
}

func mount(s *hal.Sensor) (m echelon.SensorMount) {
	return echelon.Mount(s.Mount.Position[0], -s.Mount.Position[1], -s.Mount.Position[2], -s.Mount.RollPitchYaw()[2])
}

// scan is a scanner's reading: hal's rays go from right to left, which is MOAST's falling angle.
func (v *vehicle) scan(s *hal.Sensor, ranges []float64, at time.Duration) echelon.Scan {
	fov := math.Pi
	for i := range v.robot.Sensors {
		if have := &v.robot.Sensors[i]; have.Name == s.Name && have.Device != nil && have.Device.FOV > 0 {
			fov = have.Device.FOV
		}
	}
	return echelon.Scan{Mount: mount(s), Time: at.Seconds(), Start: fov / 2,
		Increment: -fov / math.Max(1, float64(s.Count-1)), MaxRange: v.layout.Measured(s.First).Max, Ranges: ranges}
}
