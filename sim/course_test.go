package sim

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

func at(x, y, z float64) hal.Pose {
	return hal.Pose{Position: [3]float64{x, y, z}, Rotation: [4]float64{1}}
}

// zones lists those of a kind for which pick is true.
func (b *basin) zones(k model.ZoneKind, pick func(Zone) bool) (ids []string) {
	b.v.Zones(func(z Zone) {
		if z.Kind == k && pick(z) {
			ids = append(ids, z.ID)
		}
	})
	return ids
}

func reached(z Zone) bool { return z.Reached }
func entered(z Zone) bool { return z.Entered }
func inside(z Zone) bool  { return z.Inside }

// A path through the course: each zone is entered once, and raises an event.
func TestCourse(t *testing.T) {
	b := newBasin(t, "okon", "pool", 3, Noise{}, nil)
	rig, err := hal.New(hal.Config{Period: control})
	b.must(err)
	b.v.RaiseZoneEvents(rig.Events())
	id, ok := rig.Events().Lookup("/rov/Checkpoint/chk1")
	if !ok || rig.Events().Name(id) == "" {
		t.Error("events: got none for chk1")
	}
	go_ := func(p hal.Pose) {
		t.Helper()
		b.must(b.Place("rov", p))
		b.cycle(1)
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	b.cycle(1)
	same("at the start", b.zones(model.Checkpoint, reached))
	go_(at(6, 0.1, -1.5))
	same("in the gate", b.zones(model.Checkpoint, entered), "chk1")
	b.cycle(1)
	same("still in it", b.zones(model.Checkpoint, entered))
	same("and it counts", b.zones(model.Checkpoint, reached), "chk1")
	go_(at(9.2, 1.6, -1.5))
	same("beside the buoy", b.zones(model.Action, inside), "AP1")
	go_(at(11, 4.8, -1))
	same("forbidden", b.zones(model.NoGo, entered), "NGZ1")
	b.must(b.Save())
	go_(at(13, 2, -1.5))
	go_(at(19, 3, -1.5))
	same("at the end", b.zones(model.Finish, entered), "FZ1")
	same("all", b.zones(model.Checkpoint, reached), "chk1", "chk2")
	b.must(b.Restore())
	same("reverted", b.zones(model.Checkpoint, reached), "chk1")
	b.v.Clear()
	same("cleared", b.zones(model.Checkpoint, reached))
	go_(at(6, 0.1, -1.5))
	b.must(b.v.Restart())
	same("restarted", b.zones(model.Checkpoint, reached))
	if p := b.v.Pose().Position; math.Abs(p[0]) > 0.01 || math.Abs(p[2]+0.4) > 0.01 {
		t.Errorf("restarted: got %v, want a start zone", p)
	}
}

// The seed selects the start zone and the attitude in it, the same each time; a vehicle's pose is relative to it.
func TestStarts(t *testing.T) {
	places := func(seed int64) (list []hal.Pose) {
		b := newBasin(t, "okon", "pool", seed, Noise{}, nil)
		list = append(list, b.v.Pose())
		for range 20 {
			b.must(b.v.Restart())
			list = append(list, b.v.Pose())
		}
		return list
	}
	first, again := places(5), places(5)
	ys := map[float64]int{}
	for i := range first {
		if first[i] != again[i] {
			t.Fatalf("restart %d: got %v and %v by the same seed", i, first[i], again[i])
		}
		ys[math.Round(2*first[i].Position[1])/2]++
		if yaw := 2 * math.Asin(first[i].Rotation[3]) * 180 / math.Pi; math.Abs(yaw) > 10 {
			t.Errorf("restart %d: turned by %g degrees, want 10 at most", i, yaw)
		}
	}
	if len(ys) != 3 || slices.Equal(first, places(6)) {
		t.Errorf("got %v, want three places, and others by another seed", ys)
	}
	b := newBasin(t, "okon", "pool", 5, Noise{}, nil)
	two, err := b.AddVehicle("two", vehicleOf(t, "okon"), at(-1.5, 0, 0), Noise{})
	b.must(err)
	if d := two.Pose().Position; math.Abs(d[0]+1.5) > 0.1 || b.v.Pose() != first[0] {
		t.Errorf("two: got %v, and the first at %v", d, b.v.Pose())
	}
}

// Pictures outlive a scene that is built again, their numbers rise, and they show what is there.
func TestVehicleWatch(t *testing.T) {
	was := runtime.NumGoroutine()
	b := newBasin(t, "okon", "pool", 1, Noise{}, nil)
	var watched hal.CameraSource = b.v
	if !b.Deferrable() {
		t.Error("no viewer: want Deferrable")
	}
	w, err := watched.Watch(0)
	b.must(err)
	if b.Deferrable() {
		t.Error("a viewer: want not Deferrable")
	}
	ctx := context.Background()
	last := uint64(0)
	look := func() *hal.Picture {
		t.Helper()
		b.cycle(1)
		p, err := w.Next(ctx, last)
		b.must(err)
		if p.Sequence <= last || p.Time != b.frame.Time || p.Width != 640 || len(p.RGB) != 640*360*3 {
			t.Errorf("picture: got number %d after %d, of %v at %v, %d x %d", p.Sequence, last, p.Time, b.frame.Time,
				p.Width, p.Height)
		}
		last = p.Sequence
		return p
	}
	p := look()
	var gate bool
	for _, s := range p.Detections {
		gate = gate || s.Name == "gate-1" && s.Visible > 0 && s.Distance > 4 && s.Distance < 7 && s.Class == "gate"
	}
	if !gate || len(p.Detections) != 7 {
		t.Errorf("sights: got %+v, want the gate", p.Detections)
	}
	p.Release()
	for range 3 {
		look().Release()
	}
	_, err = b.AddVehicle("two", vehicleOf(t, "okon"), at(0.9, 0, 0), Noise{})
	b.must(err)
	look().Release()
	b.must(b.Reset(2)) // the world is built again, and the next cycle shows it to a studio that comes later
	look().Release()
	other, err := b.v.Watch(1)
	b.must(err)
	b.cycle(1)
	d, err := other.Next(ctx, 0)
	b.must(err)
	// Its twin is a metre ahead.
	if near := slices.Min(d.Depth); len(d.Depth) != 128*72 || near < 0.3 || near > 1 {
		t.Errorf("depth: got %d pixels, the nearest at %g m", len(d.Depth), near)
	}
	d.Release()
	if _, err := b.v.Watch(2); hal.KindOf(err) != hal.Absent {
		t.Errorf("a camera that it has not: got %v", err)
	}
	other.Close()
	if _, err := other.Next(ctx, 0); !errors.Is(err, errGone) {
		t.Errorf("closed: got %v", err)
	}
	b.Close()
	if _, err := w.Next(ctx, last); err == nil {
		t.Error("the scene is closed: got a picture")
	}
	w.Close()
	if !b.Deferrable() {
		t.Error("no viewer again: want Deferrable")
	}
	if _, err := b.v.Watch(0); hal.KindOf(err) != hal.Absent {
		t.Errorf("watch a closed scene: got %v", err)
	}
	for i := 0; runtime.NumGoroutine() > was && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > was {
		t.Errorf("goroutines: got %d, want %d", n, was)
	}
}

// What is painted is painted, and a robot in the water is seen by its material's colour.
func TestVisible(t *testing.T) {
	b := newBasin(t, "okon", "hills", 1, Noise{}, nil)
	v := b.visible()
	if len(v.Geoms) != len(v.Paints) || len(v.Things) != 0 || v.Water != nil {
		t.Fatalf("hills: got %d geoms, %d paints", len(v.Geoms), len(v.Paints))
	}
	if v.Paints[0].Colour != plainHull().Colour || v.Paints[len(v.Paints)-1].Size != 1 {
		t.Errorf("hills: got %+v", v.Paints)
	}
	w, err := b.v.Watch(0)
	b.must(err)
	defer w.Close()
	b.cycle(1)
	p, err := w.Next(context.Background(), 0)
	b.must(err)
	p.Release()
	pool := newBasin(t, "okon", "pool", 1, Noise{}, nil)
	if v := pool.visible(); v.Water == nil || len(v.Things) != 7 ||
		v.Paints[v.Things[1].Geoms[0]].Colour != [3]float64{0.85, 0.05, 0.05} {
		t.Errorf("pool: got %d things, %+v", len(v.Things), v.Things[1])
	}
}

// BenchmarkVehicle: steps of a millisecond a second, compared with the cost of the craft and the free body alone: 20
// steps a cycle, and the course and the sensors once.
func BenchmarkVehicle(b *testing.B) {
	for _, name := range []string{"okon", "bluerov2-heavy"} {
		b.Run(name, func(b *testing.B) {
			s := newBasin(b, name, "pool", 1, Noise{}, nil)
			s.must(s.Place("rov", at(0, 0, -2)))
			s.duty(true, 0.2, 0.2, -0.2, -0.2)
			s.cycle(1)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if s.frame.Time%(4e9) == 0 {
					s.must(s.Place("rov", at(0, 0, -2)))
				}
				s.cycle(1)
			}
			b.ReportMetric(20*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
