package sim

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/ray"
	"github.com/halyard-robotics/halyard/sim/model"
)

// index is the place of the sensor called name in the layout.
func (r *rover) index(name string) int {
	r.t.Helper()
	for i, s := range r.body.Layout().Sensors {
		if s.Name == name {
			return i
		}
	}
	r.t.Fatalf("no sensor %q", name)
	return 0
}

// sensor is its present reading.
func (r *rover) sensor(name string) []float64 {
	r.t.Helper()
	s := &r.body.Layout().Sensors[r.index(name)]
	return r.frame.Measured[s.First : s.First+s.Count]
}

// exactly lets a robot join a scene whose sensors have no noise.
func exactly(t *testing.T, s *Scene, name, robot string, at hal.Pose) *rover {
	t.Helper()
	m, err := model.Load("usarsim-" + robot)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Sensors {
		if d := m.Sensors[i].Device; d != nil {
			d.Noise = 0
		}
	}
	return joinModel(t, s, name, m, at)
}

// A refused change of the scene leaves the rays as they were.
func TestRaysAfterRefusedPlace(t *testing.T) {
	m, err := model.Parse([]byte(`name: eye
supply: {volts: 12}
base: fixed
materials: {x: {friction: 0.5}}
bodies:
- {name: head, position_m: [0, 0, 0.5], mass_kg: 1, inertia_kgm2: [1, 1, 1], shapes: [{sphere: 0.1, material: x}]}
- {name: arm, mass_kg: 1, inertia_kgm2: [1, 1, 1]}
joints:
- {name: nod, motor: ideal, torque_nm: 1, speed_rads: 1, limits_deg: [-1, 1], parent: head, child: arm, anchor_m: [0, 0, 0.5], axis: [0, 1, 0]}
sensors: [{name: ir, kind: infrared, body: head, rotation_deg: [0, 90, 0], noise: 0}]
`), "eye")
	if err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{})
	if _, err = s.Add("eye", m, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Place("eye", hal.Pose{Rotation: [4]float64{1e-7}}); err == nil {
		t.Error("got no error")
	}
	if err := s.Advance(100 * time.Millisecond); err != nil {
		t.Error(err)
	}
}

// A refused pose, or a refused pin, refuses no later change of the scene.
func TestChangeAfterRefusedPlace(t *testing.T) {
	arm, err := model.Load("so101")
	if err != nil {
		t.Fatal(err)
	}
	walker, err := model.Load("simloid-31")
	if err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{})
	if _, err := s.Add("arm", arm, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []hal.Pose{{Rotation: [4]float64{1e-7}},
		{Position: [3]float64{0, 0, maxReach}, Rotation: [4]float64{1}}} {
		if err := s.Place("arm", p); err == nil {
			t.Errorf("%v: got no error", p)
		}
	}
	b, err := s.Add("walker", walker, hal.Pose{Position: [3]float64{3, 0, 0}})
	if err != nil {
		t.Fatal("after a refused pose:", err)
	}
	s.system.Q[b.at.q] = 2 * maxReach // it has fallen for some minutes
	s.system.Moved()
	if err := s.ToggleFixed("walker", b.parts[b.root].Name); err == nil {
		t.Error("pin: got no error")
	}
	if err := s.Remove("arm"); err != nil {
		t.Error("after a refused pin:", err)
	}
}

// wall is how far the walls of the hall are from (x, y) along an angle: brute force by hand.
func wall(x, y, a float64) float64 {
	far := math.Inf(1)
	c, s := math.Cos(a), math.Sin(a)
	for _, d := range []float64{(0 - x) / c, (20 - x) / c, (0 - y) / s, (-12 - y) / s} {
		if d > 0 && d < far {
			far = d
		}
	}
	return far
}

// turnedTo is a place in the hall, turned about z.
func turnedTo(x, y, a float64) hal.Pose {
	return hal.Pose{Position: [3]float64{x, y, -1.82}, Rotation: [4]float64{math.Cos(a / 2), 0, 0, math.Sin(a / 2)}}
}

func TestScannerAgainstGeometry(t *testing.T) {
	for _, at := range []struct{ x, y, a float64 }{{10, -6, 0}, {3, -9, 0.7}, {18, -2, -2.3}} {
		r := exactly(t, arena("hall"), "a", "p2at", turnedTo(at.x, at.y, at.a))
		r.run(2 * time.Second)
		pose := r.body.Pose(0).Times(hal.Pose{Position: [3]float64{0.144, 0, 0.13}})
		scan := r.sensor("scanner1")
		if len(scan) != 181 {
			t.Fatalf("got %d rays, want 181", len(scan))
		}
		// The first ray is the rightmost.
		for i, got := range scan {
			want := wall(pose.Position[0], pose.Position[1], heading(pose)+(float64(i)-90)*math.Pi/180)
			if math.Abs(got-want) > 2e-3*want {
				t.Errorf("ray %d: got %.4f m, want %.4f", i, got, want)
			}
		}
	}
}

// CastRays from a scanner's pose gives the scanner's ranges, at any angle; a sensor without rays is refused.
func TestLook(t *testing.T) {
	r := exactly(t, arena("hall"), "a", "p2at", turnedTo(10, -6, 0.3))
	r.run(2 * time.Second)
	scan, seen := r.sensor("scanner1"), make([]float64, 361)
	if err := r.body.CastRays(r.index("scanner1"), -math.Pi/2, math.Pi/360, seen); err != nil {
		t.Fatal(err)
	}
	for i, want := range scan {
		if math.Abs(seen[2*i]-want) > 1e-9 {
			t.Errorf("ray %d: got %.6f m, want %.6f", i, seen[2*i], want)
		}
	}
	for _, sensor := range []int{-1, 1000, r.index("odometry")} {
		if err := r.body.CastRays(sensor, 0, 1, seen); hal.KindOf(err) != hal.Invalid {
			t.Errorf("sensor %d: got %v, want invalid", sensor, err)
		}
	}
	if n := testing.AllocsPerRun(10, func() { r.body.CastRays(r.index("scanner1"), 0, 0.01, seen) }); n > 0 {
		t.Errorf("a look allocates %g times", n)
	}
}

// A sonar measures the first echo, here compared to a dense cone of rays through the same geoms.
func TestSonarAgainstGeometry(t *testing.T) {
	const half = 0.3491 / 2
	for _, turn := range []float64{0, 0.1, half, 0.4} {
		r := exactly(t, arena("hall"), "a", "atrvjr", turnedTo(17, -6, turn))
		r.run(2 * time.Second)
		pose := r.body.Pose(0).Times(hal.Pose{Position: [3]float64{0.34706, 0, 0.1}})
		got, least := r.sensor("s3")[0], 5.0
		tree := r.scene.sight.now()
		for i := range 40 {
			for k := range 90 {
				wide, around := half*float64(i)/39, 2*math.Pi*float64(k)/90
				way := ray.Ray{Origin: pose.Position, Max: 5, Mask: ^r.body.group, Direction: pose.Turn([3]float64{
					math.Cos(wide), math.Sin(wide) * math.Cos(around), math.Sin(wide) * math.Sin(around)})}
				if hit, ok := tree.Cast(&way); ok && echoes(&hit, &way) {
					least = math.Min(least, hit.Distance)
				}
			}
		}
		if got < least*0.9999 || got > least*1.02 {
			t.Errorf("turned by %g: got %.4f m, want %.4f by brute force, or 2 %% more", turn, got, least)
		}
	}
}

// Noise is even within its relative amplitude, seeded, and each sensor's own.
func TestSensorNoise(t *testing.T) {
	r := join(t, arena("hall"), "a", "p2at", turnedTo(17, -6, 0))
	r.run(2 * time.Second)
	var sum, square float64
	const n = 2000
	// It stands at 10° to the wall, within its cone: what is nearest is straight ahead.
	front := r.body.Pose(0).Of([3]float64{0.24, 0, 0})
	exact := 20 - front[0]
	for range n {
		r.run(cycle)
		v := r.sensor("f4")[0]
		if r.sensor("f5")[0] == v {
			t.Fatal("two sonars have the same noise")
		}
		x := v/exact - 1
		if math.Abs(x) > 0.0501 {
			t.Fatalf("got %g m, want %g within 5 %%", v, exact)
		}
		sum, square = sum+x, square+x*x
	}
	// An even distribution of half width 0.05 deviates by 0.05/√3.
	mean := sum / n
	near(t, "deviation", math.Sqrt(square/n-mean*mean), 0.05/math.Sqrt(3), 0.05)
	again := join(t, arena("hall"), "a", "p2at", turnedTo(17, -6, 0))
	again.run(2*time.Second + n*cycle)
	if again.sensor("f4")[0] != r.sensor("f4")[0] {
		t.Error("the same seed gave other noise")
	}
}

func TestCurve(t *testing.T) {
	curve := [][2]float64{{0, 0}, {2, 4}, {5, 5}}
	for _, c := range []struct{ in, out float64 }{{0, 0}, {1, 2}, {2, 4}, {3.5, 4.5}, {5, 5}, {5.1, 0}, {-1, 0}} {
		if got := bent(curve, c.in); math.Abs(got-c.out) > 1e-12 {
			t.Errorf("curve at %g: got %g, want %g", c.in, got, c.out)
		}
	}
}

// Two robots in one world see each other, without their own housing, and push each other.
func TestRoversSeeAndPush(t *testing.T) {
	s := arena("hall")
	a := exactly(t, s, "a", "p2at", turnedTo(6, -6, 0))
	b := exactly(t, s, "b", "p2at", turnedTo(8, -6, 0))
	b.frame.Enable = make([]bool, len(b.frame.Enable)) // it rolls freely
	a.run(time.Second)
	gap := b.body.Pose(0).Position[0] - a.body.Pose(0).Position[0] - 0.24 - 0.25
	if got := a.sensor("f4")[0]; math.Abs(got-gap) > 0.03 {
		t.Errorf("sonar: got %g m, want the other robot at %g", got, gap)
	}
	a.drive(5, 5)
	for range 600 {
		b.body.Write(b.frame)
		a.run(cycle)
	}
	if x := b.body.Pose(0).Position[0]; x < 8.2 {
		t.Errorf("pushed to %g m, want beyond 8.2", x)
	}
	if d := away(a.body.Pose(0), b.body.Pose(0)); d < 0.45 || d > 0.6 {
		t.Errorf("apart by %g m, want as long as a robot", d)
	}
	// A robot that was removed is no longer seen.
	if err := s.Remove("b"); err != nil {
		t.Fatal(err)
	}
	a.run(50 * cycle)
	if got := a.sensor("f4")[0]; got != 5 {
		t.Errorf("sonar: got %g m, want 5: nothing there", got)
	}
}

// Infrared passes through glass; sonar and laser do not.
func TestGlass(t *testing.T) {
	s := NewScene(SceneConfig{Scene: func(int64) (*model.Scene, error) {
		return model.ParseScene([]byte(`
name: glass
materials: {default: {friction: 0.8}, pane: {friction: 0.4, glass: true}}
ground: default
ground_m: -1.98
fixed:
  - {box: [0.02, 4, 3], at_m: [2, 0, -1], material: pane}
  - {box: [0.02, 4, 3], at_m: [3.01, 0, -1]}
`), "glass", 1)
	}})
	r := exactly(t, s, "a", "atrvjr", hal.Pose{Position: [3]float64{0, 0, -1.79}})
	r.run(time.Second)
	at := r.body.Pose(0).Position[0]
	for name, want := range map[string]float64{"ir1": 3 - 0.36, "s3": 1.99 - 0.34706} {
		if got := r.sensor(name)[0] + at; math.Abs(got-want) > 1e-3 {
			t.Errorf("%s: got %g m, want %g", name, got, want)
		}
	}
	if laser, infrared := r.sensor("scanner1")[90]+at, r.sensor("irscanner1")[20]+at; math.Abs(laser-1.69) > 1e-3 ||
		math.Abs(infrared-2.7) > 0.01 {
		t.Errorf("scanners: got %g and %g m, want 1.69 and about 2.7", laser, infrared)
	}
}

// Reading the sensors does not allocate.
func TestRaysDoNotAllocate(t *testing.T) {
	r := enter(t, "p2at", "hall", middle)
	r.drive(2, 3)
	if n := testing.AllocsPerRun(100, func() {
		r.body.Write(r.frame)
		r.scene.Advance(cycle)
		r.body.Read(r.frame)
	}); n > 0 {
		t.Errorf("a cycle: got %g allocations, want none", n)
	}
}

// A beam of light in a scene with one solid, on a robot that has none itself.
func TestBeamInSceneOfOneGeom(t *testing.T) {
	m, err := model.Parse([]byte(`name: eye
supply: {volts: 12}
base: fixed
bodies: [{name: head, position_m: [0, 0, 0.5], mass_kg: 1, inertia_kgm2: [1, 1, 1]}, {name: arm, mass_kg: 1, inertia_kgm2: [1, 1, 1]}]
joints: [{name: nod, motor: ideal, torque_nm: 1, speed_rads: 1, limits_deg: [-1, 1], parent: head, child: arm, anchor_m: [0, 0, 0.5], axis: [0, 1, 0]}]
sensors: [{name: ir, kind: infrared, body: head, rotation_deg: [0, 90, 0], noise: 0}]
`), "eye")
	if err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{})
	b, err := s.Add("eye", m, hal.Pose{})
	if err != nil {
		t.Fatal(err)
	}
	f := hal.NewFrame(b.Layout())
	if err := b.Read(f); err != nil {
		t.Fatal(err)
	}
	if got := f.Measured[b.Layout().Sensors[0].First]; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("distance of the ground: got %g m, want 0.5", got)
	}
}
