package assembly

import (
	"github.com/halyard-robotics/halyard/sim/model"
)

// StandardGravity is the original's, m/s².
const StandardGravity = 9.81

// Tune gives the original's motors what a simloid.conf says of them.
func (p *Plan) Tune(c *SimloidConf) {
	p.startTorque = c.MaxTorque
	for i := range p.Agents {
		joints := p.Agents[i].Robot.Joints
		for k := range joints {
			if m := joints[k].Motor; m != nil && m.Kind == model.Bristle {
				own := *m
				own.Proportional, own.Integral, own.Deriv, own.StartTorque = c.PID[0], c.PID[1], c.PID[2], c.MaxTorque
				joints[k].Motor = &own
			}
		}
	}
}
