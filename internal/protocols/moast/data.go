package moast

import "github.com/halyard-robotics/halyard/internal/protocols/nml"

// The names of the data buffers.
func NavDataBuffer(vehicle int) string       { return buffer("navDataExt", vehicle, 0) }
func LineScanBuffer(vehicle, n int) string   { return buffer("servoSPLinescan", vehicle, n) }
func SonarBuffer(vehicle int) string         { return buffer("servoSPSonarArr", vehicle, 1) }
func SensorDataBuffer(vehicle, n int) string { return buffer("sensorData", vehicle, n) }
func SensorPointsBuffer(vehicle int) string  { return buffer("primSPLinescan", vehicle, 0) }
func MapBuffer(vehicle int) string           { return buffer("amSPMap", vehicle, 0) }

// The most elements of data messages.
const (
	MaxPoints     = 2000
	MaxRays       = 762
	MaxCells      = 45000
	MaxSonars     = 32
	MaxValues     = 256
	maxTuple      = 6
	maxElements   = 20
	maxTexts      = 10
	maxText       = 100
	maxTextBuffer = 1024
	maxTextPtr    = 50
	maxTextValue  = 100
)

// dataTypes are the types of data messages.
var dataTypes = [...]struct {
	id   int32
	name string
	make func() nml.Message
}{
	{1001, "NavDataExt", empty[NavDataExt]},
	{14001, "SensorDataList", empty[SensorDataList]},
	{14002, "SensorDataArray", empty[SensorDataArray]},
	{14003, "SensorDataTextArray", empty[SensorDataTextArray]},
	{14004, "SensorData1D", empty[SensorData1D]},
	{14005, "SensorData2D", empty[SensorData2D]},
	{14006, "SensorDataText", empty[SensorDataText]},
	{14007, "RangeScannerData", empty[RangeScannerData]},
	{14008, "SensorData3D", empty[SensorData3D]},
	{14009, "SensorData", empty[SensorData]},
}

// Motion is a pose and its rates: m, rad, m/s, rad/s.
type Motion struct {
	Tran     Cartesian
	RPY      RPY
	TranRate Cartesian
	RPYRate  RPY
}

// Update passes the pose, then its rates.
func (m *Motion) Update(c *nml.Codec) {
	c.Parts(&m.Tran, &m.RPY, &m.TranRate, &m.RPYRate)
}

// NavDataExt is where a vehicle is.
type NavDataExt struct {
	Time                 float64 // s
	UTMZone, UTMLetter   byte
	Abs                  Motion // x north, y east, z down
	Rel                  Motion // zero where the vehicle started
	True                 Motion // of the simulator; an estimate for a real robot
	AbsToRel             Pose
	Speed                float64 // m/s
	Curvature, CrabAngle float64 // 1/m, rad
}

func (*NavDataExt) MessageType() int32 { return 1001 }
func (m *NavDataExt) Update(c *nml.Codec) {
	c.Double(&m.Time)
	c.Char(&m.UTMZone)
	c.Char(&m.UTMLetter)
	c.Parts(&m.Abs, &m.Rel, &m.True, &m.AbsToRel)
	c.Double(&m.Speed, &m.Curvature, &m.CrabAngle)
}

// SensorKind is what a sensor measures.
type SensorKind int32

// The kinds of sensor.
const (
	LineScanner SensorKind = iota
	Sonar
	Touch
	RFID
	Victim
	INU
	INS
	GPS
	Odometer
	Tachometer
	Encoder
	GroundTruth
	Camera
	Acoustic
)

// SensorData is the values of one sensor at a time, s.
type SensorData struct {
	Time float64
	Kind SensorKind
	Data []float64
}

func (*SensorData) MessageType() int32 { return 14009 }
func (m *SensorData) Update(c *nml.Codec) {
	c.Double(&m.Time)
	nml.Enum(c, &m.Kind)
	c.Doubles(&m.Data, MaxValues)
}

// SensorPoint is a sensor's place and the point that it measured.
type SensorPoint struct {
	Param       float64
	Sensor, Hit Cartesian
}

func (p *SensorPoint) update(c *nml.Codec) {
	c.Double(&p.Param)
	c.Parts(&p.Sensor, &p.Hit)
}

// SensorDataList is points of a range sensor, m, collected at Time, s.
type SensorDataList struct {
	Global                        bool // in absolute coordinates
	Increment, MaxRange, MinRange float64
	Points                        []SensorPoint
	Time                          float64
}

func (*SensorDataList) MessageType() int32 { return 14001 }
func (m *SensorDataList) Update(c *nml.Codec) {
	c.Bool(&m.Global)
	c.Double(&m.Increment, &m.MaxRange, &m.MinRange)
	nml.Array(c, &m.Points, MaxPoints, (*SensorPoint).update)
	c.Double(&m.Time)
}

// DataElement is six values of a sensor.
type DataElement struct {
	Kind, ID int32
	Time     float64
	Tuple    [maxTuple]float64
}

func (e *DataElement) update(c *nml.Codec) {
	c.Int(&e.Kind, &e.ID)
	c.Double(&e.Time)
	for i := range e.Tuple {
		c.Double(&e.Tuple[i])
	}
}

// SensorDataArray is values of several sensors.
type SensorDataArray struct{ Elements []DataElement }

func (*SensorDataArray) MessageType() int32 { return 14002 }
func (m *SensorDataArray) Update(c *nml.Codec) {
	nml.Array(c, &m.Elements, maxElements, (*DataElement).update)
}

// TextElement is values and a text of a sensor.
type TextElement struct {
	Kind, ID int32
	Time     float64
	Tuple    []float64
	Text     string // at most 99 bytes
}

func (e *TextElement) update(c *nml.Codec) {
	c.Int(&e.Kind, &e.ID)
	c.Double(&e.Time)
	c.Doubles(&e.Tuple, maxTuple)
	c.Text(&e.Text, maxText)
}

// SensorDataTextArray is values and texts of several sensors.
type SensorDataTextArray struct{ Elements []TextElement }

func (*SensorDataTextArray) MessageType() int32 { return 14003 }
func (m *SensorDataTextArray) Update(c *nml.Codec) {
	nml.Array(c, &m.Elements, maxTexts, (*TextElement).update)
}

// SensorData1D is a line scan: Start, Increment in rad, ranges in m, the first ray at Start. Scans of servo begin at
// half the field of view and fall. Times in s.
type SensorData1D struct {
	Global             bool
	Start, Increment   float64
	MaxRange, MinRange float64
	Features           []float64
	Time, Duration     float64
}

func (*SensorData1D) MessageType() int32 { return 14004 }
func (m *SensorData1D) Update(c *nml.Codec) {
	c.Bool(&m.Global)
	c.Double(&m.Start, &m.Increment, &m.MaxRange, &m.MinRange)
	c.Doubles(&m.Features, MaxRays)
	c.Double(&m.Time, &m.Duration)
}

// SensorData2D is a map: rows from west to east, each north of the one before. The cell of LowerLeft is the first.
type SensorData2D struct {
	Global                 bool
	LowerLeft              Cartesian
	IncrementX, IncrementY float64 // m
	X, Y                   int32   // cells
	Features               []float64
	Time                   float64 // s
}

func (*SensorData2D) MessageType() int32 { return 14005 }
func (m *SensorData2D) Update(c *nml.Codec) {
	c.Bool(&m.Global)
	m.LowerLeft.Update(c)
	c.Double(&m.IncrementX, &m.IncrementY)
	c.Int(&m.X, &m.Y)
	c.Doubles(&m.Features, MaxCells)
	c.Double(&m.Time)
}

// SensorDataText is texts and values. Texts are the characters from each of Pointers up to a NUL.
type SensorDataText struct {
	Buffer   []byte
	Pointers []int32
	Values   []float64
}

func (*SensorDataText) MessageType() int32 { return 14006 }
func (m *SensorDataText) Update(c *nml.Codec) {
	c.Bytes(&m.Buffer, maxTextBuffer)
	c.Ints(&m.Pointers, maxTextPtr)
	c.Doubles(&m.Values, maxTextValue)
}

// RangeScannerData is one scan at a pitch: rad, m, s.
type RangeScannerData struct {
	Pitch, Start, Increment, MaxRange, MinRange float64
	Distances                                   []float64
	Time, Duration                              float64
}

func (*RangeScannerData) MessageType() int32 { return 14007 }
func (m *RangeScannerData) Update(c *nml.Codec) {
	c.Double(&m.Pitch, &m.Start, &m.Increment, &m.MaxRange, &m.MinRange)
	c.Doubles(&m.Distances, MaxRays)
	c.Double(&m.Time, &m.Duration)
}

// SonarElement is one range sensor: s, m, and its mounting pose.
type SonarElement struct {
	Time, Range float64
	Pose        Pose
}

func (e *SonarElement) update(c *nml.Codec) {
	c.Double(&e.Time, &e.Range)
	e.Pose.Update(c)
}

// SensorData3D is the ranges of a set of sonars.
type SensorData3D struct{ Elements []SonarElement }

func (*SensorData3D) MessageType() int32 { return 14008 }
func (m *SensorData3D) Update(c *nml.Codec) {
	nml.Array(c, &m.Elements, MaxSonars, (*SonarElement).update)
}
