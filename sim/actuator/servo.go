package actuator

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/exact"
)

// Servo is one geared DC servo with its load, in servo coordinates: 0 rad is Spec.CentreTicks and + is ticks rising.
// Its exported fields may be set between steps. A copy of a Servo is a snapshot of its whole state but its supply's.
type Servo struct {
	Spec    *Spec
	Load    Load
	Supply  *Supply // shared; nil = Spec.NominalVolts without sag
	Gravity float64 // m/s², on the load's pendulum

	// Commands, from sim.Body or from the emulator's registers. A goal that is not finite is ignored.
	Enable       bool
	Mode         hal.Mode
	GoalPosition float64 // rad; clipped to the servo's goal range
	GoalVelocity float64 // rad/s
	GoalCurrent  float64 // A where Spec.CurrentControl, else share of the stall torque, -1..1
	GoalDuty     float64 // -1..1
	// 0..1, share of the greatest effort: Spec.MaxCurrent where CurrentControl, else duty; 0 = torque off
	Limit     float64
	DutyLimit float64 // 0..1, from the PWM limit and goal PWM registers of X servos
	Extended  bool    // positions beyond one turn: operating modes 4 and 5 of X, multi-turn mode of MX
	Gains     Gains

	// The profile: rad/s and rad/s², 0 = none. ProfileVelocity is the moving speed of AX and MX. With TimeBased they
	// are the time of the whole motion and that of its acceleration, s (X, drive mode bit 2).
	ProfileVelocity, ProfileAcceleration float64
	TimeBased                            bool

	External float64 // N·m on the load from outside: a push, a fixture
	Noise    float64 // rad, standard deviation of the encoder's reading
	Random   uint64  // state of the noise's stream; seed it

	// The truth, of the output shaft.
	Position, Velocity float64 // rad, rad/s
	Current            float64 // A, of the winding
	Duty               float64 // -1..1
	Torque             float64 // N·m, the motor's, before friction
	Temperature        float64 // °C, of the housing, where the servo's sensor is

	// State of the firmware.
	TrajectoryPosition, TrajectoryVelocity float64 // rad, rad/s: present output of the profile
	Moving                                 bool
	Alarm                                  Alarm
	Shutdown                               Alarm  // the alarms that cut the torque
	Restarts                               uint32 // brown-outs so far; the servo's RAM is lost at each

	gearPosition, gearVelocity float64 // before the backlash
	knock                      float64 // N·m·s, of a gear that has met its load, for the next coupled step
	contact                    int8    // +1: the load leads and touches, -1: the gear leads, 0: apart, or no backlash
	bridge                     bridge
	running                    bool    // enabled in the step before
	powered                    bool    // Enable as it is in effect
	switching                  float64 // s since Enable was switched
	mode                       hal.Mode
	profile                    profile
	integral, lastError, slope float64 // of the control law
	jitter                     float64 // of the encoder, this step's
	strain                     float64 // s, of overload
	winding                    float64 // °C
	surface                    float64 // of the housing, relative to the AX-12A's
}

// movingThreshold is the speed above which the moving flag is set: 10 units of 0.229 rpm, the default of X servos.
const movingThreshold = 10 * velocityUnit

// velocityUnit is 0.229 rpm in rad/s, the unit of velocity of X servos.
const velocityUnit = 0.229 * 2 * math.Pi / 60

// NewServo returns a servo with its model's defaults at rest at 0 rad, with no load, torque off.
func NewServo(spec *Spec) *Servo {
	s := &Servo{
		Spec: spec, Gravity: StandardGravity,
		Limit: 1, DutyLimit: 1, Gains: spec.Gains, Shutdown: AlarmHeat | AlarmOverload | AlarmShock,
	}
	s.surface = exact.Pow(spec.Mass/referenceMass, 2.0/3)
	s.Reset(0)
	return s
}

// Reset puts the servo at rest at position, rad: cool, no alarm, inner states zero, torque off. Load, gains, limits
// and profile settings stay; the goals become the position, or zero.
func (s *Servo) Reset(position float64) {
	s.Enable, s.Mode = false, hal.PositionMode
	s.GoalPosition, s.GoalVelocity, s.GoalCurrent, s.GoalDuty = position, 0, 0, 0
	s.Position, s.Velocity = position, 0
	s.Current, s.Duty, s.Torque, s.Temperature = 0, 0, 0, Ambient
	s.TrajectoryPosition, s.TrajectoryVelocity = position, 0
	s.Moving, s.Alarm, s.Restarts, s.External = false, 0, 0, 0
	s.gearPosition, s.gearVelocity, s.knock = position, 0, 0
	s.contact, s.bridge, s.running, s.mode = 0, open, false, hal.NoMode
	s.powered, s.switching = false, 0
	s.profile = profile{}
	s.integral, s.lastError, s.slope, s.jitter = 0, 0, 0, 0
	s.strain, s.winding = 0, Ambient
}

// Step simulates dt seconds, 1 ms or less: firmware, motor, gear and load. It does not allocate.
func (s *Servo) Step(dt float64) {
	d := s.Control(dt)
	s.move(dt, d)
	s.FinishStep(dt)
}

// Follow moves the shaft to position at velocity from outside, as a simulated twin of a measured joint. It replaces a
// call of Step.
func (s *Servo) Follow(dt, position, velocity float64) {
	s.Control(dt)
	s.Position, s.Velocity = position, velocity
	s.gearPosition, s.gearVelocity, s.contact = position, velocity, 0
	s.FinishStep(dt)
}

// Volts is the supply's voltage at the servo, V.
func (s *Servo) Volts() float64 {
	if s.Supply == nil {
		return s.Spec.NominalVolts
	}
	return s.Supply.Terminal()
}

// ProfileOngoing reports whether the trajectory is still on its way to the goal.
func (s *Servo) ProfileOngoing() bool { return s.running && s.profile.planned && !s.profile.done() }

// MeasuredPosition is the position measured by the encoder, rad: rounded to ticks, with this step's noise. In the dead
// sector of a servo it is the nearer end of the range.
func (s *Servo) MeasuredPosition() float64 {
	k := s.Spec
	tick := 2 * math.Pi / k.TicksPerTurn
	ticks := math.Floor((s.Position+s.jitter)/tick + k.CentreTicks + 0.5)
	if k.DeadSector {
		turn := k.TicksPerTurn / k.gear()
		ticks -= float64(math.Floor(ticks/turn) * turn)
		ticks = math.Floor(ticks + 0.5)
		if ticks > (k.MaxTicks+turn)/2 {
			ticks = k.MinTicks
		}
		ticks = math.Min(ticks, k.MaxTicks)
	}
	return float64((ticks - k.CentreTicks) * tick)
}

// Uniform draws the next number in 0..1 from a splitmix64 stream (Steele, Lea and Flood, OOPSLA 2014).
func Uniform(state *uint64) float64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) * 0x1p-53
}

// Gauss draws a number of standard deviation sigma from that stream, 0 where sigma is not above 0: the sum of four even
// ones, which is near enough to a normal one and exact everywhere.
func Gauss(state *uint64, sigma float64) float64 {
	if !(sigma > 0) {
		return 0
	}
	const four = 0.57735026918962576 // of the sum of four in -0.5..0.5
	sum := -2.0
	for range 4 {
		sum += float64(Uniform(state))
	}
	return float64(sum * sigma / four)
}
