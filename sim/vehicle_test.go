package sim

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

const control = 20 * time.Millisecond

// basin is a vehicle in a scene, without a rig.
type basin struct {
	*Scene
	t     testing.TB
	v     *Vehicle
	frame *hal.Frame
}

func vehicleOf(t testing.TB, name string) *hydro.Vehicle {
	t.Helper()
	v, err := hydro.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newBasin puts a vehicle into a scene, its file changed by edit where that is not nil.
func newBasin(t testing.TB, vehicle, scene string, seed int64, noise Noise, edit func(*model.Scene)) *basin {
	t.Helper()
	s := NewScene(SceneConfig{Seed: seed, Scene: func(seed int64) (*model.Scene, error) {
		g, err := model.LoadScene(scene, seed)
		if err == nil && edit != nil {
			edit(g)
		}
		return g, err
	}})
	t.Cleanup(s.Close)
	v, err := s.AddVehicle("rov", vehicleOf(t, vehicle), hal.Pose{}, noise)
	if err != nil {
		t.Fatal(err)
	}
	b := &basin{Scene: s, t: t, v: v, frame: hal.NewFrame(v.Layout())}
	b.must(v.Read(b.frame))
	return b
}

func (b *basin) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *basin) cycle(n int) {
	b.t.Helper()
	for range n {
		b.must(b.v.Write(b.frame))
		b.must(b.Advance(control))
		b.frame.Time += control
		b.must(b.v.Read(b.frame))
	}
}

func (b *basin) duty(on bool, u ...float64) {
	for i := range b.frame.Enable {
		b.frame.Enable[i] = on
		b.frame.Inputs[i] = math.NaN()
		if i < len(u) {
			b.frame.Inputs[i] = u[i]
		}
	}
}

func (b *basin) reading(name string) []float64 {
	for _, s := range b.v.Layout().Sensors {
		if s.Name == name {
			return b.frame.Measured[s.First : s.First+s.Count]
		}
	}
	b.t.Fatalf("no sensor %q", name)
	return nil
}

// Both vehicles pass the suite, and have their thrusters in the order of Okon's mixer.
func TestVehicleConforms(t *testing.T) {
	for _, name := range hydro.Names() {
		t.Run(name, func(t *testing.T) {
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				b := newBasin(t, name, "pool", 1, SensorNoise(), nil)
				return haltest.Subject{Body: b.v, World: b.Scene, Period: control, Falls: true}
			})
		})
	}
	names := func(vehicle string) (list []string) {
		for _, a := range newBasin(t, vehicle, "pool", 1, Noise{}, nil).v.Layout().Actuators {
			list = append(list, a.Name)
		}
		return list
	}
	if got, want := names("okon"), []string{"flh", "frh", "blh", "brh", "flv", "frv", "blv", "brv"}; !slices.Equal(got,
		want) {
		t.Errorf("okon: got %v, want %v", got, want)
	}
	if got, want := names("bluerov2-heavy"),
		[]string{"t2", "t1", "t4", "t3", "t6", "t5", "t8", "t7"}; !slices.Equal(got, want) {
		t.Errorf("bluerov2-heavy: got %v, want %v", got, want)
	}
	if got := len(autopilot.OkonThrusters()); got != len(names("okon")) {
		t.Errorf("mixer: got %d thrusters", got)
	}
}

// Thrusters push while they are enabled, keep their duty, and rest after Halt and when they are enabled again.
func TestVehicleThrusts(t *testing.T) {
	b := newBasin(t, "okon", "pool", 1, Noise{}, nil)
	thrust := func() float64 { return b.frame.Measured[b.v.Layout().Actuators[4].Torque] }
	b.must(b.Place("rov", hal.Pose{Position: [3]float64{0, 0, -3.5}, Rotation: [4]float64{1}}))
	b.duty(false, 0, 0, 0, 0, 1, 1, 1, 1)
	b.cycle(5)
	if thrust() != 0 {
		t.Errorf("not enabled: got %g N", thrust())
	}
	b.duty(true, 0, 0, 0, 0, 1, 1, 1, 1)
	b.cycle(1)
	b.duty(true)
	b.cycle(150)
	// Four thrusters against the greater drag law: 4 * 6.18 + 0.11 N = 44 v².
	want := math.Sqrt((4*6.182687427 + 9.81*(0.0126*997-12.55)) / 44)
	if got := b.reading("pose")[9]; math.Abs(got/want-1) > 0.01 {
		t.Errorf("climb: got %.4f m/s, theory %.4f", got, want)
	}
	b.duty(false)
	b.cycle(1)
	if thrust() != 0 {
		t.Errorf("switched off: got %g N", thrust())
	}
	b.duty(true)
	b.cycle(1)
	if thrust() != 0 {
		t.Errorf("switched on again: got %g N, want rest", thrust())
	}
	b.duty(true, 0, 0, 0, 0, 1)
	b.cycle(1)
	for range 2 {
		b.must(b.v.Halt())
	}
	b.duty(false)
	b.cycle(1)
	b.duty(true)
	b.cycle(1)
	if thrust() != 0 {
		t.Errorf("enabled again: got %g N, want rest", thrust())
	}
	b.duty(true, math.Inf(1), math.NaN(), -7)
	b.cycle(1)
	if got := b.frame.Measured[b.v.Layout().Actuators[0].Torque]; math.Abs(got-6.182687427) > 1e-9 {
		t.Errorf("more than all: got %g N, want all", got)
	}
}

// swim is n cycles of everything, and a number of the state at their end.
func (b *basin) swim(n int) (hash uint64) {
	for i := range n {
		u := make([]float64, 8)
		for k := range u {
			u[k] = math.Sin(float64(i*(k+1)) / 30)
		}
		b.duty(true, u...)
		b.cycle(1)
		for _, x := range b.frame.Measured {
			hash = (hash ^ math.Float64bits(x)) * 1099511628211
		}
	}
	return hash ^ b.system.Hash()
}

// After a restore or a reset the run repeats to the bit, with noise, with a robot in the scene and a new seed in
// between.
func TestVehicleRepeats(t *testing.T) {
	b := newBasin(t, "bluerov2-heavy", "pool", 7, SensorNoise(),
		func(g *model.Scene) { g.Water.Current = [3]float64{0.2, 0.1, 0} })
	first := b.swim(100)
	b.must(b.Save())
	second := b.swim(100)
	b.must(b.Restore())
	if got := b.swim(100); got != second {
		t.Errorf("restored: got %x, want %x", got, second)
	}
	b.must(b.Reset(8))
	other := b.swim(100)
	b.must(b.Restore())
	if got := b.swim(100); got != second {
		t.Errorf("restored after another seed: got %x, want %x", got, second)
	}
	b.must(b.Reset(7))
	if got := b.swim(100); got != first {
		t.Errorf("reset: got %x, want %x", got, first)
	}
	if first == other {
		t.Error("seeds 7 and 8: got the same run")
	}
	// A vehicle that is added does not change the place of the others, and can be removed again.
	was := b.v.Pose()
	pendulum, err := model.Load("xm430-arm")
	b.must(err)
	_, err = b.Add("arm", pendulum, hal.Pose{Position: [3]float64{3, -4, -3}, Rotation: [4]float64{1}})
	b.must(err)
	if b.v.Pose() != was {
		t.Errorf("another came: got %v, want %v", b.v.Pose(), was)
	}
	if _, err := b.AddVehicle("arm", vehicleOf(t, "okon"), hal.Pose{}, Noise{}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a name twice: got %v", err)
	}
	if _, err := b.Add("rov", pendulum, hal.Pose{}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a name twice: got %v", err)
	}
	b.cycle(5)
	b.must(b.Remove("rov"))
	b.must(b.Advance(control))
	if b.Vehicle("rov") != nil {
		t.Error("removed: it is there")
	}
}

// The sensors read the true values, and their noise has the requested size.
func TestVehicleSenses(t *testing.T) {
	b := newBasin(t, "okon", "pool", 1, Noise{}, nil)
	half := math.Sqrt(0.5)
	pose := hal.Pose{Position: [3]float64{2, 1, -1.5}, Rotation: [4]float64{half, 0, 0, half}}
	b.must(b.Place("rov", pose))
	b.must(b.v.Read(b.frame))
	near := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Errorf("%s: got %v, want %v", what, got, want)
			}
		}
	}
	near("attitude, rates, acceleration", b.reading("imu"), half, 0, 0, half, 0, 0, 0, 0, 0, 9.81)
	near("pressure", b.reading("pressure"), 1.5*997*9.81)
	near("voltage", b.reading("battery"), 16)
	near("pose", b.reading("pose"), 2, 1, -1.5, half, 0, 0, half, 0, 0, 0, 0, 0, 0)
	// A push along the world's x is to its right.
	b.must(b.Push("rov", "hull", [3]float64{12.55, 0, 0}))
	b.cycle(1)
	if a := b.reading("imu")[7:]; !(a[1] < -0.9) || math.Abs(a[0]) > 0.05 {
		t.Errorf("pushed: got %v m/s², want about -1 along y", a)
	}
	b.cycle(1)
	if a := b.reading("imu")[7:]; math.Abs(a[1]) > 0.1 {
		t.Errorf("free fall: got %v m/s²", a)
	}
	if err := b.Push("rov", "wing", [3]float64{}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a part that it has not: got %v", err)
	}
	if err := b.Place("rov", hal.Pose{Position: [3]float64{math.NaN()}}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("an invalid pose: got %v", err)
	}
	// Without gravity nothing floats and no pressure grows.
	b.must(b.SetGravity([3]float64{}))
	b.cycle(1)
	near("weightless", b.reading("pressure"), 0)

	noisy := newBasin(t, "okon", "pool", 1, SensorNoise(), nil)
	var sum, square float64
	const n = 2000
	for range n {
		noisy.v.sense(0)
		p := noisy.v.now.sensed[10] - 0.4*997*9.81
		sum, square = sum+p, square+p*p
	}
	if mean, sigma := sum/n, math.Sqrt(square/n); math.Abs(mean) > 2 || math.Abs(sigma-20) > 1.5 {
		t.Errorf("noise: got %.2f ± %.2f Pa, want 0 ± 20", mean, sigma)
	}
	dry := newBasin(t, "okon", "flat", 1, Noise{}, nil)
	dry.cycle(50)
	if p := dry.reading("pressure")[0]; p != 0 || dry.reading("pose")[2] > 0.1 || dry.Water() != nil {
		t.Errorf("on dry land: got %g Pa at %g m", p, dry.reading("pose")[2])
	}
}

// A diverging vehicle rests, and time continues for the others.
func TestVehicleDiverges(t *testing.T) {
	b := newBasin(t, "okon", "pool", 1, Noise{}, nil)
	b.duty(true, 1, 1, 1, 1)
	b.must(b.v.Write(b.frame))
	b.system.V[b.v.at.v] = 1e9
	b.system.Moved()
	if err := b.Advance(control); hal.KindOf(err) != hal.Unsafe {
		t.Fatalf("got %v, want it unsafe", err)
	}
	b.cycle(10)
	if err := b.frame.Status[0].Err; hal.KindOf(err) != hal.Unsafe ||
		b.frame.Measured[b.v.Layout().Actuators[0].Torque] != 0 {
		t.Errorf("status: got %v, thrust %g", err, b.frame.Measured[b.v.Layout().Actuators[0].Torque])
	}
	b.must(b.Reset(0))
	b.cycle(1)
	if b.frame.Status[0].Err != nil || b.frame.Measured[b.v.Layout().Actuators[0].Torque] == 0 {
		t.Errorf("reset: got %v", b.frame.Status[0].Err)
	}
}

// After Restore all readings are those of the snapshot, also the thrust.
func TestVehicleRestoresThrust(t *testing.T) {
	b := newBasin(t, "okon", "pool", 1, Noise{}, nil)
	u := make([]float64, len(b.v.thrusters))
	for i := range u {
		u[i] = 0.5
	}
	b.duty(true, u...)
	b.cycle(50)
	b.must(b.Save())
	want := slices.Clone(b.frame.Measured)
	clear(u)
	b.duty(true, u...)
	b.cycle(50)
	b.must(b.Restore())
	b.must(b.v.Read(b.frame))
	for i, v := range b.frame.Measured {
		if v != want[i] {
			t.Errorf("%s: got %g, want %g", b.v.Layout().Measured(i).Name, v, want[i])
		}
	}
}
