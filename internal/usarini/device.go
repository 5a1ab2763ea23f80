package usarini

import "strings"

// Device is one section of a sensor or effecter class: the properties of all its items. A property that the class or
// its section does not have is zero. Lengths are m, angles rad, times s.
type Device struct {
	Class                      string // "USARBot.SonarSensor"
	Line                       int
	Hidden                     bool // HiddenSensor
	TimeStamp                  bool // bWithTimeStamp
	Weight, MinRange, MaxRange float64
	BeamAngle                  float64 // of a sonar's cone
	Noise                      float64 // relative amplitude
	ScanInterval               float64 // 0 = with every message
	Resolution                 float64 // of a scanner or encoder
	ScanFOV                    float64
	Pitch, Yaw                 bool    // the scanner's plane: x-z, x-y
	OutputCurve                []Point // empty = no curve
	EncoderResolution          float64 // of odometry
	LeftTire                   string  // "" = the left-most wheel
	RightTire                  string
	Diameter                   float64 // of a touch sensor
	// of the victim sensor: range within which it detects a victim or false positive
	FPMinRange                               float64
	VictMinRange                             float64 // range within which it identifies the victim
	VictStatusRange                          float64 // where it describes how they are
	RFIDFOV                                  float64
	FOV                                      float64 // of the human motion sensor
	CameraDefFOV, CameraMinFOV, CameraMaxFOV float64
	NumTags                                  int // of the RFID releaser
}

// Point is one point of a distortion curve.
type Point struct{ In, Out float64 }

// slots lists the keys of all classes of the manual, each with its plausible bounds. A class may have a key without a
// use for it, as in files of later versions.
func (v *Device) slots() []slot {
	return []slot{
		{"HiddenSensor", &v.Hidden, 0, 0}, {"bWithTimeStamp", &v.TimeStamp, 0, 0}, {"Weight", &v.Weight, 0, 1e5},
		{"MinRange", &v.MinRange, 0, 1e6}, {"MaxRange", &v.MaxRange, 0, 1e6}, {"BeamAngle", &v.BeamAngle, 0, 6.2832},
		{"Noise", &v.Noise, 0, 1}, {"ScanInterval", &v.ScanInterval, 0, 3600}, {"Resolution", &v.Resolution, 0, 65536},
		{"ScanFov", &v.ScanFOV, 0, 65536}, {"bPitch", &v.Pitch, 0, 0}, {"bYaw", &v.Yaw, 0, 0},
		{"OutputCurve", &v.OutputCurve, 0, 0}, {"EncoderResolution", &v.EncoderResolution, 0, 6.2832},
		{"LeftTire", &v.LeftTire, 0, 0}, {"RightTire", &v.RightTire, 0, 0}, {"Diameter", &v.Diameter, 0, 10},
		{"FPMinRange", &v.FPMinRange, 0, 1e6}, {"VictMinRange", &v.VictMinRange, 0, 1e6},
		{"VictStatusRange", &v.VictStatusRange, 0, 1e6}, {"RFIDFOV", &v.RFIDFOV, 0, 6.2832}, {"FOV", &v.FOV, 0, 65536},
		{"CameraDefFov", &v.CameraDefFOV, 0.01, 3.1415}, {"CameraMinFov", &v.CameraMinFOV, 0.01, 3.1415},
		{"CameraMaxFov", &v.CameraMaxFOV, 0.01, 3.1415}, {"NumTags", &v.NumTags, 0, 1e6},
	}
}

// degrees is where an integer field of view is no longer taken for degrees: USARSim's own human motion sensor has 60,
// which in the manual's units would be a third of a degree.
const degrees = 360

// device decodes one class of sensors or effecters.
func (d *decoder) device(s *section, udk bool) (v Device, ignored []entry) {
	v = Device{Class: s.name, Line: s.line}
	ignored = d.scalars(s.entries, v.slots())
	d.line = s.line
	// a scanner's angles are integers of Unreal's, on UDK rad as an encoder's resolution is everywhere
	if v.ScanFOV > 0 {
		if !udk {
			v.ScanFOV, v.Resolution = radians(v.ScanFOV), radians(v.Resolution)
		}
		if v.Resolution <= 0 || v.ScanFOV/v.Resolution > maxRays {
			d.fault("Resolution", "a scanner of too many rays", "at most 65536 in ScanFov")
		}
	}
	if v.FOV > degrees {
		v.FOV = radians(v.FOV)
	} else {
		v.FOV = radians(v.FOV * 2 * halfTurn / degrees)
	}
	if v.CameraMinFOV > v.CameraMaxFOV {
		d.fault("CameraMinFov", "more than CameraMaxFov", "at most that")
	}
	return v, ignored
}

const maxRays = 65536

// robotic reports whether a section is a robot's: it carries items, or has a key of robots only.
func robotic(s *section) bool {
	for _, e := range s.entries {
		if list(e.key) >= 0 {
			return true
		}
		for _, key := range [...]string{"msgTimer", "bMountByUU", "bAbsoluteCamera", "bAbsoluteCameras", "batteryLife",
			"ChassisMass", "Payload"} {
			if strings.EqualFold(e.key, key) {
				return true
			}
		}
	}
	return false
}
