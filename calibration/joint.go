// Package calibration converts between servo and joint units: ticks to radians, effort to torque. Each joint has one
// YAML file, which belongs to one servo; older versions are kept next to it.
//
//	radians = direction · (ticks − zero_ticks) · 2π / (ticks_per_turn · gear)      or the table, between its ends
//	torque  = direction · constant · (effort − offset)
//
// Ticks are always the servo's own present position, which includes the homing offset in its register. A file:
//
//	joint: left_elbow
//	servo: {model: NAME, id: 7, firmware: "48", adapter: /dev/serial/by-id/usb-FTDI_..., homing_offset: 0}
//	method: manual                # nominal, manual, endstops, import, identified
//	date: 2026-11-21T14:03:00Z
//	version: 3                    # the older ones are left_elbow.v1.yaml, left_elbow.v2.yaml
//	direction: -1                 # 1: ticks rise with the angle
//	zero_ticks: 2051
//	ticks_per_turn: 4096
//	gear: 1                       # turns of the servo a turn of the joint; 1 where left out
//	range_ticks: [820, 3190]      # where the joint may go
//	rest_ticks: 1200              # optional: where the joint lies with its torque off
//	table: [[820, 1.89], [2051, 0], [3190, -1.75]]      # optional
//	torque: {constant: 1.78, offset: 0.02, delay_s: 0}  # optional; N·m per unit of effort, effort at no torque, s
//	source: {format: lerobot, place: 3}                 # of an imported one
package calibration

import (
	"math"
	"time"
)

// Joint is the calibration of one joint. It is made by Parse, Load, Nominal or ImportLeRobot and passes Validate. Only
// Save writes to it, so goroutines may share it. The tags hold the plausible bounds, which keep all arithmetic finite.
type Joint struct {
	Joint   string    `yaml:"joint" required:"true" form:"label"`
	Servo   Servo     `yaml:"servo" required:"true"`
	Method  Method    `yaml:"method" required:"true" enum:"nominal|manual|endstops|import|identified"`
	Date    time.Time `yaml:"date" required:"true"`                         // when it was measured
	Version int       `yaml:"version" default:"1" min:"1" max:"1000000000"` // 1, 2, ...; Save counts it up
	// 1: ticks rise with the angle, -1: they fall
	Direction int `yaml:"direction" required:"true" enum:"1|-1"`
	// where the joint is at 0 rad; need not be whole
	ZeroTicks    float64 `yaml:"zero_ticks" required:"true" min:"-1e9" max:"1e9"`
	TicksPerTurn float64 `yaml:"ticks_per_turn" required:"true" min:"2" max:"1e9"` // of the servo's output shaft
	// turns of the servo's shaft a turn of the joint
	Gear float64 `yaml:"gear" default:"1" min:"1e-4" max:"1e4"`
	// rising; where the joint may go. May pass the encoder's seam: [3500, 4700]
	RangeTicks [2]float64 `yaml:"range_ticks" required:"true" min:"-1e9" max:"1e9"`
	// rising in ticks; empty = none. Beyond its ends the straight line continues
	Table []Point `yaml:"table" count:"4096" min:"-1e9" max:"1e9"`
	// where the joint lies with its torque off; nil = not taken
	RestTicks *float64 `yaml:"rest_ticks" min:"-1e9" max:"1e9"`
	Torque    Torque   `yaml:"torque"`
	// of 95 %, of what a motion has measured: torque_constant, friction_n_m (at rest), zero_by_gravity_rad (the angle
	// by which the load says that the zero is off)
	Intervals map[string][2]float64 `yaml:"intervals" count:"16" min:"-1e9" max:"1e9"`
	Source    Source                `yaml:"source"`
}

// Source identifies the other program's file that a calibration was imported from. It has all that is needed to write
// that file again byte by byte. The zero Source means: not imported.
type Source struct {
	Format  string `yaml:"format" required:"true" enum:"lerobot"`
	Place   int    `yaml:"place" min:"0" max:"10000"`       // of the joint in the file, from 1; 0 = not known
	Mode    string `yaml:"mode" enum:"degrees|range_0_100"` // how LeRobot normalises the joint; "" = degrees
	Newline bool   `yaml:"newline"`                         // the file ends with one
}

// Servo identifies the servo that a calibration belongs to. It is invalid for any other servo.
type Servo struct {
	Model    string `yaml:"model" required:"true" form:"label"` // as configs have it
	ID       int    `yaml:"id" required:"true" min:"0" max:"253"`
	Firmware string `yaml:"firmware" form:"label"`
	// the stable name of the port it was connected to
	Adapter      string `yaml:"adapter" form:"label"`
	HomingOffset int    `yaml:"homing_offset" min:"-1000000000" max:"1000000000"` // value of its homing register, ticks
}

// Torque maps effort to torque. Effort is that of servo.State: A, or the share of the stall torque.
type Torque struct {
	// N·m at the joint per unit of effort, gear and losses included; 0 = not known
	Constant float64 `yaml:"constant" required:"true" min:"0" max:"1e4"`
	Offset   float64 `yaml:"offset" min:"-1e4" max:"1e4"` // the effort that the servo reads at no torque
	// s by which a switched torque takes effect later than a goal that is sent with it
	Delay float64 `yaml:"delay_s" min:"0" max:"1"`
}

// Point is one row of a table.
type Point struct{ Ticks, Radians float64 }

// Method describes how a calibration was made.
type Method string

// The methods.
const (
	ByNominal    Method = "nominal"    // from the servo's data sheet, not measured
	ByManual     Method = "manual"     // the joint was moved to its ends by hand
	ByEndstops   Method = "endstops"   // the servo drove it to its ends
	ByImport     Method = "import"     // from another program's file
	ByIdentified Method = "identified" // fitted to a recording
)

// Model is the data of a servo model that Nominal needs; servo.Units has the same fields.
type Model struct {
	TicksPerTurn, CentreTicks, MinTicks, MaxTicks float64
	TorqueConstant                                float64 // N·m a unit of effort
}

// Nominal returns a calibration without measurements: zero at the centre, ticks rising with the angle, no gear. It fits
// an emulated servo exactly, and a real one only by chance.
func Nominal(joint string, s Servo, m Model) *Joint {
	return &Joint{
		Joint: joint, Servo: s, Method: ByNominal, Version: 1,
		Direction: 1, ZeroTicks: m.CentreTicks, TicksPerTurn: m.TicksPerTurn, Gear: 1,
		RangeTicks: [2]float64{m.MinTicks, m.MaxTicks},
		Torque:     Torque{Constant: m.TorqueConstant},
	}
}

// slope is rad a tick outside the table.
func (j *Joint) slope() float64 {
	return float64(j.Direction) * 2 * math.Pi / (j.TicksPerTurn * j.Gear)
}

// seamMargin is the part of a turn that a range must leave free for Unwrap to be sure of the turn.
const seamMargin = 1.0 / 16

// Unwrap returns ticks moved by whole turns of the servo's shaft to be nearest the middle of the range: an encoder
// that starts again at 0 within the joint's travel, or that lost its turns with the power, is then read right.
// Where the range leaves less than 1/16 turn free, no turn is surely the wrong one and ticks stay as they are.
func (j *Joint) Unwrap(ticks float64) float64 {
	turn := j.TicksPerTurn
	if j.RangeTicks[1]-j.RangeTicks[0] > turn*(1-seamMargin) {
		return ticks
	}
	// A plausible reading is at most half a turn from the middle, well outside the range.
	middle := (j.RangeTicks[0] + j.RangeTicks[1]) / 2
	return ticks - turn*math.Round((ticks-middle)/turn)
}

// Radians returns the joint's angle, rad, when its servo reports ticks. It does not clamp.
func (j *Joint) Radians(ticks float64) float64 {
	ticks = j.Unwrap(ticks)
	n := len(j.Table)
	switch {
	case n == 0:
		return (ticks - j.ZeroTicks) * j.slope()
	case ticks <= j.Table[0].Ticks:
		return j.Table[0].Radians + (ticks-j.Table[0].Ticks)*j.slope()
	case ticks >= j.Table[n-1].Ticks:
		return j.Table[n-1].Radians + (ticks-j.Table[n-1].Ticks)*j.slope()
	}
	i := j.segment(func(p Point) bool { return ticks < p.Ticks })
	a, b := j.Table[i], j.Table[i+1]
	return a.Radians + (ticks-a.Ticks)*(b.Radians-a.Radians)/(b.Ticks-a.Ticks)
}

// Range returns where the joint may go, rad, rising.
func (j *Joint) Range() (low, high float64) {
	low, high = j.Radians(j.RangeTicks[0]), j.Radians(j.RangeTicks[1])
	return min(low, high), max(low, high)
}

// Ticks is the inverse of Radians, within the range's own turn. It neither clamps nor rounds. A servo that counts
// another turn than the range does needs the difference added: present − Unwrap(present).
func (j *Joint) Ticks(radians float64) float64 {
	// Multiplied by the direction, angles rise along the table whichever way the joint is mounted.
	n, d := len(j.Table), float64(j.Direction)
	switch {
	case n == 0:
		return j.ZeroTicks + radians/j.slope()
	case d*radians <= d*j.Table[0].Radians:
		return j.Table[0].Ticks + (radians-j.Table[0].Radians)/j.slope()
	case d*radians >= d*j.Table[n-1].Radians:
		return j.Table[n-1].Ticks + (radians-j.Table[n-1].Radians)/j.slope()
	}
	i := j.segment(func(p Point) bool { return d*radians < d*p.Radians })
	a, b := j.Table[i], j.Table[i+1]
	return a.Ticks + (radians-a.Radians)*(b.Ticks-a.Ticks)/(b.Radians-a.Radians)
}

// segment returns the index before the first point for which above is true; the ends are already excluded.
func (j *Joint) segment(above func(Point) bool) int {
	low, high := 0, len(j.Table)-1
	for high-low > 1 {
		if mid := (low + high) / 2; above(j.Table[mid]) {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// Velocity is the joint's, rad/s, when the servo's shaft turns at shaft rad/s, counted as the ticks are. The table
// bends angles by a degree at most, so rates go by the straight line.
func (j *Joint) Velocity(shaft float64) float64 { return float64(j.Direction) * shaft / j.Gear }

// ShaftVelocity is the inverse of Velocity.
func (j *Joint) ShaftVelocity(joint float64) float64 { return float64(j.Direction) * joint * j.Gear }

// TorqueOf is the joint's torque, N·m, at an effort, counted as the ticks are. NaN where the constant is not known.
func (j *Joint) TorqueOf(effort float64) float64 {
	if j.Torque.Constant == 0 {
		return math.NaN()
	}
	return float64(j.Direction) * j.Torque.Constant * (effort - j.Torque.Offset)
}

// Effort is the inverse of TorqueOf. NaN where the constant is not known.
func (j *Joint) Effort(torque float64) float64 {
	if j.Torque.Constant == 0 {
		return math.NaN()
	}
	return float64(j.Direction)*torque/j.Torque.Constant + j.Torque.Offset
}
