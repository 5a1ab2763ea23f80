package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Odometry of a differential drive is good to its resolution; that of a skid steered robot turns by as much too far as
// its wheels slide.
func TestOdometry(t *testing.T) {
	r := exactly(t, arena("hall"), "a", "p2dx", turnedTo(10, -6, 0))
	r.run(time.Second)
	if err := r.body.Zero(r.index("odometry")); err != nil {
		t.Fatal(err)
	}
	from := r.body.Pose(0)
	r.drive(4, 5)
	r.run(4 * time.Second)
	r.drive(0, 0)
	r.run(time.Second)
	got, to := r.sensor("odometry"), from.Inverse().Times(r.body.Pose(0))
	if d := math.Hypot(got[0]-to.Position[0], got[1]-to.Position[1]); d > 0.05 || to.Position[0] < 0.5 {
		t.Errorf("place: got %v, want %v within 5 cm: the straight pieces of the simple algorithm", got, to.Position)
	}
	if math.Abs(got[2]-heading(to)) > 0.02 {
		t.Errorf("heading: got %g, want %g", got[2], heading(to))
	}

	// On the spot the estimate of the skid-steered robot is too large by the ratio of its tracks.
	r = exactly(t, arena("hall"), "a", "p2at", turnedTo(10, -6, 0))
	r.run(time.Second)
	r.drive(-2, 2)
	r.run(2 * time.Second)
	p, q := r.sensor("odometry")[2], heading(r.body.Pose(0))
	r.run(2 * time.Second)
	believed, turned := r.sensor("odometry")[2]-p, math.Remainder(heading(r.body.Pose(0))-q, 2*math.Pi)
	near(t, "odometry of a skid", believed/turned, 1+0.49*(0.28*0.28)/(0.415*0.415), 0.03)
}

// Errors of odometry come from the wheels' sizes, as the manual says: a radius that is believed 2 % too great makes
// ways and turns 2 % too long, a separation 2 % too great makes turns 2 % too small.
func TestOdometryErrors(t *testing.T) {
	run := func(radius, separation float64) (way, turn float64) {
		r := exactly(t, arena("hall"), "a", "p2dx", turnedTo(10, -6, 0))
		d := r.body.sensors[r.index("odometry")].device.spec
		d.Radius, d.Separation = d.Radius*radius, d.Separation*separation
		r.run(time.Second)
		r.drive(4, 4)
		r.run(2 * time.Second)
		r.drive(0, 0)
		r.run(time.Second)
		way = math.Hypot(r.sensor("odometry")[0], r.sensor("odometry")[1])
		r.drive(-2, 2)
		r.run(2 * time.Second)
		r.drive(0, 0)
		r.run(time.Second)
		return way, r.sensor("odometry")[2]
	}
	way, turn := run(1, 1)
	more, further := run(1.02, 1)
	_, less := run(1, 1.02)
	near(t, "way", more/way, 1.02, 1e-3)
	near(t, "turn of too great wheels", further/turn, 1.02, 1e-3)
	near(t, "turn of too wide an axle", less/turn, 1/1.02, 1e-3)
}

func TestEncodersAndINU(t *testing.T) {
	r := exactly(t, arena("hall"), "a", "p2dx", turnedTo(10, -6, 1))
	r.run(time.Second)
	for _, name := range []string{"ecleft", "ecright", "inu"} {
		if err := r.body.Zero(r.index(name)); err != nil {
			t.Fatal(err)
		}
	}
	from := heading(r.body.Pose(0))
	r.drive(-2, 2)
	r.run(2 * time.Second)
	turned := math.Remainder(heading(r.body.Pose(0))-from, 2*math.Pi)
	if got := r.sensor("inu"); math.Abs(got[2]-turned) > 1e-3 || math.Abs(got[0])+math.Abs(got[1]) > 2e-3 {
		t.Errorf("inu: got %v, want a yaw of %g", got, turned)
	}
	left, right := r.sensor("ecleft")[0], r.sensor("ecright")[0]
	if left != math.Trunc(left) || left > -200 || math.Abs(left+right) > 3 {
		t.Errorf("encoders: got %g and %g ticks of a degree, want about 229 each way", left, right)
	}
	if err := r.body.Zero(r.index("f1")); hal.KindOf(err) != hal.Invalid {
		t.Errorf("zero of a sonar: got %v, want invalid", err)
	}
}

func TestBumperAndBattery(t *testing.T) {
	r := exactly(t, arena("hall"), "a", "p2dx", turnedTo(19.2, -6, 0))
	r.run(time.Second)
	if r.sensor("front")[0] != 0 {
		t.Error("the bumper is pressed in the open")
	}
	r.drive(3, 3)
	r.run(3 * time.Second)
	if r.sensor("front")[0] != 1 || r.sensor("left")[0] != 0 {
		t.Errorf("bumpers: got %v and %v, want the front one pressed", r.sensor("front"), r.sensor("left"))
	}
	if left := r.sensor("battery")[0]; math.Abs(left-3596) > 0.1 {
		t.Errorf("battery: got %g s, want 3596", left)
	}
}

// A snapshot keeps all that sensors remember.
func TestDevicesRestore(t *testing.T) {
	r := join(t, arena("hall"), "a", "p2at", middle)
	r.drive(3, 4)
	r.run(time.Second)
	if err := r.scene.Save(); err != nil {
		t.Fatal(err)
	}
	r.run(time.Second)
	want := append([]float64(nil), r.frame.Measured...)
	if err := r.scene.Restore(); err != nil {
		t.Fatal(err)
	}
	r.run(time.Second)
	for i, v := range r.frame.Measured {
		if v != want[i] {
			t.Fatalf("channel %d: got %g after the restore, want %g", i, v, want[i])
		}
	}
}
