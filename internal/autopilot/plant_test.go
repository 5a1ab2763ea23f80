package autopilot

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// plant is Okon as a rigid body in deep water, in hal's axes: its original's mass, buoyancy, drag and thrusters. It is
// made to close the loop in tests, not to be a simulator: one step a millisecond, no surface.
type plant struct {
	position, velocity [3]float64 // world
	attitude           [4]float64
	rates              [3]float64 // body
	current            [3]float64 // of the water, m/s
	inertia            [3]float64
	duties             []float64
	newtons            Curve

	layout *hal.Layout
	frame  *hal.Frame
}

// mounts are the thrusters' positions and directions in the mixer's order, Unity's x right, y up, z forward.
var mounts = [8][2][3]float64{
	{{-.193, .0937, .2389}, {.5, 0, .8660254}}, {{.193, .0937, .2389}, {-.5, 0, .8660254}},
	{{-.193, .0937, -.2151}, {.5, 0, -.8660254}}, {{.193, .0937, -.2151}, {-.5, 0, -.8660254}},
	{{-.1709, 0, .1195}, {0, 1, 0}}, {{.1709, 0, .1195}, {0, 1, 0}},
	{{-.1709, 0, -.0963}, {0, 1, 0}}, {{.1709, 0, -.0963}, {0, 1, 0}},
}

// body turns Unity's axes into hal's.
func body(u [3]float64) [3]float64 { return [3]float64{u[2], -u[0], u[1]} }

// rover is a layout of eight thrusters, an imu turned about the vertical by mounted, and a pressure sensor.
func rover(mounted float64) *hal.Layout {
	l := &hal.Layout{}
	for i, name := range OkonThrusters() {
		l.Inputs = append(l.Inputs, hal.Channel{Name: name + "/duty", Quantity: hal.Duty, Min: -1, Max: 1})
		l.Actuators = append(l.Actuators, hal.Actuator{Name: name, Kind: hal.Thruster,
			Goal: [hal.NumModes]int{hal.None, hal.None, hal.None, i}, TorqueLimit: hal.None, Position: hal.None,
			Velocity: hal.None, Torque: hal.None, Voltage: hal.None, Temperature: hal.None,
			Limits: hal.Limits{MaxVelocity: 1, MaxTorque: 1}})
	}
	add := func(name, kind string, count int, mount hal.Pose) {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: name, Kind: kind, First: len(l.Outputs), Count: count,
			Mount: mount})
		for i := range count {
			l.Outputs = append(l.Outputs, hal.Channel{Name: name + "/" + string(rune('a'+i)), Min: -1e9, Max: 1e9})
		}
	}
	add("imu", "imu", 10, hal.Pose{Rotation: [4]float64{math.Cos(mounted / 2), 0, 0, math.Sin(mounted / 2)}})
	add("depth", "pressure", 1, hal.Pose{})
	return l
}

func newPlant(l *hal.Layout) *plant {
	return &plant{attitude: [4]float64{1}, inertia: [3]float64{0.3, 0.45, 0.55}, duties: make([]float64, 8),
		newtons: OkonMixer().Curve, layout: l, frame: hal.NewFrame(l)}
}

// thrust is the original's curve.
func (p *plant) thrust(duty float64) float64 {
	pulse := 1500 + 400*clamp(duty, 1)
	c := p.newtons.Forward
	if pulse < 1472 {
		c = p.newtons.Reverse
	} else if pulse <= 1528 {
		return 0
	}
	return c[0]*pulse*pulse + c[1]*pulse + c[2]
}

func (p *plant) step(dt float64) {
	pose := hal.Pose{Rotation: p.attitude}
	var force, torque [3]float64
	push := func(at, f [3]float64) {
		for i := range force {
			j, k := (i+1)%3, (i+2)%3
			force[i] += f[i]
			torque[i] += at[j]*f[k] - at[k]*f[j]
		}
	}
	com := [3]float64{.0119, 0, .081}
	for i, m := range mounts {
		at, along, f := body(m[0]), body(m[1]), p.thrust(p.duties[i])
		push([3]float64{at[0] - com[0], at[1] - com[1], at[2] - com[2]},
			[3]float64{along[0] * f, along[1] * f, along[2] * f})
	}
	push([3]float64{0, 0, .002}, pose.Inverse().Turn([3]float64{0, 0, 123.23}))
	push([3]float64{}, pose.Inverse().Turn([3]float64{0, 0, -123.12}))
	var through [3]float64
	speed, spin := 0.0, 0.0
	for i := range through {
		through[i] = p.velocity[i] - p.current[i]
		speed += through[i] * through[i]
		spin += p.rates[i] * p.rates[i]
	}
	drag, turning := math.Max(3, 44*math.Sqrt(speed)), math.Max(1.5, 3*math.Sqrt(spin))
	world := pose.Turn(force)
	for i := range through {
		p.velocity[i] += (world[i] - drag*through[i]) / 12.55 * dt
		p.position[i] += p.velocity[i] * dt
		p.rates[i] += (torque[i] - turning*p.rates[i]) / p.inertia[i] * dt
	}
	p.attitude = unit(pose.Times(hal.Pose{Rotation: [4]float64{1, p.rates[0] * dt / 2, p.rates[1] * dt / 2,
		p.rates[2] * dt / 2}}).Rotation)
}

// measure fills the frame as the layout's sensors see the plant.
func (p *plant) measure(now time.Duration) {
	mount := p.layout.Sensors[0].Mount
	q := hal.Pose{Rotation: p.attitude}.Times(mount)
	copy(p.frame.Measured, q.Rotation[:])
	gyro := mount.Inverse().Turn(p.rates)
	copy(p.frame.Measured[4:], gyro[:])
	up := q.Inverse().Turn([3]float64{0, 0, gravity})
	copy(p.frame.Measured[7:], up[:])
	p.frame.Measured[10] = -p.position[2] * 9800
	if len(p.layout.Sensors) > 2 { // posed
		truth := p.frame.Measured[11:]
		copy(truth, p.position[:])
		copy(truth[3:], p.attitude[:])
		copy(truth[7:], p.velocity[:])
		spin := hal.Pose{Rotation: p.attitude}.Turn(p.rates)
		copy(truth[10:], spin[:])
	}
	p.frame.Time = now
}

// fly closes the loop for a time: control once a cycle, physics once a millisecond. It fails where a duty is out of
// bounds.
func (p *plant) fly(t *testing.T, pilot *Pilot, lasts, cycle time.Duration, watch func(at time.Duration)) {
	t.Helper()
	inputs, start := make([]float64, 8), p.frame.Time
	for now := start; now < start+lasts; now += cycle {
		p.measure(now)
		for i := range inputs {
			inputs[i] = math.NaN()
		}
		clear(p.duties)
		if pilot.Update(p.frame, inputs, cycle) {
			copy(p.duties, inputs)
		}
		for i, u := range p.duties {
			if !(math.Abs(u) <= 1) {
				t.Fatalf("at %v: duty %d: got %g, want -1..1", now, i, u)
			}
		}
		for range cycle / time.Millisecond {
			p.step(0.001)
		}
		if watch != nil {
			watch(now - start)
		}
		p.frame.Time = now + cycle
	}
}
