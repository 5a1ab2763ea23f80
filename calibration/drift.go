package calibration

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Lying is one joint of a robot with torque off: its calibration, and the position that its servo reports, ticks.
type Lying struct {
	Joint *Joint
	Ticks float64 // NaN = not read
}

// Drifted is a joint that is not at its rest position, while the other joints of the robot are.
type Drifted struct {
	Joint  string
	Off    float64 // rad at the joint
	Cause  string  // the likeliest
	Since  time.Time
	Others []string // joints that have the cause in common
}

func (d *Drifted) String() string {
	return fmt.Sprintf("lies %+.1f degrees from where it lay on %s: %s", d.Off*180/math.Pi,
		d.Since.UTC().Format("2006-01-02"), d.Cause)
}

// A joint within restNear is at its rest position; the tolerance covers play and how the robot was put down. Drift
// compares only a robot with restShare of its joints, and restJoints at least, at rest: any other is in another pose.
const (
	restNear   = 5 * math.Pi / 180
	restShare  = 0.5
	restJoints = 2
	spline     = 25                // teeth of the usual servo horn
	splineNear = 2 * math.Pi / 180 // of a servo that was put on another tooth
)

// Drift compares the joints of one robot with the rest pose of their calibrations. resting reports whether the robot is
// in that pose; otherwise no joint is compared.
func Drift(joints []Lying) (drifted []Drifted, resting bool) {
	var off []float64
	known, near := 0, 0
	for _, l := range joints {
		off = append(off, l.off())
		if d := off[len(off)-1]; !math.IsNaN(d) {
			if known++; math.Abs(d) <= restNear {
				near++
			}
		}
	}
	if near < restJoints || float64(near) < restShare*float64(known) {
		return nil, false
	}
	for i, l := range joints {
		if math.IsNaN(off[i]) || math.Abs(off[i]) <= restNear {
			continue
		}
		d := Drifted{Joint: l.Joint.Joint, Off: off[i], Since: l.Joint.Date}
		d.Cause, d.Others = cause(joints, off, i)
		drifted = append(drifted, d)
	}
	if len(drifted) > 1 { // several that have only shifted are another pose
		drifted = slices.DeleteFunc(drifted, func(d Drifted) bool { return d.Cause == shifted })
	}
	return drifted, true
}

// shifted is the cause of a joint whose error has no pattern.
const shifted = "its zero has shifted: a loose horn or screw, or a bent link"

// off is how far the joint is from its rest pose, rad at the joint; NaN where either is not known.
func (l *Lying) off() float64 {
	if l.Joint.RestTicks == nil {
		return math.NaN()
	}
	return (l.Joint.Unwrap(l.Ticks) - *l.Joint.RestTicks) * l.Joint.slope()
}

// cause names the likeliest reason why joint i is off.
func cause(joints []Lying, off []float64, i int) (string, []string) {
	l := &joints[i]
	j := l.Joint
	shaft := math.Abs(off[i]) * j.Gear // at the servo
	turn := 2 * math.Pi
	at, rest := j.Unwrap(l.Ticks), *j.RestTicks
	for k := range joints {
		o := &joints[k]
		if k == i || math.IsNaN(off[k]) || math.Abs(off[k]) <= restNear || o.Joint.Servo.Model != j.Servo.Model {
			continue
		}
		near := restNear * j.TicksPerTurn / turn
		if math.Abs(math.Remainder(l.Ticks-*o.Joint.RestTicks, j.TicksPerTurn)) <= near &&
			math.Abs(math.Remainder(o.Ticks-rest, j.TicksPerTurn)) <= near {
			return fmt.Sprintf("its servo and that of %s are swapped: see ids and plugs", o.Joint.Joint),
				[]string{o.Joint.Joint}
		}
	}
	middle := (j.RangeTicks[0] + j.RangeTicks[1]) / 2
	centre := j.TicksPerTurn * math.Round(middle/j.TicksPerTurn*2) / 2 // of the encoder, half a turn from its seam
	switch {
	case j.RangeTicks[1]-j.RangeTicks[0] >= j.TicksPerTurn &&
		math.Abs(shaft-turn*math.Round(shaft/turn)) <= splineNear && shaft > turn/2:
		return fmt.Sprintf("its servo has lost %.0f turns: move it back by hand, or set its turn counter",
			math.Round(shaft/turn)), nil
	case math.Abs(math.Remainder(at-(2*centre-rest), j.TicksPerTurn))*turn/j.TicksPerTurn <= splineNear:
		return "its servo counts the other way: see its drive mode, and how it is mounted", nil
	case math.Abs(shaft-turn/2) <= splineNear || math.Abs(shaft-turn/4) <= splineNear:
		return fmt.Sprintf("its horn was mounted again, %.0f degrees round, or its centre was set again",
			shaft*360/turn), nil
	case teeth(shaft) > 0:
		return fmt.Sprintf("its horn has slipped by %d of %d teeth", teeth(shaft), spline), nil
	case outside(j, at):
		return "it is outside its range: the horn was mounted again, or a stop is broken", nil
	}
	return shifted, nil
}

// teeth is by how many teeth of a horn shaft, rad, is, up to 3; 0 if it is invalid.
func teeth(shaft float64) int {
	n := math.Round(shaft * spline / (2 * math.Pi))
	if n < 1 || n > 3 || math.Abs(shaft-n*2*math.Pi/spline) > splineNear {
		return 0
	}
	return int(n)
}

func outside(j *Joint, at float64) bool {
	margin := j.TicksPerTurn / 72 // 5 degrees
	return at < j.RangeTicks[0]-margin || at > j.RangeTicks[1]+margin
}
