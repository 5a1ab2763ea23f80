package model

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// idealName is the name in files of a motor with only a maximum torque and speed: for example of a wheel with its own
// speed controller.
const idealName = "ideal"

// idealFile holds the values of such a motor.
type idealFile struct {
	Torque float64 `yaml:"torque_nm" above:"0" max:"1e6"`
	Speed  float64 `yaml:"speed_rads" above:"0" max:"1e3"` // faster, the physics counts as diverged
	Kp     float64 `yaml:"kp" min:"0" max:"1e6"`           // N·m/rad, with kd in N·m·s/rad; 0: stiff
	Kd     float64 `yaml:"kd" min:"0" max:"1e6"`
}

// motor reads the motor, and the modes that it has: all but duty, which no wheel's controller offers.
func (f *idealFile) motor(path yaml.Path, j *Joint, faults *faults) (can [hal.NumModes]bool) {
	faults.positive(path+".torque_nm", f.Torque, maxForce)
	faults.positive(path+".speed_rads", f.Speed, 1e3)
	j.Motor = &Motor{Name: idealName, Kind: Ideal, MaxTorque: f.Torque, MaxVelocity: f.Speed,
		Kp: f.Kp, Kd: f.Kd}
	return [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: true}
}

// Wheel is the radius of the wheel on joint i, m: that of its child's greatest round shape; 0 if it has none.
func (r *Robot) Wheel(i int) float64 {
	radius := 0.0
	if child := r.Joints[i].Child; child != hal.None {
		for k := range r.Bodies[child].Shapes {
			radius = max(radius, r.Bodies[child].Shapes[k].Radius)
		}
	}
	return radius
}
