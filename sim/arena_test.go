package sim

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/sim/model"
)

// In every arena a robot that is spawned at the recommended start comes to rest on its wheels, and stays there.
func TestStartsStand(t *testing.T) {
	for _, name := range model.ArenaNames() {
		ground, err := model.LoadScene(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, start := range ground.Course.Starts {
			r := enter(t, "p2at", name, start.Pose)
			if why := r.body.Misplaced(); why != "" {
				t.Errorf("%s, %s: %s", name, start.Name, why)
			}
			r.run(time.Second)
			p := r.body.Pose(0)
			r.run(time.Second)
			q := r.body.Pose(0)
			if away(p, q) > 1e-3 || q.Turn([3]float64{0, 0, 1})[2] < 0.98 || away(q, start.Pose) > 0.1 {
				t.Errorf("%s, %s: spawned at %v, at %v after two seconds, %v a second later", name, start.Name,
					start.Pose.Position, p.Position, q.Position)
			}
		}
	}
}

// A robot placed in a wall, or without a floor below it, is reported as misplaced.
func TestMisplaced(t *testing.T) {
	for want, at := range map[string][3]float64{
		"is inside something": {0.3, -3.7, -1.8},
		"no floor beneath it": {4.5, -1.9, -30},
		"outside the arena":   {50, -50, -1.8},
	} {
		if got := enter(t, "p2at", "yellow", hal.Pose{Position: at}).body.Misplaced(); !strings.Contains(got, want) {
			t.Errorf("at %v: got %q, want %q", at, got, want)
		}
	}
}

// The pose of a robot without ray sensors is checked too.
func TestMisplacedWithoutRays(t *testing.T) {
	robot, err := model.Load("usarsim-p2dx")
	if err != nil {
		t.Fatal(err)
	}
	robot.Sensors = nil
	s := arena("yellow")
	for name, at := range map[string][3]float64{"": {4.5, -1.9, -1.8}, "is inside something": {0.3, -3.7, -1.8}} {
		b, err := s.Add("robot "+name, robot, hal.Pose{Position: at, Rotation: [4]float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Misplaced(); !strings.Contains(got, name) || name == "" && got != "" {
			t.Errorf("at %v: got %q, want %q", at, got, name)
		}
	}
}

// A robot without bodies, whose joints have loads of their own, is nowhere: no pose of it is a fault.
func TestMisplacedWithoutBodies(t *testing.T) {
	r := enter(t, "p2at", "yellow", hal.Pose{Position: [3]float64{1.2, -4.35, -1.8}})
	m, err := model.Load("pendulum")
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.scene.Add("pendulum", m, hal.Pose{})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Misplaced(); got != "" {
		t.Errorf("got %q", got)
	}
}

// Robots with all-wheel drive, and the tracked Tarantula, climb the ramp of the orange arena to its upper level.
func TestRamp(t *testing.T) {
	t.Parallel()
	for robot, speed := range map[string]float64{"p2at": 5, "tarantula": 5, "papagoose": 5, "atrvjr": 3.5, "kenaf": 4,
		"talon": 4, "matilda": 4} {
		t.Run(robot, func(t *testing.T) {
			if !haltest.Full() && slices.Contains([]string{"kenaf", "matilda", "tarantula"}, robot) {
				t.Skip("tracks of many wheels: HALYARD_FULL=1 runs it")
			}
			t.Parallel()
			r := enter(t, robot, "orange", hal.Pose{Position: [3]float64{2.2, 4.6, -1.1}})
			r.drive(speed, speed)
			for i := 0; i < 16 && r.body.Pose(0).Position[0] < 6.5; i++ {
				r.run(time.Second)
			}
			if p := r.body.Pose(0).Position; p[2] < -0.25 || p[0] < 6 || math.Abs(p[1]-4.6) > 0.4 {
				t.Errorf("got to %v, want onto the upper level", p)
			}
		})
	}
}

// The reader reports more of the yellow arena's victim the nearer it is, and only while it points at the victim.
func TestVictims(t *testing.T) {
	r := enter(t, "p2at", "yellow", hal.Pose{Position: [3]float64{1.2, -4.35, -1.8}})
	var last Found
	heard := 0
	if err := r.body.Listen(r.index("victrfid"), func(f Found) { last, heard = f, heard+1 }); err != nil {
		t.Fatal(err)
	}
	at := func(x float64, turn float64) {
		t.Helper()
		p := hal.Pose{Position: [3]float64{x, -4.35, -1.82},
			Rotation: [4]float64{math.Cos(turn / 2), 0, 0, math.Sin(turn / 2)}}
		if err := r.scene.Place("p2at", p); err != nil {
			t.Fatal(err)
		}
		last, heard = Found{}, 0
		r.run(cycle)
	}
	// The reader is 0.2 m ahead of the middle of the robot; Jim lies at x = 2.4.
	at(1.3, 0)
	if heard != 1 || last.Name != "None" || last.State != "None" || r.sensor("victrfid")[0] != 1 ||
		math.Abs(last.At[0]-0.9) > 0.02 {
		t.Errorf("at 0.9 m: got %+v, want an unnamed victim", last)
	}
	at(1.75, 0)
	if last.Name != "Jim" || last.State != "None" {
		t.Errorf("at 0.45 m: got %+v, want Jim", last)
	}
	at(2, 0)
	if last.Name != "Jim" || last.State != "unconscious" {
		t.Errorf("at 0.2 m: got %+v, want Jim and his state", last)
	}
	at(1.3, math.Pi)
	if heard != 0 || r.sensor("victrfid")[0] != 0 {
		t.Errorf("turned away: got %+v, want no victim", last)
	}
}

// Tags are read within range; a single-shot tag once; a dropped one has a number of its own.
func TestTags(t *testing.T) {
	s := arena("yellow")
	r := join(t, s, "a", "p2at", hal.Pose{Position: [3]float64{0.75, -7.9, -1.82}})
	var read []int
	if err := r.body.Listen(r.index("rfid"), func(f Found) { read = append(read, f.Tag) }); err != nil {
		t.Fatal(err)
	}
	r.run(10 * cycle)
	if len(read) != 1 || read[0] != 3 {
		t.Errorf("got %v, want the single-shot tag 3 once", read)
	}
	d := join(t, s, "d", "p2dx", hal.Pose{Position: [3]float64{0.9, -6.6, -1.8}})
	for range 10 {
		if err := d.body.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.body.Release(); hal.KindOf(err) != hal.Invalid || d.body.Remaining() != 0 {
		t.Errorf("an eleventh tag: got %v, %d left", err, d.body.Remaining())
	}
	ids := map[int]bool{}
	for _, tag := range s.tags {
		if ids[tag.ID] {
			t.Errorf("tag %d is there twice", tag.ID)
		}
		ids[tag.ID] = true
	}
	if len(s.tags) != 14 || !ids[1001] {
		t.Errorf("got tags %v, want the arena's four and ten from 1001 on", ids)
	}
	if err := s.Reset(0); err != nil {
		t.Fatal(err)
	}
	if len(s.tags) != 4 || d.body.Remaining() != 10 {
		t.Errorf("after a reset: got %d tags and %d to drop, want 4 and 10", len(s.tags), d.body.Remaining())
	}
}

// The sound sensor measures the loudest voice by the square of its distance while it calls; the motion sensor detects
// waving limbs in front of it.
func TestSoundAndMotion(t *testing.T) {
	r := exactly(t, arena("yellow"), "a", "papagoose",
		hal.Pose{Position: [3]float64{11.6, -2.5, -1.8}, Rotation: [4]float64{math.Sqrt(0.5), 0, 0, math.Sqrt(0.5)}})
	r.run(time.Second)
	at := r.body.Pose(0).Position
	square := math.Pow(at[0]-11.6, 2) + math.Pow(at[1]+1.2, 2) + math.Pow(at[2]+1.85, 2)
	if got := r.sensor("sound"); math.Abs(got[0]-20/square) > 1e-6 || got[1] != 3 {
		t.Errorf("sound: got %v, want %g for 3 s", got, 20/square)
	}
	if p := r.sensor("motion")[0]; p < 0.5 || p > 1 {
		t.Errorf("motion: got %g, want a human in front", p)
	}
	r.run(3 * time.Second) // Sarah is silent from the third second on
	if got := r.sensor("sound"); got[0] != 0 {
		t.Errorf("sound: got %v, want silence", got)
	}
}

func TestFlip(t *testing.T) {
	r := enter(t, "p2at", "hall", middle)
	half := 0.35
	over := hal.Pose{Position: [3]float64{10, -6, -1.6}, Rotation: [4]float64{math.Cos(half), 0, 0, math.Sin(half)}}
	if err := r.scene.Place("p2at", over.Times(hal.Pose{Rotation: [4]float64{0, 1, 0, 0}})); err != nil {
		t.Fatal(err)
	}
	r.run(time.Second)
	if up := r.body.Pose(0).Turn([3]float64{0, 0, 1})[2]; up > -0.9 {
		t.Fatalf("it does not lie on its back: %g", up)
	}
	if err := r.body.Flip(); err != nil {
		t.Fatal(err)
	}
	r.run(time.Second)
	p := r.body.Pose(0)
	if up := p.Turn([3]float64{0, 0, 1})[2]; up < 0.999 || math.Abs(heading(p)-2*half) > 0.1 {
		t.Errorf("got up %g, heading %g, want 1 and %g", up, heading(p), 2*half)
	}
}

// A victim's arm swings between its two turns at the rate of the file, rays see it where it is, and it knocks
// against what is in its way.
func TestVictimsMove(t *testing.T) {
	const text = `{name: a, ground: floor, materials: {floor: {friction: 0.8}, skin: {friction: 0.5, colour: [0.8, 0.6, 0.5]}},
victims: [{name: Ann, at_m: [3, 0, 0.5], material: skin, segments: [{name: left_arm, from_deg: [0, 0, 0], to_deg: [0, 90, 0], rate_degs: 45}]}]}`
	s := yard(t, text)
	r := exactly(t, s, "p", "papagoose", hal.Pose{Position: [3]float64{-3, 3, 0.2}})
	arm := s.thing
	hand := func() [3]float64 { return hal.Pose(s.system.Pose(arm)).Of([3]float64{-0.5, 0, 0}) }
	// The shoulder is at 3.12, 0.19; the arm points to the feet, which are to the south, and rises to straight up.
	for _, k := range []struct {
		at   time.Duration
		want [3]float64
	}{{time.Second, [3]float64{3.12 - 0.5*math.Sqrt2/2, 0.19, 0.5 + 0.5*math.Sqrt2/2}},
		{2 * time.Second, [3]float64{3.12, 0.19, 1}}, {4 * time.Second, [3]float64{2.62, 0.19, 0.5}}} {
		r.run(k.at - s.Now())
		if got := hand(); length([3]float64{got[0] - k.want[0], got[1] - k.want[1], got[2] - k.want[2]}) > 0.01 {
			t.Errorf("after %v: the hand is at %.3f, want %.3f", k.at, got, k.want)
		}
	}
	v := s.ground.Arena.Victims[0]
	if math.Abs(v.Period-4) > 1e-9 || math.Abs(v.Amplitude-0.5*math.Sqrt2/2) > 1e-9 || len(s.ground.Fixed) != 4 {
		t.Errorf("got a period of %g s, an amplitude of %g m and %d parts that lie still", v.Period, v.Amplitude,
			len(s.ground.Fixed))
	}
	if p := r.sensor("motion")[0]; p < 0 || p > 1 {
		t.Errorf("motion: got %g", p)
	}
	// An object in the way of the arm is pushed aside, and its contact is reported.
	s.WatchTouches()
	if err := s.Place("p", hal.Pose{Position: [3]float64{2.75, 0.35, 0.85}, Rotation: [4]float64{1}}); err != nil {
		t.Fatal(err)
	}
	knocked := false
	for range 200 {
		r.run(cycle)
		s.Touches(func(a, b hal.Part) { knocked = knocked || a.Body == "Ann/left_arm" || b.Body == "Ann/left_arm" })
	}
	if !knocked || s.fault != nil {
		t.Errorf("the arm touched no robot in its way, or the physics failed: %v", s.fault)
	}
}

// A victim's arm goes on as it was when the scene changes: it sweeps over nothing in one step, and a robot that stands
// where the raised arm was built is left alone.
func TestVictimsAfterChange(t *testing.T) {
	const text = `{name: a, ground: floor, materials: {floor: {friction: 0.8}, skin: {friction: 0.5, colour: [0.8, 0.6, 0.5]}},
victims: [{name: Ann, at_m: [3, 0, 0.1], material: skin, segments: [{name: left_arm, from_deg: [0, 0, 0], to_deg: [0, 90, 0], rate_degs: 45}]}]}`
	s := yard(t, text)
	r := exactly(t, s, "p", "papagoose", hal.Pose{Position: [3]float64{-3, 3, 0.2}})
	r.run(1500 * time.Millisecond)
	at := hal.Pose{Position: [3]float64{2.7, 0.32, 0.1}, Rotation: [4]float64{1}}
	for _, k := range []struct {
		name   string
		change func() error
	}{
		{"nothing", func() error { return nil }},
		{"a robot comes", func() error {
			exactly(t, s, "q", "papagoose", hal.Pose{Position: [3]float64{-3, -3, 0.2}})
			return nil
		}},
		{"it goes", func() error { return s.Remove("q") }},
		{"reset", func() error { return s.Reset(0) }},
		{"save", s.Save},
		{"restore", s.Restore},
		{"zero clock", s.ZeroClock},
	} {
		r.run(1300 * time.Millisecond)
		stands := k.name == "it goes" || k.name == "a robot comes"
		if stands {
			r.run((2*time.Second - s.Now()%(4*time.Second) + 4*time.Second) % (4 * time.Second)) // the arm is up
			if err := s.Place("p", at); err != nil {
				t.Fatal(err)
			}
			r.run(200 * time.Millisecond)
		}
		if err := k.change(); err != nil {
			t.Fatal(err)
		}
		q := s.system.Model().Joint(s.thing).Q
		before := s.system.Q[q]
		if err := s.Advance(time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(s.system.Q[q] - before); d > 0.002 {
			t.Errorf("%s: the arm turned by %.3f rad in 1 ms, want at most 0.002", k.name, d)
		}
		for i := range r.body.parts {
			if v, _ := s.system.Velocity(r.body.at.body + i); stands && length(v) > 0.25 {
				t.Errorf("%s: part %d is kicked to %.2f m/s", k.name, i, length(v))
			}
		}
	}
}

// The victim sensor detects parts of bodies within its view, and none behind a wall or behind itself.
func TestVictimParts(t *testing.T) {
	r := enter(t, "p2at", "yellow", hal.Pose{Position: [3]float64{1.2, -4.35, -1.8}})
	var seen []string
	reads := 0
	if err := r.body.Look(r.index("victrfid"), func(list []SeenPart) {
		seen, reads = seen[:0], reads+1
		for _, p := range list {
			if a := math.Hypot(p.At[0], p.At[1]); p.At[0] <= 0 || a > 4 {
				t.Errorf("%s: got it at %v", p.Name, p.At)
			}
			seen = append(seen, p.Name)
		}
	}); err != nil {
		t.Fatal(err)
	}
	at := func(x, turn float64) string {
		p := hal.Pose{Position: [3]float64{x, -4.35, -1.82},
			Rotation: [4]float64{math.Cos(turn / 2), 0, 0, math.Sin(turn / 2)}}
		if err := r.scene.Place("p2at", p); err != nil {
			t.Fatal(err)
		}
		reads = 0
		r.run(cycle)
		if reads == 0 {
			t.Error("the sensor did not read")
		}
		return strings.Join(seen, " ")
	}
	if got := at(0.9, 0); !strings.Contains(got, "Chest") {
		t.Errorf("before Jim: got %q, want his chest", got)
	}
	if got := at(0.9, math.Pi); got != "" {
		t.Errorf("the back to Jim: got %q, want nothing", got)
	}
	if err := r.body.Look(r.index("f1"), nil); err == nil {
		t.Error("a sonar looks for no victims: got no error")
	}
}
