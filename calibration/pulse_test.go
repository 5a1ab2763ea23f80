package calibration

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// The file of Pulse's documentation, and one with the least that there can be.
const (
	escFile = `
output: front_left
device: {model: pca9685, channel: 3}
method: manual
date: 2026-11-21T14:03:00Z
version: 2
mode: torque
direction: -1
neutral_us: 1500
range_us: [1100, 1900]
dead_band_us: [1472, 1528]
table: [[1100, -39.9], [1472, 0], [1528, 0], [1900, 51.4]]
arming_s: 3
idle_output: neutral
`
	dutyFile = `
output: rudder
device: {model: maestro, channel: 0}
method: nominal
date: 2026-11-21
mode: duty
direction: 1
neutral_us: 1480
range_us: [1000, 2000]
`
)

func esc() *Pulse {
	return &Pulse{Output: "front_left", Device: Channel{"pca9685", 3}, Method: ByManual,
		Date:    time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC),
		Version: 2, Mode: hal.TorqueMode, Direction: -1, Neutral: 1500, Range: [2]float64{1100, 1900},
		DeadBand: [2]float64{1472, 1528},
		Table:    []Width{{1100, -39.9}, {1472, 0}, {1528, 0}, {1900, 51.4}}, Arming: 3 * time.Second,
		IdleOutput: idleNeutral}
}

func TestParsePulse(t *testing.T) {
	p, err := parsePulse([]byte(escFile), "f")
	if err != nil || !reflect.DeepEqual(p, esc()) {
		t.Fatalf("got %+v, %v", p, err)
	}
	again, err := parsePulse(p.Encode(), "f")
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("there and back: got %+v, %v", again, err)
	}
	p, err = parsePulse([]byte(dutyFile), "f")
	if err != nil || p.DeadBand != [2]float64{1480, 1480} || p.IdleOutput != IdleNone || p.Version != 1 ||
		p.Arming != 0 {
		t.Errorf("least: got %+v, %v", p, err)
	}
	for _, n := range []*Pulse{NominalThruster("a", Channel{"pca9685", 0}, esc().Table),
		NominalServo("b", Channel{"maestro", 5}, -1, 1)} {
		if n.Date = esc().Date; n.Validate() != nil {
			t.Errorf("nominal: %v", n.Validate())
		}
	}
}

// All faults are returned together, each with its line and path.
func TestParsePulseFaults(t *testing.T) {
	_, err := parsePulse([]byte(strings.NewReplacer("direction: -1", "direction: 2", "[1472, 1528]", "[1600, 1528]",
		"[1528, 0]", "[1528, -50]",
		"mode: torque", "mode: thrust", "arming_s: 3", "arming_s: -1", "idle_output: neutral",
		"idle_output: rest\nfrobnicate: 1").Replace(escFile)), "f")
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"f:7:7: mode: got", "f:8:12: direction: got 2", "f:11:16: dead_band_us[0]: got 1600",
		"f:12:35: table[2]:", "f:13:11: arming_s:",
		"f:14:14: idle_output: got \"rest\"", "frobnicate: got an unknown key"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in:\n%v", want, err)
		}
	}
}

// Widths computed by hand, in both directions.
func TestPulseWidth(t *testing.T) {
	forward := esc()
	forward.Direction = 1
	servo := NominalServo("tilt", Channel{"maestro", 0}, -0.8, 0.8)
	for _, c := range []struct {
		name string
		p    *Pulse
		m    hal.Mode
		v    float64
		us   float64
	}{
		{"still", esc(), hal.TorqueMode, 0, 1500}, {"still, duty", esc(), hal.DutyMode, 0, 1500},
		{"a little", forward, hal.TorqueMode, 51.4 / 2, 1714}, {"astern", forward, hal.TorqueMode, -39.9 / 4, 1379},
		{"mounted backwards", esc(), hal.TorqueMode, -51.4 / 2, 1714}, {"duty", forward, hal.DutyMode, 0.5, 1714},
		{"duty astern", forward, hal.DutyMode, -1, 1100},
		{"too much", forward, hal.TorqueMode, 1e9, 1900}, {"too much duty", esc(), hal.DutyMode, 7, 1100},
		{"infinite", forward, hal.TorqueMode, math.Inf(-1), 1100},
		{"unknown", forward, hal.TorqueMode, math.NaN(), 1500},
		{"unknown duty", forward, hal.DutyMode, math.NaN(), 1500},
		{"servo", servo, hal.PositionMode, 0.4, 1750}, {"servo's end", servo, hal.PositionMode, 3, 2000},
		{"servo's middle", servo, hal.PositionMode, 0, 1500},
	} {
		if got := c.p.Width(c.m, c.v); got != time.Duration(c.us*1000) {
			t.Errorf("%s: got %v, want %g µs", c.name, got, c.us)
		}
	}
	if servo.Takes(hal.TorqueMode) || !servo.Takes(hal.PositionMode) || !servo.Takes(hal.DutyMode) {
		t.Error("modes: got others than position and duty")
	}
	if v := (&Pulse{}).Value(1500 * time.Microsecond); !math.IsNaN(v) {
		t.Errorf("no table: got %v", v)
	}
	near(t, "value", esc().Value(1714*time.Microsecond), -51.4/2, 1e-9)
}

// A calibration that parses is valid, gives only widths within its range, and encodes to the same file.
func FuzzParsePulse(f *testing.F) {
	f.Add(escFile)
	f.Add(dutyFile)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePulse([]byte(text), "f")
		if err != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 0.3, -0.3, 1e300} {
			for _, m := range modes {
				if w := p.Width(m, v).Seconds() * 1e6; !(w >= p.Range[0]-0.001 && w <= p.Range[1]+0.001) {
					t.Errorf("%v %g: got %g µs, want %v", m, v, w, p.Range)
				}
			}
		}
		if again, err := parsePulse(p.Encode(), "f"); err != nil || again.Neutral != p.Neutral ||
			!reflect.DeepEqual(again.Table, p.Table) {
			t.Errorf("there and back: got %+v, %v, want %+v", again, err, p)
		}
	})
}

const imuFile = `
sensor: imu
model: mpu-6050
method: manual
date: 2026-11-21T14:03:00Z
axes: [y, -x, z]
gyro: {offset: [0.012, -0.003, 0.001]}
accelerometer: {offset: [0.1, 0, -0.2], scale: [1.002, 0.998, 1]}
`

func TestInertial(t *testing.T) {
	j, err := parseInertial([]byte(imuFile), "f")
	if err != nil {
		t.Fatal(err)
	}
	r, a, m := j.Corrected([3]float64{0.012, 0.997, 0.001}, [3]float64{1.1, 2, 9.6}, [3]float64{1, 2, 3})
	for i, want := range [][3]float64{{1, 0, 0}, {2 * 0.998, -1.002, 9.8}, {2, -1, 3}} {
		for k := range want {
			near(t, "corrected", [...][3]float64{r, a, m}[i][k], want[k], 1e-12)
		}
	}
	// The mount's x is the chip's y: the mount is the chip turned by 90 degrees about z.
	q, ok := j.Mount()
	near(t, "w", q[0], math.Sqrt2/2, 1e-12)
	near(t, "z", q[3], math.Sqrt2/2, 1e-12)
	if !ok || q[1] != 0 || q[2] != 0 {
		t.Errorf("mount: got %v", q)
	}
	// Of the 216 ways to write three axes, 24 are rotations.
	n := 0
	for i := range 216 {
		j.Axes = [3]Axis{axes[i%6], axes[i/6%6], axes[i/36]}
		if _, ok := j.Mount(); ok {
			n++
		}
	}
	if n != 24 {
		t.Errorf("rotations: got %d, want 24", n)
	}
	_, err = parseInertial([]byte(strings.NewReplacer("[y, -x, z]", "[y, x, z]", "0.012", "2", "[1.002, 0.998, 1]",
		"[3, 1]").Replace(imuFile)), "f")
	if err == nil {
		t.Fatal("a mirror: taken")
	}
	if j.Chip != "" {
		t.Errorf("chip: got %q, want none", j.Chip)
	}
	offsets := strings.Repeat("0F", 22)
	if j, err := parseInertial([]byte(imuFile+"chip: \""+offsets+"\"\n"), "f"); err != nil || j.Chip != offsets {
		t.Errorf("chip: got %+v, %v", j, err)
	}
	for _, bad := range []string{offsets[1:], offsets[2:], "x" + offsets[1:]} {
		if _, err := parseInertial([]byte(imuFile+"chip: \""+bad+"\"\n"), "f"); err == nil ||
			!strings.Contains(err.Error(), "want 44 hexadecimal digits") {
			t.Errorf("chip %s: got %v", bad, err)
		}
	}
	for _, want := range []string{"f:6:1: axes: got", "gyro.offset[0]: got 2", "accelerometer.scale: got"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in:\n%v", want, err)
		}
	}
}

func FuzzParseInertial(f *testing.F) {
	f.Add(imuFile)
	f.Fuzz(func(t *testing.T, text string) {
		j, err := parseInertial([]byte(text), "f")
		if err != nil {
			return
		}
		if _, a, _ := j.Corrected([3]float64{}, [3]float64{0, 0, 9.81}, [3]float64{}); a != a {
			t.Errorf("got %v", a)
		}
	})
}
