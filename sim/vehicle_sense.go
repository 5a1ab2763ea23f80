package sim

import (
	"cmp"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/hydro"
)

// The ranges of a vehicle's channels: normalising protocols clip values outside.
const (
	maxPlace    = 1000.0 // m
	maxSpeed    = 20.0   // m/s
	maxSpin     = 35.0   // rad/s
	maxPush     = 80.0   // m/s²
	maxPressure = 3e6    // Pa
	maxVolts    = 60.0   // V
)

// inOrder lists a vehicle's thrusters as Okon's mixer has its: those that push along before those that push up, front
// before back, left before right.
func inOrder(m *hydro.Vehicle) []int {
	order := make([]int, len(m.Thrusters))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) (key [3]float64) {
		t := &m.Thrusters[i]
		if math.Abs(t.Direction[2]) > 0.5 {
			key[0] = 1
		}
		return [3]float64{key[0], -math.Copysign(1, t.At[0]), -t.At[1]}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := rank(a), rank(b)
		return slices.CompareFunc(x[:], y[:], cmp.Compare[float64])
	})
	return order
}

// describe is the vehicle's layout: of each thruster the duty in and the thrust out; imu, pressure and the battery's
// voltage as a real one measures them, and as infos where it truly is.
func (v *Vehicle) describe() *hal.Layout {
	l, m := &hal.Layout{}, v.model
	three, four := []string{"_x", "_y", "_z"}, []string{"_w", "_x", "_y", "_z"}
	type channels struct {
		what     string
		quantity hal.Quantity
		maxValue float64
		names    []string
	}
	add := func(to *[]hal.Channel, before int, s hal.Sensor, groups ...channels) {
		s.First = before + len(*to)
		for _, g := range groups {
			for _, n := range g.names {
				*to = append(*to, hal.Channel{Name: s.Name + "/" + g.what + n, Quantity: g.quantity, Min: -g.maxValue,
					Max: g.maxValue})
				s.Count++
			}
		}
		l.Sensors = append(l.Sensors, s)
	}
	attitude := channels{"attitude", hal.Ratio, 1, four}
	spin := channels{"angular_velocity", hal.AngularVelocity, maxSpin, three}
	add(&l.Outputs, 0, hal.Sensor{Name: "imu", Kind: "imu"}, attitude, spin,
		channels{"acceleration", hal.Acceleration, maxPush, three})
	add(&l.Outputs, 0, hal.Sensor{Name: "pressure", Kind: "pressure"},
		channels{"pressure", hal.Pressure, maxPressure, []string{""}})
	volts := len(l.Outputs)
	add(&l.Outputs, 0, hal.Sensor{Name: "battery", Kind: "voltage"},
		channels{"voltage", hal.Voltage, maxVolts, []string{""}})
	full := math.Max(m.Curve.Force(m.Curve.Pulse(1)), -m.Curve.Force(m.Curve.Pulse(-1)))
	for _, t := range v.thrusters {
		name := m.Thrusters[t].Name
		l.Actuators = append(l.Actuators, hal.Actuator{
			Name: name, Kind: hal.Thruster,
			Goal:        [hal.NumModes]int{hal.None, hal.None, hal.None, len(l.Inputs)},
			TorqueLimit: hal.None, Position: hal.None, Velocity: hal.None, Temperature: hal.None,
			Voltage: volts, Torque: len(l.Outputs) + len(l.Infos),
			Limits: hal.Limits{MaxVelocity: 1, MaxTorque: full},
		})
		l.Inputs = append(l.Inputs, hal.Channel{Name: name + "/duty", Quantity: hal.Duty, Min: -1, Max: 1})
		l.Infos = append(l.Infos, hal.Channel{Name: name + "/thrust", Quantity: hal.Force, Min: -2 * full,
			Max: 2 * full})
	}
	add(&l.Infos, len(l.Outputs), hal.Sensor{Name: "pose", Kind: "pose"},
		channels{"position", hal.Distance, maxPlace, three},
		attitude, channels{"velocity", hal.Speed, maxSpeed, three}, spin)
	for _, c := range m.Cameras(0) {
		l.Cameras = append(l.Cameras, c.Layout())
	}
	return l
}

// readings is the number of channels that the sensors have.
func (v *Vehicle) readings() (n int) {
	for i := range v.layout.Sensors {
		n += v.layout.Sensors[i].Count
	}
	return n
}

// sense reads the sensors, in the layout's order; dt, s, is how long the last Advance was, 0 after a reset.
func (v *Vehicle) sense(dt float64) {
	r, at := &v.now, v.Pose()
	speed, spin := v.scene.system.Velocity(v.at.body)
	back := at.Inverse()
	rate, push := back.Turn(spin), back.Turn(proper(speed, r.speed, v.scene.gravity, dt))
	r.speed = speed
	for k := range rate {
		rate[k] += actuator.Gauss(&r.random, v.noise.Rate)
		push[k] += actuator.Gauss(&r.random, v.noise.Acceleration)
	}
	// The pressure of the water above the vehicle's origin; zero in air.
	sea := &v.scene.sea
	depth := math.Max(0, sea.Surface-at.Position[2])
	fall := length(v.scene.gravity)
	pressure := float64(depth*float64(sea.Density*fall)) + actuator.Gauss(&r.random, v.noise.Pressure)
	put(r.sensed, at.Rotation[:], rate[:], push[:], []float64{pressure, v.craft.Volts}, at.Position[:], at.Rotation[:],
		speed[:], spin[:])
}

func dot(a, b [3]float64) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}
