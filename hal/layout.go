package hal

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Quantity is the physical quantity of a channel; it defines the unit.
type Quantity uint8

// The quantities and their units.
const (
	Ratio           Quantity = iota // 1
	Position                        // rad; m for a slide
	Velocity                        // rad/s; m/s for a slide
	Torque                          // N·m; N for a slide
	TorqueLimit                     // N·m, at least 0; N for a slide
	Duty                            // -1..1 of the supply voltage
	Current                         // A
	Voltage                         // V
	Temperature                     // °C
	Acceleration                    // m/s²
	AngularVelocity                 // rad/s
	Distance                        // m
	Speed                           // m/s
	Force                           // N
	Pressure                        // Pa
	stiffness                       // N·m/rad; N/m for a slide
	integral                        // N·m/(rad·s); N/(m·s) for a slide
	damping                         // N·m·s/rad; N·s/m for a slide
)

var units = [...]string{"1", "rad", "rad/s", "N·m", "N·m", "1", "A", "V", "°C", "m/s²", "rad/s", "m", "m/s", "N", "Pa",
	"N·m/rad", "N·m/(rad·s)", "N·m·s/rad"}
var quantityNames = [...]string{
	"ratio", "position", "velocity", "torque", "torque_limit", "duty",
	"current", "voltage", "temperature", "acceleration", "angular_velocity", "distance", "speed", "force", "pressure",
	"kp", "ki", "kd",
}

// Unit is the unit of q's values, of a hinge where hinge and slide differ.
func (q Quantity) Unit() string {
	if int(q) < len(units) {
		return units[q]
	}
	return "?"
}

func (q Quantity) String() string { return nameOf(q, "quantity", quantityNames[:]) }

// nameOf is v's element of names, or "kind(v)".
func nameOf[T ~uint8](v T, kind string, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

// Channel is one named scalar with its range: "left_elbow/position".
type Channel struct {
	Name     string
	Quantity Quantity
	Min, Max float64 // the whole range of values, Min < Max; normalised protocols map it to their own range
	Slide    bool    // of an actuator that slides: m, m/s and N in place of rad, rad/s and N·m
	Estimate bool    // derived, not measured: a real body's value in place of a simulated one's exact value
}

// Unit is the unit of the channel's values.
func (c *Channel) Unit() string { return c.Quantity.UnitOf(c.Slide) }

// UnitOf is the unit of q's values of a slide, or of a hinge.
func (q Quantity) UnitOf(slide bool) string {
	if of, ok := map[Quantity]Quantity{Position: Distance, Velocity: Speed, Torque: Force, TorqueLimit: Force}[q]; ok &&
		slide {
		q = of
	} else if slide && q >= stiffness {
		return [...]string{"N/m", "N/(m·s)", "N·s/m"}[q-stiffness]
	}
	return q.Unit()
}

// Fraction maps v linearly to 0..1 over the channel's range, clipped. NaN stays NaN.
func (c *Channel) Fraction(v float64) float64 {
	return math.Min(1, math.Max(0, (v-c.Min)/(c.Max-c.Min)))
}

// FromFraction is the inverse of Fraction; f is not clipped.
func (c *Channel) FromFraction(f float64) float64 { return c.Min + f*(c.Max-c.Min) }

// Mode is the control mode of an actuator's active command.
type Mode uint8

// The modes. An actuator has at most one active at a time.
const (
	PositionMode Mode = iota
	VelocityMode
	TorqueMode
	DutyMode
	NumModes
	NoMode = NumModes // no command yet
)

var modeNames = [...]string{"position", "velocity", "torque", "duty", "none"}

func (m Mode) String() string { return nameOf(m, "mode", modeNames[:]) }

// Quantity is the quantity of a command in mode m.
func (m Mode) Quantity() Quantity {
	return [...]Quantity{Position, Velocity, Torque, Duty, Ratio}[min(m, NoMode)]
}

// ActuatorKind is how an actuator moves.
type ActuatorKind uint8

// The kinds of actuator.
const (
	Hinge    ActuatorKind = iota // turns between limits
	Wheel                        // turns without end; its angle wraps
	Slide                        // moves along a line
	Thruster                     // pushes; has no position
)

// None marks an index that an actuator does not have.
const None = -1

// Limits bound the commands that a guard passes, in the units of the actuator's kind.
type Limits struct {
	MinPosition, MaxPosition float64 // soft limits; ignored where Wraps
	MaxVelocity              float64 // the slew limit of position goals, and the range of velocity goals
	MaxTorque                float64 // the stall torque at the nominal supply
}

// Gain is a gain of an actuator's position control: 0 is kp, 1 ki, 2 kd. It pushes with kp·error + ki·∫error -
// kd·velocity, up to its torque limit; servos damp the change of the error instead.
type Gain uint8

// Quantity is the quantity of g, whose name is the gain's.
func (g Gain) Quantity() Quantity { return stiffness + Quantity(min(g, 2)) }

// GainInput is a gain that may be commanded at run time. The guard bounds it by its channel's range, which it may cross
// in one second.
type GainInput struct {
	Input   int     // or None
	PowerUp float64 // before the first command and after a reset; NaN = the actuator's own law, which has no such gain
}

// Actuator is one driven joint: its channels as indexes, its limits, and where it rests.
// Goals index Layout.Inputs; measured channels index Frame.Measured (the outputs, then the infos).
type Actuator struct {
	Name        string
	Path        string // its name in the simulator the controller was written for ("/Left/Elbow"); "/" + Name if empty
	Kind        ActuatorKind
	Goal        [NumModes]int // input of each mode, or None
	TorqueLimit int           // input, or None
	Gains       []GainInput   // kp, ki and kd; nil where they cannot be commanded
	Position    int           // measured, or None; likewise those below
	Velocity    int
	Torque      int
	Voltage     int
	Temperature int
	Limits      Limits
	Default     float64 // the position it takes at a reset, within its limits
	Wraps       bool    // positions are angles modulo a turn; errors go the short way round
}

// Inputs appends the inputs of a to dst: its goals, its torque limit, its gains.
func (a *Actuator) Inputs(dst []int) []int {
	dst = append(append(dst, a.Goal[:]...), a.TorqueLimit)
	for _, g := range a.Gains {
		dst = append(dst, g.Input)
	}
	return slices.DeleteFunc(dst, func(i int) bool { return i == None })
}

// DutyLimit is the share of the supply, 0..1, that a servo without current control may use so that it pushes with at
// most limit, N·m, while it moves at velocity, rad/s, towards a goal that lies ahead (towards > 0) or behind (< 0).
//
// A geared DC motor pushes with kt·(V − kt·ω)/R: standing still, torque goes with the voltage; moving, the back-EMF
// takes its part of it, so that a bound of only the voltage would bound the speed as well. A limit of 0 is no voltage
// at all.
func (a *Actuator) DutyLimit(limit, velocity, towards float64) float64 {
	share := limit / a.Limits.MaxTorque
	if ahead := velocity * towards; share > 0 && ahead > 0 {
		share += math.Abs(velocity) / a.Limits.MaxVelocity
	}
	return math.Max(0, math.Min(1, share))
}

// Sensor is a named group of consecutive measured channels with a mounting pose. Its kind is one of:
//
//	accelerometer  1 to 3 axes of proper acceleration, m/s²: at rest an axis that points up reads +g
//	gyro           1 to 3 axes, rad/s, in the sensor's axes
//	imu            attitude as a quaternion w x y z (sensor in world), gyro x y z, accelerometer x y z
//	body           position x y z and velocity x y z of a body's centre in the world, m and m/s
//	pose           position x y z, quaternion w x y z, velocity x y z, angular velocity x y z (world axes)
//	contact        1 while there is contact, else 0
//	force          N, along the sensor's x y z
//	pressure       Pa above that of the air at sea level
//	range          m, one a ray; of a scanner from its right to its left
//	sonar          m to the nearest object in one cone; without an echo the sensor's greatest range
//	infrared       m along one beam, which passes through glass
//	odometry       x y of the estimated position, m, and heading, rad: relative to the pose at its last zero
//	inertial       roll pitch yaw, rad, relative to the attitude at its last zero
//	encoder        ticks turned since its last zero
//	rfid, victim   the number of tags in reach; which tags they are is not in a channel (gamebots.Hits)
//	sound          loudness, and its duration, s
//	motion         probability that a moving object is human, 0..1
//	battery        remaining running time, s
//	voltage        V of the supply
//	current        A, one a motor
type Sensor struct {
	Name  string
	Path  string // its name in the simulator the controller was written for; "/" + Name if empty
	Kind  string
	First int // index in Frame.Measured
	Count int
	Mount Pose
}

// Camera is one source of pictures.
type Camera struct {
	Name          string
	Width, Height int
	FieldOfView   float64 // horizontal, rad
	Mount         Pose
}

// Pose is a place and an attitude: metres, and a unit quaternion (w, x, y, z). The zero Pose is the identity.
type Pose struct {
	Position [3]float64
	Rotation [4]float64
}

// Layout describes the channels and devices of a body. It does not change while the body is open, and is read-only
// after New.
type Layout struct {
	Inputs, Outputs, Infos []Channel
	Actuators              []Actuator
	Sensors                []Sensor
	Cameras                []Camera
}

// Measured is channel i of Frame.Measured: outputs first, then infos.
func (l *Layout) Measured(i int) *Channel {
	if i < len(l.Outputs) {
		return &l.Outputs[i]
	}
	return &l.Infos[i-len(l.Outputs)]
}

// Actuator returns the index of the actuator called name, or None.
func (l *Layout) Actuator(name string) int {
	return slices.IndexFunc(l.Actuators, func(a Actuator) bool { return a.Name == name })
}

// Devices is the number of Frame.Status entries: one an actuator, then one a sensor.
func (l *Layout) Devices() int { return len(l.Actuators) + len(l.Sensors) }

// Validate reports everything that is wrong with l at once, or nil.
func (l *Layout) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("layout: "+format, args...)) }
	names := map[string]bool{}
	for _, list := range [][]Channel{l.Inputs, l.Outputs, l.Infos} {
		seen := map[string]bool{}
		for i := range list {
			c := &list[i]
			if c.Name == "" || seen[c.Name] {
				fault("channel %d: name %q: empty or used twice", i, c.Name)
			}
			seen[c.Name] = true
			if !(c.Min < c.Max) || math.IsInf(c.Min, 0) || math.IsInf(c.Max, 0) {
				fault("channel %q: range: got %g..%g, want finite and rising", c.Name, c.Min, c.Max)
			}
		}
	}
	measured := len(l.Outputs) + len(l.Infos)
	within := func(what, name string, i, n int) {
		if i < None || i >= n {
			fault("actuator %q: %s: got index %d, want below %d", name, what, i, n)
		}
	}
	for i := range l.Actuators {
		a := &l.Actuators[i]
		if a.Name == "" || names[a.Name] {
			fault("actuator %d: name %q: empty or used twice", i, a.Name)
		}
		names[a.Name] = true
		for m, in := range a.Goal {
			within(Mode(m).String()+" goal", a.Name, in, len(l.Inputs))
		}
		within("torque limit", a.Name, a.TorqueLimit, len(l.Inputs))
		for _, g := range a.Gains {
			within("gain", a.Name, g.Input, len(l.Inputs))
		}
		for _, at := range []int{a.Position, a.Velocity, a.Torque, a.Voltage, a.Temperature} {
			within("measured", a.Name, at, measured)
		}
		if m := a.Limits; !a.Wraps && a.Kind != Thruster && !(m.MinPosition < m.MaxPosition) {
			fault("actuator %q: limits: got %g..%g, want rising", a.Name, m.MinPosition, m.MaxPosition)
		} else if !a.Wraps && a.Kind != Thruster && !(a.Default >= m.MinPosition && a.Default <= m.MaxPosition) {
			fault("actuator %q: default: got %g, want %g..%g", a.Name, a.Default, m.MinPosition, m.MaxPosition)
		}
		if m := a.Limits; !(m.MaxVelocity > 0) || !(m.MaxTorque > 0) {
			fault("actuator %q: limits: got velocity %g and torque %g, want above 0", a.Name, m.MaxVelocity,
				m.MaxTorque)
		}
	}
	for i := range l.Sensors {
		if s := &l.Sensors[i]; s.First < 0 || s.Count < 1 || s.First+s.Count > measured {
			fault("sensor %q: channels: got %d from %d, want within %d", s.Name, s.Count, s.First, measured)
		}
	}
	return errors.Join(faults...)
}
