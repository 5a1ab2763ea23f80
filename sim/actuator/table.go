package actuator

import (
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
)

const rpm = 2 * math.Pi / 60 // rad/s

// specs are all servo models, in the order of series and size; read-only.
var specs = models()

// row is what only the physics has of a model; the rest is in internal/sheet, with the sources.
type row struct {
	name                      string
	kind                      motorKind
	grams                     float64
	minVolts, maxVolts, limit float64 // V, V, °C
	p, i, d, vp, vi           float64 // gains at power-up, register units
}

// sheets are the X series and the MX series under protocol 2.0.
var sheets = []row{
	{"mx-28-2", coreless, 77, 9.5, 16, 80, 850, 0, 0, 100, 1920},
	{"mx-64-2", coreless, 135, 9.5, 16, 80, 850, 0, 0, 100, 1920},
	{"mx-106-2", coreless, 153, 9.5, 16, 80, 850, 0, 0, 100, 1920},
	{"xl330-m077", cored, 18, 3.5, 7, 70, 400, 400, 0, 40, 400},
	{"xl330-m288", cored, 18, 3.5, 7, 70, 400, 0, 0, 180, 1600},
	{"xc330-t181", coreless, 23, 5.5, 14, 70, 900, 0, 0, 40, 1200},
	{"xc330-t288", coreless, 23, 5.5, 14, 70, 900, 0, 0, 40, 1200},
	{"xc330-m181", coreless, 23, 3.5, 7, 70, 1200, 0, 500, 100, 1400},
	{"xc330-m288", coreless, 23, 3.5, 7, 70, 1100, 0, 500, 50, 1600},
	{"xl430-w250", cored, 57.2, 6, 14, 72, 640, 0, 4000, 100, 1000},
	{"xc430-w150", coreless, 65, 6, 16, 80, 460, 0, 0, 100, 1920},
	{"xc430-w240", coreless, 65, 6, 16, 80, 700, 0, 0, 100, 1920},
	{"2xl430-w250", cored, 49.1, 6, 14, 72, 640, 0, 2000, 100, 1800}, // half of its case
	{"xm430-w350", coreless, 82, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xm430-w210", coreless, 82, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xm540-w150", coreless, 165, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xm540-w270", coreless, 165, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xh430-w350", coreless, 82, 9.5, 16, 80, 900, 0, 0, 100, 1920},
	{"xh430-w210", coreless, 82, 9.5, 16, 80, 900, 0, 0, 100, 1920},
	{"xh430-v350", coreless, 82, 11, 30, 80, 800, 0, 0, 100, 1920},
	{"xh430-v210", coreless, 82, 11, 30, 80, 800, 0, 0, 100, 1920},
	{"xw540-t260", coreless, 185, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xw540-t140", coreless, 185, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xh540-w150", coreless, 165, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xh540-w270", coreless, 165, 9.5, 16, 80, 800, 0, 0, 100, 1920},
}

// oldSheets are the servos of protocol 1.0, and the XL-320, which has similar firmware.
var oldSheets = []row{
	{"ax-12a", cored, 54.6, 6, 14, 70, 0, 0, 0, 0, 0},
	{"mx-28", coreless, 77, 6, 16, 80, 32, 0, 0, 100, 1920},
	{"mx-64", coreless, 135, 6, 24, 80, 32, 0, 0, 100, 1920},
	{"mx-106", coreless, 153, 6, 24, 80, 32, 0, 0, 100, 1920},
	{"xl-320", cored, 16.7, 6, 9, 65, 32, 0, 0, 0, 0},
	{"sts3215", cored, 55, 4, 8, 70, 32, 0, 32, 100, 1920},
}

// otherSheets are other vendors' servos. The gains of the HLS servos are those of the STS3215, so that they have the
// same stiffness; that of the MG996R, a hobby servo with PWM input, is an estimate.
var otherSheets = []row{
	{"sts3032", cored, 21, 4, 8, 70, 32, 0, 32, 100, 1920},
	{"sts3095", coreless, 185, 6, 14, 70, 32, 0, 32, 100, 1920},
	{"sts3250", coreless, 74.5, 6, 14, 70, 32, 0, 32, 100, 1920},
	{"hls3915", coreless, 36, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"hls2915", coreless, 36, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"hls3930", coreless, 70.5, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"hls3950", coreless, 74.5, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"scs0009", cored, 13.2, 4, 9, 80, 15, 0, 0, 100, 1920},
	{"scs15", cored, 56, 4, 9, 80, 15, 0, 0, 100, 1920},
	{"lx-16a", cored, 54, 4.5, 12, 85, 32, 0, 32, 100, 1920},
	{"krs-2552", coreless, 41.5, 9, 12.6, 100, 32, 0, 32, 100, 1920},
	{"mg996r", cored, 55, 4.8, 7.2, 80, 32, 0, 32, 100, 1920},
}

// driveSheet is one row of servos with a current regulator in a cascade, all at 24 V.
type driveSheet struct {
	name                string
	grams, limit, gears float64 // g, °C, turns of the motor a turn of the output
}

// driveSheets are the DYNAMIXEL-Y. Source: e-Manual, y/<model>-rh. B and A are M and R with a brake, which is not
// simulated.
var driveSheets = []driveSheet{
	{"ym070-210-m001", 340, 80, 1}, {"ym070-210-b001", 530, 80, 1},
	{"ym070-210-r051", 790, 60, 51}, {"ym070-210-a051", 980, 60, 51},
	{"ym070-210-r099", 790, 60, 99}, {"ym070-210-a099", 980, 60, 99},
	{"ym080-230-m001", 530, 80, 1}, {"ym080-230-b001", 890, 80, 1},
	{"ym080-230-r051", 1200, 60, 51}, {"ym080-230-a051", 1550, 60, 51},
	{"ym080-230-r099", 1200, 60, 99}, {"ym080-230-a099", 1550, 60, 99},
}

// spec is the row as a Spec. The torque a unit of current is the row's, losses of the gear included; the greatest duty
// is the one with the row's free speed. Resistance, inertia, friction and gains are estimates: all the current to four
// fifths of the free speed, a rotor like those of motors of that size, a fiftieth of the torque as dry friction and the
// same again at the free speed.
func (r *driveSheet) spec() Spec {
	d := sheet.Of(r.name)
	free, kt, volts := d.RPM*rpm, d.Constant(), d.Volts
	rotor := 2e-5 // kg·m²
	// All the current at so small a share of the free speed that play in a gear does not make it ring.
	stiff := 5 * d.Amps / free
	if r.gears == 1 {
		stiff *= 2
	}
	if d.Amps > 21 { // the larger size
		rotor = 7e-5
	}
	k := Spec{
		Name: r.name, Source: "ROBOTIS e-Manual, " + r.name + "-rh at 24 V",
		Fit: "data sheet; resistance, inertia and friction estimated",
		Kt:  kt, MaxDuty: 1.02 * free * kt / volts, Armature: rotor * r.gears * r.gears,
		Friction:     Friction{Model: 1, Kb: 0.02 * d.Torque, Kv: 0.02 * d.Torque / free},
		NominalVolts: volts, StallTorque: d.Torque, StallCurrent: d.Amps, NoLoadSpeed: free, Mass: r.grams / 1000,
		TicksPerTurn: 524288, MinTicks: -262144, MaxTicks: 262144,
		Firmware: FOC, Modes: [hal.NumModes]bool{true, true, true, false}, CurrentControl: true, MaxCurrent: d.MaxAmps,
		MinVolts: 16, MaxVolts: 32, BrownOut: 16 * 0.6, MaxTemperature: r.limit, Standby: 0.04,
		Gains: Gains{P: 2 * math.Pi, VelocityP: stiff, VelocityI: stiff * stiff * free / (5 * d.Amps)},
	}
	k.R = 0.2 * k.MaxDuty * volts / d.Amps
	return k
}

const (
	maxDutyMX   = 0.9625
	maxDutySTS  = 0.97
	ticks10Bits = 1023 * 360.0 / 300 // a turn of an encoder with 0..1023 for 300 degrees
)

func models() []Spec {
	var all []Spec
	for i := range oldSheets {
		k := oldSheets[i].spec()
		k.Firmware = mx
		k.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true}
		k.Gains.MarginCW, k.Gains.MarginCCW, k.Gains.SlopeCW, k.Gains.SlopeCCW = 1, 1, 32, 32
		switch k.Name {
		case "ax-12a", "xl-320":
			k.TicksPerTurn, k.CentreTicks, k.MaxTicks, k.DeadSector = ticks10Bits, 512, 1023, true
			k.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.DutyMode: true}
			if k.Gains.Punch = 32; k.Name == "ax-12a" {
				k.Firmware = ax
			}
		case "mx-64", "mx-106":
			k.MaxDuty = maxDutyMX
		case "sts3215":
			k.MaxDuty, k.Source = maxDutySTS, "Feetech datasheet, STS3215 7.4 V"
			k.Modes[hal.DutyMode] = true
		}
		all = append(all, k)
	}
	for i := range otherSheets {
		all = append(all, otherSheets[i].other())
	}
	for i := range motorSheets {
		all = append(all, motorSheets[i].spec())
	}
	for i := range driveSheets {
		all = append(all, driveSheets[i].spec())
	}
	for i := range sheets {
		k := sheets[i].spec()
		k.Firmware = X
		k.CurrentControl = k.MaxCurrent > 0
		k.Modes = [hal.NumModes]bool{true, true, k.CurrentControl, true}
		if strings.Contains(k.Name, "330") { // it measures at its input, e-Manual, "Current Limit"
			k.SupplyCurrent = true
		}
		all = append(all, k)
	}
	for i := range all {
		switch k := &all[i]; {
		case k.Name == "lx-16a" || k.Name == "mg996r":
			k.Senses = sensesNothing
		case k.CurrentControl || k.Name == "krs-2552":
			k.Senses = sensesCurrent
		}
	}
	return all
}

// other is the row of a servo of another vendor, with the counting and the modes of its firmware.
func (r *row) other() Spec {
	k := r.spec()
	k.Firmware = mx
	volts := " at " + strconv.FormatFloat(k.NominalVolts, 'g', -1, 64) + " V"
	k.Modes = [hal.NumModes]bool{hal.PositionMode: true}
	switch r.name {
	case "scs0009", "scs15":
		k.Source = "Feetech datasheet, " + r.name + volts
		k.TicksPerTurn, k.CentreTicks, k.MaxTicks, k.DeadSector = ticks10Bits, 512, 1023, true
		if r.name == "scs15" {
			k.TicksPerTurn = 1023 * 360.0 / 200
		}
	case "lx-16a":
		k.Source = "Hiwonder datasheet, " + r.name + volts
		k.TicksPerTurn, k.CentreTicks, k.MaxTicks, k.DeadSector = 1500, 500, 1000, true // 240 degrees
		k.Modes[hal.DutyMode] = true
	case "krs-2552":
		k.Source = "Kondo datasheet, " + r.name + volts
		k.TicksPerTurn, k.CentreTicks, k.MinTicks, k.MaxTicks = 8000*360.0/270, 7500, 3500, 11500
	case "mg996r": // a potentiometer over 180 degrees, whose dead band of 5 µs is two of these ticks
		k.Source = "TowerPro datasheet, " + r.name + volts
		k.TicksPerTurn, k.CentreTicks, k.MaxTicks, k.DeadSector = 2*1023, 512, 1023, true
	default:
		k.Source = "Feetech datasheet, " + r.name + volts
		k.CurrentControl = k.MaxCurrent > 0
		k.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: k.CurrentControl,
			hal.DutyMode: !k.CurrentControl}
	}
	return k
}

// spec is the row as a Spec with the values common to all servos. Its motor is an identified one if there is one, else
// fitted.
func (r *row) spec() Spec {
	d := sheet.Of(r.name)
	k := Spec{
		Name: r.name, Source: "ROBOTIS e-Manual, " + r.name + " at " + strconv.FormatFloat(d.Volts, 'g', -1, 64) + " V",
		NominalVolts: d.Volts, StallTorque: d.Torque, StallCurrent: d.Amps, NoLoadSpeed: d.RPM * rpm,
		Mass: r.grams / 1000, MaxDuty: 1,
		TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095,
		PositionGain: d.Gain.P, MaxCurrent: d.MaxAmps, MinVolts: r.minVolts, MaxVolts: r.maxVolts,
		MaxTemperature: r.limit,
		BrownOut:       r.minVolts * 0.6, Standby: 0.04,
		Gains: Gains{P: r.p, I: r.i, D: r.d, VelocityP: r.vp, VelocityI: r.vi},
	}
	k.fitted(r.kind)
	for i := range identified {
		if id := &identified[i]; id.of(k.Name) {
			k.use(id) // the best model is the last
		}
	}
	return k
}
