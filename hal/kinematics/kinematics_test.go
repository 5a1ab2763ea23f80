package kinematics

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// arm is a planar arm of two links of 1 m along x that turn about y downwards, on a post of 0.5 m, with a finger that
// slides along the second link twice as far as joint b turns, and a hand welded to it.
func arm() Tree {
	y := [3]float64{0, 1, 0}
	at := func(x, z float64) hal.Pose { return hal.Pose{Position: [3]float64{x, 0, z}, Rotation: [4]float64{1}} }
	return Tree{
		{Name: "post", Parent: hal.None, Joint: hal.None, Home: at(0, 0)},
		{Name: "upper", Parent: 0, Joint: 0, Home: at(0.5, 0.5), Anchor: [3]float64{0, 7, 0.5}, Axis: y, Times: 1},
		{Name: "fore", Parent: 1, Joint: 1, Home: at(1.5, 0.5), Centre: [3]float64{0.5, 0, 0},
			Anchor: [3]float64{1, -3, 0.5}, Axis: y, Times: -1},
		{Name: "finger", Parent: 2, Joint: 1, Slide: true, Home: at(2, 0.5), Axis: [3]float64{1, 0, 0}, Times: 2,
			Plus: 0.25},
		{Name: "hand", Parent: 3, Joint: hal.None, Home: at(2.5, 0.5)},
	}
}

func near(a, b [3]float64, within float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= within) {
			return false
		}
	}
	return true
}

func TestForward(t *testing.T) {
	tree, s := arm(), arm().NewState()
	if err := tree.Validate(2); err != nil {
		t.Fatal(err)
	}
	const quarter = math.Pi / 2
	turned := hal.Pose{Position: [3]float64{0, 0, 1},
		Rotation: [4]float64{math.Cos(quarter / 2), 0, 0, math.Sin(quarter / 2)}}
	for _, c := range []struct {
		name               string
		q                  [2]float64
		base               hal.Pose
		upper, fore, hands [3]float64
	}{
		{"at 0", [2]float64{}, hal.Pose{}, [3]float64{0.5, 0, 0.5}, [3]float64{1.5, 0, 0.5}, [3]float64{2.75, 0, 0.5}},
		{"shoulder down", [2]float64{quarter, 0}, hal.Pose{}, [3]float64{0, 0, 0}, [3]float64{0, 0, -1},
			[3]float64{0, 0, -2.25}},
		{"elbow up", [2]float64{0, quarter}, hal.Pose{}, [3]float64{0.5, 0, 0.5}, [3]float64{1, 0, 1},
			[3]float64{1, 0, 2.25 + math.Pi}},
		{"on a base turned left, and raised", [2]float64{quarter, 0}, turned, [3]float64{0, 0, 1}, [3]float64{0, 0, 0},
			[3]float64{0, 0, -1.25}},
		{"the base alone", [2]float64{}, turned, [3]float64{0, 0.5, 1.5}, [3]float64{0, 1.5, 1.5},
			[3]float64{0, 2.75, 1.5}},
	} {
		tree.Forward(s, c.q[:], []float64{0, 0}, c.base, [3]float64{}, [3]float64{})
		for i, want := range map[int][3]float64{1: c.upper, 2: c.fore, 4: c.hands} {
			if !near(s.Poses[i].Position, want, 1e-12) {
				t.Errorf("%s: %s: got %v, want %v", c.name, tree[i].Name, s.Poses[i].Position, want)
			}
		}
	}
}

// TestForwardSpeed: velocities are the differences of positions, with a base that moves as well.
func TestForwardSpeed(t *testing.T) {
	tree, s := arm(), arm().NewState()
	const h = 1e-6
	q, v := []float64{0.3, -0.7}, []float64{1.5, -2}
	spin, through := [3]float64{0.2, -0.5, 0.9}, [3]float64{0.1, 0.2, 0.3}
	// the base turns about a point and that point moves
	base := func(dt float64) hal.Pose {
		w := math.Sqrt(dot(spin, spin))
		sin, cos := math.Sincos(w * dt / 2)
		p := hal.Pose{Rotation: [4]float64{cos, sin * spin[0] / w, sin * spin[1] / w, sin * spin[2] / w}}
		p.Position = scale(dt, through)
		return p
	}
	var at [2][]hal.Pose
	for k, dt := range []float64{-h, h} {
		tree.Forward(s, []float64{q[0] + v[0]*dt, q[1] + v[1]*dt}, v, base(dt), [3]float64{}, [3]float64{})
		at[k] = append(at[k], s.Poses...)
	}
	tree.Forward(s, q, v, base(0), through, spin)
	for i := range tree {
		point := [3]float64{0.1, -0.2, 0.3} // of the link
		want := scale(1/(2*h), add(at[1][i].Of(point), scale(-1, at[0][i].Of(point))))
		if got := s.SpeedAt(i, s.Poses[i].Of(point)); !near(got, want, 1e-7) {
			t.Errorf("%s: got %v, want %v", tree[i].Name, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	tree := arm()
	tree[1].Parent, tree[2].Joint, tree[3].Axis = 1, 2, [3]float64{2, 0, 0}
	err := tree.Validate(2)
	for _, want := range []string{`"upper": parent: got 1`, `"fore": joint: got actuator 2`,
		`"finger": axis: got [2 0 0]`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %s", err, want)
		}
	}
	if _, err := Estimate(haltest.NewBody("a"), tree, Options{}); err == nil {
		t.Error("estimate with a bad tree: got no error")
	}
	if _, err := Estimate(bodyOf("imu"), arm(), Options{Links: map[string]int{"tip": 9}}); err == nil {
		t.Error("a sensor on a link that does not exist: got no error")
	}
}

// bodyOf is a scripted robot of two joints with a body sensor, a pose sensor and one of the given kind.
func bodyOf(kind string) *haltest.Body {
	l := haltest.Layout("a", "b")
	sensor := func(name, kind string, count int) {
		l.Sensors = append(l.Sensors, hal.Sensor{Name: name, Kind: kind, First: len(l.Outputs) + len(l.Infos),
			Count: count})
		for i := range count {
			l.Infos = append(l.Infos, hal.Channel{Name: name + string(rune('0'+i)), Min: -1, Max: 1})
		}
	}
	sensor("tip", "body", 6)
	sensor("post", "pose", 13)
	sensor("board", kind, 10)
	return haltest.NewBodyOf(l)
}

// TestEstimate: the sensors' channels after a read, their marks and their times; and a joint that does not answer.
func TestEstimate(t *testing.T) {
	inner := bodyOf("imu")
	b, err := Estimate(inner, arm(), Options{Base: hal.Pose{Position: [3]float64{10, 0, 0}},
		Links: map[string]int{"tip": 2, "post": 0}})
	if err != nil {
		t.Fatal(err)
	}
	l := b.Layout()
	for i := range l.Outputs {
		if l.Outputs[i].Estimate {
			t.Errorf("%s: marked as an estimate", l.Outputs[i].Name)
		}
	}
	for i := range l.Infos {
		if want := strings.HasPrefix(l.Infos[i].Name, "tip") ||
			strings.HasPrefix(l.Infos[i].Name, "post"); l.Infos[i].Estimate != want {
			t.Errorf("%s: marked: got %v, want %v", l.Infos[i].Name, l.Infos[i].Estimate, want)
		}
		if inner.Layout().Infos[i].Estimate {
			t.Errorf("%s: the inner body's layout was written to", l.Infos[i].Name)
		}
	}
	f := hal.NewFrame(l)
	f.Time = time.Second
	inner.Position[0] = math.Pi / 2
	if err := b.Read(f); err != nil {
		t.Fatal(err)
	}
	tip := l.Sensors[0].First
	if got := [3]float64(f.Measured[tip : tip+3]); !near(got, [3]float64{10, 0, -1.5}, 1e-12) {
		t.Errorf("tip: got %v, want its centre at 10 0 -1.5", got)
	}
	if got := f.Measured[l.Sensors[1].First+3]; got != 1 {
		t.Errorf("post: w: got %g, want 1", got)
	}
	if s := f.Status[2]; s.Err != nil || s.Time != time.Second {
		t.Errorf("status: got %+v", s)
	}
	// a joint without a position makes the links beyond it unknown
	f.Time, inner.Silent[1] = 2*time.Second, errors.New("silent")
	f.Measured[1] = math.NaN()
	if err := b.Read(f); err != nil {
		t.Fatal(err)
	}
	if f.Status[2].Err == nil || f.Measured[tip] == 0 || f.Status[3].Err != nil {
		t.Errorf("beyond a silent joint: got %+v, %v; the post %+v", f.Status[2], f.Measured[tip:tip+3], f.Status[3])
	}
	delete(inner.Silent, 1)
	if n := testing.AllocsPerRun(100, func() { b.Read(f) }); n != 0 {
		t.Errorf("read: got %v allocations, want 0", n)
	}
}

// imuBody measures an attitude and a rate.
type imuBody struct {
	*haltest.Body
	reading [7]float64
}

func (b *imuBody) Read(f *hal.Frame) error {
	err := b.Body.Read(f)
	copy(f.Measured[b.Layout().Sensors[2].First:], b.reading[:])
	return err
}

// TestAttitude: a robot that stands free has the attitude of its IMU, wherever that is mounted, and its first link
// stays.
func TestAttitude(t *testing.T) {
	inner := &imuBody{Body: bodyOf("imu")}
	tree := arm()
	tree[0].Home.Position = [3]float64{0, 0, 0.25}
	b, err := Estimate(inner, tree, Options{Free: true, Base: hal.Pose{Position: [3]float64{1, 2, 3}},
		Links: map[string]int{"tip": 2, "post": 0, "board": 1}})
	if err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(b.Layout())
	post := b.Layout().Sensors[1].First
	read := func() (place, turn [3]float64) {
		t.Helper()
		if err := b.Read(f); err != nil {
			t.Fatal(err)
		}
		return [3]float64(f.Measured[post : post+3]), [3]float64(f.Measured[post+4 : post+7])
	}
	// nothing said yet
	if place, turn := read(); !near(place, [3]float64{1, 2, 3.25}, 1e-12) || turn != ([3]float64{}) {
		t.Errorf("silent: got %v %v", place, turn)
	}
	// The board sits on the upper arm, which hangs down by 90 degrees about y, and reports that it is turned by 90
	// degrees about z beyond that: so the post is turned about z alone, at 2 rad/s.
	inner.Position[0] = math.Pi / 2
	half := math.Sqrt(0.5)
	z, y := hal.Pose{Rotation: [4]float64{half, 0, 0, half}}, hal.Pose{Rotation: [4]float64{half, 0, half, 0}}
	reading := z.Times(y).Rotation
	rate := z.Times(y).Inverse().Turn([3]float64{0, 0, 2})
	inner.reading = [7]float64{reading[0], reading[1], reading[2], reading[3], rate[0], rate[1], rate[2]}
	place, turn := read()
	if !near(place, [3]float64{1, 2, 3.25}, 1e-12) || !near(turn, [3]float64{0, 0, half}, 1e-12) {
		t.Errorf("turned: got %v %v, want the same place, turned about z", place, turn)
	}
	if spin := [3]float64(f.Measured[post+10 : post+13]); !near(spin, [3]float64{0, 0, 2}, 1e-12) {
		t.Errorf("spin: got %v, want 2 about z", spin)
	}
	if v := [3]float64(f.Measured[post+7 : post+10]); !near(v, [3]float64{}, 1e-12) {
		t.Errorf("speed: got %v, want none about its own axis", v)
	}
	if n := testing.AllocsPerRun(100, func() { b.Read(f) }); n != 0 {
		t.Errorf("read: got %v allocations, want 0", n)
	}
}
