package moast

import "github.com/halyard-robotics/halyard/internal/protocols/nml"

// ServoMobCmdAckerman drives a car: m/s, rad.
type ServoMobCmdAckerman struct {
	CmdHead
	Velocity, SteerAngle, CrabAngle float64
}

func (*ServoMobCmdAckerman) MessageType() int32 { return 4005 }
func (m *ServoMobCmdAckerman) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Velocity, &m.SteerAngle, &m.CrabAngle)
}

// ServoMobCmdSkid turns the wheels of a skid-steered vehicle, rad/s.
type ServoMobCmdSkid struct {
	CmdHead
	Left, Right float64
}

func (*ServoMobCmdSkid) MessageType() int32 { return 4006 }
func (m *ServoMobCmdSkid) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Left, &m.Right)
}

// Flipper is one flipper: 0 front right, 1 front left, 2 rear right, 3 rear left, and its angle, rad.
type Flipper struct {
	Kind  int32
	Angle float64
}

func (f *Flipper) update(c *nml.Codec) {
	c.Int(&f.Kind)
	c.Double(&f.Angle)
}

// ServoMobCmdFlipSkid is ServoMobCmdSkid with flippers.
type ServoMobCmdFlipSkid struct {
	CmdHead
	Left, Right float64
	Flippers    []Flipper
}

func (*ServoMobCmdFlipSkid) MessageType() int32 { return 4007 }
func (m *ServoMobCmdFlipSkid) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Left, &m.Right)
	nml.Array(c, &m.Flippers, MaxFlippers, (*Flipper).update)
}

// ServoMobCmdOmni drives a vehicle that moves sideways: m/s, rad/s.
type ServoMobCmdOmni struct {
	CmdHead
	Linear, Lateral, Rotation float64
}

func (*ServoMobCmdOmni) MessageType() int32 { return 4008 }
func (m *ServoMobCmdOmni) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Linear, &m.Lateral, &m.Rotation)
}

// ServoMobCmdSubmarine drives a submarine.
type ServoMobCmdSubmarine struct {
	CmdHead
	Propeller, Rudder, SternPlane float64
}

func (*ServoMobCmdSubmarine) MessageType() int32 { return 4009 }
func (m *ServoMobCmdSubmarine) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Propeller, &m.Rudder, &m.SternPlane)
}

// ServoMobCmdRotaryWing drives a helicopter: m/s, rad/s.
type ServoMobCmdRotaryWing struct {
	CmdHead
	Linear, Lateral, Vertical, Rotation float64
}

func (*ServoMobCmdRotaryWing) MessageType() int32 { return 4010 }
func (m *ServoMobCmdRotaryWing) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Linear, &m.Lateral, &m.Vertical, &m.Rotation)
}

// ServoMobStat is the status of a vehicle of unknown kind.
type ServoMobStat struct {
	StatHead
	Time                 float64 // s
	ErrorCode, Heartbeat int32
	BatteryVolts         float32
	FuelLevel            float32 // 0..1
	HeadLights           int32   // 1 = on
}

func (*ServoMobStat) MessageType() int32 { return 4101 }
func (m *ServoMobStat) Update(c *nml.Codec) {
	m.StatHead.update(c)
	c.Double(&m.Time)
	c.Int(&m.ErrorCode, &m.Heartbeat)
	c.Float(&m.BatteryVolts, &m.FuelLevel)
	c.Int(&m.HeadLights)
}

// ServoMobStatGround is the status of a ground vehicle; angles in rad.
type ServoMobStatGround struct {
	ServoMobStat
	SteerAngle, CrabAngle float64
	Flippers              []Flipper
}

func (*ServoMobStatGround) MessageType() int32 { return 4102 }
func (m *ServoMobStatGround) Update(c *nml.Codec) {
	m.ServoMobStat.Update(c)
	c.Double(&m.SteerAngle, &m.CrabAngle)
	nml.Array(c, &m.Flippers, MaxFlippers, (*Flipper).update)
}

// ServoMobStatAir is the status of an air vehicle: rad/s, m/s.
type ServoMobStatAir struct {
	ServoMobStat
	Rotation, Lateral, Linear, Vertical float64
}

func (*ServoMobStatAir) MessageType() int32 { return 4103 }
func (m *ServoMobStatAir) Update(c *nml.Codec) {
	m.ServoMobStat.Update(c)
	c.Double(&m.Rotation, &m.Lateral, &m.Linear, &m.Vertical)
}

// ServoMobCfgTeleport places the vehicle, in absolute coordinates.
type ServoMobCfgTeleport struct {
	CmdHead
	Goal Pose
}

func (*ServoMobCfgTeleport) MessageType() int32 { return 4203 }
func (m *ServoMobCfgTeleport) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	m.Goal.Update(c)
}

// ServoMobSet is the settings of a vehicle of unknown kind.
type ServoMobSet struct {
	SetHead
	CycleTime                        float64 // s
	Debug                            int32
	Platform                         string  // at most 79 bytes
	Length, Width, Height            float64 // m, of the box about the vehicle
	Mass                             float64 // g
	CenterOfGravity                  Cartesian
	Steer                            Steer
	Bot                              Bot
	Effectors, Sensors, MissionParts int32 // how many are mounted
}

const platformName = 80

func (*ServoMobSet) MessageType() int32 { return 4301 }
func (m *ServoMobSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CycleTime)
	c.Int(&m.Debug)
	c.Chars(&m.Platform, platformName)
	c.Double(&m.Length, &m.Width, &m.Height, &m.Mass)
	m.CenterOfGravity.Update(c)
	nml.Enum(c, &m.Steer)
	nml.Enum(c, &m.Bot)
	c.Int(&m.Effectors, &m.Sensors, &m.MissionParts)
}

// FlipperSet is where a flipper is and how far it turns: rad, m.
type FlipperSet struct {
	Kind               int32
	MinAngle, MaxAngle float64
	Length, Width      float64
	Location           Cartesian
	Orientation        RPY
}

func (f *FlipperSet) update(c *nml.Codec) {
	c.Int(&f.Kind)
	c.Double(&f.MinAngle, &f.MaxAngle, &f.Length, &f.Width)
	c.Parts(&f.Location, &f.Orientation)
}

// ServoMobSetGround is the settings of a ground vehicle.
type ServoMobSetGround struct {
	ServoMobSet
	MaxWheelRotation, MaxTorque                float64 // rad/s, N·m
	WheelSeparation, WheelRadius, WheelBase    float64 // m
	MaxSteerAngle, MaxCrabAngle, MinTurnRadius float64 // rad, rad, m
	Flippers                                   []FlipperSet
}

func (*ServoMobSetGround) MessageType() int32 { return 4302 }
func (m *ServoMobSetGround) Update(c *nml.Codec) {
	m.ServoMobSet.Update(c)
	c.Double(&m.MaxWheelRotation, &m.MaxTorque, &m.WheelSeparation, &m.WheelRadius, &m.WheelBase)
	c.Double(&m.MaxSteerAngle, &m.MaxCrabAngle, &m.MinTurnRadius)
	nml.Array(c, &m.Flippers, MaxFlippers, (*FlipperSet).update)
}

// ServoMobSetAir is the settings of an air vehicle: m/s, rad/s.
type ServoMobSetAir struct {
	ServoMobSet
	MaxLateral, MaxLinear, MaxRotation, MaxVertical float64
}

func (*ServoMobSetAir) MessageType() int32 { return 4303 }
func (m *ServoMobSetAir) Update(c *nml.Codec) {
	m.ServoMobSet.Update(c)
	c.Double(&m.MaxLateral, &m.MaxLinear, &m.MaxRotation, &m.MaxVertical)
}

// LinkKind is what a link command's value is.
type LinkKind int32

// The kinds of link command: rad or m, rad/s or m/s, N·m or N.
const (
	LinkPosition LinkKind = iota
	LinkVelocity
	LinkTorque
)

// LinkCmd moves one link of a mission package.
type LinkCmd struct {
	Value     float64
	Kind      LinkKind
	Tolerance float64
}

func (l *LinkCmd) update(c *nml.Codec) {
	c.Double(&l.Value)
	nml.Enum(c, &l.Kind)
	c.Double(&l.Tolerance)
}

// ServoMisCmdMove moves the links of a mission package.
type ServoMisCmdMove struct {
	CmdHead
	Links []LinkCmd
}

func (*ServoMisCmdMove) MessageType() int32 { return 3005 }
func (m *ServoMisCmdMove) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	nml.Array(c, &m.Links, MaxLinks, (*LinkCmd).update)
}

// LinkStat is one link's state: from 1, rad or m, N·m or N.
type LinkStat struct {
	Link          int32
	Value, Torque float64
}

func (l *LinkStat) update(c *nml.Codec) {
	c.Int(&l.Link)
	c.Double(&l.Value, &l.Torque)
}

// ServoMisStat is the status of a mission package.
type ServoMisStat struct {
	StatHead
	Links []LinkStat
}

func (*ServoMisStat) MessageType() int32 { return 3101 }
func (m *ServoMisStat) Update(c *nml.Codec) {
	m.StatHead.update(c)
	nml.Array(c, &m.Links, MaxLinks, (*LinkStat).update)
}

// LinkSet is one link: its parent (0 = the vehicle), its joint, and its pose on the parent.
type LinkSet struct {
	Link, Parent           int32
	Joint                  int32 // 0 revolute, 1 prismatic, 2 scissor
	MaxVelocity, MaxTorque float64
	MaxRange, MinRange     float64 // rad or m
	Location               Cartesian
	Rotation               RPY
}

func (l *LinkSet) update(c *nml.Codec) {
	c.Int(&l.Link, &l.Parent, &l.Joint)
	c.Double(&l.MaxVelocity, &l.MaxTorque, &l.MaxRange, &l.MinRange)
	c.Parts(&l.Location, &l.Rotation)
}

// ServoMisSet is the settings of a mission package.
type ServoMisSet struct {
	SetHead
	CycleTime float64
	Debug     int32
	Name      string // at most 79 bytes
	Mount     Pose   // on the vehicle
	Links     []LinkSet
}

func (*ServoMisSet) MessageType() int32 { return 3301 }
func (m *ServoMisSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CycleTime)
	c.Int(&m.Debug)
	c.Chars(&m.Name, platformName)
	m.Mount.Update(c)
	nml.Array(c, &m.Links, MaxLinks, (*LinkSet).update)
}

// ServoEffCmdOpcode operates an effector.
type ServoEffCmdOpcode struct {
	CmdHead
	Effector, Opcode int32
	Param            float64
}

func (*ServoEffCmdOpcode) MessageType() int32 { return 5005 }
func (m *ServoEffCmdOpcode) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Int(&m.Effector, &m.Opcode)
	c.Double(&m.Param)
}

// SensorSet is one sensor and where it is on the vehicle.
type SensorSet struct {
	Kind  SensorKind
	Name  string // at most 79 bytes
	Mount Pose
}

func (s *SensorSet) update(c *nml.Codec) {
	nml.Enum(c, &s.Kind)
	c.Chars(&s.Name, platformName)
	s.Mount.Update(c)
}

// ServoSPSet is the settings of a vehicle's sensor processing.
type ServoSPSet struct {
	SetHead
	CycleTime float64
	Vehicle   int32
	Start     Pose
	Sensors   []SensorSet
}

const maxSensors = 32 // ours

func (*ServoSPSet) MessageType() int32 { return 2301 }
func (m *ServoSPSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CycleTime)
	c.Int(&m.Vehicle)
	m.Start.Update(c)
	nml.Array(c, &m.Sensors, maxSensors, (*SensorSet).update)
}
