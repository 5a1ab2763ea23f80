package sim

import (
	"math"

	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Joint is one joint of a Body in a Scene. Its servo's coordinates are the joint's: 0 rad is the centre tick.
type Joint struct {
	Servo *actuator.Servo
	Model *model.Joint

	driven  bool    // an emulated device writes Servo; the body's Write and Halt leave it alone
	enabled bool    // what the last Write asked for
	limit   float64 // N·m, the torque limit that was commanded last

	// The measured motion of a real twin; NaN position: none.
	followPosition, followVelocity float64
	followFrom                     float64 // rad, where it was at the beginning of this Advance
}

// snapshot is a joint's whole state.
type snapshot struct {
	servo                    actuator.Servo
	enabled                  bool
	limit                    float64
	position, velocity, from float64 // of the twin it follows
}

func newJoint(m *model.Joint, supply *actuator.Supply) Joint {
	s := actuator.NewServo(m.Servo)
	s.Load, s.Noise, s.Supply = m.Load, m.Noise, supply
	return Joint{Servo: s, Model: m, followPosition: math.NaN()}
}

// reset puts the joint at its default, or near it where the model asks for that, as seed says.
func (j *Joint) reset(seed uint64) {
	s := j.Servo
	at := j.Model.Default
	if j.Model.Spread > 0 {
		at += float64(j.Model.Spread * (2*actuator.Uniform(&seed) - 1))
		at = math.Max(j.Model.Limits[0], math.Min(j.Model.Limits[1], at))
	}
	s.Random = seed
	s.Reset(at)
	s.Limit, j.enabled, j.limit = 1, false, j.Model.MaxTorque()
	j.followPosition, j.followVelocity, j.followFrom = math.NaN(), math.NaN(), 0
}

// step lets one sub-step of dt seconds pass; done is the share of this Advance that is then over.
func (j *Joint) step(dt, done float64) {
	if math.IsNaN(j.followPosition) {
		j.Servo.Step(dt)
		return
	}
	// The way to the measured position is spread over the Advance, so that nothing jumps within it.
	at := j.followFrom + float64((j.followPosition-j.followFrom)*done)
	if done == 1 {
		at = j.followPosition
	}
	j.Servo.Follow(dt, at, j.followVelocity)
}

func (j *Joint) save(s *snapshot) {
	*s = snapshot{*j.Servo, j.enabled, j.limit, j.followPosition, j.followVelocity, j.followFrom}
}

func (j *Joint) restore(s *snapshot) {
	*j.Servo = s.servo
	j.enabled, j.limit = s.enabled, s.limit
	j.followPosition, j.followVelocity, j.followFrom = s.position, s.velocity, s.from
}
