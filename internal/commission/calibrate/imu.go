package calibrate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// How long an inertial sensor is read, s, and the bounds of its readings at rest.
const (
	restSeconds = 5.0
	sideSeconds = 1.0
	stillRate   = 0.03 // rad/s, standard deviation
	stillPull   = 0.4  // m/s²
)

// chipReading is the mean and the spread of an inertial sensor's readings in its own axes: rad/s and m/s².
type chipReading struct {
	rate, pull, rateSpread, pullSpread [3]float64
	compass                            bool // it has a magnetometer
}

// turned is a reading of an inertial sensor at one instant: proper acceleration, m/s², and field, T.
type turned struct{ pull, field [3]float64 }

// chipReader reads a sensor for some seconds. each, where not nil, receives every sample of one with a magnetometer.
type chipReader func(seconds float64, each func(turned)) (chipReading, error)

// still reports whether it lay still.
func (r *chipReading) still() bool {
	return slices.Max(r.rateSpread[:]) <= stillRate && slices.Max(r.pullSpread[:]) <= stillPull
}

// Inertial leads through the calibration of the inertial sensor called name: rest, six sides, how it lies in the robot,
// and its magnetometer.
func (g *Guide) Inertial(ctx context.Context, name string) (err error) {
	c, path, err := g.inertialConfig(name)
	if err != nil {
		return err
	}
	dir, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	s := c.Agents[0].Hardware.Sensors[name]
	old, err := calibration.LoadInertial(path)
	if err != nil {
		old = calibration.NominalInertial(name, s.Device)
	}
	raw := calibration.NominalInertial(name, s.Device)
	raw.Date, raw.Chip = g.Now(), old.Chip
	if own, err := calibration.LoadInertial(c.Resolve(s.Calibration)); err == nil && own.Model == s.Device &&
		s.GroundTruth == "" {
		s.GroundTruth = s.Calibration // an emulated chip stays as it is
	}
	s.Calibration = filepath.Join(dir, name+".yaml")
	if _, err := calibration.SaveInertial(s.Calibration, raw); err != nil {
		return err
	}
	c.Agents[0].Hardware.Sensors[name] = s
	read, end, err := g.chip(ctx, c, name) // without its calibration
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	made, err := g.inertial(ctx, old, c.World.Gravity, read)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if _, err := calibration.SaveInertial(path, made); err != nil {
		return err
	}
	g.printf("%s: version %d", path, made.Version)
	return nil
}

// inertialConfig returns the config of the sensor's robot, in which all other parts are simulated, and the sensor's
// file.
func (g *Guide) inertialConfig(name string) (*configs.Config, string, error) {
	c, kind, path, err := g.deviceConfig("sensor", "hardware.sensors", name,
		func(h *configs.Hardware) map[string]string {
			files := map[string]string{}
			for n, s := range h.Sensors {
				files[n] = s.Calibration
			}
			return files
		})
	if err == nil {
		c.Agents[0].Parts = map[string]configs.BodyKind{name: kind}
	}
	return c, path, err
}

// chip opens the robot and returns a function that reads its sensor for some seconds, and one that closes it.
func (g *Guide) chip(ctx context.Context, c *configs.Config, name string) (read chipReader, end func() error,
	err error) {
	s, err := g.openStand(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(s.agent.Layout().Sensors, func(x hal.Sensor) bool { return x.Name == name })
	if i < 0 || s.agent.Layout().Sensors[i].Kind != "imu" {
		return nil, nil, errors.Join(&hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config,
			Err: fmt.Errorf("got sensor %q, want an imu: rates and acceleration", name)}, s.end())
	}
	return func(seconds float64, each func(turned)) (r chipReading, err error) {
		var sum, squares [6]float64
		n := 0.0
		for range int(math.Ceil(seconds / s.period.Seconds())) {
			if err := s.step(ctx); err != nil {
				return r, err
			}
			v, _, fault := s.agent.Sensor(name, nil)
			if fault != nil || math.IsNaN(v[4]+v[7]) {
				err = fault
				continue
			}
			n++
			if field, ok := s.agent.Field(name); ok {
				if r.compass = true; each != nil {
					each(turned{[3]float64(v[7:10]), field})
				}
			}
			for k := range sum {
				sum[k], squares[k] = sum[k]+v[4+k], squares[k]+v[4+k]*v[4+k]
			}
		}
		if n < 3 {
			return r, errors.Join(&hal.Error{Kind: hal.BusFault, Op: "read " + name, Err: errors.New("got no values"),
				Try: "halyard doctor " + g.Config}, err)
		}
		for k := range 3 {
			r.rate[k], r.pull[k] = sum[k]/n, sum[3+k]/n
			r.rateSpread[k] = math.Sqrt(math.Max(0, squares[k]/n-r.rate[k]*r.rate[k]))
			r.pullSpread[k] = math.Sqrt(math.Max(0, squares[3+k]/n-r.pull[k]*r.pull[k]))
		}
		return r, nil
	}, s.end, nil
}

// inertial prompts for rest, six sides and two attitudes, and for rotations of a magnetometer, and returns the
// calibration.
func (g *Guide) inertial(ctx context.Context, old *calibration.Inertial, gravity float64,
	read chipReader) (*calibration.Inertial, error) {
	made := *old
	made.Method, made.Date = calibration.ByManual, g.Now()
	take := func(prompt string, seconds float64) (chipReading, error) {
		for {
			if _, err := g.choose(ctx, prompt, ""); err != nil {
				return chipReading{}, err
			}
			r, err := read(seconds, nil)
			if err != nil || r.still() {
				return r, err
			}
			g.printf("  it moved: rates spread by %.3f rad/s, acceleration by %.2f m/s2", slices.Max(r.rateSpread[:]),
				slices.Max(r.pullSpread[:]))
		}
	}
	g.printf("\n== 1: rest")
	r, err := take("Lay the sensor down, warm, and let it be. Enter, then wait 5 s", restSeconds)
	if err != nil {
		return nil, err
	}
	made.Gyro = calibration.Correction{Offset: r.rate, Scale: [3]float64{1, 1, 1}}
	g.printf("  gyro offset %.4f %.4f %.4f rad/s", r.rate[0], r.rate[1], r.rate[2])

	g.printf("\n== 2: six sides")
	sides := map[string][3]float64{}
	for len(sides) < 6 {
		r, err := take(fmt.Sprintf("Lay it on a side that was not down yet (%d of 6 are done). Enter", len(sides)),
			sideSeconds)
		if err != nil {
			return nil, err
		}
		side := sideOf(r.pull)
		if _, there := sides[side]; there {
			g.printf("  %s was up before", side)
		}
		sides[side] = r.pull
		g.printf("  %s is up: %.2f %.2f %.2f m/s2", side, r.pull[0], r.pull[1], r.pull[2])
	}
	var points [][3]float64
	before := 0.0
	for _, p := range sides {
		points = append(points, p)
		before = math.Max(before, math.Abs(math.Sqrt(p[0]*p[0]+p[1]*p[1]+p[2]*p[2])-gravity))
	}
	slices.SortFunc(points, func(a, b [3]float64) int { return slices.Compare(a[:], b[:]) })
	fit, residual, err := calibration.FitEllipsoid(points, gravity)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibrate " + old.Sensor, Err: err}
	}
	made.Accelerometer = fit
	g.printf("  gravity was off by up to %.2f m/s2, is by %.2f now", before, residual)

	g.printf("\n== 3: how it lies in the robot")
	for {
		level, err := take("Mount it, and hold the robot level. Enter", sideSeconds)
		if err != nil {
			return nil, err
		}
		nose, err := take("Raise the robot's front by 20 to 60 degrees. Enter", sideSeconds)
		if err != nil {
			return nil, err
		}
		_, flat, _ := made.Corrected([3]float64{}, level.pull, [3]float64{})
		_, raised, _ := made.Corrected([3]float64{}, nose.pull, [3]float64{})
		flat, raised = inChip(&made, flat), inChip(&made, raised)
		if made.Axes, err = calibration.AxesOf(flat, raised); err == nil {
			break
		}
		made.Axes = old.Axes
		g.printf("  %v", err)
	}
	g.printf("  axes: %s forward, %s left, %s up", made.Axes[0], made.Axes[1], made.Axes[2])
	if r.compass {
		return &made, g.magnetometer(ctx, &made, gravity, read)
	}
	return &made, nil
}

// inChip converts v from the mount's axes to the chip's: the inverse of a calibration's axes.
func inChip(c *calibration.Inertial, v [3]float64) (chip [3]float64) {
	for i, a := range c.Axes {
		sign := 1.0
		if strings.HasPrefix(string(a), "-") {
			sign = -1
		}
		chip[strings.IndexByte("xyz", a[len(a)-1])] = sign * v[i]
	}
	return chip
}

// sideOf is the axis that points up.
func sideOf(pull [3]float64) string {
	k := longest(pull)
	return map[bool]string{true: "+", false: "-"}[pull[k] > 0] + "xyz"[k:k+1]
}
