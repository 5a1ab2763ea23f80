package player

import "github.com/halyard-robotics/halyard/hal"

// pose2 is a pose in the plane, or its rates: m, rad.
type pose2 struct{ X, Y, A float64 }

func (p *pose2) update(c *coder) { c.double(&p.X, &p.Y, &p.A) }

// vector is a point, m, or an orientation, roll, pitch and yaw in rad.
type vector [3]float64

func (v *vector) update(c *coder) { c.double(&v[0], &v[1], &v[2]) }

// pose3 is a pose: a point, then roll, pitch, yaw.
type pose3 struct{ P, R vector }

func (p *pose3) update(c *coder) { c.parts(&p.P, &p.R) }

// poseOf is p in Player's words.
func poseOf(p hal.Pose) pose3 { return pose3{vector(p.Position), vector(p.RollPitchYaw())} }

// address is a device as clients name it.
type address struct {
	Host, Robot uint32
	Device      Device
}

func (a *address) update(c *coder) {
	words(c, &a.Host, &a.Robot)
	interf := uint16(a.Device.Interface)
	words(c, &interf)
	words(c, &a.Device.Index)
	a.Device.Interface = Interface(interf)
}

type deviceList struct{ Devices []address }

func (p *deviceList) update(c *coder) { array(c, &p.Devices, 16, (*address).update) }

type driverInfo struct {
	Address address
	Driver  string
}

func (p *driverInfo) update(c *coder) {
	p.Address.update(c)
	c.text(&p.Driver)
}

type deviceRequest struct {
	Address address
	Access  uint8
	Driver  []byte // with a NUL
}

func (p *deviceRequest) update(c *coder) {
	p.Address.update(c)
	words(c, &p.Access)
	c.bytes(&p.Driver)
}

// number is a payload of one unsigned value: a mode, a switch, an id.
type number struct{ Value uint32 }

func (p *number) update(c *coder) { words(c, &p.Value) }

// floats, doubles and octets are a payload of one array.
type (
	floats  []float64 // of 32 bits
	doubles []float64 // of 64 bits
	octets  []byte
)

func (p *floats) update(c *coder) {
	array(c, (*[]float64)(p), 4, func(v *float64, c *coder) { c.float(v) })
}
func (p *doubles) update(c *coder) {
	array(c, (*[]float64)(p), 8, func(v *float64, c *coder) { c.double(v) })
}
func (p *octets) update(c *coder) { c.bytes((*[]byte)(p)) }

// replaceRule decides whether a message replaces a queued one of the same kind; -1 is any.
type replaceRule struct{ Interface, Index, Type, Subtype, Replace int32 }

func (p *replaceRule) update(c *coder) {
	words(c, &p.Interface, &p.Index, &p.Type, &p.Subtype, &p.Replace)
}

// geometry is a pose and a box: width, length, height.
type geometry struct {
	Pose pose3
	Size vector
}

func (p *geometry) update(c *coder) { c.parts(&p.Pose, &p.Size) }

type position2Data struct {
	Pose, Velocity pose2
	Stall          uint8
}

func (p *position2Data) update(c *coder) {
	c.parts(&p.Pose, &p.Velocity)
	words(c, &p.Stall)
}

type position2Velocity struct {
	Velocity pose2
	Motors   uint8
}

func (p *position2Velocity) update(c *coder) {
	p.Velocity.update(c)
	words(c, &p.Motors)
}

type position2Goal struct {
	Pose, Velocity pose2
	Motors         uint8
}

func (p *position2Goal) update(c *coder) {
	c.parts(&p.Pose, &p.Velocity)
	words(c, &p.Motors)
}

type carCommand struct{ Velocity, Angle float64 }

func (p *carCommand) update(c *coder) { c.double(&p.Velocity, &p.Angle) }

type position3Data struct {
	Pose, Velocity pose3
	Stall          uint8
}

func (p *position3Data) update(c *coder) {
	c.parts(&p.Pose, &p.Velocity)
	words(c, &p.Stall)
}

type position3Velocity struct {
	Velocity pose3
	Motors   uint8
}

func (p *position3Velocity) update(c *coder) {
	p.Velocity.update(c)
	words(c, &p.Motors)
}

// simulationPose names a thing of the simulation and its pose in the plane, simulationPose3 in space.
type simulationPose struct {
	Name string
	Pose pose2
}

func (p *simulationPose) update(c *coder) {
	c.text(&p.Name)
	p.Pose.update(c)
}

type simulationPose3 struct {
	Name string
	Pose pose3
	Time float64
}

func (p *simulationPose3) update(c *coder) {
	c.text(&p.Name)
	p.Pose.update(c)
	c.double(&p.Time)
}

type sonarGeometry struct{ Poses []pose3 }

func (p *sonarGeometry) update(c *coder) { array(c, &p.Poses, 48, (*pose3).update) }

type laserData struct {
	MinAngle, MaxAngle, Resolution, MaxRange float64
	Ranges                                   floats
	Intensity                                []byte
	ID                                       uint32
}

func (p *laserData) update(c *coder) {
	c.float(&p.MinAngle, &p.MaxAngle, &p.Resolution, &p.MaxRange)
	p.Ranges.update(c)
	c.bytes(&p.Intensity)
	words(c, &p.ID)
}

type laserConfig struct {
	MinAngle, MaxAngle, Resolution, MaxRange, RangeResolution float64
	Intensity                                                 uint8
	Frequency                                                 float64
}

func (p *laserConfig) update(c *coder) {
	c.float(&p.MinAngle, &p.MaxAngle, &p.Resolution, &p.MaxRange, &p.RangeResolution)
	words(c, &p.Intensity)
	c.float(&p.Frequency)
}

type rangerGeometry struct {
	geometry
	Poses []pose3
	Sizes []vector
}

func (p *rangerGeometry) update(c *coder) {
	p.geometry.update(c)
	array(c, &p.Poses, 48, (*pose3).update)
	array(c, &p.Sizes, 24, (*vector).update)
}

type rangerConfig struct {
	MinAngle, MaxAngle, Resolution, MinRange, MaxRange, RangeResolution, Frequency float64
}

func (p *rangerConfig) update(c *coder) {
	c.double(&p.MinAngle, &p.MaxAngle, &p.Resolution, &p.MinRange, &p.MaxRange, &p.RangeResolution, &p.Frequency)
}

type bumperPlace struct {
	Pose           pose3
	Length, Radius float64
}

func (p *bumperPlace) update(c *coder) {
	p.Pose.update(c)
	c.float(&p.Length, &p.Radius)
}

type bumperGeometry struct{ Bumpers []bumperPlace }

func (p *bumperGeometry) update(c *coder) { array(c, &p.Bumpers, 56, (*bumperPlace).update) }
