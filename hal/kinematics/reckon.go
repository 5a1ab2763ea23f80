package kinematics

import (
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Wheeled describes a wheeled robot to Reckon.
type Wheeled struct {
	Start hal.Pose // where its frame was at the beginning
	// Odometry and Pose are sensors of the layout: one of kind "odometry", computed from the wheels, and one of kind
	// "pose" without a device.
	Odometry, Pose int
	Left, Right    int     // actuators: a wheel of each side
	Radius         float64 // of the wheels, m
	Turn           float64 // rad/s of turn a m/s of half the difference of the sides' speeds
	// Centre is how far ahead of its frame the point is that the robot turns about, m: on a base that steers by
	// skidding it is not between the wheels.
	Centre float64
	// Lag is how much older than its time in Frame.Status the odometry is: its wire time.
	Lag time.Duration
	// Attitude, where not nil, is the latest of an attitude sensor: that of the robot's frame, w x y z, about a
	// vertical of its own choice. false, or NaN: it is not known now.
	Attitude func() ([4]float64, bool)
}

// DeadReckoner is a body with a dead-reckoned position: the distance is from its wheels, the direction from its
// attitude sensor, or from the wheels while that is lost. So the position of a skid-steered base, whose wheels measure
// its turns badly, and of one on a ramp is right; a sideways slip is not detected.
type DeadReckoner struct {
	inner
	w      Wheeled
	last   [3]float64    // odometry
	known  bool          // last is
	at     [3]float64    // of the centre
	yaw    float64       // there
	offset float64       // from the attitude sensor's yaw to ours
	led    bool          // offset is of the present: the sensor was well a moment ago
	since  time.Duration // when it was last
	past   [64]attitude
	newest int // of past
}

// attitude is the robot's attitude at a past time: its yaw, and its tilt without the yaw. Odometry is late, and the
// robot moved in the direction of its heading at that time.
type attitude struct {
	time  time.Duration
	yaw   float64
	tilt  hal.Pose
	known bool
}

// Reckon returns b with its pose reckoned, marked as an estimate.
func Reckon(b hal.Body, w Wheeled) (*DeadReckoner, error) {
	l := b.Layout()
	for _, s := range []struct {
		index, count int
		kind         string
	}{{w.Odometry, 3, "odometry"}, {w.Pose, 13, "pose"}} {
		if s.index < 0 || s.index >= len(l.Sensors) || l.Sensors[s.index].Kind != s.kind ||
			l.Sensors[s.index].Count != s.count {
			return nil, fmt.Errorf("kinematics: sensor %d: want one of kind %s, of %d values", s.index, s.kind, s.count)
		}
	}
	for _, i := range []int{w.Left, w.Right} {
		if i < 0 || i >= len(l.Actuators) || l.Actuators[i].Velocity == hal.None {
			return nil, fmt.Errorf("kinematics: wheel: got actuator %d, want an actuator with measured velocity", i)
		}
	}
	r := &DeadReckoner{inner: inner{b, clone(l)}, w: w, at: w.Start.Of([3]float64{w.Centre, 0, 0}),
		yaw: yawOf(w.Start.Rotation)}
	r.estimates(w.Pose)
	return r, nil
}

// Rebase reports that the odometry counts from somewhere else now: the next value is a new origin, and no motion.
func (r *DeadReckoner) Rebase() { r.known = false }

// Read reads the body, then reckons.
func (r *DeadReckoner) Read(f *hal.Frame) error {
	err := r.Body.Read(f)
	status := f.Status[len(r.layout.Actuators)+r.w.Odometry]
	r.remember(f.Time)
	odometry := &r.layout.Sensors[r.w.Odometry]
	now := [3]float64(f.Measured[odometry.First:])
	if !math.IsNaN(now[0] + now[1] + now[2]) {
		r.advance(now, status.Time-r.w.Lag)
	}
	r.writePose(f)
	f.Status[len(r.layout.Actuators)+r.w.Pose] = status
	return err
}

// attitudeGap is how long an attitude sensor may be silent and still count from where it did: no chip starts in less.
const attitudeGap = 150 * time.Millisecond

// remember asks the attitude sensor.
func (r *DeadReckoner) remember(now time.Duration) {
	r.newest = (r.newest + 1) % len(r.past)
	a := &r.past[r.newest]
	*a = attitude{time: now}
	var q [4]float64
	if r.w.Attitude != nil {
		q, a.known = r.w.Attitude()
		a.known = a.known && !math.IsNaN(q[0]+q[1]+q[2]+q[3]) // one, and the place would be NaN for good
	}
	if !a.known {
		return
	}
	measuredYaw := yawOf(q)
	// A missing reading keeps the offset: meanwhile the wheel odometry is late, and inaccurate in turns. A sensor that
	// was lost for longer than attitudeGap may have restarted its yaw from zero.
	if !r.led || now-r.since > attitudeGap {
		r.offset, r.led = r.yaw-measuredYaw, true
	}
	r.since = now
	a.yaw, a.tilt = math.Remainder(measuredYaw+r.offset, 2*math.Pi),
		hal.Pose{Rotation: about(-measuredYaw)}.Times(hal.Pose{Rotation: q})
}

// attitudeAt is the robot's attitude at a time, or the oldest stored one.
func (r *DeadReckoner) attitudeAt(at time.Duration) *attitude {
	i := r.newest
	for n := 1; n < len(r.past) && r.past[i].time > at; n++ {
		before := (i + len(r.past) - 1) % len(r.past)
		if !r.past[before].known {
			break
		}
		i = before
	}
	return &r.past[i]
}

// advance updates the position to the odometry of a time.
func (r *DeadReckoner) advance(now [3]float64, at time.Duration) {
	from, known := r.last, r.known
	if r.last, r.known = now, true; !known {
		return
	}
	dx, dy, turn := now[0]-from[0], now[1]-from[1], math.Remainder(now[2]-from[2], 2*math.Pi)
	sin, cos := math.Sincos(now[2] - turn/2)
	ahead := float64(dx*cos) + float64(dy*sin) // along the middle of the two headings, backward where it is below 0
	tilt, yaw := hal.Pose{Rotation: [4]float64{1}}, math.Remainder(r.yaw+turn, 2*math.Pi)
	if a := r.attitudeAt(at); a.known {
		tilt, yaw = a.tilt, a.yaw
	}
	// Half of the turn lies before the way's middle.
	middle := hal.Pose{Rotation: about(yaw - math.Remainder(yaw-r.yaw, 2*math.Pi)/2)}.Times(tilt)
	for k, v := range middle.Turn([3]float64{ahead, 0, 0}) {
		r.at[k] += v
	}
	r.yaw = yaw
}

// writePose writes the pose: the place as of the odometry, the attitude as of now.
func (r *DeadReckoner) writePose(f *hal.Frame) {
	tilt, yaw := hal.Pose{Rotation: [4]float64{1}}, r.yaw
	if a := &r.past[r.newest]; a.known {
		tilt, yaw = a.tilt, a.yaw
	}
	s := &r.layout.Sensors[r.w.Pose]
	at := hal.Pose{Rotation: hal.Pose{Rotation: about(yaw)}.Times(tilt).Rotation}
	for k, v := range at.Turn([3]float64{-r.w.Centre, 0, 0}) {
		at.Position[k] = r.at[k] + v
	}
	to := f.Measured[s.First:][:s.Count]
	left := f.Measured[r.layout.Actuators[r.w.Left].Velocity] * r.w.Radius
	right := f.Measured[r.layout.Actuators[r.w.Right].Velocity] * r.w.Radius
	speed, spin := at.Turn([3]float64{(left + right) / 2, 0, 0}),
		at.Turn([3]float64{0, 0, (right - left) / 2 * r.w.Turn})
	whole := at.Times(s.Mount)
	copy(to, whole.Position[:])
	copy(to[3:], whole.Rotation[:])
	copy(to[7:], speed[:])
	copy(to[10:], spin[:])
}

// yawOf is the turn about the vertical of an attitude, yaw first.
func yawOf(q [4]float64) float64 { return hal.Pose{Rotation: q}.RollPitchYaw()[2] }

// about is a turn about z.
func about(angle float64) [4]float64 {
	sin, cos := math.Sincos(angle / 2)
	return [4]float64{cos, 0, 0, sin}
}
