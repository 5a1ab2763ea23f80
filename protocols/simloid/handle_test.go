package simloid

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
)

// TestInputs: the commands of a joint's servo: its goal, and the maximum torque only in position mode. The inputs of a
// puppet are position, torque limit and duty; the limit's maximum is 1.5 N·m.
func TestInputs(t *testing.T) {
	none := math.NaN()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{powerful: true, Options: Options{Exact: true}})
		s.body.Speed = 1000
		c, err := NewClient(s.lines.Dial(), ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for _, k := range []struct {
			line string
			want []float64
		}{
			{"GRAVITY ON", []float64{none, none, none}},
			{"TA 0.25", []float64{none, none, none}}, // nothing is driven yet
			{"PA 0.01", []float64{0.01 * math.Pi, 0.375, none}},
			{"TA 1", []float64{0.01 * math.Pi, 1.5, none}},
			{"TX 7", []float64{0.01 * math.Pi, 1.5, none}},
			{"TA 7", []float64{0.01 * math.Pi, 1.5, none}},
			{"TI 0 0.1", []float64{0.01 * math.Pi, 0.15000000000000002, none}},
			{"UA -0.5", []float64{none, 1.5, -0.5}},
			{"TX -1", []float64{none, 1.5, -0.5}},
			{"UX 9", []float64{none, 1.5, 1}},
			{"RESET", []float64{none, none, none}},
			{"PI 0 0.01", []float64{0.01 * math.Pi, 0.75, none}}, // the limit is as at the start
			{"SAVE", []float64{0.01 * math.Pi, 0.75, none}},
			{"UA 0.5", []float64{none, 1.5, 0.5}},
			{"RESTORE", []float64{0.01 * math.Pi, 0.75, none}},
			{"TA 0.25", []float64{0.01 * math.Pi, 0.375, none}}, // in position mode again
		} {
			c.conn.Write([]byte(k.line + "\n"))
			cycle(t, c)
			if got := s.body.Last; !slices.EqualFunc(got, k.want,
				func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Errorf("%s: got %v, want %v", k.line, got, k.want)
			}
		}
	})
}

// TestSensors: units, clipping and unknown values.
func TestSensors(t *testing.T) {
	none := math.NaN()
	r := &Robot{
		Traits: Traits{Accels: 1, Bodies: 1, Joints: []Joint{{Low: -1, High: 1}, {Low: -0.5, High: 0.5},
			{Low: -1, High: 1}}},
		Joints: []jointChannels{{Position: 0, Velocity: 1, Current: 2}, {Position: 0, Velocity: 3, Current: hal.None},
			{Position: 4, Velocity: hal.None, Current: 5}},
		Accels: [][3]int{{6, 7, hal.None}},
		Bodies: []bodyChannels{{[3]int{0, 1, 2}, [3]int{hal.None, 4, 5}}},
	}
	measured := []float64{4, 4 * math.Pi / 8, 0.25, -100, math.NaN(), math.Inf(1), -gravity, 1000}
	got := newStatus(&r.Traits, Later)
	s := newSensors(true, 1)
	s.read(got, r, measured, 0.01)
	want := Status{
		Position: []float64{-0.726746, 0.999969, none}, // without stops an angle is within half a turn
		Velocity: []float64{0.125, -1, none},
		Current:  []float64{0.25, none, none},
		Accel:    [][3]float64{{-0.125, 0.999969, none}},
		Bodies:   []BodyState{{[3]float64{4, 1.570796, 0.25}, [3]float64{none, none, none}}},
	}
	if got, want := string(AppendStatus(nil, got)), string(AppendStatus(nil, &want)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if v := s.fine(-1e-6); math.Signbit(v) {
		t.Error("a small negative value: got -0, want 0 as the original's cast makes it")
	}
}
