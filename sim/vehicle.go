package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/hydro"
)

// Vehicle is an underwater vehicle of a Scene, in one system with its robots. It is a hal.Body and, for its cameras, a
// hal.CameraSource. Its course is in course.go, its eyes are in view.go.
type Vehicle struct {
	scene  *Scene
	name   string
	model  *hydro.Vehicle
	pose   hal.Pose // as seen from where it starts
	layout *hal.Layout
	noise  Noise

	thrusters []int // of the model, one an actuator
	craft     *hydro.Craft
	at        span
	placed    bool // at is that of a system
	savedAt   span

	now, saved run
	before     *hydro.State // the craft's, of the snapshot
}

// run is the state of a vehicle in addition to the system's and the craft's, and its readings.
type run struct {
	is      bool
	enabled []bool
	goal    []float64 // -1..1, one an actuator
	random  uint64    // of the sensors' noise
	speed   [3]float64
	sensed  []float64 // of the sensors, in the layout's order
	fault   error
	course  progress
}

// Noise is the noise of a vehicle's sensors: standard deviations, independent for each reading. The zero Noise means no
// noise.
type Noise struct {
	Pressure     float64 // Pa; an MS5837-30BA at its finest has 20
	Rate         float64 // rad/s; a BNO055's gyroscope has 0.0015 at 32 Hz
	Acceleration float64 // m/s²; its accelerometer 0.012
}

// SensorNoise is that of the parts which vehicles of this kind are built with; sources at the fields of Noise.
func SensorNoise() Noise { return Noise{Pressure: 20, Rate: 0.0015, Acceleration: 0.012} }

// hullName is the vehicle's only body.
const hullName = "hull"

// AddVehicle adds a vehicle at rest to the scene under name, in one of the scene's start zones if it has some, else at
// the origin; pose is relative to that. The error is hal.Invalid: the name is in use, or the bodies do not make a valid
// system.
func (s *Scene) AddVehicle(name string, m *hydro.Vehicle, pose hal.Pose, noise Noise) (*Vehicle, error) {
	if err := s.unused(name); err != nil {
		return nil, err
	}
	v := &Vehicle{scene: s, name: name, model: m, pose: pose, noise: noise, thrusters: inOrder(m)}
	v.layout = v.describe()
	n := len(v.thrusters)
	v.now.enabled, v.now.goal, v.now.sensed = make([]bool, n), make([]float64, n), make([]float64, v.readings())
	s.vehicles = append(s.vehicles, v)
	if err := s.rebuild(); err != nil {
		s.vehicles = s.vehicles[:len(s.vehicles)-1]
		return nil, errors.Join(err, s.rebuild())
	}
	v.reset(s.seed)
	return v, nil
}

// Vehicle returns the vehicle called name, or nil.
func (s *Scene) Vehicle(name string) *Vehicle {
	for _, v := range s.vehicles {
		if v.name == name {
			return v
		}
	}
	return nil
}

// Name is the vehicle's name in its scene.
func (v *Vehicle) Name() string { return v.name }

// Layout describes its thrusters, sensors and cameras.
func (v *Vehicle) Layout() *hal.Layout { return v.layout }

// Model is the vehicle as data.
func (v *Vehicle) Model() *hydro.Vehicle { return v.model }

// Write sets the duties of the thrusters. One that is enabled again rests until the next command.
func (v *Vehicle) Write(f *hal.Frame) error {
	r := &v.now
	for i := range v.thrusters {
		if f.Enable[i] != r.enabled[i] {
			r.enabled[i], r.goal[i] = f.Enable[i], 0
		}
		if u := f.Inputs[v.layout.Actuators[i].Goal[hal.DutyMode]]; r.enabled[i] && !math.IsNaN(u) {
			r.goal[i] = math.Max(-1, math.Min(1, u))
		}
	}
	v.throttle()
	return nil
}

// throttle hands the duties to the thrusters: 0 of one that is not enabled. Those of a vehicle at fault rest.
func (v *Vehicle) throttle() {
	for i, t := range v.thrusters {
		v.craft.Input[t] = v.now.goal[i]
		if v.now.fault != nil {
			v.craft.Input[t] = 0
		}
	}
}

// Halt lets every thruster rest, at once and until it is enabled again.
func (v *Vehicle) Halt() error {
	clear(v.now.enabled)
	clear(v.now.goal)
	v.throttle()
	return nil
}

// Read returns the state at the end of the last Advance, which is the frame's time.
func (v *Vehicle) Read(f *hal.Frame) error {
	at := 0
	for i := range v.layout.Sensors {
		s := &v.layout.Sensors[i]
		copy(f.Measured[s.First:s.First+s.Count], v.now.sensed[at:])
		at += s.Count
	}
	for i, t := range v.thrusters {
		f.Measured[v.layout.Actuators[i].Torque] = v.craft.Thrust(t)
	}
	for i := range f.Status {
		f.Status[i] = hal.Status{Time: f.Time, Err: v.now.fault}
	}
	v.scene.gallery.show(v.scene.system, f.Time)
	return nil
}

// Pose is where the vehicle's frame is in the world.
func (v *Vehicle) Pose() hal.Pose { return hal.Pose(v.scene.system.Pose(v.at.body)) }

// assemble appends the vehicle to a spec.
func (v *Vehicle) assemble(spec *dynamics.Spec) {
	v.at.body = len(spec.Bodies)
	body := v.model.Body()
	body.Name = v.name + "/" + hullName
	body.Position, body.Rotation = v.pose.Position, v.pose.Rotation
	spec.Bodies = append(spec.Bodies, body)
	spec.Geoms = append(spec.Geoms, v.model.Geoms(v.at.body)...)
}

// rebind finds the vehicle in a new system, where it keeps its state of the old one.
func (v *Vehicle) rebind(next, old *dynamics.System) {
	was := v.at
	v.at = free(next.Model(), v.at.body)
	fresh := hydro.New(v.model, v.at.body)
	if v.placed && old != nil {
		v.at.load(next, old.Q, old.V, was)
		state := v.craft.NewState()
		v.craft.Save(state)
		fresh.Restore(state)
	}
	v.craft, v.placed = fresh, true
}

// place puts the vehicle at a pose of the world, at rest; its thrusters go on.
func (v *Vehicle) place(p hal.Pose) error {
	if err := v.scene.placeFree(v.name, v.at.body, p, p); err != nil {
		return err
	}
	v.now.speed = [3]float64{}
	v.sense(0)
	return nil
}

// push adds a force, N in world axes, through the centre of mass for the next Advance.
func (v *Vehicle) push(part string, force [3]float64) error {
	if part != "" && part != hullName {
		return refused("push", v.name, fmt.Errorf("got body %q, want %s", part, hullName))
	}
	if !finite(force[:]...) {
		return refused("push", v.name, fmt.Errorf("got %g N, want at most %g", force, maxReach))
	}
	for k, f := range force {
		v.craft.External.Force[k] += f
	}
	return nil
}

// reset puts the vehicle into the state of seed. It has its own random streams, so adding another vehicle does not
// change it.
func (v *Vehicle) reset(seed int64) {
	clear(v.now.enabled)
	clear(v.now.goal)
	v.now.random, v.now.fault = stream(seed, v.name, "sensors"), nil
	v.now.course.begin(len(v.scene.ground.Course.Zones), stream(seed, v.name, "course"))
	v.craft.Reset()
	p := start(v.scene.ground.Course.Starts, &v.now.course.random).Times(v.pose)
	// The engine accepts every pose that a scene and a config can contain.
	v.scene.system.Place(v.at.body, collide.Pose(p), [3]float64{}, [3]float64{})
	v.now.speed = [3]float64{}
	v.sense(0)
}

func (r *run) copyFrom(s *run) {
	enabled, goal, sensed, course := r.enabled, r.goal, r.sensed, r.course
	*r = *s
	r.enabled, r.goal, r.sensed = append(enabled[:0], s.enabled...), append(goal[:0], s.goal...),
		append(sensed[:0], s.sensed...)
	r.course = course
	r.course.copyFrom(&s.course)
}

func (v *Vehicle) save() {
	v.saved.copyFrom(&v.now)
	v.saved.is, v.savedAt = true, v.at
	if v.before == nil {
		v.before = v.craft.NewState()
	}
	v.craft.Save(v.before)
}

func (v *Vehicle) restore(seed int64) {
	if !v.saved.is {
		v.reset(seed)
		return
	}
	v.now.copyFrom(&v.saved)
	v.craft.Restore(v.before)
}
