package okon

import (
	"encoding/json"
	"math"
	"strconv"
)

// Vector is a vector, or Euler angles, in the document's axes. All numbers of the protocol are 32-bit floats.
type Vector struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
	Z float32 `json:"z"`
}

// Motors are the duties of the thrusters, -1..1: front or back, left or right, horizontal or vertical.
type Motors struct {
	FLH, FLV, BLV, BLH, FRH, FRV, BRV, BRH float32
}

// duties are m's in the order of the autopilot's mixer.
func (m *Motors) duties() []float64 {
	return []float64{float64(m.FLH), float64(m.FRH), float64(m.BLH), float64(m.BRH),
		float64(m.FLV), float64(m.FRV), float64(m.BLV), float64(m.BRV)}
}

// motorsOf is the inverse of duties.
func motorsOf(d []float64) (m Motors) {
	for i, at := range []*float32{&m.FLH, &m.FRH, &m.BLH, &m.BRH, &m.FLV, &m.FRV, &m.BLV, &m.BRV} {
		if i < len(d) {
			*at = float32(d[i])
		}
	}
	return m
}

// Acro holds the targets of the acro mode.
type Acro struct {
	RotSpeed Vector `json:"rotSpeed"`
	Vel      Vector `json:"vel"`
}

// Stable holds the targets of the stable mode. A Depth of 0 m disables depth control.
type Stable struct {
	Rot   Vector  `json:"rot"`
	Vel   Vector  `json:"vel"`
	Depth float32 `json:"depth"`
}

// PID is the settings of one PID.
type PID struct {
	P         float32 `json:"p"`
	I         float32 `json:"i"`
	D         float32 `json:"d"`
	WindupCap float32 `json:"windupCap"`
	Gain      float32 `json:"gain"`
	Limit     float32 `json:"limit"`
}

// PIDs are all of them.
type PIDs struct {
	Roll       PID `json:"roll"`
	Pitch      PID `json:"pitch"`
	Yaw        PID `json:"yaw"`
	Depth      PID `json:"depth"`
	RollSpeed  PID `json:"rollSpeed"`
	PitchSpeed PID `json:"pitchSpeed"`
	YawSpeed   PID `json:"yawSpeed"`
}

// Sensors are the robot's measurements.
type Sensors struct {
	Rot          Vector `json:"rot"`
	RotSpeed     Vector `json:"rotSpeed"`
	Accel        Vector `json:"accel"`
	RotAccel     Vector `json:"rotAccel"`
	AngularAccel Vector `json:"angularAccel"` // the original's name of RotAccel; either is sent
	Baro         Baro   `json:"baro"`
}

// Baro is the barometer's measurement, Pa.
type Baro struct {
	Pressure float32 `json:"pressure"`
}

// appendSensors appends s as one JSON text, without an allocation: clients request it a hundred times a second.
func appendSensors(dst []byte, s *Sensors, angular bool) []byte {
	name := `,"rotAccel":`
	if angular {
		name = `,"angularAccel":`
	}
	dst = appendVector(append(dst, `{"rot":`...), s.Rot)
	dst = appendVector(append(dst, `,"rotSpeed":`...), s.RotSpeed)
	dst = appendVector(append(dst, `,"accel":`...), s.Accel)
	dst = appendVector(append(dst, name...), s.RotAccel)
	dst = appendNumber(append(dst, `,"baro":{"pressure":`...), s.Baro.Pressure)
	return append(dst, "}}"...)
}

// MarshalJSON writes null for what is not known.
func (v Vector) MarshalJSON() ([]byte, error) { return appendVector(nil, v), nil }

func appendVector(dst []byte, v Vector) []byte {
	dst = appendNumber(append(dst, `{"x":`...), v.X)
	dst = appendNumber(append(dst, `,"y":`...), v.Y)
	dst = appendNumber(append(dst, `,"z":`...), v.Z)
	return append(dst, '}')
}

// appendNumber appends the shortest number that reads as v. JSON has no NaN: an unknown value is null, never 0, at
// which a controller that holds a depth would dive.
func appendNumber(dst []byte, v float32) []byte {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

// Orientation is where the robot is in the world.
type Orientation struct {
	Rot Vector `json:"rot"`
	Pos Vector `json:"pos"`
}

// Simulation is the data of SET_SIM: the quality of pictures, 0..100.
type Simulation struct {
	Quality int `json:"quality"`
}

// Checkpoint is a place to be reached.
type Checkpoint struct {
	ID      string `json:"id"`
	Reached bool   `json:"reached"`
}

// Detection is an object and where it is in the picture, as shares of it from the left and from the bottom.
type Detection struct {
	VisibleInFrame      bool    `json:"visibleInFrame"`
	Min                 Point   `json:"min"`
	Max                 Point   `json:"max"`
	Fill                float32 `json:"fill"` // share of the picture that the box takes
	ClassName           string  `json:"className"`
	Distance            float32 `json:"distance"` // m, to its middle
	ColorPercentVisible float32 `json:"colorPercentVisible"`
}

// MarshalJSON writes null for what is not known.
func (d Detection) MarshalJSON() ([]byte, error) {
	known := func(v float32) json.RawMessage { return appendNumber(nil, v) }
	return json.Marshal(struct {
		VisibleInFrame      bool            `json:"visibleInFrame"`
		Min                 Point           `json:"min"`
		Max                 Point           `json:"max"`
		Fill                json.RawMessage `json:"fill"`
		ClassName           string          `json:"className"`
		Distance            json.RawMessage `json:"distance"`
		ColorPercentVisible json.RawMessage `json:"colorPercentVisible"`
	}{d.VisibleInFrame, d.Min, d.Max, known(d.Fill), d.ClassName, known(d.Distance), known(d.ColorPercentVisible)})
}

// UnmarshalJSON reads null, or nothing, as NaN.
func (d *Detection) UnmarshalJSON(b []byte) error {
	type plain Detection
	read := plain{Fill: unknown.X, Distance: unknown.X, ColorPercentVisible: unknown.X}
	err := json.Unmarshal(b, &read)
	*d = Detection(read)
	return err
}

// Point is a place in a picture.
type Point struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
}

// Fault is the data of an ERROR.
type Fault struct {
	Info       string `json:"info"`
	FromClient string `json:"fromClient"`
}

// appendFault appends the data of an ERROR, with at most 256 bytes of the client's packet.
func appendFault(dst []byte, info string, fromClient []byte) []byte {
	const maxText = 256
	dst = appendText(append(dst, `{"info":`...), []byte(info))
	dst = appendText(append(dst, `,"fromClient":`...), fromClient[:min(maxText, len(fromClient))])
	return append(dst, '}')
}

// appendEcho appends an echo's data.
func appendEcho(dst, fromClient []byte) []byte {
	return append(appendText(append(dst, `{"fromClient":`...), fromClient), '}')
}

// appendText appends b as a JSON string in ASCII. Other characters become ?, as in the original's decoder.
func appendText(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c > 0x7f:
			dst = append(dst, '?')
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// word returns the word in data, in any of three forms: {"key":"word"}, "word", or bare.
func word(data []byte, key string) string {
	var object map[string]json.RawMessage
	var text string
	if json.Unmarshal(data, &object) == nil && json.Unmarshal(object[key], &text) == nil {
		return text
	}
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	return string(data)
}
