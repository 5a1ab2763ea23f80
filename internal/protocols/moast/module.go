package moast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Role is one of a module's four buffers.
type Role int32

// The roles.
const (
	Cmd  Role = iota // from the superior: a task, with a serial number
	Stat             // to the superior: the state of the task
	Cfg              // from the superior: a parameter
	Set              // to the superior: the parameters
)

var roleNames = [...]string{"Cmd", "Stat", "Cfg", "Set"}

func (r Role) String() string {
	if r >= 0 && int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("role(%d)", int32(r))
}

const (
	perModule = 1000 // ids of one module
	perRole   = 100  // ids of one role
)

// Module is one kind of controller.
type Module struct {
	Name              string // of its buffers, without role and vehicle: primMobJA
	Base              int32  // of its ids
	Commands, Configs []string
	Kinds             []string // of statuses and settings, in addition to the plain ones
}

const servoCommands = "Init Abort Halt Shutdown "

// modules are all modules. The names of commands and configurations are in the order of their numbers, from 1.
var modules = [...]Module{
	module("servoSP", 2000, servoCommands+"Go", "CycleTime", ""),
	module("servoMisJA", 3000, servoCommands+"Move", "CycleTime", ""),
	module("servoMobJA", 4000, servoCommands+"Ackerman Skid FlipSkid Omni Submarine RotaryWing",
		"CycleTime Debug Teleport", "GrdVeh AirBot"),
	module("servoEffJA", 5000, servoCommands+"Opcode", "CycleTime", ""),
	module("primSP", 6000, "Nop Init Abort Halt Shutdown Go", "Nop CycleTime Debug", ""),
	module("primMisJA", 7000, "Nop Init Abort Halt Shutdown Move", "Nop CycleTime Debug", ""),
	module("primMobJA", 8000, "Nop Init Abort Halt Shutdown MoveArcSegment MoveWaypoint MoveWaypose Rotate Vel Stop "+
		"Dock",
		"Nop CycleTime Move Debug", ""),
	module("amSP", 9000, servoCommands+"Go Nop", "CycleTime Debug DumpWM Nop", ""),
	module("amMisJA", 10000, servoCommands+"Move Nop", "CycleTime Debug Nop", ""),
	module("amMobJA", 11000, servoCommands+"MoveWaypoint PrepareMove Spin Stop Nop",
		"CellResolution CycleTime Debug DumpWM Nop PlanHorizon VehicleMinTurnRad VehicleWidth", ""),
	module("vehSP", 12000, servoCommands+"Noop Go", "CycleTime Debug Noop ClearWM StoreWM LoadWM DumpWM", ""),
	module("vehMobPL", 13000, servoCommands+"Noop MoveWaypoint Stop",
		"CycleTime Debug Noop ClearWM StoreWM LoadWM DumpWM", ""),
	module("sectMobPL", 16000, servoCommands+"Noop Explore Connect Disconnect",
		"CycleTime Debug Noop ClearWM StoreWM LoadWM DumpWM", ""),
}

func module(name string, base int32, commands, configs, kinds string) Module {
	return Module{name, base, strings.Fields(commands), strings.Fields(configs), strings.Fields(kinds)}
}

// Modules returns all modules, by rising ids.
func Modules() []Module { return slices.Clone(modules[:]) }

// ModuleNamed finds a module by its name, or returns nil.
func ModuleNamed(name string) *Module {
	for i := range modules {
		if modules[i].Name == name {
			return &modules[i]
		}
	}
	return nil
}

// Buffer is the name of a buffer of vehicle, and of its subsystem, where that is above 0.
func (m *Module) Buffer(r Role, vehicle, subsystem int) string {
	return buffer(m.Name+r.String(), vehicle, subsystem)
}

func buffer(name string, vehicle, subsystem int) string {
	if subsystem > 0 {
		return fmt.Sprintf("%s%d_%d", name, vehicle, subsystem)
	}
	return fmt.Sprintf("%s%d", name, vehicle)
}

// class is the name of the module's C++ classes.
func (m *Module) class() string { return strings.ToUpper(m.Name[:1]) + m.Name[1:] }

// names are the names of the messages of a role, by their numbers from 1.
func (m *Module) names(r Role) []string {
	switch r {
	case Cmd:
		return m.Commands
	case Cfg:
		return m.Configs
	}
	return append([]string{""}, m.Kinds...)
}

// ID is the type of a message of the module: of a command or configuration by its name ("Vel"), of a status or setting
// by its kind ("" is the plain one); 0 if absent.
func (m *Module) ID(r Role, name string) int32 {
	for i, n := range m.names(r) {
		if n == name {
			return m.Base + int32(r)*perRole + int32(i) + 1
		}
	}
	return 0
}

// IDs are the types of all messages of a role.
func (m *Module) IDs(r Role) (ids []int32) {
	for i := range m.names(r) {
		ids = append(ids, m.Base+int32(r)*perRole+int32(i)+1)
	}
	return ids
}

// locate finds what an id means.
func locate(id int32) (m *Module, r Role, name string, ok bool) {
	if id <= 0 {
		return nil, 0, "", false
	}
	for i := range modules {
		m = &modules[i]
		if id/perModule*perModule != m.Base {
			continue
		}
		r = Role((id - m.Base) / perRole)
		number := int((id - m.Base) % perRole)
		if r > Set {
			return m, r, "", false
		}
		if names := m.names(r); number >= 1 && number <= len(names) {
			return m, r, names[number-1], true
		}
	}
	return nil, 0, "", false
}

// Symbol is the name of a message type, "PrimMobJACmdVel"; "UNKNOWN" if absent, as the original prints.
func Symbol(id int32) string {
	for _, d := range dataTypes {
		if d.id == id {
			return d.name
		}
	}
	if m, r, name, ok := locate(id); ok {
		return m.class() + r.String() + name
	}
	return "UNKNOWN"
}

// New returns an empty message of a type, nil if absent; it is the nml.Vocabulary of all buffers.
func New(id int32) nml.Message {
	for _, d := range dataTypes {
		if d.id == id {
			return d.make()
		}
	}
	_, r, name, ok := locate(id)
	if !ok {
		return nil
	}
	if make := own[id]; make != nil {
		return make()
	}
	switch id {
	case 8007, 8008:
		return &PrimMobCmdMoveWaypoint{Kind: id}
	case 9203:
		return &CfgLevel{Kind: id}
	case CfgCellResolution, CfgPlanHorizon, CfgMinTurnRadius, CfgVehicleWidth:
		return &CfgValue{Kind: id}
	case 11204:
		return &CfgSwitch{Kind: id}
	}
	switch {
	case r == Stat:
		return &PlainStat{Kind: id}
	case r == Set:
		return &PlainSet{Kind: id}
	case name == "CycleTime":
		return &CfgCycleTime{Kind: id}
	case name == "Debug":
		return &CfgDebug{Kind: id}
	}
	return &Plain{Kind: id}
}

var _ nml.Vocabulary = New

// empty returns a new message.
func empty[T any, M interface {
	*T
	nml.Message
}]() nml.Message {
	return M(new(T))
}

// own are the messages with fields of their own, whose types have one meaning.
var own = map[int32]func() nml.Message{
	3005: empty[ServoMisCmdMove], 3101: empty[ServoMisStat], 3301: empty[ServoMisSet], 2301: empty[ServoSPSet],
	4005: empty[ServoMobCmdAckerman], 4006: empty[ServoMobCmdSkid], 4007: empty[ServoMobCmdFlipSkid],
	4008: empty[ServoMobCmdOmni], 4009: empty[ServoMobCmdSubmarine], 4010: empty[ServoMobCmdRotaryWing],
	4101: empty[ServoMobStat], 4102: empty[ServoMobStatGround], 4103: empty[ServoMobStatAir],
	4203: empty[ServoMobCfgTeleport], 4301: empty[ServoMobSet], 4302: empty[ServoMobSetGround],
	4303: empty[ServoMobSetAir], 5005: empty[ServoEffCmdOpcode], 6006: empty[PrimSPCmdGo],
	8006: empty[PrimMobCmdMoveArcSegment], 8009: empty[PrimMobCmdRotate], 8010: empty[PrimMobCmdVel],
	8012: empty[PrimMobCmdDock], 8101: empty[PrimMobStat], 8203: empty[PrimMobCfgMove], 8301: empty[PrimMobSet],
	9301: empty[AMSPSet], 11005: empty[AMMobCmdMoveWaypoint], 11006: empty[AMMobCmdPrepareMove],
	11007: empty[AMMobCmdSpin], 11101: empty[AMMobStat], 11301: empty[AMMobSet], 13006: empty[VehMobCmdMoveWaypoint],
	16006: empty[SectMobCmdExplore], 16007: empty[SectMobCmdConnect], 16101: empty[SectMobStat],
}
