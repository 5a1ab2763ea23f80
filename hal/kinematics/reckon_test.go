package kinematics

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// cart is a body on two wheels whose measurements the test sets.
type cart struct {
	layout   *hal.Layout
	odometry [3]float64
	speed    [2]float64
	late     time.Duration
}

func newCart() *cart {
	l := &hal.Layout{}
	add := func(names ...string) int {
		first := len(l.Outputs)
		for _, n := range names {
			l.Outputs = append(l.Outputs, hal.Channel{Name: n, Min: -1, Max: 1})
		}
		return first
	}
	for _, n := range []string{"left", "right"} {
		a := hal.Actuator{Name: n, Wraps: true, TorqueLimit: hal.None, Position: hal.None, Velocity: add(n),
			Torque: hal.None, Voltage: hal.None,
			Temperature: hal.None, Goal: [hal.NumModes]int{hal.None, hal.None, hal.None, hal.None},
			Limits: hal.Limits{MaxVelocity: 1, MaxTorque: 1}}
		l.Actuators = append(l.Actuators, a)
	}
	l.Sensors = []hal.Sensor{{Name: "odometry", Kind: "odometry", First: add("x", "y", "h"), Count: 3},
		{Name: "truth", Kind: "pose", First: add("a", "b", "c", "d", "e", "f", "g", "i", "j", "k", "l", "m", "n"),
			Count: 13}}
	return &cart{layout: l}
}

func (c *cart) Layout() *hal.Layout    { return c.layout }
func (c *cart) Write(*hal.Frame) error { return nil }
func (c *cart) Halt() error            { return nil }

func (c *cart) Read(f *hal.Frame) error {
	copy(f.Measured, c.speed[:])
	copy(f.Measured[2:], c.odometry[:])
	f.Status[2] = hal.Status{Time: f.Time - c.late}
	return nil
}

// turnedBy is an attitude: yaw after pitch.
func turnedBy(yaw, pitch float64) [4]float64 {
	sin, cos := math.Sincos(pitch / 2)
	return hal.Pose{Rotation: about(yaw)}.Times(hal.Pose{Rotation: [4]float64{cos, 0, sin, 0}}).Rotation
}

func TestReckon(t *testing.T) {
	c := newCart()
	var attitude [4]float64
	known := false
	start := hal.Pose{Position: [3]float64{10, 20, 1}, Rotation: about(math.Pi / 2)}
	r, err := Reckon(c, Wheeled{Start: start, Odometry: 0, Pose: 1, Left: 0, Right: 1, Radius: 0.1, Turn: 4,
		Attitude: func() ([4]float64, bool) { return attitude, known }})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Layout().Outputs[5].Estimate || r.Layout().Outputs[2].Estimate || c.layout.Outputs[5].Estimate {
		t.Error("the pose, and it alone, is an estimate, of the outer layout")
	}
	f := hal.NewFrame(r.Layout())
	f.Time = time.Second
	at := func(what string, x, y, z, yaw float64) {
		t.Helper()
		f.Time += 100 * time.Millisecond
		if err := r.Read(f); err != nil {
			t.Fatal(err)
		}
		got := f.Measured[5:]
		turn := hal.Pose{Rotation: [4]float64(got[3:7])}.RollPitchYaw()[2]
		if !near([3]float64(got), [3]float64{x, y, z}, 1e-9) || math.Abs(math.Remainder(turn-yaw, 2*math.Pi)) > 1e-9 {
			t.Errorf("%s: got %.4f, yaw %.4f; want %.4f %.4f %.4f, %.4f", what, got[:3], turn, x, y, z, yaw)
		}
	}
	at("at the start", 10, 20, 1, math.Pi/2)
	c.odometry = [3]float64{2, 0, 0}
	at("2 m ahead, which is along y", 10, 22, 1, math.Pi/2)
	c.odometry = [3]float64{1, 0, 0}
	at("a metre back", 10, 21, 1, math.Pi/2)
	c.odometry = [3]float64{1, 0, 0.5}
	at("turned by the wheels", 10, 21, 1, math.Pi/2+0.5)
	known, attitude = true, turnedBy(-3, 0)
	at("an attitude sensor with a yaw of its own", 10, 21, 1, math.Pi/2+0.5)
	attitude = turnedBy(-3.5, 0)
	at("which knows of a turn that the wheels do not", 10, 21, 1, math.Pi/2)
	attitude = turnedBy(-3.5, -math.Pi/6) // its nose up
	c.odometry = [3]float64{1 + 2*math.Cos(0.5), 2 * math.Sin(0.5), 0.5}
	at("up a ramp of 30°", 10, 21+2*math.Cos(math.Pi/6), 2, math.Pi/2)
	known = false
	c.odometry[2] = 0.2
	at("the sensor is gone, the wheels go on turning", 10, 21+2*math.Cos(math.Pi/6), 2, math.Pi/2-0.3)
	nan := math.NaN()
	known, attitude = true, [4]float64{nan, nan, nan, nan}
	at("it is back, and has no attitude yet", 10, 21+2*math.Cos(math.Pi/6), 2, math.Pi/2-0.3)
	attitude = turnedBy(1, 0)
	at("and now it has", 10, 21+2*math.Cos(math.Pi/6), 2, math.Pi/2-0.3)
	c.odometry = [3]float64{}
	r.Rebase()
	at("odometry at zero again is no way", 10, 21+2*math.Cos(math.Pi/6), 2, math.Pi/2-0.3)
	c.speed = [2]float64{1, 3}
	at("speeds move nothing", 10, 21+2*math.Cos(math.Pi/6), 2, math.Pi/2-0.3)
	if v, w := math.Hypot(f.Measured[12], f.Measured[13]), f.Measured[17]; math.Abs(v-0.2) > 1e-9 ||
		math.Abs(w-0.4) > 1e-9 {
		t.Errorf("speeds: got %.3f m/s, %.3f rad/s; want 0.2, 0.4", v, w)
	}
	// What comes late is of then: the robot went on the way that it had before it turned.
	c.late = 50 * time.Millisecond
	r.w.Lag = 60 * time.Millisecond
	attitude = turnedBy(1+math.Pi/2, 0)
	c.odometry = [3]float64{1, 0, 0}
	was := math.Pi/2 - 0.3
	at("a metre before it turned", math.Cos(was)+10, math.Sin(was)+21+2*math.Cos(math.Pi/6), 2, was+math.Pi/2)
	if s := f.Status[3]; s.Time != f.Time-c.late {
		t.Errorf("status: got %+v, want that of the odometry", s)
	}
	// About a point ahead a turn on the spot carries the frame round it.
	r, _ = Reckon(newCart(), Wheeled{Odometry: 0, Pose: 1, Left: 0, Right: 1, Centre: 0.5})
	r.Read(f)
	r.Body.(*cart).odometry[2] = math.Pi / 2
	if r.Read(f); !near([3]float64(f.Measured[5:]), [3]float64{0.5, -0.5, 0}, 1e-9) {
		t.Errorf("turned about 0.5 m ahead: got %.3f, want 0.5 -0.5", f.Measured[5:8])
	}
	if n := testing.AllocsPerRun(100, func() { r.Read(f) }); n > 0 {
		t.Errorf("a read allocates %g times", n)
	}
	testAttitudeGap(t)
	for _, w := range []Wheeled{{Odometry: 1, Pose: 1}, {Odometry: 0, Pose: 2}, {Odometry: 0, Pose: 1, Left: 2},
		{Odometry: -1, Pose: 1}} {
		if _, err := Reckon(c, w); err == nil {
			t.Errorf("%+v: got no error", w)
		}
	}
}

// testAttitudeGap: a reading of the attitude that is missing while the robot turns, and odometry lags, costs nothing; a
// sensor that was away for longer counts from another zero.
func testAttitudeGap(t *testing.T) {
	var attitude [4]float64
	known := true
	r, err := Reckon(newCart(), Wheeled{Start: hal.Pose{Rotation: [4]float64{1}}, Odometry: 0, Pose: 1, Left: 0,
		Right: 1, Radius: 0.1, Turn: 4,
		Attitude: func() ([4]float64, bool) { return attitude, known }})
	if err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(r.Layout())
	yaw := func() float64 { return hal.Pose{Rotation: [4]float64(f.Measured[8:12])}.RollPitchYaw()[2] }
	for i := range 100 {
		f.Time += 10 * time.Millisecond
		attitude, known = turnedBy(0.3+0.01*float64(i), 0), i%20 != 19
		r.Read(f)
	}
	known = true
	r.Read(f)
	if got := yaw(); math.Abs(got-0.99) > 1e-9 {
		t.Errorf("a turn of 0.99 rad with readings missing: got %.3f rad", got)
	}
	known = false
	f.Time += time.Second
	r.Read(f)
	was := yaw()
	known, attitude = true, turnedBy(-2, 0)
	if r.Read(f); math.Abs(yaw()-was) > 1e-9 {
		t.Errorf("a sensor that was away for a second: got %.3f rad, want %.3f as before", yaw(), was)
	}
}
