package osp

import "fmt"

// Command is the first byte of a datagram.
type Command byte

// The commands with their fields, in the order of the document's appendix. C: a client sends it, S: a server.
const (
	initCommunication      Command = 5  // C: major, minor (both int, or both byte)
	initCommunicationAck   Command = 6  // S: major, minor, as requested; from the session's own port
	endCommunication       Command = 7  // C
	endCommunicationAck    Command = 8  // S
	resetCommunication     Command = 10 // C
	resetCommunicationAck  Command = 11 // S: to every client; then also 71
	registerForEvent       Command = 20 // C: name string
	registerForEventAck    Command = 21 // S: event int, 0 = no such event
	deregisterFromEvent    Command = 30 // C: event int
	deregisterFromEventAck Command = 31 // S: event int, as requested
	getValueIDs            Command = 40 // C: regular expression string, matched against the whole name
	valueIDs               Command = 41 // S: count int, then as many 43
	valueInfoAck           Command = 42 // C: no server waits for it
	valueInfo              Command = 43 // S: index int, value int, type string, name string
	getValue               Command = 50 // C: value int
	value                  Command = 51 // S: value int (-1 = unknown), content string
	setValue               Command = 52 // C: value int, content string
	// S: value int, status byte: 1 set, 0 not understood or refused, 2 unknown
	setValueAck                 Command = 53
	registerForValue            Command = 54 // C: count int, values int...
	registerForValueAck         Command = 55 // S: count int, values int..., 0 = unknown
	deregisterFromValue         Command = 56 // C: count int, values int...
	deregisterFromValueAck      Command = 57 // S: count int, values int..., 0 = unknown
	resetSimulation             Command = 70 // C: seed int, 0 = don't care; once for each agent under control
	resetSimulationAck          Command = 71 // S
	resetSimulationCompleted    Command = 75 // S: to every client
	resetSimulationCompletedAck Command = 76 // C
	NextStep                    Command = 80 // C: agent int, count int, inputs float...
	NextStepAck                 Command = 81 // S: agent int
	// S: agent, outputs, infos, events, values int; the first three as listed; then as many 51
	StepCompleted          Command = 85
	StepCompletedAck       Command = 86  // C: agent int
	getAgentOverview       Command = 90  // C
	agentOverview          Command = 91  // S: count int, then as many 92
	agentOverviewNext      Command = 92  // S: index int, agent int, type string, available byte, name string
	agentOverviewAck       Command = 93  // C: once, after the last 92
	getAgentInfo           Command = 95  // C: agent int
	agentInfo              Command = 96  // S: agent, inputs, outputs, infos int, name string, then as many 98
	agentInfoAck           Command = 97  // C: once, after the last 98
	agentInfoNext          Command = 98  // S: index int (over inputs, outputs, infos), min, max float, name string
	registerForAgent       Command = 100 // C: agent int
	registerForAgentAck    Command = 101 // S: agent int, status byte: 1 yes, 0 unknown or another's
	deregisterFromAgent    Command = 105 // C: agent int
	deregisterFromAgentAck Command = 106 // S: agent int, status byte: 1 yes, 0 no, 2 not this client's

	datagramEnd = 120
)

// Statuses of 53, 101 and 106.
const (
	StatusNo      = 0
	StatusOK      = 1
	StatusUnknown = 2
)

// MaxDatagram bounds received and sent datagrams, bytes: about 2000 channels of an agent.
const MaxDatagram = 8192

// commands are the names of the document's appendix, without UDP_, and which of them a server sends.
var commands = [256]struct {
	name   string
	server bool
}{
	initCommunication: {"INIT_COMMUNICATION", false}, initCommunicationAck: {"INIT_COMMUNICATION_ACK", true},
	endCommunication: {"END_COMMUNICATION", false}, endCommunicationAck: {"END_COMMUNICATION_ACK", true},
	resetCommunication: {"RESET_COMMUNICATION", false}, resetCommunicationAck: {"RESET_COMMUNICATION_ACK", true},
	registerForEvent: {"REGISTER_FOR_EVENT", false}, registerForEventAck: {"REGISTER_FOR_EVENT_ACK", true},
	deregisterFromEvent:    {"DEREGISTER_FROM_EVENT", false},
	deregisterFromEventAck: {"DEREGISTER_FROM_EVENT_ACK", true}, getValueIDs: {"GET_VALUE_IDS", false},
	valueIDs: {"VALUE_IDS", true}, valueInfoAck: {"VALUE_INFO_ACK", false}, valueInfo: {"VALUE_INFO", true},
	getValue: {"GET_VALUE", false}, value: {"VALUE", true}, setValue: {"SET_VALUE", false},
	setValueAck: {"SET_VALUE_ACK", true}, registerForValue: {"REGISTER_FOR_VALUE", false},
	registerForValueAck: {"REGISTER_FOR_VALUE_ACK", true}, deregisterFromValue: {"DEREGISTER_FROM_VALUE", false},
	deregisterFromValueAck: {"DEREGISTER_FROM_VALUE_ACK", true}, resetSimulation: {"RESET_SIMULATION", false},
	resetSimulationAck:          {"RESET_SIMULATION_ACK", true},
	resetSimulationCompleted:    {"RESET_SIMULATION_COMPLETED", true},
	resetSimulationCompletedAck: {"RESET_SIMULATION_COMPLETED_ACK", false},
	NextStep:                    {"NEXT_SIMULATION_STEP", false}, NextStepAck: {"NEXT_SIMULATION_STEP_ACK", true},
	StepCompleted:    {"NEXT_SIMULATION_STEP_COMPLETED", true},
	StepCompletedAck: {"NEXT_SIMULATION_STEP_COMPLETED_ACK", false},
	getAgentOverview: {"GET_AGENT_OVERVIEW", false}, agentOverview: {"AGENT_OVERVIEW", true},
	agentOverviewNext: {"AGENT_OVERVIEW_NEXT", true}, agentOverviewAck: {"AGENT_OVERVIEW_ACK", false},
	getAgentInfo: {"GET_AGENT_INFO", false}, agentInfo: {"AGENT_INFO", true},
	agentInfoAck: {"AGENT_INFO_ACK", false}, agentInfoNext: {"AGENT_INFO_NEXT", true},
	registerForAgent: {"REGISTER_FOR_AGENT", false}, registerForAgentAck: {"REGISTER_FOR_AGENT_ACK", true},
	deregisterFromAgent:    {"DEREGISTER_FROM_AGENT", false},
	deregisterFromAgentAck: {"DEREGISTER_FROM_AGENT_ACK", true},
}

// server reports whether c is a server's to send.
func (c Command) server() bool { return commands[c].server }

func (c Command) String() string { return fmt.Sprintf("command %d %s", byte(c), commands[c].name) }
