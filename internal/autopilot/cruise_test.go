package autopilot

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// newCruiser is a pilot of the plant, which has a pose sensor where posed is set, at 3 m depth in a current.
func newCruiser(t *testing.T, posed bool) (*plant, *Pilot) {
	t.Helper()
	l := rover(0)
	if posed {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: "truth", Kind: "pose", First: len(l.Outputs), Count: 13})
		for i := range 13 {
			l.Outputs = append(l.Outputs, hal.Channel{Name: "truth/" + string(rune('a'+i)), Min: -1e9, Max: 1e9})
		}
	}
	p := newPlant(l)
	p.position, p.current = [3]float64{1, 2, -3}, [3]float64{0.05, -0.05, 0}
	pilot, err := New(l, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p, pilot
}

// TestFly: speeds in the body's own axes are kept, in a current too, while it turns and dives.
func TestFly(t *testing.T) {
	p, pilot := newCruiser(t, true)
	if err := pilot.Fly([3]float64{0.3, -0.1, -0.05}, [3]float64{0, 0, 0.2}); err != nil {
		t.Fatal(err)
	}
	p.fly(t, pilot, 20*time.Second, 20*time.Millisecond, nil)
	v := hal.Pose{Rotation: p.attitude}.Inverse().Turn(p.velocity)
	for i, want := range [3]float64{0.3, -0.1, -0.05} {
		if math.Abs(v[i]-want) > 0.04 {
			t.Errorf("speed %d: got %.3f m/s, want %g", i, v[i], want)
		}
	}
	if math.Abs(p.rates[2]-0.2) > 0.03 || math.Abs(p.position[2]+4) > 0.15 {
		t.Errorf("after 20 s: got %.3f rad/s at z %.2f m, want 0.2 rad/s at -4 m", p.rates[2], p.position[2])
	}
	pilot.Fly([3]float64{}, [3]float64{})
	p.fly(t, pilot, 10*time.Second, 20*time.Millisecond, nil)
	at := p.position
	p.fly(t, pilot, 10*time.Second, 20*time.Millisecond, nil)
	if d := math.Hypot(p.position[0]-at[0], p.position[1]-at[1]); d > 0.1 || math.Abs(p.position[2]-at[2]) > 0.05 {
		t.Errorf("told to stay: drifted %.2f m in 10 s", d)
	}
}

// TestGo: the body reaches a pose and stays there.
func TestGo(t *testing.T) {
	p, pilot := newCruiser(t, true)
	to := hal.Pose{Position: [3]float64{3, 0, -2}, Rotation: turned([3]float64{0, 0, 2})}
	if err := pilot.Go(to); err != nil {
		t.Fatal(err)
	}
	p.fly(t, pilot, 40*time.Second, 20*time.Millisecond, nil)
	for i, want := range to.Position {
		if math.Abs(p.position[i]-want) > 0.1 {
			t.Errorf("axis %d: got %.2f m, want %g", i, p.position[i], want)
		}
	}
	if angleTo(p.attitude, to.Rotation) > 0.1 {
		t.Errorf("heading: got %.2f rad, want 2", heading(p.attitude))
	}
	// another commander's targets end it
	pilot.SetTargets(Targets{Attitude: [4]float64{1}, Depth: 2})
	p.fly(t, pilot, 10*time.Second, 20*time.Millisecond, nil)
	if math.Abs(heading(p.attitude)) > 0.1 {
		t.Errorf("after SetTargets: got heading %.2f rad, want 0", heading(p.attitude))
	}
}

// TestFlyWithoutPose: x and y are thrust then, and there is no place to go to.
func TestFlyWithoutPose(t *testing.T) {
	p, pilot := newCruiser(t, false)
	p.current = [3]float64{}
	if err := pilot.Go(hal.Pose{Rotation: [4]float64{1}}); err == nil {
		t.Error("go: got no error without a pose sensor")
	}
	if err := pilot.Fly([3]float64{math.NaN()}, [3]float64{}); err == nil || pilot.Armed() {
		t.Error("not a number: got no error, or an armed pilot")
	}
	if err := pilot.Fly([3]float64{0.4, 0, 0}, [3]float64{}); err != nil {
		t.Fatal(err)
	}
	p.fly(t, pilot, 10*time.Second, 20*time.Millisecond, nil)
	if p.velocity[0] < 0.1 || math.Abs(p.velocity[1]) > 0.05 || math.Abs(p.position[2]+3) > 0.1 {
		t.Errorf("thrust ahead: got %.2f m/s at z %.2f m, want above 0.1 at -3", p.velocity, p.position[2])
	}
	pilot.Disarm()
	if pilot.Arm(); pilot.cruising.on {
		t.Error("disarmed and armed: got the old cruise, want none")
	}
}

// TestFlyBeforeDepth: a body commanded to fly before its depth is known holds the first depth that is.
func TestFlyBeforeDepth(t *testing.T) {
	p, pilot := newCruiser(t, false)
	p.current = [3]float64{0, 0, -0.1} // it sinks
	depth := &p.frame.Status[len(p.layout.Actuators)+1]
	depth.Err, depth.Time = &hal.Error{Kind: hal.BusFault}, -time.Hour
	pilot.Fly([3]float64{}, [3]float64{})
	p.fly(t, pilot, time.Second, cycle, nil)
	depth.Err, depth.Time = nil, 0
	p.fly(t, pilot, 5*time.Second, cycle, nil)
	at := p.position[2]
	if p.fly(t, pilot, 10*time.Second, cycle, nil); math.Abs(p.position[2]-at) > 0.05 {
		t.Errorf("it went from z %.2f to %.2f m in 10 s", at, p.position[2])
	}
}
