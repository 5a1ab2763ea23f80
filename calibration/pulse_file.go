package calibration

import (
	"bytes"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// pulseFile is a Pulse as written: the keys whose values have another form there.
type pulseFile struct {
	Pulse
	Mode     string      `yaml:"mode" required:"true" enum:"position|velocity|torque|duty"`
	DeadBand *[2]float64 `yaml:"dead_band_us" min:"100" max:"20000"`
	Arming   float64     `yaml:"arming_s" min:"0" max:"60"`
}

// ParsePulse reads one YAML file, as Parse does.
func ParsePulse(data []byte, source string) (*Pulse, error) {
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
func LoadPulse(path string) (*Pulse, error) { return load(path, "output", ParsePulse) }

// SavePulse writes p to path, as Save does.
func SavePulse(path string, p *Pulse) (kept string, err error) {
	return save(path, p, ParsePulse)
}

func (p *Pulse) version() *int { return &p.Version }

// Validate reports everything that is wrong with p at once, or nil.
func (p *Pulse) Validate() error { return valid(p.Encode(), ParsePulse) }

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
		if !d.Within(at.Index(0), row.Micros, p.Range[0], p.Range[1]) || !d.Within(at.Index(1), row.Value, -maxValue, maxValue) || i == 0 {
			continue
		}
		if before := p.Table[i-1]; !(row.Micros-before.Micros >= 1e-3) || row.Value < before.Value {
			d.Add(at, fmt.Sprintf("%g µs making %g after %g making %g", row.Micros, row.Value, before.Micros, before.Value),
				"rising widths that make no less", "")
		}
	}
}

// maxValue bounds the second column of a table.
const maxValue = 1e4

// Encode returns p as the YAML that ParsePulse reads; the same p gives the same bytes.
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
