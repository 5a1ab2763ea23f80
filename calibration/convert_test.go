package calibration

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const turn = 4096

// sample is a calibration that passes Validate, with a table when bent.
func sample(direction int, gear float64, bent bool) *Joint {
	j := &Joint{
		Joint: "left_elbow", Method: ByManual, Date: time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC), Version: 3,
		Servo: Servo{Model: "xm430-w350", ID: 7, Firmware: "48", Adapter: "/dev/serial/by-id/usb-FTDI",
			HomingOffset: -12},
		Direction: direction, ZeroTicks: 2048, TicksPerTurn: turn, Gear: gear, RangeTicks: [2]float64{0, 4095},
		Torque: Torque{Constant: 1.78, Offset: 0.02},
	}
	for i := 0; bent && i <= 8; i++ { // an eccentric magnet: 0.5 degrees of sine, none at zero
		t := float64(i) * 512
		j.Table = append(j.Table, Point{t, (t-2048)*j.slope() + 0.0087/gear*math.Sin((t-2048)*2*math.Pi/turn)})
	}
	return j
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// Known figures, so that a fault shared by both directions of the map is seen.
func TestRadians(t *testing.T) {
	for _, c := range []struct {
		name  string
		j     Joint
		ticks float64
		want  float64
	}{
		{"X at centre", Joint{Direction: 1, ZeroTicks: 2048, TicksPerTurn: 4096, Gear: 1}, 2048, 0},
		{"X quarter turn", Joint{Direction: 1, ZeroTicks: 2048, TicksPerTurn: 4096, Gear: 1}, 3072, math.Pi / 2},
		{"reversed", Joint{Direction: -1, ZeroTicks: 2048, TicksPerTurn: 4096, Gear: 1}, 3072, -math.Pi / 2},
		{"AX end", Joint{Direction: 1, ZeroTicks: 512, TicksPerTurn: 1023 * 360 / 300., Gear: 1}, 0,
			-512 * 300 / 1023. * math.Pi / 180},
		{"gear 3", Joint{Direction: 1, ZeroTicks: 0, TicksPerTurn: 4096, Gear: 3}, 4096, 2 * math.Pi / 3},
		{"table", *sample(1, 1, true), 1024, -math.Pi/2 - 0.0087},
		{"table, halfway", *sample(1, 1, true), 2304, (math.Pi/4 + 0.0087*math.Sqrt2/2) / 2},
		{"beyond the table", *sample(1, 1, true), 4096 + 1024, 1.5 * math.Pi},
	} {
		if c.j.RangeTicks[1] == 0 {
			c.j.RangeTicks = [2]float64{-1e6, 1e6}
		}
		c.j.RangeTicks[1] += 1e6 // no unwrapping here
		near(t, c.name, c.j.Radians(c.ticks), c.want, 1e-12)
		near(t, c.name+" back", c.j.Ticks(c.want), c.ticks, 1e-9)
	}
}

// Ticks inverts Radians for every tick of a turn, either direction, several gears, with a table and without.
func TestRoundTrip(t *testing.T) {
	for _, direction := range []int{1, -1} {
		for _, gear := range []float64{0.25, 1, 4095. / 4096, 3, 353.5} {
			for _, bent := range []bool{false, true} {
				j := sample(direction, gear, bent)
				if err := j.Validate(); err != nil {
					t.Fatal(err)
				}
				last := math.Inf(-direction)
				for tick := -200; tick < turn+200; tick++ {
					q := j.Radians(float64(tick))
					near(t, "ticks", j.Ticks(q), float64(tick), 1e-6)
					if float64(direction)*(q-last) <= 0 {
						t.Fatalf("tick %d: got %g after %g, want monotonic", tick, q, last)
					}
					last = q
				}
				near(t, "velocity", j.ShaftVelocity(j.Velocity(1.5)), 1.5, 1e-12)
				// The rate is the derivative of the angle: one shaft radian is turn/2π ticks.
				if step := turn / (2 * math.Pi); !bent {
					near(t, "rate", j.Velocity(1), j.Radians(2048+step)-j.Radians(2048), 1e-9)
				}
			}
		}
	}
}

func TestTorque(t *testing.T) {
	j := sample(-1, 1, false)
	near(t, "torque", j.TorqueOf(1.02), -1.78, 1e-12)
	near(t, "at rest", j.TorqueOf(0.02), 0, 0)
	for _, e := range []float64{-1, 0, 0.3, 2} {
		near(t, "effort", j.Effort(j.TorqueOf(e)), e, 1e-12)
	}
	j.Torque.Constant = 0
	if !math.IsNaN(j.TorqueOf(1)) || !math.IsNaN(j.Effort(1)) {
		t.Error("unknown constant: want NaN")
	}
}

// Wherever in the encoder's turn the joint's travel lies, over the seam too, and however many turns were lost with
// the power, the angle is right.
func TestWrapAround(t *testing.T) {
	for zero := range turn {
		j := sample(1, 1, false)
		j.ZeroTicks = float64(zero)
		j.RangeTicks = [2]float64{float64(zero) - 1200, float64(zero) + 800}
		for d := -1200; d <= 800; d += 100 {
			encoder := ((zero+d)%turn + turn) % turn
			for _, lost := range []int{0, -turn, 3 * turn} {
				near(t, "angle", j.Radians(float64(encoder+lost)), float64(d)*2*math.Pi/turn, 1e-9)
			}
		}
	}
	// With a range of nearly a turn, readings slightly outside are not moved by a turn.
	j := sample(1, 1, false)
	near(t, "below 0", j.Radians(-3), -2051*2*math.Pi/turn, 1e-12)
	near(t, "above 4095", j.Radians(4100), 2052*2*math.Pi/turn, 1e-12)
}

// Any table that Validate lets pass is inverted, also between and beyond its rows.
func TestTableInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		j := sample(1-2*r.IntN(2), 1, false)
		j.RangeTicks = [2]float64{-1e5, 1e5}
		ticks, angle := -1000., -3.
		for range 2 + r.IntN(30) {
			j.Table = append(j.Table, Point{ticks, float64(j.Direction) * angle})
			ticks, angle = ticks+1+200*r.Float64(), angle+0.001+0.3*r.Float64()
		}
		j.ZeroTicks = j.Ticks(0)
		if err := j.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			at := -3000 + 10000*r.Float64()
			near(t, "table", j.Ticks(j.Radians(at)), at, 1e-6)
		}
	}
}

func TestNominal(t *testing.T) {
	s := Servo{Model: "ax-12a", ID: 7}
	j := Nominal("neck", s, Model{TicksPerTurn: 1227.6, CentreTicks: 512, MaxTicks: 1023, TorqueConstant: 1.5})
	if err := j.Validate(); err != nil {
		t.Error(err)
	}
	near(t, "stall", j.TorqueOf(1), 1.5, 0)
	near(t, "end", j.Radians(1023), 511*2*math.Pi/1227.6, 1e-12)
}

func TestConvertAllocatesNothing(t *testing.T) {
	j := sample(1, 1, true)
	if n := testing.AllocsPerRun(100, func() { j.Ticks(j.Radians(1234)); j.Effort(j.TorqueOf(1)) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}
