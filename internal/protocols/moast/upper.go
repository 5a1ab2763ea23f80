package moast

import "github.com/halyard-robotics/halyard/internal/protocols/nml"

// CfgLevel sets how much of a world model is written out.
type CfgLevel struct {
	CmdHead
	Kind, Level int32
}

func (m *CfgLevel) MessageType() int32 { return m.Kind }
func (m *CfgLevel) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Int(&m.Level)
}

// The messages of CfgValue, by what they set.
const (
	CfgCellResolution int32 = 11201
	CfgPlanHorizon    int32 = 11206
	CfgMinTurnRadius  int32 = 11207
	CfgVehicleWidth   int32 = 11208
)

// CfgValue sets one length of AM mobility, m: that of its Kind.
type CfgValue struct {
	CmdHead
	Kind  int32
	Value float64
}

func (m *CfgValue) MessageType() int32 { return m.Kind }
func (m *CfgValue) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Value)
}

// CfgSwitch turns the output of a world model on or off.
type CfgSwitch struct {
	CmdHead
	Kind int32
	On   bool
}

func (m *CfgSwitch) MessageType() int32 { return m.Kind }
func (m *CfgSwitch) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Bool(&m.On)
}

// AMSPSet is the settings of AM sensor processing.
type AMSPSet struct {
	SetHead
	CycleTime        float64
	Debug, DumpLevel int32
}

func (*AMSPSet) MessageType() int32 { return 9301 }
func (m *AMSPSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CycleTime)
	c.Int(&m.Debug, &m.DumpLevel)
}

// AMMobCmdMoveWaypoint moves through points around obstacles, in relative coordinates. Neighborhood, m, and Speed, m/s,
// are those of the horizon's costs.
type AMMobCmdMoveWaypoint struct {
	CmdHead
	HorizonCosts        bool
	Neighborhood, Speed float64
	Waypoints           []Waypoint
}

func (*AMMobCmdMoveWaypoint) MessageType() int32 { return 11005 }
func (m *AMMobCmdMoveWaypoint) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Bool(&m.HorizonCosts)
	c.Double(&m.Neighborhood, &m.Speed)
	nml.Array(c, &m.Waypoints, MaxWaypoints, (*Waypoint).Update)
}

// AMMobCmdPrepareMove computes the costs of the points on the horizon.
type AMMobCmdPrepareMove struct {
	CmdHead
	Neighborhood, Speed float64
}

func (*AMMobCmdPrepareMove) MessageType() int32 { return 11006 }
func (m *AMMobCmdPrepareMove) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Neighborhood, &m.Speed)
}

// AMMobCmdSpin turns to an absolute yaw, rad.
type AMMobCmdSpin struct {
	CmdHead
	Direction        Direction
	Angle, Tolerance float64
}

func (*AMMobCmdSpin) MessageType() int32 { return 11007 }
func (m *AMMobCmdSpin) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	nml.Enum(c, &m.Direction)
	c.Double(&m.Angle, &m.Tolerance)
}

// The errors of AMMobStat. Of AMErrorWaypoint the number of seeds is the reason: 0 too many arcs, 1 a point in an
// obstacle (the seed), 2 no arc, 3 two points too close together (seeds 0 and 1; the least distance is seed 2's x).
const (
	AMErrorMove uint32 = iota + 11401
	AMErrorNone
	AMErrorNotInit
	AMErrorPlanHorizon
	AMErrorPlanPrim
	AMErrorPosition
	AMErrorPrim
	AMErrorUnspecified
	AMErrorWaypoint
)

// AMMobStat is the status of AM mobility. A seed is a point of the horizon, its Z the cost of reaching it, below 0
// where it cannot be reached; the last one is the vehicle.
type AMMobStat struct {
	StatHead
	ErrorCode uint32
	Seeds     []Cartesian
}

func (*AMMobStat) MessageType() int32 { return 11101 }
func (m *AMMobStat) Update(c *nml.Codec) {
	m.StatHead.update(c)
	c.Uint(&m.ErrorCode)
	nml.Array(c, &m.Seeds, MaxSeeds, (*Cartesian).Update)
}

// AMMobSet is the settings of AM mobility, m and s.
type AMMobSet struct {
	SetHead
	CellResolution                           float64
	ControlPoint                             Pose
	CycleTime                                float64
	Debug                                    uint32
	DumpWM                                   bool
	PlanHorizon, MinTurnRadius, VehicleWidth float64
}

func (*AMMobSet) MessageType() int32 { return 11301 }
func (m *AMMobSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CellResolution)
	m.ControlPoint.Update(c)
	c.Double(&m.CycleTime)
	c.Uint(&m.Debug)
	c.Bool(&m.DumpWM)
	c.Double(&m.PlanHorizon, &m.MinTurnRadius, &m.VehicleWidth)
}

// VehMobCmdMoveWaypoint moves through points on the vehicle's map, in local or absolute coordinates.
type VehMobCmdMoveWaypoint struct {
	CmdHead
	Local               bool
	Neighborhood, Speed float64
	Waypoints           []Waypoint
}

func (*VehMobCmdMoveWaypoint) MessageType() int32 { return 13006 }
func (m *VehMobCmdMoveWaypoint) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Bool(&m.Local)
	c.Double(&m.Neighborhood, &m.Speed)
	nml.Array(c, &m.Waypoints, MaxWaypoints, (*Waypoint).Update)
}

// SectMobCmdExplore sends the connected vehicles to unexplored points within Distance, m.
type SectMobCmdExplore struct {
	CmdHead
	Distance float64
}

func (*SectMobCmdExplore) MessageType() int32 { return 16006 }
func (m *SectMobCmdExplore) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.Distance)
}

// SectMobCmdConnect connects the section to vehicles, and initializes them where SendInit is set.
type SectMobCmdConnect struct {
	CmdHead
	Vehicles []int32
	SendInit bool
}

func (*SectMobCmdConnect) MessageType() int32 { return 16007 }
func (m *SectMobCmdConnect) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Ints(&m.Vehicles, MaxVehicles)
	c.Bool(&m.SendInit)
}

// SectMobStat is the status of a section: the vehicles connected and the share of the floor seen, 0..1.
type SectMobStat struct {
	StatHead
	Vehicles []int32
	Explored float64
}

func (*SectMobStat) MessageType() int32 { return 16101 }
func (m *SectMobStat) Update(c *nml.Codec) {
	m.StatHead.update(c)
	c.Ints(&m.Vehicles, MaxVehicles)
	c.Double(&m.Explored)
}
