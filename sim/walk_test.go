package sim

import (
	"math"
	"testing"
)

// gait is an oscillator of wildcat1: all joints sway about their defaults, legs that stand diagonally together.
type gait struct {
	hertz                 float64
	shoulder, hip         float64 // rad, amplitudes of the pitch joints
	elbow, knee           float64 // rad
	elbowAhead, kneeAhead float64 // rad, phase before that of the pitch joint above
}

// command writes what a Simloid client would send as PX and TA in cycle k.
func (g *gait) command(r *rig, k int) {
	phase := 2 * math.Pi * g.hertz * float64(k) * period.Seconds()
	grow := math.Min(1, float64(k)/100) // the first second
	for i := range r.body.joints {
		m := r.body.joints[i].Model
		amplitude, ahead := 0.0, 0.0
		switch m.Name[2:] {
		case "shoulder_pitch":
			amplitude = g.shoulder
		case "elbow_pitch":
			amplitude, ahead = g.elbow, g.elbowAhead
		case "hip_pitch":
			amplitude, ahead = g.hip, math.Pi
		case "knee_pitch":
			amplitude, ahead = g.knee, math.Pi+g.kneeAhead
		}
		if m.Name[0] == 'R' || m.Name[0] == 'r' {
			ahead += math.Pi
		}
		angle(r, i, (m.Default+grow*amplitude*math.Sin(phase+ahead))/math.Pi)
		r.frame.Inputs[r.body.Layout().Actuators[i].TorqueLimit] = m.MaxTorque()
	}
}

// walked is the result of a walk.
type walked struct {
	far     float64 // m, along -y, which is where the robots look
	low     float64 // the least height of the trunk as a share of that when it stood
	upright float64 // the least vertical part of the trunk's own vertical: 1 upright, 0 on its side
}

// walk stands for 1.5 s, and walks for so many seconds.
func (g *gait) walk(t testing.TB, scene string, seconds int) walked {
	r := newStress(t, stress{robot: "simloid-31", scene: scene})
	for k := range 150 {
		stand(false)(r, k)
		r.cycle(1)
	}
	trunk := r.body.model.Body("body")
	start := r.body.Pose(trunk).Position
	w := walked{low: 1, upright: 1}
	for k := range 100 * seconds {
		g.command(r, k)
		r.cycle(1)
		at := r.body.Pose(trunk)
		w.low = math.Min(w.low, at.Position[2]/start[2])
		w.upright = math.Min(w.upright, at.Turn([3]float64{0, 0, 1})[2])
		w.far = start[1] - at.Position[1]
	}
	return w
}

// A gait that a random search found; it has no other virtue. Most of its step comes from the elbows, which pull.
func TestWildcatWalks(t *testing.T) {
	g := gait{hertz: 1.6, shoulder: 0.1, hip: 0.01, elbow: 1.05, knee: 0.6, elbowAhead: 0.4, kneeAhead: -1.6}
	still := gait{}
	if w := still.walk(t, "flat", 10); math.Abs(w.far) > 0.05 || w.low < 0.9 || w.upright < 0.99 {
		t.Errorf("stands: got %+v, want it to stay where it is", w)
	}
	for _, scene := range grounds(t) {
		w := g.walk(t, scene, 10)
		t.Logf("%-8s %+.2f m in 10 s, trunk at least at %.2f of its height, upright %.2f", scene, w.far, w.low,
			w.upright)
		if scene == "flat" && (w.far < 0.5 || w.low < 0.7 || w.upright < 0.8) {
			t.Errorf("flat: got %+v, want 0.5 m without a fall", w)
		}
	}
}
