package hal_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// shown is a twin that keeps what it follows.
type shown struct{ at, rate []float64 }

func (s *shown) Follow(_ int, position, velocity float64) {
	s.at, s.rate = append(s.at, position), append(s.rate, velocity)
}

// TestTwinMoves: a twin begins at the first reading at rest, then moves as its joint can, smoothly along a servo's
// resolution, and rests while the joint is lost.
func TestTwinMoves(t *testing.T) {
	const period = 10 * time.Millisecond
	real, twin := haltest.NewBody("x"), &shown{}
	b := hal.Twin(real, twin, []int{0}, hal.None, nil)
	f := hal.NewFrame(b.Layout())
	most := b.Layout().Actuators[0].Limits.MaxVelocity * period.Seconds()
	at := func(position float64) (way float64) {
		t.Helper()
		real.Position[0] = position
		if err := b.Read(f); err != nil {
			t.Fatal(err)
		}
		f.Time += period
		if n := len(twin.at); n > 1 {
			way = twin.at[n-1] - twin.at[n-2]
		}
		return way
	}
	if at(1.2); twin.at[0] != 1.2 || twin.rate[0] != 0 {
		t.Errorf("at first: got %g, %g rad/s; want 1.2, at rest", twin.at[0], twin.rate[0])
	}
	for k := range 300 { // 0.05 rad/s, in ticks of 4096 a turn
		tick := 2 * math.Pi / 4096
		before := twin.rate[len(twin.rate)-1]
		at(1.2 + math.Round(0.05*period.Seconds()*float64(k)/tick)*tick)
		if k < 100 {
			continue
		}
		if now := twin.rate[len(twin.rate)-1]; math.Abs(now-before) > 0.04 || math.Abs(now-0.05) > 0.05 {
			t.Fatalf("cycle %d: got %.3f after %.3f rad/s, want near 0.05", k, now, before)
		}
	}
	real.Silent[0] = errors.New("no answer")
	for range 30 {
		at(9)
	}
	if last := twin.rate[len(twin.rate)-1]; last != 0 {
		t.Errorf("lost: got %g rad/s, want 0", last)
	}
	real.Silent[0] = nil
	for range 400 {
		if way := at(0.4); math.Abs(way) > most*1.000001 {
			t.Fatalf("back elsewhere: a step of %.4f rad, want at most %.4f", way, most)
		}
	}
	if last := twin.at[len(twin.at)-1]; math.Abs(last-0.4) > 1e-6 {
		t.Errorf("at rest: got %g, want 0.4", last)
	}
}

// carried is a twin's frame that goes evenly to where it is led, and the greatest speed that it had.
type carried struct {
	shown
	at, to  float64
	fastest float64
}

func (c *carried) FollowFrame(p hal.Pose, in time.Duration) {
	c.to = p.Position[0]
	step := (c.to - c.at) * min(1, 0.01/max(0.01, in.Seconds()))
	c.at, c.fastest = c.at+step, max(c.fastest, math.Abs(step)/0.01)
}

// TestTwinIsNotThrown: readings of a base that were held up and come in a burst do not throw its twin: it goes hardly
// faster than the base. It is where the base is when that has stopped.
func TestTwinIsNotThrown(t *testing.T) {
	for _, burst := range []bool{false, true} {
		b, twin := haltest.NewBody("x"), &carried{}
		home := hal.Pose{Rotation: [4]float64{1}}
		body := hal.Twin(b, twin, nil, hal.None, &home)
		place := body.(interface{ Place(hal.Pose) }).Place
		f := hal.NewFrame(body.Layout())
		for k := range 500 { // 0.2 m/s for 4 s, read ten times a second
			now := k * 10
			f.Time = time.Duration(now) * time.Millisecond
			if err := body.Read(f); err != nil {
				t.Fatal(err)
			}
			held := burst && now%1000 == 100 // it comes 10 ms before the next one
			if now%100 == 0 && !held || burst && now%1000 == 190 {
				place(hal.Pose{Position: [3]float64{0.2 * min(4, float64(now/100)/10)}, Rotation: [4]float64{1}})
			}
		}
		if twin.fastest > 0.5 || math.Abs(twin.at-0.8) > 1e-3 {
			t.Errorf("burst %v: got %.2f m/s at most, and %.4f m; want about 0.2 m/s, and 0.8 m", burst, twin.fastest,
				twin.at)
		}
	}
}

// TestJoiningRobotWaitsForItsOperator: an operator's arm is for the robots that are there. One that joins, or is bound
// again, stays disarmed where only the operator arms.
func TestJoiningRobotWaitsForItsOperator(t *testing.T) {
	for arming, want := range map[hal.Arming]hal.GuardState{hal.OperatorArms: hal.Disarmed, hal.ClientArms: hal.Armed} {
		r := newRig(t, hal.Realtime)
		if err := r.Arm(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			a, err := r.Add(hal.AgentConfig{Name: "a", Body: haltest.NewBody("x"), BodyKind: hal.Emulated,
				Guard: hal.GuardConfig{Arming: arming, Disarmed: true}})
			if err != nil {
				t.Fatal(err)
			}
			if got := a.Condition().State; got != want {
				t.Errorf("%v arms: joins %v, want %v", arming, got, want)
			}
			if err := r.Remove("a"); err != nil {
				t.Fatal(err)
			}
		}
	}
}
