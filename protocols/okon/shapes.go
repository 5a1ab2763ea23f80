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

// Motors are what the thrusters turn with, -1..1: front or back, left or right, horizontal or vertical.
type Motors struct {
	FLH float32
	FLV float32
	BLV float32
	BLH float32
	FRH float32
	FRV float32
	BRV float32
	BRH float32
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

// Acro is what the acro mode steers for.
type Acro struct {
	RotSpeed Vector `json:"rotSpeed"`
	Vel      Vector `json:"vel"`
}

// Stable is what the stable mode steers for; a depth of 0 m is none.
type Stable struct {
	Rot   Vector  `json:"rot"`
	Vel   Vector  `json:"vel"`
	Depth float32 `json:"depth"`
}

// PID is what one PID is set to.
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

// Sensors are what the robot measures.
type Sensors struct {
	Rot          Vector `json:"rot"`
	RotSpeed     Vector `json:"rotSpeed"`
	Accel        Vector `json:"accel"`
	RotAccel     Vector `json:"rotAccel"`
	AngularAccel Vector `json:"angularAccel"` // the original's name of RotAccel; either is sent
	Baro         Baro   `json:"baro"`
}

// Baro is what the barometer measures, Pa.
type Baro struct {
	Pressure float32 `json:"pressure"`
}

// appendSensors appends s as one JSON text, without allocating: it is asked for a hundred times a second.
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

func appendVector(dst []byte, v Vector) []byte {
	dst = appendNumber(append(dst, `{"x":`...), v.X)
	dst = appendNumber(append(dst, `,"y":`...), v.Y)
	dst = appendNumber(append(dst, `,"z":`...), v.Z)
	return append(dst, '}')
}

// appendNumber appends the shortest number that reads as v. JSON knows no number for what is not known: that is 0.
func appendNumber(dst []byte, v float32) []byte {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		v = 0
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

// Orientation is where the robot is in the world.
type Orientation struct {
	Rot Vector `json:"rot"`
	Pos Vector `json:"pos"`
}

// Simulation is what SET_SIM sets: how good pictures are, 0..100.
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

// Point is a place in a picture.
type Point struct {
	X float32 `json:"x"`
	Y float32 `json:"y"`
}

// Fault is what an ERROR says.
type Fault struct {
	Info       string `json:"info"`
	FromClient string `json:"fromClient"`
}

// appendFault appends an ERROR's data; of what came from the client no more than anybody wants to read.
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

// appendText appends b as a JSON string in ASCII. What is no ASCII becomes ?, as the original's decoder has it.
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

// word is the one word that data say, in whatever form: {"key":"word"}, "word", or word as it is.
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
