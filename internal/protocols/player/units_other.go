package player

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// power is the supply's voltage and the battery.
type power struct {
	noCommands
	noRequests
	layout      *hal.Layout
	volts, life *hal.Sensor
}

func (u *power) publish(s *sample, out func(uint8, payload)) {
	const volts, percent = 1, 8
	unknown := math.NaN()
	p := &powerData{Volts: unknown, Percent: unknown, Joules: unknown, Watts: unknown}
	if u.volts != nil {
		if v := s.measured[u.volts.First]; !math.IsNaN(v) {
			p.Valid, p.Volts = p.Valid|volts, v
		}
	}
	if u.life != nil {
		if v := s.measured[u.life.First]; !math.IsNaN(v) {
			p.Valid, p.Percent = p.Valid|percent, 100*u.layout.Measured(u.life.First).Fraction(v)
		}
	}
	if p.Valid != 0 {
		out(1, p)
	}
}

// ptz is a camera on two joints.
type ptz struct {
	layout *hal.Layout
	ptz    *PTZ
}

func (u *ptz) publish(s *sample, out func(uint8, payload)) {
	p := &ptzData{}
	p.Zoom = u.ptz.FieldOfView
	if i := u.ptz.Pan; i != hal.None {
		p.Pan = reversed(s.value(u.layout.Actuators[i].Position), u.ptz.PanReversed)
		p.PanSpeed = reversed(s.value(u.layout.Actuators[i].Velocity), u.ptz.PanReversed)
	}
	if i := u.ptz.Tilt; i != hal.None {
		p.Tilt = reversed(s.value(u.layout.Actuators[i].Position), u.ptz.TiltReversed)
		p.TiltSpeed = reversed(s.value(u.layout.Actuators[i].Velocity), u.ptz.TiltReversed)
	}
	out(1, p)
}

func (u *ptz) command(k *control, subtype uint8, in []byte) error {
	if subtype != 1 {
		return errUnknown
	}
	p, err := decode[ptzCommand](in)
	if err != nil {
		return err
	}
	for _, joint := range []struct {
		actuator int
		angle    float64
	}{{u.ptz.Pan, reversed(p.Pan, u.ptz.PanReversed)}, {u.ptz.Tilt, reversed(p.Tilt, u.ptz.TiltReversed)}} {
		if joint.actuator == hal.None {
			continue
		}
		if err := k.stage(joint.actuator, hal.PositionMode, joint.angle); err != nil {
			return err
		}
	}
	return nil
}

func (u *ptz) request(_ *control, subtype uint8, in []byte) (payload, error) {
	const position = 1
	switch subtype {
	case 2:
		p, err := decode[number](in)
		if err != nil {
			return nil, err
		}
		if p.Value != position {
			return nil, errAbsent
		}
		return nil, nil
	case 4:
		return &geometry{Pose: poseOf(u.ptz.Mount)}, nil
	case 5:
		return &number{}, nil
	}
	return nil, errUnknown
}

// camera is a camera of the layout; the session's streams publish it.
type camera struct {
	noData
	noCommands
	index int
}

// pictureOf is a picture in Player's words; nil where it has no colours.
func pictureOf(p *hal.Picture) *cameraData {
	const rgb888, bits = 5, 24
	if p == nil || len(p.RGB) < 3*p.Width*p.Height || 3*p.Width*p.Height > maxAnswer/2 {
		return nil
	}
	return &cameraData{Width: uint32(p.Width), Height: uint32(p.Height), BitsPerPixel: bits, Format: rgb888, Divisor: 1,
		Image: append([]byte(nil), p.RGB[:3*p.Width*p.Height]...)}
}

func (u *camera) request(k *control, subtype uint8, _ []byte) (payload, error) {
	const image = 3
	if subtype != image {
		return nil, errUnknown
	}
	if p := k.session.picture(u.index); p != nil {
		return p, nil
	}
	return nil, errAbsent // not opened, or no picture yet
}

// dio is the robot's switches, one bit each.
type dio struct {
	noRequests
	rig   *hal.Rig
	robot *Robot
}

func (u *dio) publish(_ *sample, out func(uint8, payload)) {
	p := &dioData{Count: uint32(len(u.robot.Switches))}
	u.rig.BetweenCycles(func() {
		for i, s := range u.robot.Switches {
			if s.Lit() {
				p.Bits |= 1 << i
			}
		}
	})
	out(1, p)
}

func (u *dio) command(k *control, subtype uint8, in []byte) error {
	if subtype != 1 {
		return errUnknown
	}
	p, err := decode[dioData](in)
	if err != nil {
		return err
	}
	if int(p.Count) > len(u.robot.Switches) {
		return fmt.Errorf("outputs: got %d, want at most %d: %w", p.Count, len(u.robot.Switches), errValue)
	}
	if err := k.session.hold(); err != nil {
		return err
	}
	return k.edge(func() error {
		for i := range p.Count {
			if err := u.robot.Switches[i].Switch(p.Bits>>i&1 != 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// opaque is every channel as text.
type opaque struct {
	noRequests
	layout *hal.Layout
}

func (u *opaque) publish(s *sample, out func(uint8, payload)) {
	var text octets
	for i, v := range s.measured {
		text = append(append(text, u.layout.Measured(i).Name...), ' ')
		text = append(strconv.AppendFloat(text, v, 'g', 9, 64), '\n')
	}
	out(1, &text)
}

func (u *opaque) command(k *control, subtype uint8, in []byte) error {
	if subtype != 1 {
		return errUnknown
	}
	p, err := decode[octets](in)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(p)) {
		words := strings.Fields(strings.Trim(line, "\x00"))
		if len(words) == 0 {
			continue
		}
		if len(words) != 3 {
			return fmt.Errorf("line %.60q: got %d words, want actuator mode value: %w", line, len(words), ErrFormat)
		}
		actuator := u.layout.Actuator(words[0])
		value, err := strconv.ParseFloat(words[2], 64)
		if actuator == hal.None || err != nil {
			return fmt.Errorf("line %.60q: %w", line, errValue)
		}
		mode := hal.NoMode
		for m := range hal.NumModes {
			if m.String() == words[1] {
				mode = m
			}
		}
		if mode == hal.NoMode {
			return fmt.Errorf("mode: got %.20q, want position, velocity, torque or duty: %w", words[1], errValue)
		}
		if err := k.stage(actuator, mode, value); err != nil {
			return err
		}
	}
	return nil
}

// imu is an inertial sensor. Its data has the form that the client last chose: 1 pose, 2 calibrated, 3 quaternion,
// 4 angles, 5 pose with rates; until then 1, 3 and 5.
type imu struct {
	noCommands
	sensor *hal.Sensor
	// the pose and its rates, of which an inertial sensor of angles alone takes the rates; nil = none
	motion *hal.Sensor
	form   atomic.Uint32
}

// moves are the place and the rates of a sensor of kind pose: position, quaternion, velocity, turn rates.
func (u *imu) moves(s *sample) (place, speed, rates [3]float64) {
	const speedAt, ratesAt, count = 7, 10, 13
	if u.motion == nil || u.motion.Kind != "pose" || u.motion.Count < count {
		return unmeasured, unmeasured, unmeasured
	}
	v := s.of(u.motion)
	return [3]float64(v), [3]float64(v[speedAt:]), [3]float64(v[ratesAt:])
}

// unmeasured is three values that are not known: a 0 would be a measurement.
var unmeasured = [3]float64{math.NaN(), math.NaN(), math.NaN()}

func (u *imu) publish(s *sample, out func(uint8, payload)) {
	v := s.of(u.sensor)
	if math.IsNaN(v[0]) {
		return
	}
	var turn hal.Pose
	place, speed, rates := u.moves(s)
	c := imuCalibrated{Acceleration: unmeasured, Gyro: unmeasured, Magnetic: unmeasured}
	const inertialCount, imuCount = 3, 10
	switch {
	case u.sensor.Kind == "inertial" && len(v) >= inertialCount:
		turn.Rotation = hal.RotationOf([3]float64(v[:3]))
		c.Gyro = rates
	case len(v) >= imuCount:
		copy(turn.Rotation[:], v)
		copy(c.Gyro[:], v[4:])
		copy(c.Acceleration[:], v[7:])
	default:
		return
	}
	pose := poseOf(turn)
	pose.P = place
	if u.sensor.Kind == "inertial" {
		pose.R = vector(v[:3])
	}
	full := &imuFull{pose, pose3{speed, c.Gyro}, pose3{c.Acceleration, unmeasured}}
	switch form := uint8(u.form.Load()); form {
	case 2:
		out(form, &c)
	case 3:
		out(form, &imuQuaternion{c, turn.Rotation})
	case 4:
		out(form, &imuEuler{c, pose.R})
	case 1:
		out(form, &pose)
	case 5:
		out(form, full)
	default: // a client that has not chosen has each of its fields filled
		out(1, &pose)
		out(3, &imuQuaternion{c, turn.Rotation})
		out(5, full)
	}
}

func (u *imu) request(_ *control, subtype uint8, in []byte) (payload, error) {
	if subtype != 1 {
		return nil, errUnknown
	}
	p, err := decode[number](in)
	if err != nil {
		return nil, err
	}
	if p.Value < 1 || p.Value > 5 {
		return nil, errValue
	}
	u.form.Store(p.Value)
	return nil, nil
}

// rfid is tags that a reader has found.
type rfid struct {
	noCommands
	noRequests
	tags func(time.Duration) []Tag
}

func (u *rfid) publish(s *sample, out func(uint8, payload)) {
	p := &rfidData{}
	for _, t := range u.tags(s.time) {
		p.Tags = append(p.Tags, rfidTag{GUID: []byte(t.Text)})
	}
	out(1, p)
}

// fiducials are victims that a sensor has found.
type fiducials struct {
	noCommands
	robot *Robot
}

func (u *fiducials) publish(s *sample, out func(uint8, payload)) {
	p := &fiducialData{}
	for _, t := range u.robot.Victims(s.time) {
		p.Fiducials = append(p.Fiducials, fiducial{ID: int32(t.Number), Pose: poseOf(t.Place)})
	}
	out(1, p)
}

func (u *fiducials) request(_ *control, subtype uint8, _ []byte) (payload, error) {
	switch subtype {
	case 1:
		return &fiducialGeometry{}, nil
	case 2:
		return &fiducialView{MaxRange: u.robot.VictimRange, Angle: u.robot.VictimAngle}, nil
	}
	return nil, errUnknown
}
