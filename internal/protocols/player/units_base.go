package player

import (
	"cmp"
	"math"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// base is position2d: a robot on wheels.
type base struct {
	robot           *Robot
	layout          *hal.Layout
	odometry, truth *hal.Sensor

	mu     sync.Mutex
	origin pose2 // what the measured pose is 0 at, after a client set its odometry
	zero   pose2 // the pose of that origin
	begun  bool
}

// raw is the measured pose; false where it is not known.
func (b *base) raw(s *sample) (pose2, bool) {
	switch {
	case b.odometry != nil && b.odometry.Count >= 3:
		v := s.of(b.odometry)
		return pose2{v[0], v[1], v[2]}, !math.IsNaN(v[0] + v[1] + v[2])
	case b.truth != nil:
		p, _, _, ok := s.truth(b.truth)
		return pose2{p.Position[0], p.Position[1], p.RollPitchYaw()[2]}, ok
	}
	return pose2{}, false
}

// pose is the odometry: the measured pose, counted from the zero that a client chose or from the first one.
func (b *base) pose(s *sample) (pose2, bool) {
	raw, ok := b.raw(s)
	if !ok {
		return pose2{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun {
		b.begun, b.origin = true, raw
		if b.odometry != nil {
			b.origin = pose2{}
		}
	}
	sin, cos := math.Sincos(b.zero.A - b.origin.A)
	dx, dy := raw.X-b.origin.X, raw.Y-b.origin.Y
	return pose2{b.zero.X + cos*dx - sin*dy, b.zero.Y + sin*dx + cos*dy,
		math.Remainder(b.zero.A+raw.A-b.origin.A, 2*math.Pi)}, true
}

func (b *base) set(s *sample, to pose2) error {
	raw, ok := b.raw(s)
	if !ok {
		return errAbsent
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun, b.origin, b.zero = true, raw, to
	return nil
}

func (b *base) publish(s *sample, out func(uint8, payload)) {
	p, ok := b.pose(s)
	if !ok {
		return
	}
	d := b.robot.Drive
	x, y, turn := d.Motion(
		func(i int) float64 { return s.value(b.layout.Actuators[i].Velocity) },
		func(i int) float64 { return s.value(b.layout.Actuators[i].Position) })
	if !d.Sideways {
		y = 0
	}
	data := &position2Data{Pose: p, Velocity: pose2{x, y, turn}}
	if b.robot.Agent.Ready() != nil {
		data.Stall = 1 // no command moves it
	}
	out(1, data)
}

// drive turns the wheels so that the robot moves at v.X ahead and v.Y to the left, m/s, and turns at v.A, rad/s.
func (b *base) drive(k *control, v pose2) (err error) {
	b.robot.Drive.Goals(v.X, v.Y, v.A, func(actuator int, mode hal.Mode, goal float64) {
		if err == nil {
			err = k.stage(actuator, mode, goal+0) // not -0: clients print it
		}
	})
	return err
}

func (b *base) command(k *control, subtype uint8, in []byte) error {
	k.goal, k.goalSet = nil, true // the last command counts
	switch subtype {
	case 1:
		p, err := decode[position2Velocity](in)
		if err != nil {
			return err
		}
		if p.Motors == 0 {
			p.Velocity = pose2{}
		}
		return b.drive(k, p.Velocity)
	case 2:
		p, err := decode[position2Goal](in)
		if err != nil {
			return err
		}
		if sum := p.Pose.X + p.Pose.Y + p.Pose.A + p.Velocity.X + p.Velocity.A; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return errValue
		}
		if p.Motors == 0 {
			return b.drive(k, pose2{})
		}
		k.goal = &p
		return b.towards(k)
	case 3:
		p, err := decode[carCommand](in)
		if err != nil {
			return err
		}
		turn := p.Velocity * math.Tan(math.Max(-1.5, math.Min(1.5, p.Angle))) / wheelbase(b.robot.Drive)
		return b.drive(k, pose2{X: p.Velocity, A: turn})
	}
	return errUnknown
}

// wheelbase is how far the steered wheels are from the others, m. A vehicle without steered wheels turns as a car as
// long as its track is wide would.
func wheelbase(d *kinematics.Drive) float64 {
	k, low, high := 1, math.Inf(1), math.Inf(-1)
	for i := range d.Wheels {
		if d.Wheels[i].Steer != hal.None {
			k = 0
		}
	}
	for i := range d.Wheels {
		low, high = math.Min(low, d.Wheels[i].At[k]), math.Max(high, d.Wheels[i].At[k])
	}
	return math.Max(1e-3, high-low)
}

// How position2d drives to a pose.
const (
	goalSpeed = 0.3  // m/s, where the command has none
	goalTurn  = 0.5  // rad/s, likewise
	goalNear  = 0.05 // m
	goalAngle = 0.05 // rad
	turnFirst = 0.5  // rad of heading error above which the robot turns on the spot
)

// towards drives one beat towards the goal of k: turned to it, then to its heading.
func (b *base) towards(k *control) error {
	at, ok := b.pose(k.sample())
	if !ok {
		return b.drive(k, pose2{})
	}
	goal := k.goal
	speed, turn := math.Abs(goal.Velocity.X), math.Abs(goal.Velocity.A)
	speed = cmp.Or(speed, goalSpeed)
	turn = cmp.Or(turn, goalTurn)
	dx, dy := goal.Pose.X-at.X, goal.Pose.Y-at.Y
	distance := math.Hypot(dx, dy)
	if distance < goalNear {
		off := math.Remainder(goal.Pose.A-at.A, 2*math.Pi)
		if math.Abs(off) < goalAngle {
			k.goal = nil
			return b.drive(k, pose2{})
		}
		return b.drive(k, pose2{A: math.Max(-turn, math.Min(turn, off))})
	}
	off := math.Remainder(math.Atan2(dy, dx)-at.A, 2*math.Pi)
	v := math.Min(speed, distance) * math.Max(0, 1-math.Abs(off)/turnFirst)
	return b.drive(k, pose2{X: v, A: math.Max(-turn, math.Min(turn, turn*off/turnFirst))})
}

func (b *base) request(k *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		return &geometry{Size: boxOf(b.robot)}, nil
	case 2: // motor power
		return nil, k.power(in)
	case 3: // velocity mode: the drives have one
		return nil, decodePayload(in, &number{})
	case 5:
		p, err := decode[pose2](in)
		if err != nil {
			return nil, err
		}
		return nil, b.set(k.sample(), p)
	case 6:
		return nil, b.set(k.sample(), pose2{})
	}
	return nil, errUnknown
}

// boxOf is a robot's size in Player's order: width, length, height.
func boxOf(r *Robot) vector { return vector{r.Size[1], r.Size[0], r.Size[2]} }

// body is position3d: the pose in the world, until a client sets it; its commands where the robot flies or dives.
type body struct {
	robot *Robot
	truth *hal.Sensor

	mu   sync.Mutex
	zero hal.Pose // the world in the axes that a client chose
}

// frame is zero, no change where none was chosen.
func (b *body) frame() hal.Pose {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.zero.Rotation == ([4]float64{}) {
		return hal.Pose{Rotation: [4]float64{1}}
	}
	return b.zero
}

// set makes the pose of the moment be to.
func (b *body) set(s *sample, to pose3) error {
	at, _, _, ok := s.truth(b.truth)
	for i := range to.P {
		ok = ok && !math.IsNaN(to.P[i]+to.R[i]) && !math.IsInf(to.P[i]+to.R[i], 0)
	}
	if !ok {
		return errValue
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.zero = hal.Pose{Position: to.P, Rotation: hal.RotationOf(to.R)}.Times(at.Inverse())
	return nil
}

func (b *body) publish(s *sample, out func(uint8, payload)) {
	p, linear, angular, ok := s.truth(b.truth)
	if !ok {
		return
	}
	// rates in the body's axes: those of the sensor are the world's
	back := hal.Pose{Rotation: p.Rotation}.Inverse()
	data := &position3Data{Pose: poseOf(b.frame().Times(p)),
		Velocity: pose3{vector(back.Turn(linear)), vector(back.Turn(angular))}}
	if b.robot.Agent.Ready() != nil {
		data.Stall = 1 // no command moves it
	}
	out(1, data)
}

func (b *body) command(k *control, subtype uint8, in []byte) error {
	if b.robot.Flyer == nil || subtype != 1 && subtype != 2 {
		return errUnknown
	}
	if err := k.session.hold(); err != nil {
		return err
	}
	k.session.flew = true
	if subtype == 1 {
		p, err := decode[position3Velocity](in)
		if err != nil {
			return err
		}
		if p.Motors == 0 {
			p.Velocity = pose3{}
		}
		return b.robot.Flyer.Fly(p.Velocity.P, p.Velocity.R)
	}
	p, err := decode[position3Data](in) // pose, velocity, motors: the form of the data
	if err != nil {
		return err
	}
	return b.robot.Flyer.Go(b.frame().Inverse().Times(hal.Pose{Position: p.Pose.P, Rotation: hal.RotationOf(p.Pose.R)}))
}

func (b *body) request(k *control, subtype uint8, in []byte) (payload, error) {
	switch subtype {
	case 1:
		return &geometry{Size: boxOf(b.robot)}, nil
	case 2: // motor power
		return nil, k.power(in)
	case 3, 4: // velocity and position mode: each command has its own
		return nil, decodePayload(in, &number{})
	case 5:
		return nil, b.set(k.sample(), pose3{})
	case 6:
		p, err := decode[pose3](in)
		if err != nil {
			return nil, err
		}
		return nil, b.set(k.sample(), p)
	}
	return nil, errUnknown
}

// simulation gets and sets the robot's pose in the world.
type simulation struct {
	noData
	noCommands
	robot *Robot
	truth *hal.Sensor
}

func (u *simulation) request(k *control, subtype uint8, in []byte) (payload, error) {
	plane, space := &simulationPose{}, &simulationPose3{}
	name := &plane.Name
	var p payload = plane
	if subtype == 3 || subtype == 4 {
		p, name = space, &space.Name
	} else if subtype != 1 && subtype != 2 {
		return nil, errUnknown
	}
	if err := decodePayload(in, p); err != nil {
		return nil, err
	}
	if *name != "" && !strings.EqualFold(*name, u.robot.Agent.Name()) {
		return nil, errAbsent
	}
	now := k.sample()
	at, _, _, ok := now.truth(u.truth)
	if !ok {
		return nil, errAbsent
	}
	switch subtype {
	case 1:
		plane.Pose = pose2{at.Position[0], at.Position[1], at.RollPitchYaw()[2]}
		return plane, nil
	case 3:
		space.Pose, space.Time = poseOf(at), now.time.Seconds()
		return space, nil
	case 2:
		at.Position[0], at.Position[1], at.Rotation = plane.Pose.X, plane.Pose.Y,
			hal.RotationOf([3]float64{0, 0, plane.Pose.A})
	case 4:
		at = hal.Pose{Position: space.Pose.P, Rotation: hal.RotationOf(space.Pose.R)}
	}
	for _, v := range append(at.Position[:], at.Rotation[:]...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errValue
		}
	}
	if u.robot.Placer == nil || u.robot.Agent.BodyKind() == hal.Real {
		return nil, errAbsent // a real robot never teleports
	}
	if err := k.session.hold(); err != nil {
		return nil, err
	}
	return nil, k.edge(func() error { return u.robot.Placer.Place(u.robot.Agent.Name(), at) })
}
