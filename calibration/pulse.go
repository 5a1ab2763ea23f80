package calibration

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Pulse is the calibration of one PWM channel, commanded by pulse width: a hobby servo, an ESC, a thruster. It is made
// by parsePulse, LoadPulse, NominalServo or NominalThruster and passes Validate; goroutines may share it. A file:
//
//	output: front_left
//	device: {model: pca9685, channel: 3}
//	method: manual                # nominal, manual, import, identified
//	date: 2026-11-21T14:03:00Z
//	mode: torque                # quantity of the table's second column: position (rad), velocity, torque (N·m, N) or duty
//	direction: -1                 # -1: mounted the other way round, all signs are reversed
//	neutral_us: 1500              # no thrust, or the middle position
//	range_us: [1100, 1900]
//	dead_band_us: [1472, 1528]    # widths without effect; default: both neutral
//	table: [[1100, -39.9], [1472, 0], [1528, 0], [1900, 51.4]]      # µs and output, never falling
//	arming_s: 3                   # time at neutral before it follows commands; 0 = no arming
//	idle_output: neutral          # pulse while not enabled: neutral, or none (a servo loses torque)
type Pulse struct {
	Output    string    `yaml:"output" required:"true" form:"label"`
	Device    Channel   `yaml:"device" required:"true"`
	Method    Method    `yaml:"method" required:"true" enum:"nominal|manual|endstops|import|identified"`
	Date      time.Time `yaml:"date" required:"true"`
	Version   int       `yaml:"version" default:"1" min:"1" max:"1000000000"`
	Mode      hal.Mode  `yaml:"-"` // of the table
	Direction int       `yaml:"direction" required:"true" enum:"1|-1"`
	// µs; no servo or ESC accepts shorter or longer ones
	Neutral  float64    `yaml:"neutral_us" required:"true" min:"100" max:"20000"`
	Range    [2]float64 `yaml:"range_us" required:"true" order:"<" min:"100" max:"20000"`
	DeadBand [2]float64 `yaml:"-"` // µs, around Neutral
	// empty: only duty mode, a share of the range
	Table      []Width       `yaml:"table" count:"4096" min:"-20000" max:"20000"`
	Arming     time.Duration `yaml:"-"`
	IdleOutput Idle          `yaml:"idle_output" default:"none" enum:"neutral|none"`
}

// Channel reports which channel a calibration is of.
type Channel struct {
	Model   string `yaml:"model" required:"true" form:"label"` // "pca9685"
	Channel int    `yaml:"channel" required:"true" min:"0" max:"255"`
}

// Width is one row of a table: a pulse width in µs and the output, in the unit of the mode.
type Width struct{ Micros, Value float64 }

// Idle is the output of a channel while its actuator is not enabled.
type Idle string

// The ways.
const (
	idleNeutral Idle = "neutral" // an ESC stays armed and does not move
	IdleNone    Idle = "none"    // no pulses: a servo loses torque
)

// NominalThruster is the calibration of a bidirectional ESC without measured values: 1100 to 1900 µs around 1500, 28 µs
// of dead band to each side and 3 s of arming (Blue Robotics Basic ESC). table may be nil.
func NominalThruster(output string, c Channel, table []Width) *Pulse {
	return &Pulse{Output: output, Device: c, Method: ByNominal, Version: 1, Mode: hal.TorqueMode, Direction: 1,
		Neutral: 1500, Range: [2]float64{1100, 1900}, DeadBand: [2]float64{1472, 1528}, Table: table,
		Arming: 3 * time.Second, IdleOutput: idleNeutral}
}

// NominalServo is the calibration of a hobby servo without measured values: 1000 to 2000 µs map to low to high, rad.
func NominalServo(output string, c Channel, low, high float64) *Pulse {
	return &Pulse{Output: output, Device: c, Method: ByNominal, Version: 1, Mode: hal.PositionMode, Direction: 1,
		Neutral: 1500, Range: [2]float64{1000, 2000}, DeadBand: [2]float64{1500, 1500},
		Table: []Width{{1000, low}, {2000, high}}, IdleOutput: IdleNone}
}

// Takes reports whether the channel can be commanded in mode m: duty always, other modes by the table.
func (p *Pulse) Takes(m hal.Mode) bool {
	return m == hal.DutyMode || len(p.Table) > 0 && m == p.Mode
}

// Width returns the pulse width for the value v of mode m, within the range; p.Takes(m) must be true. A duty is the
// share of the range beyond the dead band: 0 is neutral, any other value is outside the dead band. NaN is neutral.
func (p *Pulse) Width(m hal.Mode, v float64) time.Duration {
	us := p.Neutral
	v *= float64(p.Direction)
	switch {
	case math.IsNaN(v): // NaN: no command
	case m == p.Mode && len(p.Table) > 0:
		us = p.inverse(v)
	case v > 0:
		us = p.DeadBand[1] + math.Min(v, 1)*(p.Range[1]-p.DeadBand[1])
	case v < 0:
		us = p.DeadBand[0] + math.Max(v, -1)*(p.DeadBand[0]-p.Range[0])
	}
	return time.Duration(math.Round(math.Max(p.Range[0], math.Min(p.Range[1], us)) * 1000))
}

// inverse finds the width for the output v. Among several (a dead band) it is the one nearest neutral; beyond the table
// it is the nearer end.
func (p *Pulse) inverse(v float64) float64 {
	t, last := p.Table, len(p.Table)-1
	// the least width that makes at least v, and the greatest that makes at most v
	low, high := t[last].Micros, t[0].Micros
	for i := last; i >= 0 && t[i].Value >= v; i-- {
		if low = t[i].Micros; i > 0 && t[i-1].Value < v {
			low = between(t[i-1], t[i], v)
		}
	}
	for i := 0; i <= last && t[i].Value <= v; i++ {
		if high = t[i].Micros; i < last && t[i+1].Value > v {
			high = between(t[i], t[i+1], v)
		}
	}
	return math.Max(low, math.Min(high, p.Neutral))
}

// between is the width between two rows that makes v; their values differ.
func between(a, b Width, v float64) float64 {
	return a.Micros + (v-a.Value)*(b.Micros-a.Micros)/(b.Value-a.Value)
}

// Value is the output of a pulse by the table, clamped to its ends, in the unit of the table's mode. NaN without a
// table.
func (p *Pulse) Value(pulse time.Duration) float64 {
	us, t := float64(pulse)/1000, p.Table
	if len(t) == 0 {
		return math.NaN()
	}
	sign, i := float64(p.Direction), 0
	for i < len(t) && t[i].Micros <= us {
		i++
	}
	switch i {
	case 0:
		return sign * t[0].Value
	case len(t):
		return sign * t[i-1].Value
	}
	a, b := t[i-1], t[i]
	return sign * (a.Value + (us-a.Micros)*(b.Value-a.Value)/(b.Micros-a.Micros))
}

// pulseFile is a Pulse as written: the keys whose values have another form there.
type pulseFile struct {
	Pulse
	Mode     string      `yaml:"mode" required:"true" enum:"position|velocity|torque|duty"`
	DeadBand *[2]float64 `yaml:"dead_band_us" min:"100" max:"20000"`
	Arming   float64     `yaml:"arming_s" min:"0" max:"60"`
}

// parsePulse reads one YAML file, as Parse does.
func parsePulse(data []byte, source string) (*Pulse, error) {
	f := pulseFile{}
	d := decode(data, source, &f)
	p := &f.Pulse
	p.Arming = time.Duration(f.Arming * float64(time.Second))
	for _, m := range modes {
		if m.String() == f.Mode {
			p.Mode = m
		}
	}
	// A file without dead_band has no dead band: both its ends are neutral.
	if p.DeadBand = [2]float64{p.Neutral, p.Neutral}; f.DeadBand != nil {
		p.DeadBand = *f.DeadBand
	}
	p.check(d)
	return yaml.Valid(d, p)
}

// LoadPulse reads and checks the file at path. A missing file is hal.Uncalibrated, a bad one hal.Invalid.
func LoadPulse(path string) (*Pulse, error) { return load(path, "output", parsePulse) }

// SavePulse writes p to path, as Save does.
func SavePulse(path string, p *Pulse) (kept string, err error) {
	return save(path, p, parsePulse)
}

func (p *Pulse) version() *int { return &p.Version }

// Validate reports everything that is wrong with p at once, or nil.
func (p *Pulse) Validate() error { return valid(p.Encode(), parsePulse) }

// modes are those that a table may be of.
var modes = [...]hal.Mode{hal.PositionMode, hal.VelocityMode, hal.TorqueMode, hal.DutyMode}

// check adds faults between keys. The minimum, dead band, neutral and maximum must be in order.
func (p *Pulse) check(d *yaml.Document) {
	if !d.Has("range_us") || !d.Clean("range_us") || !d.Clean("neutral_us") {
		return
	}
	d.Within("neutral_us", p.Neutral, p.Range[0], p.Range[1])
	d.Within("dead_band_us[0]", p.DeadBand[0], p.Range[0], p.Neutral)
	d.Within("dead_band_us[1]", p.DeadBand[1], p.Neutral, p.Range[1])
	// A table rises in widths and never falls in values.
	if n := len(p.Table); n < 2 && (n > 0 || p.Mode != hal.DutyMode) {
		d.Add("table", fmt.Sprintf("%d rows", n), fmt.Sprintf("2 or more for %v", p.Mode), "")
	}
	for i, row := range p.Table {
		at := yaml.Path("table").Index(i)
		if !d.Within(at.Index(0), row.Micros, p.Range[0], p.Range[1]) ||
			!d.Within(at.Index(1), row.Value, -maxValue, maxValue) || i == 0 {
			continue
		}
		if before := p.Table[i-1]; !(row.Micros-before.Micros >= 1e-3) || row.Value < before.Value {
			d.Add(at, fmt.Sprintf("%g µs making %g after %g making %g", row.Micros, row.Value, before.Micros,
				before.Value),
				"rising widths that make no less", "")
		}
	}
}

// maxValue bounds the second column of a table.
const maxValue = 1e4

// Encode returns p as the YAML that parsePulse reads; the same p gives the same bytes.
func (p *Pulse) Encode() []byte {
	var b bytes.Buffer
	put := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	put("output: %q\ndevice: {model: %q, channel: %d}\n", p.Output, p.Device.Model, p.Device.Channel)
	put("method: %s\ndate: %q\nversion: %d\n", p.Method, p.Date.UTC().Format(time.RFC3339), p.Version)
	put("mode: %v\ndirection: %d\nneutral_us: %s\n", p.Mode, p.Direction, plain(p.Neutral))
	put("range_us: [%s, %s]\ndead_band_us: [%s, %s]\n",
		plain(p.Range[0]), plain(p.Range[1]), plain(p.DeadBand[0]), plain(p.DeadBand[1]))
	if len(p.Table) > 0 {
		put("table: # [µs, what it makes]\n")
	}
	for _, row := range p.Table {
		put("  - [%s, %s]\n", plain(row.Micros), plain(row.Value))
	}
	put("arming_s: %s\nidle_output: %s\n", plain(p.Arming.Seconds()), p.IdleOutput)
	return b.Bytes()
}
