package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// leastWalks are the walks that a session needs at least.
var leastWalks = []string{
	"straight ahead by a metre or more",
	"round a square of 2 to 4 m, clockwise, back to the mark",
	"round the same square the other way, back to the mark",
}

// Wheels guides through the calibration of a base's dead reckoning: a straight metre and a square in each direction,
// whose ends a person measures. It moves no motor, and prints the keys for the config.
func (g *Guide) Wheels(ctx context.Context) (err error) {
	reckoned, end, err := g.odometer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	_, err = g.wheels(ctx, reckoned)
	return err
}

// wheels prompts for the walks. reckoned begins a new one, and returns the steps of the previous one.
func (g *Guide) wheels(ctx context.Context, reckoned func() ([][2]float64, error)) (o calibration.Odometry, err error) {
	g.printf("The motors stay off: push the robot, by hand, so that its wheels do not slip. Mark where it stands " +
		"and which way it looks.")
	var walks []calibration.Walk
	for len(walks) < 32 {
		way := "as you like, back to the mark"
		if len(walks) < len(leastWalks) {
			way = leastWalks[len(walks)]
		}
		prompt := fmt.Sprintf("Walk %d: put it on the mark, Enter, and push it %s", len(walks)+1, way)
		words := []string{""}
		if len(walks) >= len(leastWalks) {
			prompt, words = prompt+"; end after the last", []string{"", "end"}
		}
		text, err := g.choose(ctx, prompt, words...)
		if err != nil {
			return o, err
		}
		if text == "end" {
			break
		}
		if _, err := reckoned(); err != nil {
			return o, err
		}
		w := calibration.Walk{}
		if w.X, w.Y, err = g.place(ctx); err != nil {
			return o, err
		}
		if w.Steps, err = reckoned(); err != nil {
			return o, err
		}
		gone := 0.0
		for _, s := range w.Steps {
			gone += math.Abs(s[0])
		}
		x, y, _ := w.End(calibration.Odometry{})
		if g.printf("  reckoned: %.3f m ahead, %.3f m to the left, after %.2f m", x, y, gone); gone < 0.5 {
			g.printf("  that is no walk: 0.5 m or more")
			continue
		}
		walks = append(walks, w)
	}
	o, before, after, err := calibration.FitOdometry(walks)
	if err != nil {
		return o, &hal.Error{Kind: hal.Invalid, Op: "calibrate --wheels", Err: err}
	}
	g.printf("The ends were off by %.3f m (root mean square), are by %.3f m now. Set in the config, at the base, in "+
		"place of what is there:", before, after)
	g.printf("  odometry: {distance: %.5f, turn: %.5f, curve: %.5f}", o.Distance, o.Turn, o.Curve)
	return o, nil
}

// place prompts for the robot's position.
func (g *Guide) place(ctx context.Context) (x, y float64, err error) {
	for {
		text, err := g.ask(ctx, "Where does it stand, from the mark? Metres ahead and metres to the left, as 1.02 -0.01")
		if err != nil {
			return 0, 0, err
		}
		if x, y, ok := twoNumbers(strings.Fields(text)); ok && math.Abs(x) <= 100 && math.Abs(y) <= 100 {
			return x, y, nil
		}
		g.printf("got %q, want two numbers, in metres", text)
	}
}

// odometer opens the base of the config's robot, without a correction. It returns a function that reads the steps since
// its last call, and one that closes the base.
func (g *Guide) odometer(ctx context.Context) (reckoned func() ([][2]float64, error), end func() error, err error) {
	c, err := configs.Load(g.Config, g.Options)
	if err != nil {
		return nil, nil, err
	}
	at := -1
	robots := c.Robots()
	for i := range robots {
		if r := &robots[i]; r.Hardware != nil && r.Hardware.Base != nil && (g.Agent == "" || g.Agent == r.Name) {
			at = i
		}
	}
	if at < 0 {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config,
			Err: errors.New("no hardware.base with wheel odometry in this config")}
	}
	r := *robots[at].Robot
	kind := g.body()
	r.Body, r.Parts, r.Shadow = configs.Sim, map[string]configs.BodyKind{configs.BasePart: kind}, false
	base := *r.Hardware.Base
	base.Odometry = configs.Reckon{Distance: 1, Turn: 1}
	hardware := *r.Hardware
	hardware.Base, r.Hardware = &base, &hardware
	r.Guard.Armed, r.Guard.Arming = false, "operator"
	c.Servers, c.Classes, c.Agents = nil, nil, []configs.Agent{{Name: "robot", Robot: r}}
	s, err := g.openStand(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	name := ""
	for _, x := range s.agent.Layout().Sensors {
		if x.Kind == "odometry" {
			name = x.Name
		}
	}
	if name == "" {
		return nil, nil, errors.Join(&hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config,
			Err: errors.New("got a robot without a sensor of kind odometry")}, s.end())
	}
	var mu sync.Mutex
	var steps [][2]float64
	var last []float64
	cancel := s.sys.OnCycle(func(*hal.Cycle) {
		mu.Lock()
		defer mu.Unlock()
		v, _, err := s.agent.Sensor(name, nil)
		if err != nil || len(v) < 3 || math.IsNaN(v[0]+v[1]+v[2]) {
			return
		}
		if last != nil && len(steps) < 1<<20 && (v[0] != last[0] || v[1] != last[1] || v[2] != last[2]) {
			turn := math.Remainder(v[2]-last[2], 2*math.Pi)
			sin, cos := math.Sincos(last[2] + turn/2)
			steps = append(steps, [2]float64{(v[0]-last[0])*cos + (v[1]-last[1])*sin, turn})
		}
		last = v
	})
	return func() ([][2]float64, error) {
			if err := s.step(ctx); err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			if last == nil {
				return nil, &hal.Error{Kind: hal.BusFault, Op: "read " + name, Err: errors.New("got no values"),
					Try: "halyard doctor " + g.Config}
			}
			all := steps
			steps = nil
			return all, nil
		}, func() error {
			cancel()
			return s.end()
		}, nil
}
