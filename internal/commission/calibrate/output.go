package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// How a session tries the pulses of an output.
const (
	trySeconds  = 1.5   // s that a width is tried before the output is neutral again
	moveSeconds = 3.0   // s that a hobby servo has to reach a width
	widestBand  = 100.0 // µs either way within which a motor must begin to turn
	sureBand    = 2.0   // µs, resolution of the search for the ends of the dead band
	forcePoints = 4     // widths on each side at which forces are measured
	anglePoints = 5     // widths at which angles are measured
	pushShare   = 0.2   // of the range beyond the dead band, for the direction
)

// Output leads through the calibration of the output called name: a thruster, an ESC or a hobby servo behind a board of
// pulses.
func (g *Guide) Output(ctx context.Context, name string) (err error) {
	c, kind, path, err := g.outputConfig(name)
	if err != nil {
		return err
	}
	dir, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	h := c.Agents[0].Hardware.Joints[name]
	old, err := calibration.LoadPulse(path)
	if err != nil && hal.KindOf(err) != hal.Uncalibrated {
		return err
	}
	if old != nil && (old.Device.Model != h.Device || old.Device.Channel != *h.Channel) {
		g.printf("%s is of %s channel %d: a new one begins", path, old.Device.Model, old.Device.Channel)
		old = nil
	}
	limits, angle, err := g.outputOf(c, name)
	if err != nil {
		return err
	}
	channel := calibration.Channel{Model: h.Device, Channel: *h.Channel}
	if old == nil && angle {
		old = calibration.NominalServo(name, channel, limits.MinPosition, limits.MaxPosition)
	} else if old == nil {
		old = calibration.NominalThruster(name, channel, nil)
		old.Mode = hal.DutyMode
	}
	raw := new(calibration.Pulse)
	*raw = *old
	raw.Method, raw.Date, raw.Direction, raw.DeadBand = calibration.ByNominal, g.Now(), 1,
		[2]float64{old.Neutral, old.Neutral}
	raw.Mode, raw.Table = hal.DutyMode, nil
	if angle {
		raw.Mode, raw.Table = hal.PositionMode, []calibration.Width{{Micros: raw.Range[0], Value: limits.MinPosition},
			{Micros: raw.Range[1], Value: limits.MaxPosition}}
	}
	h.Calibration = filepath.Join(dir, name+".yaml")
	if _, err := calibration.SavePulse(h.Calibration, raw); err != nil {
		return err
	}
	c.Agents[0].Hardware.Joints[name] = h
	c.Agents[0].Parts = map[string]configs.BodyKind{name: kind}
	if !angle { // all thrusters have one body; the others stay neutral
		c.Agents[0].Body, c.Agents[0].Parts = kind, map[string]configs.BodyKind{}
		for n := range c.Agents[0].Hardware.Sensors {
			c.Agents[0].Parts[n] = configs.Sim
		}
		for n, o := range c.Agents[0].Hardware.Joints {
			if o.Device == "" || o.Channel == nil || n == name {
				continue
			}
			if _, err := calibration.LoadPulse(c.Resolve(o.Calibration)); err != nil || o.Calibration == "" {
				still := *raw
				still.Output, still.Device = n, calibration.Channel{Model: o.Device, Channel: *o.Channel}
				o.Calibration = filepath.Join(dir, n+".yaml")
				if _, err := calibration.SavePulse(o.Calibration, &still); err != nil {
					return err
				}
				c.Agents[0].Hardware.Joints[n] = o
			}
		}
	}
	if c.Agents[0].Has(configs.Real) {
		g.printf("REAL OUTPUT %s: take the propeller off, or put it into water; keep hands away.", name)
	} else {
		g.printf("EMULATED: a board in memory.")
	}
	if _, err := g.choose(ctx, "Pulses go out now. Enter", ""); err != nil {
		return err
	}
	drive, end, err := g.driver(ctx, c, name, raw)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	ask := g.thruster
	if angle {
		ask = g.hobbyServo
	}
	made, err := ask(ctx, old, drive)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if _, err := calibration.SavePulse(path, made); err != nil {
		return err
	}
	g.printf("%s: version %d", path, made.Version)
	return nil
}

// outputConfig returns the config of the output's robot, simulated and disarmed, the body of the output, and its file.
func (g *Guide) outputConfig(name string) (*configs.Config, configs.BodyKind, string, error) {
	c, kind, path, err := g.deviceConfig("output", "the channels of hardware.joints", name,
		func(h *configs.Hardware) map[string]string {
			files := map[string]string{}
			for n, j := range h.Joints {
				if j.Device != "" && j.Channel != nil {
					files[n] = j.Calibration
				}
			}
			return files
		})
	if err == nil {
		a := &c.Agents[0]
		a.Guard.Arming, a.Guard.OnTimeout = "operator", "hold"
	}
	return c, kind, path, err
}

// deviceConfig returns the config of the first robot that has a device called name, which is simulated and disarmed,
// the body of the device, and its calibration file. files lists the devices of a robot: the file that the config has of
// each, or "".
func (g *Guide) deviceConfig(what, where, name string,
	files func(*configs.Hardware) map[string]string) (*configs.Config, configs.BodyKind, string, error) {
	c, err := configs.Load(g.Config, g.Options)
	if err != nil {
		return nil, "", "", err
	}
	var have []string
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Hardware == nil || g.Agent != "" && a.Name != g.Agent {
			continue
		}
		all := files(a.Hardware)
		have = slices.AppendSeq(have, maps.Keys(all))
		file, ok := all[name]
		if !ok {
			continue
		}
		kind := g.body()
		path := c.Resolve(cmp.Or(file, filepath.Join("calibration", name+".yaml")))
		if g.Dir != "" {
			path = filepath.Join(g.Dir, name+".yaml")
		}
		c.Agents, c.Servers, c.Classes = c.Agents[i:i+1], nil, nil
		a = &c.Agents[0]
		a.Body, a.Parts, a.Shadow, a.Guard.Armed = configs.Sim, nil, false, false
		return c, kind, path, nil
	}
	slices.Sort(have)
	return nil, "", "", &hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config,
		Err: fmt.Errorf("got %s %q, want one of %s: %s", what, name, where, strings.Join(have, ", "))}
}

// outputOf returns an output's limits in the robot's model, and whether it turns to an angle.
func (g *Guide) outputOf(c *configs.Config, name string) (l hal.Limits, angle bool, err error) {
	p, err := plan.Resolve(c, g.Catalog)
	if err != nil {
		return l, false, err
	}
	a := &p.Agents[0]
	i := a.Layout.Actuator(name)
	act := &a.Layout.Actuators[i]
	return act.Limits, act.Kind == hal.Hinge && act.Goal[hal.PositionMode] != hal.None, nil
}

// driver opens the robot of c and returns a function that sets an output to a width, µs, for some time, and one that
// closes the robot. Afterwards a motor is neutral again; a hobby servo keeps its width.
func (g *Guide) driver(ctx context.Context, c *configs.Config, name string,
	raw *calibration.Pulse) (drive func(us float64) error, end func() error, err error) {
	s, err := g.openStand(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	hold := func(us, seconds float64) error {
		command := halyard.Position(raw.Value(time.Duration(us * float64(time.Microsecond))))
		if raw.Mode == hal.DutyMode {
			duty := (us - raw.Neutral) / (raw.Range[1] - raw.Neutral)
			if duty < 0 {
				duty = (us - raw.Neutral) / (raw.Neutral - raw.Range[0])
			}
			command = halyard.Duty(duty)
		}
		for range int(math.Ceil(seconds / s.period.Seconds())) {
			if err := s.agent.Command(name, command); err != nil {
				return err
			}
			if err := s.step(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	for range 10 {
		err = errors.Join(err, s.step(ctx))
	}
	if err == nil {
		err = s.sys.Arm()
	}
	if err == nil {
		err = hold(raw.Neutral, raw.Arming.Seconds()+0.5)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.end())
	}
	return func(us float64) error {
		if raw.Mode != hal.DutyMode {
			return hold(us, moveSeconds)
		}
		return errors.Join(hold(us, trySeconds), hold(raw.Neutral, 0.3))
	}, s.end, nil
}

// thruster prompts for a motor's reaction to pulses, and returns the calibration.
func (g *Guide) thruster(ctx context.Context, old *calibration.Pulse, drive func(float64) error) (*calibration.Pulse,
	error) {
	made := *old
	made.Method, made.Date = calibration.ByManual, g.Now()
	g.printf("\n== 1 of 4: dead band\nEach width is tried for %.1f s.", trySeconds)
	for side, sign := range [2]float64{-1, 1} {
		still, turns := made.Neutral, made.Neutral+sign*widestBand
		turns = math.Max(made.Range[0], math.Min(made.Range[1], turns))
		for at := turns; ; at = math.Round((still + turns) / 2) {
			if err := drive(at); err != nil {
				return nil, err
			}
			text, err := g.choose(ctx, fmt.Sprintf("%.0f us: did it turn? y or n", at), "y", "n")
			if err != nil {
				return nil, err
			}
			if text == "y" {
				turns = at
			} else if still = at; at == turns {
				return nil, &hal.Error{Kind: hal.Absent, Op: "calibrate " + old.Output, Joint: old.Output,
					Try: "its power, its arming, and its channel",
					Err: fmt.Errorf("got no turn at %.0f us, want one within %.0f us of neutral", at, widestBand)}
			}
			if math.Abs(turns-still) <= sureBand {
				break
			}
		}
		made.DeadBand[side] = still
	}
	g.printf("  dead band %.0f..%.0f us, was %.0f..%.0f", made.DeadBand[0], made.DeadBand[1], old.DeadBand[0],
		old.DeadBand[1])

	g.printf("\n== 2 of 4: direction")
	if err := drive(made.DeadBand[1] + pushShare*(made.Range[1]-made.DeadBand[1])); err != nil {
		return nil, err
	}
	text, err := g.choose(ctx, "Did it push along its axis in the robot's model (the vehicle's file says which "+
		"way)? y or n", "y", "n")
	if err != nil {
		return nil, err
	}
	made.Direction = map[string]int{"y": 1, "n": -1}[text]

	g.printf("\n== 3 of 4: force")
	text, err = g.choose(ctx, "f measures forces with a scale, under water; Enter leaves them out (mode duty)", "f", "")
	if err != nil {
		return nil, err
	}
	if text == "f" {
		if err := g.forces(ctx, &made, old, drive); err != nil {
			return nil, err
		}
	} else {
		made.Mode, made.Table = hal.DutyMode, nil
	}

	g.printf("\n== 4 of 4: arming and clock")
	seconds, err := g.number(ctx, fmt.Sprintf("Seconds at neutral from power-on until it is armed; Enter keeps %.1f",
		made.Arming.Seconds()), made.Arming.Seconds(), 0, 60)
	if err != nil {
		return nil, err
	}
	made.Arming = time.Duration(seconds * float64(time.Second))
	if made.Device.Model == "pca9685" {
		if err := g.clock(ctx); err != nil {
			return nil, err
		}
	}
	_, err = g.choose(ctx, "Enter writes the file; the one before is kept as a version", "")
	return &made, err
}

// forces prompts for the force at some widths of each side.
func (g *Guide) forces(ctx context.Context, made, old *calibration.Pulse, drive func(float64) error) error {
	table := []calibration.Width{{Micros: made.DeadBand[0]}, {Micros: made.DeadBand[1]}}
	for side, sign := range [2]float64{-1, 1} {
		for k := 1; k <= forcePoints; k++ {
			at := math.Round(made.DeadBand[side] + (made.Range[side]-made.DeadBand[side])*float64(k)/forcePoints)
			if err := drive(at); err != nil {
				return err
			}
			v, err := g.number(ctx, fmt.Sprintf("%.0f us: newtons on the scale, without sign", at), math.NaN(), 0, 1000)
			if err != nil {
				return err
			}
			table = append(table, calibration.Width{Micros: at, Value: sign * v})
		}
	}
	slices.SortFunc(table, func(a, b calibration.Width) int { return int(math.Copysign(1, a.Micros-b.Micros)) })
	if table[forcePoints].Micros == table[forcePoints+1].Micros { // no dead band
		table = slices.Delete(table, forcePoints, forcePoints+1)
	}
	made.Mode, made.Table = hal.TorqueMode, table
	if err := made.Validate(); err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "calibrate " + old.Output, Joint: old.Output, Err: err,
			Try: "measure again: more pulse never makes less force"}
	}
	if len(old.Table) > 0 {
		worst := 0.0
		for _, w := range table {
			worst = math.Max(worst, math.Abs(old.Value(time.Duration(w.Micros*1000))-float64(old.Direction)*w.Value))
		}
		g.printf("  the file before was off by up to %.1f N at these widths", worst)
	}
	return nil
}

// hobbyServo prompts for the angle at some widths.
func (g *Guide) hobbyServo(ctx context.Context, old *calibration.Pulse, drive func(float64) error) (*calibration.Pulse,
	error) {
	made := *old
	made.Method, made.Date, made.Mode = calibration.ByManual, g.Now(), hal.PositionMode
	g.printf("\n== 1 of 2: angles\nIt moves to %d widths from %.0f to %.0f us; measure each angle with a "+
		"protractor. 0 is the joint's zero.", anglePoints, made.Range[0], made.Range[1])
	table := make([]calibration.Width, anglePoints)
	for _, k := range [anglePoints]int{2, 1, 0, 3, 4} { // from the middle, never from end to end
		at := math.Round(made.Range[0] + (made.Range[1]-made.Range[0])*float64(k)/(anglePoints-1))
		if err := drive(at); err != nil {
			return nil, err
		}
		v, err := g.number(ctx, fmt.Sprintf("%.0f us: degrees", at), math.NaN(), -360, 360)
		if err != nil {
			return nil, err
		}
		table[k] = calibration.Width{Micros: at, Value: v * degree}
	}
	if made.Direction = 1; table[0].Value > table[anglePoints-1].Value {
		made.Direction = -1
	}
	worst := 0.0
	for i := range table {
		worst = math.Max(worst, math.Abs(old.Value(time.Duration(table[i].Micros*1000))-table[i].Value))
		table[i].Value *= float64(made.Direction)
	}
	made.Table = table
	if err := made.Validate(); err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibrate " + old.Output, Joint: old.Output, Err: err,
			Try: "measure again: angles go one way"}
	}
	g.printf("  the file before was off by up to %.1f degrees at these widths; direction %d", worst/degree,
		made.Direction)
	if made.Device.Model == "pca9685" {
		g.printf("\n== 2 of 2: clock")
		if err := g.clock(ctx); err != nil {
			return nil, err
		}
	}
	_, err := g.choose(ctx, "Enter writes the file; the one before is kept as a version", "")
	return &made, err
}

// clock computes the oscillator frequency of a PCA9685 from a measured width.
func (g *Guide) clock(ctx context.Context) error {
	us, err := g.number(ctx, "Its clock is off by some per cent. Width that an oscilloscope shows for 1500 us; "+
		"Enter where you have none", 0, 1200, 1900)
	if err == nil && us > 0 {
		g.printf("  set at one channel of this board in the config: oscillator: %.0f", 25e6*1500/us)
	}
	return err
}

// number prompts for a number within low..high; Enter returns otherwise, unless that is NaN.
func (g *Guide) number(ctx context.Context, prompt string, otherwise, low, high float64) (float64, error) {
	for {
		text, err := g.ask(ctx, "%s", prompt)
		if err != nil {
			return 0, err
		}
		if text == "" && !math.IsNaN(otherwise) {
			return otherwise, nil
		}
		if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && v >= low && v <= high {
			return v, nil
		}
		g.printf("got %q, want a number of %g..%g", text, low, high)
	}
}
