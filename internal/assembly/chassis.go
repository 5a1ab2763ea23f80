package assembly

import (
	"math"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
)

// chassis is a simulated robot under the board of an emulated base: a p2os.Chassis. The board's commands move the
// wheels in the next Advance of the scene; its measurements are of the last one.
type chassis struct {
	plan        *plan.BasePlan
	body        *sim.Body
	groundTruth *catalog.GroundTruth
	radius      float64 // of the wheels, as they are in the scene, m
	goal        [2]float64
	on          bool
	Life        float64 // s, of a full battery
	left        int     // the measured channel of the remaining charge, or hal.None
	spin        int     // that of the rotation about the vertical, world axes; or hal.None
}

// newChassis puts a base under the robot: from now on only the base commands its wheels.
func (b *Builder) newChassis(e *Emulation, p *plan.BasePlan) (*chassis, error) {
	a := &b.Plan.Agents[p.Agent]
	c := &chassis{plan: p, body: b.Robots[p.Agent], radius: a.Robot.Wheel(p.Wheels[0].Actuator), left: hal.None,
		spin: hal.None}
	c.groundTruth = catalog.NewTruth(e.Look(c.body), nil)
	for _, w := range p.Wheels {
		if err := b.Scene.Driven(a.Config.Name, w.Actuator); err != nil {
			return nil, err
		}
	}
	for i := range c.groundTruth.Layout.Sensors {
		s := &c.groundTruth.Layout.Sensors[i]
		switch {
		case s.Kind == "battery" && c.left == hal.None:
			c.left, c.Life = s.First, p.Runtime.Seconds()
		case s.Kind == "pose" && c.spin == hal.None:
			c.spin = s.First + 12
		}
	}
	return c, nil
}

// Board is the base's controller, at the rate that it has from its power-on.
func (c *chassis) Board(baud int) *p2os.Board {
	return p2os.New(c.plan.Robot, "Halyard", baud, c.plan.Arcos(), c)
}

// Move sets the wheels to the board's commands, until the next cycle.
func (c *chassis) Move() {
	for _, w := range c.plan.Wheels {
		c.body.Joint(w.Actuator).Spin(c.goal[w.Side]/c.radius, c.on)
	}
}

func (c *chassis) Drive(left, right float64, on bool) { c.goal, c.on = [2]float64{left, right}, on }

// Rims is p2os.Chassis's: the means of the wheels of each side, which a belt joins.
func (c *chassis) Rims() (left, right float64) {
	var sum, count [2]float64
	for _, w := range c.plan.Wheels {
		sum[w.Side] += float64(c.body.Joint(w.Actuator).Turned() * c.radius)
		count[w.Side]++
	}
	return sum[base.Left] / count[base.Left], sum[base.Right] / count[base.Right]
}

func (c *chassis) Sonar(i int) float64 {
	if i >= len(c.plan.Sonar) || c.plan.Sonar[i] == hal.None {
		return math.Inf(1)
	}
	return c.groundTruth.Values(&c.groundTruth.Layout.Sensors[c.plan.Sonar[i]])[0]
}

func (c *chassis) Bumper(rear bool, i int) bool {
	ring := c.plan.Bumpers[0]
	if rear {
		ring = c.plan.Bumpers[1]
	}
	return i < len(ring) && ring[i] != hal.None && c.groundTruth.Values(&c.groundTruth.Layout.Sensors[ring[i]])[0] > 0
}

func (c *chassis) Turn() float64 {
	if c.spin == hal.None {
		return 0
	}
	return c.groundTruth.Frame.Measured[c.spin]
}

// Volts is p2os.Chassis's: a battery that falls from full to empty as the simulated one runs down.
func (c *chassis) Volts() float64 {
	if c.left == hal.None || c.Life <= 0 {
		return c.groundTruth.Volts(12)
	}
	share := math.Max(0, math.Min(1, c.groundTruth.Frame.Measured[c.left]/c.Life))
	return c.plan.Robot.EmptyVolts + float64(share*(c.plan.Robot.FullVolts-c.plan.Robot.EmptyVolts))
}
