package assembly

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// estimated is the body of devices of a vehicle. Its pose is estimated from the sensors: attitude and rates from the
// imu, height from the pressure; position and speed are unknown.
type estimated struct {
	hal.Body
	layout              *hal.Layout
	imu, pressure, pose int     // of the layout's sensors, or hal.None
	perMetre            float64 // Pa
}

// estimatePose adds an estimated pose, marked as an estimate, to the devices of a vehicle, if its layout has a pose
// without a device. The pressure rises by perMetre, Pa.
func estimatePose(body hal.Body, driven map[string]bool, perMetre float64) hal.Body {
	l := body.Layout()
	r := &estimated{Body: body, perMetre: perMetre, imu: hal.None, pressure: hal.None, pose: hal.None}
	for i := range l.Sensors {
		s := &l.Sensors[i]
		for kind, at := range map[string]*int{"imu": &r.imu, "pressure": &r.pressure, "pose": &r.pose} {
			if s.Kind == kind && *at == hal.None {
				*at = i
			}
		}
	}
	if r.pose == hal.None || driven[l.Sensors[r.pose].Name] {
		return body
	}
	own := *l
	own.Outputs, own.Infos = slices.Clone(l.Outputs), slices.Clone(l.Infos)
	for k := range own.Sensors[r.pose].Count {
		own.Measured(own.Sensors[r.pose].First + k).Estimate = true
	}
	r.layout = &own
	return r
}

// Layout is the devices' with the pose marked as an estimate.
func (r *estimated) Layout() *hal.Layout { return r.layout }

// Read reads the devices and estimates the pose; the pose has the faults of its sensors.
func (r *estimated) Read(f *hal.Frame) error {
	err := r.Body.Read(f)
	pose := f.Measured[r.layout.Sensors[r.pose].First:][:13]
	for i := range pose {
		pose[i] = math.NaN()
	}
	status := hal.Status{Time: f.Time}
	worse := func(sensor int) {
		of := f.Status[len(r.layout.Actuators)+sensor]
		if status.Time = min(status.Time, of.Time); status.Err == nil {
			status.Err = of.Err
		}
	}
	if r.imu != hal.None {
		s := &r.layout.Sensors[r.imu]
		v := f.Measured[s.First:][:7]
		at := hal.Pose{Rotation: [4]float64(v[:4])}
		spin := at.Turn([3]float64(v[4:7]))
		at = at.Times(s.Mount.Inverse())
		copy(pose[3:7], at.Rotation[:])
		copy(pose[10:], spin[:])
		worse(r.imu)
	}
	if r.pressure != hal.None {
		pose[2] = -f.Measured[r.layout.Sensors[r.pressure].First] / r.perMetre
		worse(r.pressure)
	}
	f.Status[len(r.layout.Actuators)+r.pose] = status
	return err
}

// Holding implements hal.TorqueReporter: a pulse output does not report torque.
func (r *estimated) Holding(int) bool { return false }
