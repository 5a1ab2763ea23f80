package actuator

import (
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

const rpm = 2 * math.Pi / 60 // rad/s

// specs are all servo models, in the order of series and size; read-only.
var specs = models()

// sheet is one row of the datasheets, at volts.
type sheet struct {
	name                      string
	kind                      motorKind
	volts, torque, amps, rpm  float64 // V, N·m, A, rpm
	grams                     float64
	maxCurrent                float64 // A; 0 = no current control
	minVolts, maxVolts, limit float64 // V, V, °C
	p, i, d, vp, vi           float64 // gains at power-up, register units
}

// sheets are the X series and the MX series under protocol 2.0. Source: e-Manual, x/<model> and mx/<model>, both
// "Specifications" and the control table; MaxCurrent is the default current limit in its unit.
var sheets = []sheet{
	{"mx-28-2", coreless, 12, 2.5, 1.4, 55, 77, 0, 9.5, 16, 80, 850, 0, 0, 100, 1920},
	{"mx-64-2", coreless, 12, 6.0, 4.1, 63, 135, 1941 * 3.36e-3, 9.5, 16, 80, 850, 0, 0, 100, 1920},
	{"mx-106-2", coreless, 12, 8.4, 5.2, 45, 153, 2047 * 3.36e-3, 9.5, 16, 80, 850, 0, 0, 100, 1920},
	{"xl330-m077", cored, 5, 0.215, 1.47, 383, 18, 1.75, 3.5, 7, 70, 400, 400, 0, 40, 400},
	{"xl330-m288", cored, 5, 0.52, 1.47, 103, 18, 1.75, 3.5, 7, 70, 400, 0, 0, 180, 1600},
	{"xc330-t181", coreless, 12, 0.80, 0.88, 113, 23, 0.91, 5.5, 14, 70, 900, 0, 0, 40, 1200},
	{"xc330-t288", coreless, 12, 1.00, 0.88, 71, 23, 0.91, 5.5, 14, 70, 900, 0, 0, 40, 1200},
	{"xc330-m181", coreless, 5, 0.60, 1.80, 129, 23, 2.352, 3.5, 7, 70, 1200, 0, 500, 100, 1400},
	{"xc330-m288", coreless, 5, 0.93, 1.80, 81, 23, 2.352, 3.5, 7, 70, 1100, 0, 500, 50, 1600},
	{"xl430-w250", cored, 12, 1.5, 1.4, 61, 57.2, 0, 6, 14, 72, 640, 0, 4000, 100, 1000},
	{"xc430-w150", coreless, 12, 1.6, 1.4, 106, 65, 0, 6, 16, 80, 460, 0, 0, 100, 1920},
	{"xc430-w240", coreless, 12, 1.9, 1.4, 70, 65, 0, 6, 16, 80, 460, 0, 0, 100, 1920},
	{"2xl430-w250", cored, 12, 1.5, 1.4, 61, 49.1, 0, 6, 14, 72, 640, 0, 2000, 100, 1800}, // half of its case
	{"xm430-w350", coreless, 12, 4.1, 2.3, 46, 82, 1193 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xm430-w210", coreless, 12, 3.0, 2.3, 77, 82, 1193 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xm540-w150", coreless, 12, 7.3, 4.4, 53, 165, 2047 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xm540-w270", coreless, 12, 10.6, 4.4, 30, 165, 2047 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xh430-w350", coreless, 12, 3.4, 1.3, 30, 82, 648 * 2.69e-3, 9.5, 16, 80, 900, 0, 0, 100, 1920},
	{"xh430-w210", coreless, 12, 2.5, 1.3, 50, 82, 648 * 2.69e-3, 9.5, 16, 80, 900, 0, 0, 100, 1920},
	{"xh430-v350", coreless, 24, 3.3, 0.7, 31, 82, 689 * 1.34e-3, 11, 30, 80, 800, 0, 0, 100, 1920},
	{"xh430-v210", coreless, 24, 2.6, 0.7, 52, 82, 689 * 1.34e-3, 11, 30, 80, 800, 0, 0, 100, 1920},
	{"xw540-t260", coreless, 12, 9.5, 4.9, 40, 185, 2047 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xw540-t140", coreless, 12, 6.9, 4.9, 72, 185, 2047 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xh540-w150", coreless, 12, 7.1, 4.9, 70, 165, 2047 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
	{"xh540-w270", coreless, 12, 9.9, 4.9, 39, 165, 2047 * 2.69e-3, 9.5, 16, 80, 800, 0, 0, 100, 1920},
}

// oldSheets are the servos of protocol 1.0, and the XL-320, which has similar firmware. Source: e-Manual, ax/ax-12a,
// mx/mx-28 and so on, x/xl320.
var oldSheets = []sheet{
	{"ax-12a", cored, 12, 1.5, 1.5, 59, 54.6, 0, 6, 14, 70, 0, 0, 0, 0, 0},
	{"mx-28", coreless, 12, 2.5, 1.4, 55, 77, 0, 6, 16, 80, 32, 0, 0, 100, 1920},
	{"mx-64", coreless, 12, 6.0, 4.1, 63, 135, 0, 6, 24, 80, 32, 0, 0, 100, 1920},
	{"mx-106", coreless, 12, 8.4, 5.2, 45, 153, 0, 6, 24, 80, 32, 0, 0, 100, 1920},
	{"xl-320", cored, 7.4, 0.39, 1.1, 114, 16.7, 0, 6, 9, 65, 32, 0, 0, 0, 0},
	{"sts3215", cored, 7.4, 1.8, 2.5, 50, 55, 0, 4, 8, 70, 32, 0, 32, 100, 1920},
}

// otherSheets are other vendors' servos. Sources: Feetech's data sheets of STS3032 (6 V), STS3250 (12 V), SCS0009 (6 V)
// and SCS15 (7.4 V); Hiwonder's of the LX-16A (7.4 V); Kondo's of the KRS-2552 (11.1 V). Stall currents of STS3032,
// SCS0009, LX-16A and STS3095 are estimates; so are all values of the STS3095 but its torque and speed. For the HLS
// servos (12 V) the data sheets have the torques, the first three currents and the masses except the HLS2915's. The
// speeds except the HLS3950's, its current and all gains are estimates (see servo/feetech). MaxCurrent is the stall
// current; their limit at power-on is above it. The gains are those of the STS3215, so that they have the same
// stiffness. The MG996R is a hobby servo with PWM input: TowerPro's data sheet (6 V); its gain is an estimate.
var otherSheets = []sheet{
	{"sts3032", cored, 6, 0.44, 1.2, 95, 21, 0, 4, 8, 70, 32, 0, 32, 100, 1920},
	{"sts3095", coreless, 12, 10.3, 5.5, 26, 185, 0, 6, 14, 70, 32, 0, 32, 100, 1920},
	{"sts3250", coreless, 12, 4.9, 4.4, 75, 74.5, 0, 6, 14, 70, 32, 0, 32, 100, 1920},
	{"hls3915", coreless, 12, 1.39, 1.5, 100, 36, 1.5, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"hls2915", coreless, 12, 1.39, 1.5, 100, 36, 1.5, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"hls3930", coreless, 12, 3.43, 2.8, 73, 70.5, 2.8, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"hls3950", coreless, 12, 4.9, 4.4, 75, 74.5, 4.4, 4, 16, 80, 32, 0, 32, 100, 1920},
	{"scs0009", cored, 6, 0.225, 0.9, 100, 13.2, 0, 4, 9, 80, 15, 0, 32, 100, 1920},
	{"scs15", cored, 7.4, 1.6, 2.2, 62.5, 56, 0, 4, 9, 80, 15, 0, 32, 100, 1920},
	{"lx-16a", cored, 7.4, 1.67, 2.4, 62.5, 54, 0, 4.5, 12, 85, 32, 0, 32, 100, 1920},
	{"krs-2552", coreless, 11.1, 1.37, 4.2, 71, 41.5, 0, 9, 12.6, 100, 32, 0, 32, 100, 1920},
	{"mg996r", cored, 6, 1.08, 2.5, 71, 55, 0, 4.8, 7.2, 80, 32, 0, 32, 100, 1920},
}

// driveSheet is one row of servos with a current regulator in a cascade, all at 24 V.
type driveSheet struct {
	name                string
	torque, amps, rpm   float64 // greatest torque, its phase current; N·m, A; rpm without load
	grams, limit, gears float64 // g, °C, turns of the motor a turn of the output
}

// driveSheets are the DYNAMIXEL-Y. Source: e-Manual, y/<model>-rh. B and A are M and R with a brake, which is not
// simulated.
var driveSheets = []driveSheet{
	{"ym070-210-m001", 0.64, 20.8, 5675, 340, 80, 1}, {"ym070-210-b001", 0.64, 20.8, 5675, 530, 80, 1},
	{"ym070-210-r051", 16.3, 20.8, 111.3, 790, 60, 51}, {"ym070-210-a051", 16.3, 20.8, 111.3, 980, 60, 51},
	{"ym070-210-r099", 31.7, 20.8, 57.3, 790, 60, 99}, {"ym070-210-a099", 31.7, 20.8, 57.3, 980, 60, 99},
	{"ym080-230-m001", 1.24, 22.4, 3190, 530, 80, 1}, {"ym080-230-b001", 1.24, 22.4, 3190, 890, 80, 1},
	{"ym080-230-r051", 31.6, 22.4, 62.5, 1200, 60, 51}, {"ym080-230-a051", 31.6, 22.4, 62.5, 1550, 60, 51},
	{"ym080-230-r099", 61.4, 22.4, 32.2, 1200, 60, 99}, {"ym080-230-a099", 61.4, 22.4, 32.2, 1550, 60, 99},
}

// spec is the row as a Spec. The torque a unit of current is the row's, losses of the gear included; the greatest duty
// is the one with the row's free speed. Resistance, inertia, friction and gains are estimates: all the current to four
// fifths of the free speed, a rotor like those of motors of that size, a fiftieth of the torque as dry friction and the
// same again at the free speed.
func (r *driveSheet) spec() Spec {
	free, kt := r.rpm*rpm, r.torque/r.amps
	const volts = 24 // V
	rotor := 2e-5    // kg·m²
	// All the current at so small a share of the free speed that play in a gear does not make it ring.
	stiff := 5 * r.amps / free
	if r.gears == 1 {
		stiff *= 2
	}
	if r.amps > 21 { // the larger size
		rotor = 7e-5
	}
	k := Spec{
		Name: r.name, Source: "ROBOTIS e-Manual, " + r.name + "-rh at 24 V",
		Fit: "data sheet; resistance, inertia and friction estimated",
		Kt:  kt, MaxDuty: 1.02 * free * kt / volts, Armature: rotor * r.gears * r.gears,
		Friction:     Friction{Model: 1, Kb: 0.02 * r.torque, Kv: 0.02 * r.torque / free},
		NominalVolts: volts, StallTorque: r.torque, StallCurrent: r.amps, NoLoadSpeed: free, Mass: r.grams / 1000,
		TicksPerTurn: 524288, MinTicks: -262144, MaxTicks: 262144,
		Firmware: FOC, Modes: [hal.NumModes]bool{true, true, true, false}, CurrentControl: true, MaxCurrent: 20.8,
		MinVolts: 16, MaxVolts: 32, BrownOut: 16 * 0.6, MaxTemperature: r.limit, Standby: 0.04,
		Gains: Gains{P: 2 * math.Pi, VelocityP: stiff, VelocityI: stiff * stiff * free / (5 * r.amps)},
	}
	k.R = 0.2 * k.MaxDuty * volts / r.amps
	return k
}

// The position gains, duty per rad and unit of P. Those of MX, XL-320 and STS3215 are measured (BAM); that of the
// other X servos follows from P/128 in 1/885 of the voltage a tick; the XL330's is half of that, by measurement (BAM).
const (
	gainMX      = 0.158
	gainXL320   = 0.05048
	gainSTS     = 0.166
	gainX       = 4096 / (2 * math.Pi) / 128 / fullPWM
	gainXL330   = gainX / 2
	maxDutyMX   = 0.9625
	maxDutySTS  = 0.97
	degree      = math.Pi / 180
	ticks10Bits = 1023 * 360.0 / 300 // a turn of an encoder with 0..1023 for 300 degrees
)

func models() []Spec {
	var all []Spec
	for i := range oldSheets {
		k := oldSheets[i].spec()
		k.Firmware, k.PositionGain = mx, gainMX
		k.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true}
		k.Gains.MarginCW, k.Gains.MarginCCW, k.Gains.SlopeCW, k.Gains.SlopeCCW = 1, 1, 32, 32
		switch k.Name {
		case "ax-12a", "xl-320":
			k.TicksPerTurn, k.CentreTicks, k.MaxTicks, k.DeadSector = ticks10Bits, 512, 1023, true
			k.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.DutyMode: true}
			k.PositionGain = gainXL320
			if k.Gains.Punch = 32; k.Name == "ax-12a" {
				k.Firmware, k.PositionGain = ax, 0
			}
		case "mx-64", "mx-106":
			k.MaxDuty = maxDutyMX
		case "sts3215":
			k.MaxDuty, k.PositionGain, k.Source = maxDutySTS, gainSTS, "Feetech datasheet, STS3215 7.4 V"
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
		k.Firmware, k.PositionGain = X, gainX
		k.CurrentControl = k.MaxCurrent > 0
		k.Modes = [hal.NumModes]bool{true, true, k.CurrentControl, true}
		if strings.Contains(k.Name, "330") { // it measures at its input, e-Manual, "Current Limit"
			k.SupplyCurrent = true
		}
		if strings.HasPrefix(k.Name, "xl330") {
			k.PositionGain = gainXL330
		}
		all = append(all, k)
	}
	return all
}

// other is the row of a servo of another vendor, with the counting and the modes of its firmware.
func (r *sheet) other() Spec {
	k := r.spec()
	k.Firmware, k.PositionGain = mx, gainSTS
	volts := " at " + strconv.FormatFloat(r.volts, 'g', -1, 64) + " V"
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
		k.CurrentControl = r.maxCurrent > 0
		k.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: k.CurrentControl,
			hal.DutyMode: !k.CurrentControl}
	}
	return k
}

// spec is the row as a Spec with the values common to all servos. Its motor is an identified one if there is one, else
// fitted.
func (r *sheet) spec() Spec {
	k := Spec{
		Name: r.name, Source: "ROBOTIS e-Manual, " + r.name + " at " + strconv.FormatFloat(r.volts, 'g', -1, 64) + " V",
		NominalVolts: r.volts, StallTorque: r.torque, StallCurrent: r.amps, NoLoadSpeed: r.rpm * rpm,
		Mass: r.grams / 1000, MaxDuty: 1,
		TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095,
		MaxCurrent: r.maxCurrent, MinVolts: r.minVolts, MaxVolts: r.maxVolts, MaxTemperature: r.limit,
		BrownOut: r.minVolts * 0.6, Standby: 0.04,
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
