package hal

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Twin returns body with a simulated body that follows it by measurement, so that the simulated world sees, feels and
// is pushed by the robot where it is measured. joints are the actuators that follow. place is the sensor of kind "pose"
// by which the frame follows; with None the frame is held at home, or left to the physics where that is nil.
//
// The twin is placed, at rest, at the first trusted reading. From then on it moves as the joint can, along readings
// that are smoothed as their resolution requires: it is late by one period, and by 2/(smoothest + smoother·speed) s.
// While a device is lost its part of the twin is at rest.
func Twin(body Body, twin Follower, joints []int, place int, home *Pose) Body {
	t := &followed{Body: body, twin: twin, place: place, home: home}
	for _, i := range joints {
		t.joints = append(t.joints, trace{actuator: i, read: -1})
	}
	t.frame, _ = twin.(FrameFollower)
	return t
}

// Substitute lets simulated, the twin, take the place of actuators while they are lost: from where they were last, with
// the commands of their own. Their Status has it as a fault that warns. The real one holds where it is, should it come
// back with its torque, until the guard switches its torque off; then it has its place again. The error says that
// simulated has other channels.
func (t *followed) Substitute(simulated Body, actuators []int) error {
	l, s := t.Layout(), simulated.Layout()
	same := func(a, b Channel) bool { return a.Name == b.Name }
	if !slices.EqualFunc(l.Inputs, s.Inputs, same) {
		return errors.New("substitute: the twin has other inputs than the robot")
	}
	for _, i := range actuators {
		k := slices.IndexFunc(t.joints, func(j trace) bool { return j.actuator == i })
		if k < 0 || l.Actuators[i].Name != s.Actuators[i].Name {
			return fmt.Errorf("substitute %s: got a joint without a twin", l.Actuators[i].Name)
		}
		t.joints[k].replaces = true
	}
	t.simulated, t.view, t.masked = simulated, NewFrame(s), *NewFrame(l)
	return nil
}

// Write commands the body, and the simulated joints that have taken the place of lost ones.
func (t *followed) Write(f *Frame) error {
	if t.taken == 0 {
		return t.Body.Write(f)
	}
	m, l := &t.masked, t.Body.Layout()
	m.Time = f.Time
	copy(m.Inputs, f.Inputs)
	copy(m.Enable, f.Enable)
	for k := range t.joints {
		j := &t.joints[k]
		if !j.taken {
			continue
		}
		a := &l.Actuators[j.actuator]
		for _, at := range a.Goal {
			if at != None {
				m.Inputs[at] = math.NaN() // without a goal it holds where it is
			}
		}
		j.held = j.held && f.Enable[j.actuator]
		m.Enable[j.actuator] = j.held
	}
	return join2(t.Body.Write(m), t.simulated.Write(f))
}

// Halt halts the body, and what has taken the place of lost joints.
func (t *followed) Halt() error {
	if t.taken == 0 {
		return t.Body.Halt()
	}
	return join2(t.Body.Halt(), t.simulated.Halt())
}

var errSimulated = errors.New("lost: a simulated joint has its place, by on_loss")

// replace gives lost joints their simulated ones and takes those back, and shows what the simulated ones measure.
func (t *followed) replace(f *Frame) error {
	t.taken = 0
	var err error
	for k := range t.joints {
		j := &t.joints[k]
		if !j.replaces {
			continue
		}
		switch known := trusted(f, j.actuator); {
		case !j.taken && !known && j.placed && f.Status[j.actuator].Err != nil:
			j.taken, j.held = true, f.Enable[j.actuator]
			t.twin.Follow(j.actuator, math.NaN(), 0)
		case j.taken && known && f.Status[j.actuator].Err == nil && !f.Enable[j.actuator]:
			j.taken, j.placed = false, false
		}
		if j.taken {
			if t.taken++; t.taken == 1 {
				t.view.Time = f.Time
				err = t.simulated.Read(t.view)
			}
			t.show(f, j.actuator)
		}
	}
	return err
}

// show gives f what the simulated joint i measures.
func (t *followed) show(f *Frame, i int) {
	a, s := &t.Body.Layout().Actuators[i], &t.simulated.Layout().Actuators[i]
	for k, at := range [...]int{a.Position, a.Velocity, a.Torque, a.Voltage, a.Temperature} {
		if at != None {
			from := [...]int{s.Position, s.Velocity, s.Torque, s.Voltage, s.Temperature}[k]
			f.Measured[at] = At(t.view.Measured, from)
		}
	}
	f.Status[i] = Status{Time: f.Time, Err: errSimulated, Warns: true, Drive: Follows}
}

const (
	smoothest = 30 // 1/s, of a joint at rest: a servo's resolution is then most of its motion
	smoother  = 300
)

// followed is a body with its twin.
type followed struct {
	Body
	twin   Follower
	frame  FrameFollower // nil where the twin's frame does not follow
	joints []trace
	place  int
	home   *Pose
	last   time.Duration // rig time of the last Read

	// The frame's way: towards to in left, of which the reading at time read was. usual is the time between readings.
	to    Pose
	read  time.Duration
	left  time.Duration
	usual time.Duration
	seen  bool

	lost bool // since the last Read: a part is not where it is measured

	simulated Body   // the twin, which takes the place of lost joints; nil = of none
	view      *Frame // of simulated
	masked    Frame  // the command without joints that simulated has taken
	taken     int    // how many those are
}

// trace is the smoothed motion of a joint.
type trace struct {
	actuator int
	placed   bool
	read     time.Duration // of the last reading
	at, rate float64

	replaces bool // the twin takes its place when it is lost
	taken    bool // and has
	held     bool // the real joint had torque then
}

// Unwrap returns the body without its twin.
func (t *followed) Unwrap() Body { return t.Body }

// Read reads the body, then lets the twin follow.
func (t *followed) Read(f *Frame) error {
	err := t.Body.Read(f)
	l, dt := t.Body.Layout(), f.Time-t.last
	t.last, t.lost = f.Time, false
	if t.simulated != nil {
		err = join2(err, t.replace(f))
	}
	for k := range t.joints {
		j := &t.joints[k]
		a := &l.Actuators[j.actuator]
		if j.taken {
			continue // the robot is where its twin is
		}
		if j.step(a, At(f.Measured, a.Position), trusted(f, j.actuator), dt.Seconds()) {
			t.twin.Follow(j.actuator, j.at, j.rate)
		}
		t.lost = t.lost || !j.placed || !trusted(f, j.actuator)
	}
	if t.frame != nil {
		t.follow(f, l, dt)
	}
	return err
}

// step lets the trace pass dt seconds towards a reading: critically damped, so that it does not overshoot. It reports
// whether the trace has a place.
func (j *trace) step(a *Actuator, reading float64, known bool, dt float64) bool {
	switch known = known && !math.IsNaN(reading); {
	case known && !j.placed:
		j.at, j.rate, j.placed = reading, 0, true
		return true
	case !known || !(dt > 0):
		j.rate = 0
		return j.placed
	}
	way := difference(a, reading, j.at)
	w := min(smoothest+float64(smoother*math.Abs(j.rate)), 2/dt)
	fall, slope := math.Exp(-float64(w*dt)), j.rate-float64(w*way)
	step := way + float64((float64(slope*dt)-way)*fall)
	j.rate = float64((j.rate - float64(slope*float64(w*dt))) * fall)
	if most := float64(a.Limits.MaxVelocity * dt); most > 0 && math.Abs(step) > most {
		step = math.Copysign(most, step)
		j.rate = step / dt
	}
	j.at += step
	return true
}

// follow lets the frame go evenly to its last measured pose, in the time between the last two readings.
func (t *followed) follow(f *Frame, l *Layout, dt time.Duration) {
	if t.place != None {
		t.measure(f, l)
	}
	switch {
	case t.seen:
		t.frame.FollowFrame(t.to, t.left)
	case t.home != nil:
		t.frame.FollowFrame(*t.home, 0)
	}
	t.left = max(0, t.left-dt)
	measured := t.place != None || t.home == nil || t.seen
	t.lost = t.lost || measured && (!t.seen || f.Time-t.read > poseAge)
}

// poseAge is the age of a pose from which it is not known where the robot is.
const poseAge = 500 * time.Millisecond

// Lost reports whether the twin is not where the robot is, as far as known: a device is lost, or the last pose is older
// than half a second, also one from a client.
func (t *followed) Lost() bool { return t.lost }

// longestWay bounds the time in which the frame goes from one reading to the next.
const longestWay = 250 * time.Millisecond

// measure makes the last measured pose the one that the frame goes to.
func (t *followed) measure(f *Frame, l *Layout) {
	s, i := &l.Sensors[t.place], len(l.Actuators)+t.place
	v := f.Measured[s.First:][:7]
	if at := f.Status[i].Time; trusted(f, i) && finite(v) && at != t.read {
		t.lead(at)
		t.to = Pose{Position: [3]float64(v), Rotation: [4]float64(v[3:])}.Times(s.Mount.Inverse())
	}
}

// Place says where the frame is, as measured from outside, in the world. It goes there evenly, in the time between two
// calls. It is called between two cycles.
func (t *followed) Place(p Pose) {
	t.lead(t.last)
	t.to = p
}

// lead gives the frame the time to a reading that was taken at. Readings that were held up come close together: the
// frame takes the usual time for each, or it would be thrown at what it touches.
func (t *followed) lead(at time.Duration) {
	if t.left = 0; t.seen {
		t.usual = max(at-t.read, t.usual-t.usual/8)
		t.left = min(t.usual, longestWay)
	}
	t.read, t.seen = at, true
}

// Placed is where the frame goes to.
func (t *followed) Placed() (p Pose, ok bool) {
	if !t.seen && t.home != nil {
		return *t.home, true
	}
	return t.to, t.seen
}

// Holding implements TorqueReporter for the body.
func (t *followed) Holding(actuator int) bool {
	h, ok := t.Body.(TorqueReporter)
	return ok && h.Holding(actuator)
}

// LossAge is the age of a reading, where its device is at fault, from which it is lost: how the joint moves now is then
// unknown, NaN, and its twin is at rest.
const LossAge = 100 * time.Millisecond

// trusted reports whether device i has been read, and is not lost.
func trusted(f *Frame, i int) bool {
	s := &f.Status[i]
	return s.Time >= 0 && (s.Err == nil || s.Warns || f.Time-s.Time < LossAge)
}

func finite(v []float64) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
