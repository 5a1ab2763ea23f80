// Package sheet has the figures of servos' and motors' data sheets that more than one package needs, once: for drivers,
// the physics, the emulated devices and nominal calibrations.
package sheet

import "math"

// Servo is the data of one model. All values are those of the output shaft.
type Servo struct {
	Name   string
	Volts  float64 // V, nominal, of the next three values
	Torque float64 // N·m, stalled; of a motor controller with its greatest current
	Amps   float64 // A, likewise
	RPM    float64 // turns a minute without load
	// MaxAmps is the current limit at power-on, A, of a servo with current control; 0 = it has none, and efforts are
	// shares of the supply.
	MaxAmps float64
	Gain    Law
}

// Constant is the torque, N·m, a unit of effort, losses of the gear included: an ampere of a servo with current
// control, else the whole supply. Commands and measured values of all bodies are converted by it, unless a calibration
// has measured another.
func (s *Servo) Constant() float64 {
	if s.MaxAmps > 0 {
		return s.Torque / s.Amps
	}
	return s.Torque
}

// Law is the position control of a firmware, as far as its gains are concerned: each is a share of the supply a unit of
// its register.
type Law struct {
	P float64 // a rad
	I float64 // a rad·s
	D float64 // a rad/s
	// Max is the greatest value of the registers; 0 = they cannot be written with torque on, or there are none
	Max float64
}

// Units are N·m/rad, N·m/(rad·s) and N·m·s/rad a unit of the registers of P, I and D; 0 where they cannot be commanded.
func (s *Servo) Units() [3]float64 {
	if s.Gain.Max == 0 {
		return [3]float64{}
	}
	return [3]float64{s.Torque * s.Gain.P, s.Torque * s.Gain.I, s.Torque * s.Gain.D}
}

// Of returns the data of the model called name, nil for another.
func Of(name string) *Servo {
	for i := range servos {
		if servos[i].Name == name {
			return &servos[i]
		}
	}
	return nil
}

// The laws. Those of MX, XL-320 and STS3215 are measured (BAM); that of the other X servos follows from P/128 in 1/885
// of the supply a tick; the XL330's is half of that, by measurement (BAM). I and D follow from P by the e-Manual.
var (
	lawX     = x(4096 / (2 * math.Pi) / 128 / 885)
	lawXL330 = x(4096 / (2 * math.Pi) / 128 / 885 / 2)
	lawMX    = mx(0.158, 254)
	lawXL320 = mx(0.05048, 254)
	lawSTS   = mx(0.166, 254)
	lawFixed = mx(0.166, 0)
	none     = Law{}
)

// I and D against P a unit, s⁻¹ and s: P/128, I/65536 and D/16 a millisecond of X servos, P/8, I·1000/2048 and D·4/1000
// of MX and those like them.
const (
	IntegralX = 128 * 1000 / 65536.0
	SlopeX    = 128 / 16.0 / 1000
	IntegralM = 8 * 1000 / 2048.0
	SlopeM    = 8 * 4 / 1000.0
)

func x(p float64) Law        { return Law{p, p * IntegralX, p * SlopeX, 16383} }
func mx(p, most float64) Law { return Law{p, p * IntegralM, p * SlopeM, most} }

// servos is read-only. Sources: ROBOTIS' e-Manual (ax/ax-12a, mx/MODEL, x/MODEL, y/MODEL-rh: specifications and control
// table, MaxAmps being the default current limit in its unit); Feetech's data sheets (STS3215 7.4 V, STS3032, SCS0009 6
// V, SCS15 7.4 V, STS3250 and HLS 12 V), Hiwonder's of the LX-16A, Kondo's of the KRS-2552 (11.1 V), TowerPro's of the
// MG996R. Estimates: stall currents of STS3032, SCS0009, LX-16A, STS3095 and HLS3950; all of the STS3095 but its torque
// and speed; the speeds of the HLS but the HLS3950's. MaxAmps of an HLS is its stall current: its limit at power-on is
// above it. Motor controllers have the torque of their greatest current with the motor of their vendor's table.
var servos = []Servo{
	{"ax-12a", 12, 1.5, 1.5, 59, 0, none},
	{"mx-28", 12, 2.5, 1.4, 55, 0, lawMX},
	{"mx-64", 12, 6.0, 4.1, 63, 0, lawMX},
	{"mx-106", 12, 8.4, 5.2, 45, 0, lawMX},
	{"xl-320", 7.4, 0.39, 1.1, 114, 0, lawXL320},
	{"sts3215", 7.4, 1.8, 2.5, 50, 0, lawSTS},
	{"sts3032", 6, 0.44, 1.2, 95, 0, lawSTS},
	{"sts3095", 12, 10.3, 5.5, 26, 0, lawSTS},
	{"sts3250", 12, 4.9, 4.4, 75, 0, lawSTS},
	{"hls3915", 12, 1.39, 1.5, 100, 1.5, lawSTS},
	{"hls2915", 12, 1.39, 1.5, 100, 1.5, lawSTS},
	{"hls3930", 12, 3.43, 2.8, 73, 2.8, lawSTS},
	{"hls3950", 12, 4.9, 4.4, 75, 4.4, lawSTS},
	{"scs0009", 6, 0.225, 0.9, 100, 0, lawSTS},
	{"scs15", 7.4, 1.6, 2.2, 62.5, 0, lawSTS},
	{"lx-16a", 7.4, 1.67, 2.4, 62.5, 0, lawFixed},
	{"krs-2552", 11.1, 1.37, 4.2, 71, 0, lawFixed},
	{"mg996r", 6, 1.08, 2.5, 71, 0, lawFixed},
	{"mx-28-2", 12, 2.5, 1.4, 55, 0, lawX},
	{"mx-64-2", 12, 6.0, 4.1, 63, 1941 * 3.36e-3, lawX},
	{"mx-106-2", 12, 8.4, 5.2, 45, 2047 * 3.36e-3, lawX},
	{"xl330-m077", 5, 0.215, 1.47, 383, 1.75, lawXL330},
	{"xl330-m288", 5, 0.52, 1.47, 103, 1.75, lawXL330},
	{"xc330-t181", 12, 0.80, 0.88, 113, 0.91, lawX},
	{"xc330-t288", 12, 1.00, 0.88, 71, 0.91, lawX},
	{"xc330-m181", 5, 0.60, 1.80, 129, 2.352, lawX},
	{"xc330-m288", 5, 0.93, 1.80, 81, 2.352, lawX},
	{"xl430-w250", 12, 1.5, 1.4, 61, 0, lawX},
	{"xc430-w150", 12, 1.6, 1.4, 106, 0, lawX},
	{"xc430-w240", 12, 1.9, 1.4, 70, 0, lawX},
	{"2xl430-w250", 12, 1.5, 1.4, 61, 0, lawX},
	{"xm430-w350", 12, 4.1, 2.3, 46, 1193 * 2.69e-3, lawX},
	{"xm430-w210", 12, 3.0, 2.3, 77, 1193 * 2.69e-3, lawX},
	{"xm540-w150", 12, 7.3, 4.4, 53, 2047 * 2.69e-3, lawX},
	{"xm540-w270", 12, 10.6, 4.4, 30, 2047 * 2.69e-3, lawX},
	{"xh430-w350", 12, 3.4, 1.3, 30, 648 * 2.69e-3, lawX},
	{"xh430-w210", 12, 2.5, 1.3, 50, 648 * 2.69e-3, lawX},
	{"xh430-v350", 24, 3.3, 0.7, 31, 689 * 1.34e-3, lawX},
	{"xh430-v210", 24, 2.6, 0.7, 52, 689 * 1.34e-3, lawX},
	{"xw540-t260", 12, 9.5, 4.9, 40, 2047 * 2.69e-3, lawX},
	{"xw540-t140", 12, 6.9, 4.9, 72, 2047 * 2.69e-3, lawX},
	{"xh540-w150", 12, 7.1, 4.9, 70, 2047 * 2.69e-3, lawX},
	{"xh540-w270", 12, 9.9, 4.9, 39, 2047 * 2.69e-3, lawX},
	{"ym070-210-m001", 24, 0.64, 20.8, 5675, 20.8, none},
	{"ym070-210-b001", 24, 0.64, 20.8, 5675, 20.8, none},
	{"ym070-210-r051", 24, 16.3, 20.8, 111.3, 20.8, none},
	{"ym070-210-a051", 24, 16.3, 20.8, 111.3, 20.8, none},
	{"ym070-210-r099", 24, 31.7, 20.8, 57.3, 20.8, none},
	{"ym070-210-a099", 24, 31.7, 20.8, 57.3, 20.8, none},
	{"ym080-230-m001", 24, 1.24, 22.4, 3190, 20.8, none},
	{"ym080-230-b001", 24, 1.24, 22.4, 3190, 20.8, none},
	{"ym080-230-r051", 24, 31.6, 22.4, 62.5, 20.8, none},
	{"ym080-230-a051", 24, 31.6, 22.4, 62.5, 20.8, none},
	{"ym080-230-r099", 24, 61.4, 22.4, 32.2, 20.8, none},
	{"ym080-230-a099", 24, 61.4, 22.4, 32.2, 20.8, none},
	motor("vesc-4", 36, 0.0503, 50, 190), motor("vesc-4-hall", 36, 0.0503, 50, 190),
	motor("vesc-6", 48, 0.0503, 80, 190), motor("vesc-6-hall", 48, 0.0503, 80, 190),
	motor("vesc-75", 60, 0.0503, 200, 190), motor("vesc-75-hall", 60, 0.0503, 200, 190),
	motor("odrive-v3", 24, 8.27/270, 60, 270), motor("odrive-s1", 48, 8.27/100, 40, 100),
	motor("odrive-pro", 48, 8.27/100, 58, 100), motor("cybergear", 24, 0.87/math.Sqrt2, 12*math.Sqrt2/0.87, 296./24),
}

// motor is a motor controller by the torque constant, N·m/A, greatest current and turns a minute and volt of its motor.
func motor(name string, volts, kt, amps, kv float64) Servo {
	return Servo{name, volts, kt * amps, amps, volts * kv, amps, none}
}
