package calibration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Bounds of pulses: no servo or ESC knows shorter or longer ones.
const (
	minMicros   = 100
	maxMicros   = 20_000
	maxArming   = time.Minute
	maxChannels = 256
)

// drives are the modes that a table may be of, by their names.
var drives = [...]hal.Mode{hal.PositionMode, hal.VelocityMode, hal.TorqueMode, hal.DutyMode}

// ParsePulse reads one YAML file, as Parse does.
func ParsePulse(data []byte) (*Pulse, error) {
	r := &reader{faults{lines: map[string]int{}}}
	body, err := document(data)
	if err != nil {
		return nil, &Fault{Text: err.Error()}
	}
	// Defaults first; what is faulty keeps its zero and is not reported twice.
	p := &Pulse{Version: 1, Idle: IdleNone}
	top := r.object("", body, "output", "device", "method", "date", "version", "drives", "direction", "neutral_us",
		"range_us", "dead_band_us", "table", "arming_s", "idle")
	top.require("output", "device", "method", "date", "drives", "direction", "neutral_us", "range_us")
	top.text("output", &p.Output)
	if device, ok := top.nodes["device"]; ok {
		o := r.object("device", device, "model", "channel")
		o.require("model", "channel")
		o.text("model", &p.Device.Model)
		o.whole("channel", &p.Device.Channel)
	}
	top.text("method", (*string)(&p.Method))
	top.date("date", &p.Date)
	top.whole("version", &p.Version)
	// A mode is a number to us and a word in the file; what is no mode's word is reported by the check below.
	var mode string
	top.text("drives", &mode)
	p.Drives = hal.NoMode
	for _, m := range drives {
		if m.String() == mode {
			p.Drives = m
		}
	}
	top.whole("direction", &p.Direction)
	top.number("neutral_us", &p.Neutral)
	if row := top.row("range_us"); row != nil {
		p.Range = *row
	}
	// Where the file says nothing of a dead band there is none: both its ends are neutral.
	p.DeadBand = [2]float64{p.Neutral, p.Neutral}
	if row := top.row("dead_band_us"); row != nil {
		p.DeadBand = *row
	}
	for i, n := range top.list("table") {
		if row := r.pair(fmt.Sprintf("table[%d]", i), n); row != nil {
			p.Table = append(p.Table, Width{row[0], row[1]})
		}
	}
	// A time is checked before it is one: a float that is too large for a Duration would turn round.
	var arming float64
	top.number("arming_s", &arming)
	r.within("arming_s", arming, 0, maxArming.Seconds())
	p.Arming = time.Duration(arming * float64(time.Second))
	top.text("idle", (*string)(&p.Idle))
	r.merge(func(f *faults) { f.pulse(p) })
	if len(r.list) > 0 {
		return nil, r.join()
	}
	return p, nil
}

// LoadPulse reads and checks the file at path. A missing file is hal.Uncalibrated, a bad one hal.Invalid.
func LoadPulse(path string) (*Pulse, error) {
	op := "calibration " + path
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &hal.Error{Kind: hal.Uncalibrated, Op: op, Err: errors.New("output has no calibration file"), Try: "halyard doctor"}
	case err != nil:
		return nil, &hal.Error{Kind: hal.Invalid, Op: op, Err: err}
	}
	p, err := ParsePulse(data)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: op, Err: err}
	}
	return p, nil
}

// Validate reports everything that is wrong with p at once, each thing a *Fault, or nil.
func (p *Pulse) Validate() error {
	f := &faults{}
	f.pulse(p)
	return f.join()
}

// pulse adds what is wrong with p.
func (f *faults) pulse(p *Pulse) {
	f.text("output", p.Output, true)
	f.text("device.model", p.Device.Model, true)
	if c := p.Device.Channel; c < 0 || c >= maxChannels {
		f.add("device.channel", "got %d, want 0..%d", c, maxChannels-1)
	}
	if !slices.Contains(methods[:], p.Method) {
		f.add("method", "got %q, want one of %q", p.Method, methods)
	}
	if y := p.Date.Year(); y < 1 || y > 9999 {
		f.add("date", "got year %d, want 1..9999", y)
	}
	if p.Version < 1 || p.Version > maxTicks {
		f.add("version", "got %d, want 1 or more", p.Version)
	}
	if !slices.Contains(drives[:], p.Drives) {
		f.add("drives", "got none of %v", drives)
	}
	if p.Direction != 1 && p.Direction != -1 {
		f.add("direction", "got %d, want 1 or -1", p.Direction)
	}
	if p.Idle != IdleNeutral && p.Idle != IdleNone {
		f.add("idle", "got %q, want neutral or none", p.Idle)
	}
	if p.Arming < 0 || p.Arming > maxArming {
		f.add("arming_s", "got %v, want 0..%v", p.Arming, maxArming)
	}
	// Least, dead band, neutral and greatest stand in this order; a reading beyond its bounds is one fault, not several.
	ok := f.within("range_us[0]", p.Range[0], minMicros, maxMicros)
	ok = f.within("range_us[1]", p.Range[1], minMicros, maxMicros) && ok
	if ok && !(p.Range[0] < p.Range[1]) {
		f.add("range_us", "got %g..%g, want rising", p.Range[0], p.Range[1])
		ok = false
	}
	if !ok {
		return
	}
	f.within("neutral_us", p.Neutral, p.Range[0], p.Range[1])
	f.within("dead_band_us[0]", p.DeadBand[0], p.Range[0], p.Neutral)
	f.within("dead_band_us[1]", p.DeadBand[1], p.Neutral, p.Range[1])
	f.widths(p)
}

// widths checks that a table rises in widths and never falls in what they make.
func (f *faults) widths(p *Pulse) {
	n := len(p.Table)
	if n == 0 && p.Drives == hal.DutyMode {
		return
	}
	if n < 2 || n > maxTable {
		f.add("table", "got %d rows, want 2..%d for %v", n, maxTable, p.Drives)
		return
	}
	for i, row := range p.Table {
		at := fmt.Sprintf("table[%d]", i)
		if !f.within(at, row.Micros, p.Range[0], p.Range[1]) || !f.within(at, row.Value, -maxGear, maxGear) || i == 0 {
			continue
		}
		if before := p.Table[i-1]; !(row.Micros-before.Micros >= 1e-3) || row.Value < before.Value {
			f.add(at, "got %g µs making %g after %g making %g, want rising widths that make no less",
				row.Micros, row.Value, before.Micros, before.Value)
		}
	}
}

// Encode is p as the YAML that ParsePulse reads; the same p gives the same bytes.
func (p *Pulse) Encode() []byte {
	var b bytes.Buffer
	put := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	put("output: %q\ndevice: {model: %q, channel: %d}\n", p.Output, p.Device.Model, p.Device.Channel)
	put("method: %s\ndate: %q\nversion: %d\n", p.Method, p.Date.UTC().Format(time.RFC3339), p.Version)
	put("drives: %v\ndirection: %d\nneutral_us: %s\n", p.Drives, p.Direction, plain(p.Neutral))
	put("range_us: [%s, %s]\ndead_band_us: [%s, %s]\n",
		plain(p.Range[0]), plain(p.Range[1]), plain(p.DeadBand[0]), plain(p.DeadBand[1]))
	if len(p.Table) > 0 {
		put("table: # [µs, what it makes]\n")
	}
	for _, row := range p.Table {
		put("  - [%s, %s]\n", plain(row.Micros), plain(row.Value))
	}
	put("arming_s: %s\nidle: %s\n", plain(p.Arming.Seconds()), p.Idle)
	return b.Bytes()
}
