package moast

import "github.com/halyard-robotics/halyard/internal/protocols/nml"

// PrimSPCmdGo begins to publish sensor points each OutputCycle, s.
type PrimSPCmdGo struct {
	CmdHead
	OutputCycle float64
}

func (*PrimSPCmdGo) MessageType() int32 { return 6006 }
func (m *PrimSPCmdGo) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.OutputCycle)
}

// PrimMobCmdMoveArcSegment follows arcs and lines, in relative coordinates.
type PrimMobCmdMoveArcSegment struct {
	CmdHead
	Arcs []ArcSegment
}

func (*PrimMobCmdMoveArcSegment) MessageType() int32 { return 8006 }
func (m *PrimMobCmdMoveArcSegment) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	nml.Array(c, &m.Arcs, MaxArcs, (*ArcSegment).Update)
}

// PrimMobCmdMoveWaypoint moves through points, in relative coordinates. Kind is 8007, or 8008 (MoveWaypose), whose
// layout was not published and is the same here.
type PrimMobCmdMoveWaypoint struct {
	CmdHead
	Kind           int32
	PrimPath       bool
	HasOrientation bool // the waypoints' yaw is a heading to reach
	Waypoints      []Waypoint
}

// MessageType is Kind; 8007 where that is 0.
func (m *PrimMobCmdMoveWaypoint) MessageType() int32 {
	if m.Kind == 0 {
		return 8007
	}
	return m.Kind
}
func (m *PrimMobCmdMoveWaypoint) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Bool(&m.PrimPath)
	c.Bool(&m.HasOrientation)
	nml.Array(c, &m.Waypoints, MaxWaypoints, (*Waypoint).Update)
}

// PrimMobCmdRotate turns to the yaw Theta within Tolerance, rad, in relative coordinates.
type PrimMobCmdRotate struct {
	CmdHead
	Theta, Tolerance float64
	Direction        Direction
}

func (*PrimMobCmdRotate) MessageType() int32 { return 8009 }
func (m *PrimMobCmdRotate) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Theta, &m.Tolerance)
	nml.Enum(c, &m.Direction)
}

// PrimMobCmdVel drives at V, m/s, and W, rad/s, clockwise.
type PrimMobCmdVel struct {
	CmdHead
	V, W float64
}

func (*PrimMobCmdVel) MessageType() int32 { return 8010 }
func (m *PrimMobCmdVel) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.V, &m.W)
}

// PrimMobCmdDock docks at Point of a station, a rectangle in a rectangle of free space.
type PrimMobCmdDock struct {
	CmdHead
	FreeUpperRight, FreeLowerLeft, StationUpperRight, StationLowerLeft, Point Cartesian
}

func (*PrimMobCmdDock) MessageType() int32 { return 8012 }
func (m *PrimMobCmdDock) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Parts(&m.FreeUpperRight, &m.FreeLowerLeft, &m.StationUpperRight, &m.StationLowerLeft, &m.Point)
}

// PrimMobStat is the status of prim mobility.
type PrimMobStat struct {
	StatHead
	CommandTypeSent, SerialSent int32 // of the last command to servo
	PathIndex                   int32 // the segment at work, from 0
}

func (*PrimMobStat) MessageType() int32 { return 8101 }
func (m *PrimMobStat) Update(c *nml.Codec) {
	m.StatHead.update(c)
	c.Int(&m.CommandTypeSent, &m.SerialSent, &m.PathIndex)
}

// MoveLimits bound prim's motion: m/s, m/s², rad/s, rad/s². Above VCutoff, rad, of heading error the speed is 0; above
// WCutoff the turn rate is WMax.
type MoveLimits struct {
	VMax, AMax, WMax, AlphaMax, VCutoff, WCutoff float64
}

func (l *MoveLimits) update(c *nml.Codec) {
	c.Double(&l.VMax, &l.AMax, &l.WMax, &l.AlphaMax, &l.VCutoff, &l.WCutoff)
}

// PrimMobCfgMove sets the limits.
type PrimMobCfgMove struct {
	CmdHead
	MoveLimits
}

func (*PrimMobCfgMove) MessageType() int32 { return 8203 }
func (m *PrimMobCfgMove) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	m.MoveLimits.update(c)
}

// PrimMobSet is the settings of prim mobility.
type PrimMobSet struct {
	SetHead
	CycleTime float64
	Debug     int32
	MoveLimits
	ControlPoint Pose
}

func (*PrimMobSet) MessageType() int32 { return 8301 }
func (m *PrimMobSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CycleTime)
	c.Int(&m.Debug)
	m.MoveLimits.update(c)
	m.ControlPoint.Update(c)
}
