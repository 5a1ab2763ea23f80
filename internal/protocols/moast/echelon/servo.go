package echelon

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Vehicle is the robot below servo. One goroutine calls it. What the vehicle does not have is an error.
type Vehicle interface {
	// Drive turns the wheels of the left and the right side, rad/s, forward positive, until the next call or the
	// deadline of the body's guard. Steer drives a car: m/s, the angle of its front wheels and of all wheels, rad
	// clockwise. Slide drives a platform that moves sideways: m/s ahead and to the right, rad/s clockwise.
	Drive(left, right float64) error
	Steer(speed, angle, crab float64) error
	Slide(ahead, right, turn float64) error
	// Flip turns flippers, rad. Move moves the links of a mission package, from 0; Operate an effector, from 1.
	Flip(flippers []moast.Flipper) error
	Move(pack int, links []moast.LinkCmd) error
	Operate(effector, opcode int32, param float64) error
	// Place puts a simulated vehicle at a pose in absolute coordinates.
	Place(to moast.Pose) error
	// Ready is why commands do not move the vehicle: a stop, or it is disarmed. All its parts are given back then.
	Ready() error
	// Release gives a part back: it holds still. Mobility is 0, mission packages count from 1.
	Release(part int)
	// Observe fills o with what was measured last.
	Observe(o *Observation)
	// Describe returns the properties that do not change.
	Describe() Description
}

// Mobility is the part of a vehicle that Drive, Steer and Slide move.
const Mobility = 0

// Description is what does not change of a vehicle: m, rad/s, kg.
type Description struct {
	Platform                                string
	Steer                                   moast.Steer // how it is driven: by skid, as a car, or sideways too
	Length, Width, Height, Mass             float64
	WheelRadius, WheelSeparation, WheelBase float64
	MaxWheelSpeed                           float64
	MaxSteer                                float64 // rad, of a car
	Flippers                                []moast.FlipperSet
	Packages                                []Package
	Effectors                               []string // what they are
}

// Package is a mission package.
type Package struct {
	Name  string
	Mount moast.Pose
	Links []moast.LinkSet
}

// Observation is what a vehicle measured, in MOAST's axes.
type Observation struct {
	Time     float64 // s, of the pose
	Absolute moast.Motion
	Odometry moast.Motion // dead reckoning; Absolute if the vehicle measures its pose
	Scans    []Scan
	Sonars   []Range
	Volts    float64 // NaN = not known
	Charge   float64 // 0..1; NaN = not known
	Kinds    []moast.SensorKind
	Values   [][]float64        // of each of Kinds: further sensors
	Links    [][]moast.LinkStat // of each mission package
	Flippers []moast.Flipper
	Steered  float64 // rad, of a car
	Lit      bool    // its headlight is on
}

// Scan is one scanner's rays at Time, s, from Start by Increment, rad clockwise: m. NaN is no reading.
type Scan struct {
	Mount                                SensorMount
	Time                                 float64
	Start, Increment, MaxRange, MinRange float64
	Ranges                               []float64
}

// Range is one sonar at Time, s.
type Range struct {
	Mount                 SensorMount
	Time, Range, MaxRange float64
}

// SensorMount is where a sensor is on its vehicle: m, and its yaw, rad clockwise.
type SensorMount struct{ X, Y, Z, Yaw float64 }

// Mount is where a sensor is on its vehicle: m, x ahead, y right, z down, and its yaw, rad clockwise.
func Mount(x, y, z, yaw float64) SensorMount { return SensorMount{x, y, z, yaw} }

// servoMob is ServoMobJA: it turns wheels.
type servoMob struct {
	vehicle Vehicle
	about   Description
	status  *moast.ServoMobStatGround
	seen    *Observation
}

func (c *servoMob) Update(m *Module, now float64) {
	c.status.Time = now
	c.status.Heartbeat++
	c.status.BatteryVolts, c.status.FuelLevel = float32(c.seen.Volts), float32(c.seen.Charge)
	c.status.SteerAngle, c.status.Flippers = c.seen.Steered, c.seen.Flippers
	if c.status.HeadLights = 0; c.seen.Lit {
		c.status.HeadLights = 1
	}
}

func (c *servoMob) Task(m *Module, command moast.Command, _ bool) {
	steer, values, run := c.order(command)
	switch {
	case run == nil:
		m.Fail("not supported")
	case steer != c.about.Steer:
		m.Fail("not of a vehicle of this steering")
	case slices.ContainsFunc(values, bad):
		m.Fail("a value is not a number")
	case m.Head.State == moast.NewCommand:
		m.Head.State = moast.S1
	default:
		if err := run(); err != nil {
			m.Fail(err.Error())
			return
		}
		m.Finish()
	}
}

// order is what a command asks of which kind of steering, with its values; run is nil where there is no such kind.
func (c *servoMob) order(command moast.Command) (steer moast.Steer, values []float64, run func() error) {
	switch k := command.(type) {
	case *moast.ServoMobCmdSkid:
		return moast.SkidSteer, []float64{k.Left, k.Right}, func() error { return c.vehicle.Drive(k.Left, k.Right) }
	case *moast.ServoMobCmdFlipSkid:
		values = []float64{k.Left, k.Right}
		for _, f := range k.Flippers {
			values = append(values, f.Angle)
		}
		return moast.SkidSteer, values, func() error {
			if err := c.vehicle.Flip(k.Flippers); err != nil {
				return err
			}
			return c.vehicle.Drive(k.Left, k.Right)
		}
	case *moast.ServoMobCmdAckerman:
		return moast.AckermanSteer, []float64{k.Velocity, k.SteerAngle, k.CrabAngle},
			func() error { return c.vehicle.Steer(k.Velocity, k.SteerAngle, k.CrabAngle) }
	case *moast.ServoMobCmdOmni:
		return moast.OmniSteer, []float64{k.Linear, k.Lateral, k.Rotation},
			func() error { return c.vehicle.Slide(k.Linear, k.Lateral, k.Rotation) }
	}
	return 0, nil, nil
}

func bad(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

func (c *servoMob) Configure(m *Module, config moast.Command) error {
	set := m.settings.(*moast.ServoMobSetGround)
	switch config := config.(type) {
	case *moast.CfgDebug:
		set.Debug = config.Debug
	case *moast.ServoMobCfgTeleport:
		return c.vehicle.Place(config.Goal)
	}
	return nil
}

func (c *servoMob) Stop(*Module) {
	switch c.about.Steer {
	case moast.AckermanSteer:
		c.vehicle.Steer(0, 0, 0)
	case moast.OmniSteer:
		c.vehicle.Slide(0, 0, 0)
	default:
		c.vehicle.Drive(0, 0)
	}
	c.vehicle.Release(Mobility)
}

// servoSP is ServoSP: it publishes the measurements, also without GO.
type servoSP struct {
	plain
	vehicle    Vehicle
	seen       *Observation
	start      moast.Motion
	begun      bool
	scanned    []float64 // when each scanner's last scan was, s
	nav, sonar *nml.Buffer
	buffers    *buffers
}

func (c *servoSP) Update(m *Module, now float64) {
	c.vehicle.Observe(c.seen)
	o := c.seen
	if bad(o.Absolute.Tran.X) || bad(o.Odometry.Tran.X) {
		return // not known yet
	}
	if !c.begun {
		c.begun, c.start = true, o.Odometry
	}
	nav := &moast.NavDataExt{Time: o.Time, Abs: o.Absolute, True: o.Absolute, Rel: relative(&c.start, &o.Odometry)}
	nav.Speed = math.Hypot(nav.Rel.TranRate.X, nav.Rel.TranRate.Y)
	turn := placeOf(nav.Rel.Tran, nav.Rel.RPY)
	turn.yaw = wrap(turn.yaw - nav.Abs.RPY.Y)
	turn.x, turn.y = turn.of(-nav.Abs.Tran.X, -nav.Abs.Tran.Y)
	nav.AbsToRel = moast.PoseAt(moast.Cartesian{X: turn.x, Y: turn.y, Z: nav.Rel.Tran.Z - nav.Abs.Tran.Z},
		moast.RPY{Y: turn.yaw})
	m.note(c.nav.Write(nav))
	for i := range o.Scans {
		s := &o.Scans[i]
		for len(c.scanned) <= i {
			c.scanned = append(c.scanned, math.Inf(-1))
		}
		if s.Time == c.scanned[i] {
			continue // a reader sees each scan once
		}
		c.scanned[i] = s.Time
		rays := features(s)
		if rays == nil {
			continue
		}
		m.note(c.buffers.get(moast.LineScanBuffer(c.buffers.vehicle, i+1),
			data1D).Write(&moast.SensorData1D{Start: s.Start,
			Increment: s.Increment, MaxRange: s.MaxRange, MinRange: s.MinRange, Features: rays, Time: s.Time}))
	}
	if len(o.Sonars) > 0 {
		array := &moast.SensorData3D{}
		for _, s := range o.Sonars[:min(len(o.Sonars), moast.MaxSonars)] {
			array.Elements = append(array.Elements, moast.SonarElement{Time: s.Time, Range: s.Range,
				Pose: moast.PoseAt(moast.Cartesian{X: s.Mount.X, Y: s.Mount.Y, Z: s.Mount.Z},
					moast.RPY{Y: s.Mount.Yaw})})
		}
		m.note(c.sonar.Write(array))
	}
	for i, kind := range o.Kinds {
		m.note(c.buffers.get(moast.SensorDataBuffer(c.buffers.vehicle, i+1),
			sensorData).Write(&moast.SensorData{Time: o.Time, Kind: kind, Data: o.Values[i]}))
	}
}

// features are the ranges of a scan: without an echo beyond the range, NaN where a ray was lost, of which the
// hierarchy takes neither an obstacle nor free space; nil where all were.
func features(s *Scan) []float64 {
	out := append([]float64(nil), s.Ranges...)
	known := false
	for i := range out {
		if known = known || !math.IsNaN(out[i]); math.IsInf(out[i], 1) {
			out[i] = s.MaxRange + 1
		}
	}
	if !known {
		return nil
	}
	return out[:min(len(out), moast.MaxRays)]
}

// relative is a motion counted from where it started.
func relative(start, at *moast.Motion) moast.Motion {
	p := placeOf(start.Tran, start.RPY).from(placeOf(at.Tran, at.RPY))
	out := *at
	out.Tran.X, out.Tran.Y, out.Tran.Z, out.RPY.Y = p.x, p.y, at.Tran.Z-start.Tran.Z, p.yaw
	sin, cos := math.Sincos(start.RPY.Y)
	v := at.TranRate
	out.TranRate.X, out.TranRate.Y = cos*v.X+sin*v.Y, cos*v.Y-sin*v.X
	return out
}
