package catalog

import (
	"cmp"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// GroundTruth is the true motion of a simulated robot, for an emulated device that is one or more of its sensors.
type GroundTruth struct {
	Layout *hal.Layout
	Frame  *hal.Frame
	serves []*hal.Sensor
	felt   time.Duration // time and speed of the last motion passed to a chip
	speed  [3]float64
	Tags   *Field // around a reader
}

func NewTruth(of Look, uses []Use) *GroundTruth {
	l := of.Body.Layout()
	t := &GroundTruth{Layout: l, Frame: of.Frame}
	for _, u := range uses {
		if i := SensorIndex(l, u.Sensor); i != hal.None {
			t.serves = append(t.serves, &l.Sensors[i])
		}
	}
	return t
}

// Values returns the true values of a sensor of the layout.
func (t *GroundTruth) Values(s *hal.Sensor) []float64 { return t.Frame.Measured[s.First:][:s.Count] }

// first is the first value of the sensor that a device is; a monitor has no true value.
func (t *GroundTruth) first() float64 {
	if len(t.serves) == 0 {
		return 0
	}
	return t.Values(t.serves[0])[0]
}

// motion is the true input of an inertial chip in its own axes, mounted and offset as in c.
func (t *GroundTruth) motion(c *calibration.Inertial) chip.Motion {
	m := chip.AtRest()
	m.Since = t.Frame.Time
	for _, s := range t.serves {
		v := t.Values(s)
		switch s.Kind {
		case "inertial":
			t.Feel(&m, s.Mount)
		case "imu":
			copy(m.Attitude[:], v)
			copy(m.Rates[:], v[4:])
			copy(m.Acceleration[:], v[7:])
		case "gyro":
			copy(m.Rates[:], v)
		case "accelerometer":
			copy(m.Acceleration[:], v)
		}
	}
	at := hal.Pose{Rotation: m.Attitude}
	m.Field = at.Inverse().Turn(m.Field)
	m.Rates, m.Acceleration, m.Field = c.Measured(m.Rates, m.Acceleration, m.Field)
	mount, _ := c.Mount()
	m.Attitude = at.Times(hal.Pose{Rotation: mount}.Inverse()).Rotation
	return m
}

// Feel computes the motion at a mount of a robot with a pose sensor, for a sensor whose own values are only angles.
func (t *GroundTruth) Feel(m *chip.Motion, mount hal.Pose) {
	for i := range t.Layout.Sensors {
		s := &t.Layout.Sensors[i]
		if s.Kind != "pose" {
			continue
		}
		v := t.Values(s)
		at := hal.Pose{Rotation: [4]float64(v[3:7])}.Times(s.Mount.Inverse()).Times(mount)
		back := hal.Pose{Rotation: at.Rotation}.Inverse()
		push := [3]float64{0, 0, StandardGravity}
		if dt := (t.Frame.Time - t.felt).Seconds(); dt > 0 && t.felt > 0 {
			for k := range push {
				push[k] += (v[7+k] - t.speed[k]) / dt
			}
		}
		t.felt, t.speed = t.Frame.Time, [3]float64(v[7:10])
		m.Attitude, m.Rates, m.Acceleration = at.Rotation, back.Turn([3]float64(v[10:13])), back.Turn(push)
		return
	}
}

// fluid returns the fluid around a pressure sensor, with air, Pa, above the water. 0 means sea level.
func (t *GroundTruth) fluid(air float64) chip.Fluid {
	air = cmp.Or(air, pressure.SeaLevel)
	f := chip.Fluid{Pascals: air, Celsius: 15, Humidity: 0.5}
	for _, s := range t.serves {
		f.Pascals += t.Values(s)[0]
	}
	return f
}

// Volts is the voltage of the robot's supply, or otherwise if it is unknown.
func (t *GroundTruth) Volts(otherwise float64) float64 {
	for i := range t.Layout.Sensors {
		// A vehicle whose file has no supply has 1 V.
		if s := &t.Layout.Sensors[i]; s.Kind == "voltage" && t.Values(s)[0] > 1 {
			return t.Values(s)[0]
		}
	}
	for i := range t.Layout.Actuators {
		if at := t.Layout.Actuators[i].Voltage; at != hal.None && t.Frame.Measured[at] > 1 {
			return t.Frame.Measured[at]
		}
	}
	return otherwise
}
