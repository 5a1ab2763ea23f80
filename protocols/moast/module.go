package moast

import (
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/protocols/nml"
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
	Name     string // of its buffers, without role and vehicle: primMobJA
	Base     int32  // of its ids
	Commands []string
	Configs  []string
	Kinds    []string // what statuses and settings there are beside the plain ones
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
	module("primMobJA", 8000, "Nop Init Abort Halt Shutdown MoveArcSegment MoveWaypoint MoveWaypose Rotate Vel Stop Dock",
		"Nop CycleTime Move Debug", ""),
	module("amSP", 9000, servoCommands+"Go Nop", "CycleTime Debug DumpWM Nop", ""),
	module("amMisJA", 10000, servoCommands+"Move Nop", "CycleTime Debug Nop", ""),
	module("amMobJA", 11000, servoCommands+"MoveWaypoint PrepareMove Spin Stop Nop",
		"CellResolution CycleTime Debug DumpWM Nop PlanHorizon VehicleMinTurnRad VehicleWidth", ""),
	module("vehSP", 12000, servoCommands+"Noop Go", "CycleTime Debug Noop ClearWM StoreWM LoadWM DumpWM", ""),
	module("vehMobPL", 13000, servoCommands+"Noop MoveWaypoint Stop", "CycleTime Debug Noop ClearWM StoreWM LoadWM DumpWM", ""),
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
	if message := own(id); message != nil {
		return message
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

// own is a message with fields of its own, or nil.
func own(id int32) nml.Message {
	switch id {
	case 3005:
		return &ServoMisCmdMove{}
	case 3101:
		return &ServoMisStat{}
	case 3301:
		return &ServoMisSet{}
	case 2301:
		return &ServoSPSet{}
	case 4005:
		return &ServoMobCmdAckerman{}
	case 4006:
		return &ServoMobCmdSkid{}
	case 4007:
		return &ServoMobCmdFlipSkid{}
	case 4008:
		return &ServoMobCmdOmni{}
	case 4009:
		return &ServoMobCmdSubmarine{}
	case 4010:
		return &ServoMobCmdRotaryWing{}
	case 4101:
		return &ServoMobStat{}
	case 4102:
		return &ServoMobStatGround{}
	case 4103:
		return &ServoMobStatAir{}
	case 4203:
		return &ServoMobCfgTeleport{}
	case 4301:
		return &ServoMobSet{}
	case 4302:
		return &ServoMobSetGround{}
	case 4303:
		return &ServoMobSetAir{}
	case 5005:
		return &ServoEffCmdOpcode{}
	case 6006:
		return &PrimSPCmdGo{}
	case 8006:
		return &PrimMobCmdMoveArcSegment{}
	case 8007:
		return &PrimMobCmdMoveWaypoint{Kind: id}
	case 8008:
		return &PrimMobCmdMoveWaypoint{Kind: id}
	case 8009:
		return &PrimMobCmdRotate{}
	case 8010:
		return &PrimMobCmdVel{}
	case 8012:
		return &PrimMobCmdDock{}
	case 8101:
		return &PrimMobStat{}
	case 8203:
		return &PrimMobCfgMove{}
	case 8301:
		return &PrimMobSet{}
	case 9203:
		return &CfgLevel{Kind: id}
	case 9301:
		return &AMSPSet{}
	case 11005:
		return &AMMobCmdMoveWaypoint{}
	case 11006:
		return &AMMobCmdPrepareMove{}
	case 11007:
		return &AMMobCmdSpin{}
	case 11101:
		return &AMMobStat{}
	case 11201, 11206, 11207, 11208:
		return &CfgValue{Kind: id}
	case 11204:
		return &CfgSwitch{Kind: id}
	case 11301:
		return &AMMobSet{}
	case 13006:
		return &VehMobCmdMoveWaypoint{}
	case 16006:
		return &SectMobCmdExplore{}
	case 16007:
		return &SectMobCmdConnect{}
	case 16101:
		return &SectMobStat{}
	}
	return nil
}
