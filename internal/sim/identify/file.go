package identify

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// servoFile is a servo as YAML. Other results of a fit are read and not used.
type servoFile struct {
	Servo    string       `yaml:"servo" required:"true"`
	Method   string       `yaml:"method" required:"true" enum:"identified|manual"`
	Date     time.Time    `yaml:"date"`
	Motor    motorFile    `yaml:"motor" required:"true"`
	Friction frictionFile `yaml:"friction" required:"true"`
	Bench    benchFile    `yaml:"bench"`

	Prior        priorFile             `yaml:"prior"`
	Band         bandFile              `yaml:"band"`
	Over         reachFile             `yaml:"identified_over"`
	Intervals    map[string][2]float64 `yaml:"intervals" count:"64"`
	NotSeparable []inseparableFile     `yaml:"not_separable" count:"16"`
	Latency      latencyFile           `yaml:"latency"`
	Play         playFile              `yaml:"play"`
	Models       []modelFile           `yaml:"models" count:"64"`
	Recordings   []recordFile          `yaml:"recordings" count:"4096"`
}

type motorFile struct {
	Kt       float64 `yaml:"kt" required:"true" min:"1e-4" max:"1000"`
	R        float64 `yaml:"R" required:"true" min:"1e-4" max:"10000"`
	Droop    float64 `yaml:"droop" min:"0" max:"1000"`
	Armature float64 `yaml:"armature" required:"true" min:"1e-8" max:"100"`
	Gain     float64 `yaml:"gain" min:"0" max:"1000"`
	MaxDuty  float64 `yaml:"max_duty" min:"0" max:"1"`
}

type frictionFile struct {
	Model string  `yaml:"model" required:"true" enum:"M1|M2|M3|M4|M5|M6"`
	Kb    float64 `yaml:"Kb" min:"0" max:"1000"`
	Ks    float64 `yaml:"Ks" min:"0" max:"1000"`
	Kv    float64 `yaml:"Kv" min:"0" max:"1000"`
	Kl    float64 `yaml:"Kl" min:"0" max:"10"`
	Kls   float64 `yaml:"Kls" min:"0" max:"10"`
	Kq    float64 `yaml:"Kq" min:"0" max:"1000"`
	Km    float64 `yaml:"Km" min:"0" max:"10"`
	Ke    float64 `yaml:"Ke" min:"0" max:"10"`
	Kms   float64 `yaml:"Kms" min:"0" max:"10"`
	Kes   float64 `yaml:"Kes" min:"0" max:"10"`
	Kmq   float64 `yaml:"Kmq" min:"0" max:"1000"`
	Keq   float64 `yaml:"Keq" min:"0" max:"1000"`
	Dqs   float64 `yaml:"Dqs" min:"0" max:"1000"`
	Alpha float64 `yaml:"Alpha" min:"0" max:"100"`
}

type benchFile struct {
	ArmOffset float64 `yaml:"arm_offset_rad" min:"-3.2" max:"3.2"`
	GoalDelay float64 `yaml:"goal_delay_s" min:"-1" max:"1"`
	Play      float64 `yaml:"play_rad" min:"0" max:"1"`
	Torque    float64 `yaml:"torque_delay_s" min:"-1" max:"1"`
}

type priorFile struct {
	Free   float64 `yaml:"no_load_rad_s" min:"0" max:"1e4"`
	Stall  float64 `yaml:"stall_n_m" min:"0" max:"1e4"`
	Error  float64 `yaml:"error" min:"0" max:"10"`
	Source string  `yaml:"source"`
}

type bandFile struct {
	Radians float64 `yaml:"rad" min:"0" max:"100"`
	Share   float64 `yaml:"share" min:"0" max:"1"`
}

type reachFile struct {
	Speed float64    `yaml:"speed_rad_s" min:"0" max:"1e4"`
	Load  float64    `yaml:"load_n_m" min:"0" max:"1e4"`
	Drive float64    `yaml:"drive" min:"0" max:"1"`
	P     [2]float64 `yaml:"kp" min:"0" max:"32767"`
	Volts [2]float64 `yaml:"volts" min:"0" max:"1000"`
	Off   bool       `yaml:"torque_off"`
}

type inseparableFile struct {
	Parameters []string `yaml:"parameters" required:"true" count:"16"`
	Reason     string   `yaml:"reason"`
}

type latencyFile struct {
	Seconds  float64    `yaml:"seconds" min:"-1" max:"1"`
	Interval [2]float64 `yaml:"interval" min:"-10" max:"10"`
	Method   string     `yaml:"method" enum:"register|position"`
}

type playFile struct {
	Measured bool       `yaml:"measured"`
	Radians  float64    `yaml:"rad" min:"0" max:"1"`
	Interval [2]float64 `yaml:"interval" min:"-10" max:"10"`
}

type modelFile struct {
	Model      string  `yaml:"model" required:"true"`
	Parameters int     `yaml:"parameters" min:"0" max:"64"`
	Error      float64 `yaml:"mae_deg" min:"0" max:"1e6"`
	LeftOut    float64 `yaml:"left_out_mae_deg" min:"0" max:"1e6"`
}

type recordFile struct {
	File  string  `yaml:"file" required:"true"`
	Error float64 `yaml:"mae_rad" min:"0" max:"1e6"`
	Most  float64 `yaml:"max_rad" min:"0" max:"1e6"`
}

// IsFile reports that the model that a joint names is the path of a servo file, not the name of a servo.
func IsFile(model string) bool {
	ext := strings.ToLower(filepath.Ext(model))
	return ext == ".yaml" || ext == ".yml"
}

// ReadServo reads the servo file at path. Its errors are hal.Invalid.
func ReadServo(path string) (*Servo, error) {
	data, err := yaml.ReadFile(path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "read servo " + path, Err: err, Try: "halyard identify --out " +
			path}
	}
	return ParseServo(data, path)
}

// ParseServo reads a servo file, which faults call source. All faults are reported together.
func ParseServo(data []byte, source string) (*Servo, error) {
	var f servoFile
	d, ok := yaml.Decode(data, source, &f)
	if !ok {
		return nil, d.Err()
	}
	base, known := actuator.Lookup(f.Servo)
	if !known {
		d.Add("servo", strconv.Quote(f.Servo), "a servo's name", yaml.Meant(f.Servo, actuator.Names()))
		return nil, d.Err()
	}
	s := &Servo{Model: base.Name, Spec: *base, Date: f.Date}
	k := &s.Spec
	k.Kt, k.R, k.Droop, k.Armature = f.Motor.Kt, f.Motor.R, f.Motor.Droop, f.Motor.Armature
	if d.Has("motor.gain") {
		k.PositionGain = f.Motor.Gain
	}
	if d.Has("motor.max_duty") {
		k.MaxDuty = f.Motor.MaxDuty
	}
	k.Fit = f.Method + ", " + filepath.Base(source)
	n := &f.Friction
	k.Friction = actuator.Friction{
		Kb: n.Kb, Ks: n.Ks, Kv: n.Kv, Kl: n.Kl, Kls: n.Kls, Kq: n.Kq, Km: n.Km, Ke: n.Ke, Kms: n.Kms, Kes: n.Kes,
		Kmq: n.Kmq, Keq: n.Keq, Dqs: n.Dqs, Alpha: cmp.Or(n.Alpha, 1),
	}
	if len(n.Model) == 2 {
		k.Friction.Model = int(n.Model[1] - '0')
	}
	s.Bench = Bench{f.Bench.ArmOffset, f.Bench.GoalDelay, f.Bench.Play, f.Bench.Torque}
	s.Band = f.Band.Radians
	if o := &f.Over; s.Band > 0 {
		s.Over = Reach{o.Speed, o.Load, o.Drive, o.P, o.Volts, o.Off}
	}
	if p := &f.Prior; d.Has("prior") {
		s.Prior = &Prior{p.Free, p.Stall, p.Error, p.Source}
	}
	return yaml.Valid(d, s)
}

// Encode is s as the YAML that ParseServo reads; the same s gives the same bytes.
func (s *Servo) Encode() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# A servo as halyard identify found it. A joint uses it as its model: hardware.joints.NAME.model. " +
		"docs/identify.md\n")
	p("servo: %s\nmethod: identified\n", s.Model)
	if !s.Date.IsZero() {
		p("date: %q\n", s.Date.UTC().Format(time.RFC3339))
	}
	p("motor:\n")
	k, f := &s.Spec, &s.Spec.Friction
	for _, row := range []struct {
		key, unit string
		value     float64
	}{
		{"kt", "N m/A, and V s/rad", k.Kt}, {"R", "ohm", k.R}, {"droop", "ohm: R + droop * duty^2", k.Droop},
		{"armature", "kg m2, at the output", k.Armature}, {"gain", "duty per rad and unit of P", k.PositionGain},
		{"max_duty", "0..1", k.MaxDuty},
	} {
		p("  %s: %s # %s\n", row.key, number(row.value), row.unit)
	}
	p("friction:\n  model: M%d\n", f.Model)
	for i := range parameters {
		if t := (trial{spec: *k}); strings.HasPrefix(parameters[i].name, "K") || parameters[i].name == "Dqs" {
			if v := *parameters[i].at(&t); v != 0 && (parameters[i].name != "Dqs" || f.Model != 1 && f.Model != 3) {
				p("  %s: %s\n", parameters[i].name, number(v))
			}
		}
	}
	if f.Alpha != 0 && f.Alpha != 1 {
		p("  Alpha: %s\n", number(f.Alpha))
	}
	p("bench: {arm_offset_rad: %s, goal_delay_s: %s, play_rad: %s, torque_delay_s: %s}\n", number(s.Bench.ArmOffset),
		number(s.Bench.GoalDelay), number(s.Bench.Play), number(s.Bench.TorqueDelay))
	if r := s.Prior; r != nil {
		p("# the recordings do not drive the servo to its limits: its data sheet decides, as far as they do not\n")
		p("prior: {no_load_rad_s: %s, stall_n_m: %s, error: %s, source: %q}\n", number(r.Free), number(r.Stall),
			number(r.Error), r.Source)
	}
	if o := &s.Over; s.Band > 0 {
		p("band: {rad: %s, share: %s} # share of the errors on recordings that the fit had not seen\n", number(s.Band),
			number(bandShare))
		p("identified_over: {speed_rad_s: %s, load_n_m: %s, drive: %s, kp: [%s, %s], volts: [%s, %s], torque_off: %t}\n",
			number(o.Speed), number(o.Load), number(o.Drive), number(o.P[0]), number(o.P[1]), number(o.Volts[0]),
			number(o.Volts[1]), o.Off)
	}
	p("intervals: # 95 %%, by the likelihood, with errors as lasting as these recordings'\n")
	for _, v := range s.Intervals {
		p("  %s: [%s, %s]\n", v.Name, number(v.Low), number(v.High))
	}
	p("not_separable:\n")
	for _, v := range s.NotSeparable {
		p("  - parameters: [%s]\n    reason: %q\n", strings.Join(v.Parameters, ", "), v.Reason)
	}
	method := "position"
	if s.Latency.Register {
		method = "register"
	}
	p("latency: {seconds: %s, interval: [%s, %s], method: %s}\n", number(s.Latency.Seconds), number(s.Latency.Low),
		number(s.Latency.High), method)
	if math.IsNaN(s.Play.Low) {
		p("play: {measured: false} # these recordings cannot measure it\n")
	} else {
		p("play: {measured: true, rad: %s, interval: [%s, %s]}\n", number(s.Play.Value), number(s.Play.Low),
			number(s.Play.High))
	}
	p("models: # the first is the one above; left out: on recordings that the fit had not seen\n")
	for _, c := range s.Candidates {
		p("  - {model: %s, parameters: %d, mae_deg: %s", c.Name, c.Parameters, number(degrees(c.Error)))
		if !math.IsNaN(c.LeftOut) {
			p(", left_out_mae_deg: %s", number(degrees(c.LeftOut)))
		}
		p("}\n")
	}
	p("recordings:\n")
	for _, r := range s.Recordings {
		p("  - {file: %q, mae_rad: %s, max_rad: %s}\n", filepath.Base(r.File), number(r.Error), number(r.Most))
	}
	return b.Bytes()
}

// number writes v with five digits, more than any of them is known to, and without an exponent, which YAML readers
// disagree on.
func number(v float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(0+v, 'g', 5, 64), 64)
	return strconv.FormatFloat(0+rounded, 'f', -1, 64)
}

// Save writes s to path by way of a temporary file: path is never half written.
func (s *Servo) Save(path string) error {
	if err := yaml.WriteFile(path, s.Encode()); err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "write servo " + path, Err: err}
	}
	return nil
}
