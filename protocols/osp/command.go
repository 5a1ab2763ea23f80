package osp

import "fmt"

// Command is the first byte of a datagram.
type Command byte

// The commands with their fields, in the order of the document's appendix. C: a client sends it, S: a server.
const (
	InitCommunication      Command = 5  // C: major, minor (both int, or both byte)
	InitCommunicationAck   Command = 6  // S: major, minor, as requested; from the session's own port
	EndCommunication       Command = 7  // C
	EndCommunicationAck    Command = 8  // S
	ResetCommunication     Command = 10 // C
	ResetCommunicationAck  Command = 11 // S: to every client; then also 71
	RegisterForEvent       Command = 20 // C: name string
	RegisterForEventAck    Command = 21 // S: event int, 0 = no such event
	DeregisterFromEvent    Command = 30 // C: event int
	DeregisterFromEventAck Command = 31 // S: event int, as requested
	GetValueIDs            Command = 40 // C: regular expression string, matched against the whole name
	ValueIDs               Command = 41 // S: count int, then as many 43
	ValueInfoAck           Command = 42 // C: no server waits for it
	ValueInfo              Command = 43 // S: index int, value int, type string, name string
	GetValue               Command = 50 // C: value int
	Value                  Command = 51 // S: value int (-1 = unknown), content string
	SetValue               Command = 52 // C: value int, content string
	// S: value int, status byte: 1 set, 0 not understood or refused, 2 unknown
	SetValueAck                 Command = 53
	RegisterForValue            Command = 54 // C: count int, values int...
	RegisterForValueAck         Command = 55 // S: count int, values int..., 0 = unknown
	DeregisterFromValue         Command = 56 // C: count int, values int...
	DeregisterFromValueAck      Command = 57 // S: count int, values int..., 0 = unknown
	ResetSimulation             Command = 70 // C: seed int, 0 = don't care; once for each agent under control
	ResetSimulationAck          Command = 71 // S
	ResetSimulationCompleted    Command = 75 // S: to every client
	ResetSimulationCompletedAck Command = 76 // C
	NextStep                    Command = 80 // C: agent int, count int, inputs float...
	NextStepAck                 Command = 81 // S: agent int
	// S: agent, outputs, infos, events, values int; the first three as listed; then as many 51
	StepCompleted          Command = 85
	StepCompletedAck       Command = 86  // C: agent int
	GetAgentOverview       Command = 90  // C
	AgentOverview          Command = 91  // S: count int, then as many 92
	AgentOverviewNext      Command = 92  // S: index int, agent int, type string, available byte, name string
	AgentOverviewAck       Command = 93  // C: once, after the last 92
	GetAgentInfo           Command = 95  // C: agent int
	AgentInfo              Command = 96  // S: agent, inputs, outputs, infos int, name string, then as many 98
	AgentInfoAck           Command = 97  // C: once, after the last 98
	AgentInfoNext          Command = 98  // S: index int (over inputs, outputs, infos), min, max float, name string
	RegisterForAgent       Command = 100 // C: agent int
	RegisterForAgentAck    Command = 101 // S: agent int, status byte: 1 yes, 0 unknown or another's
	DeregisterFromAgent    Command = 105 // C: agent int
	DeregisterFromAgentAck Command = 106 // S: agent int, status byte: 1 yes, 0 no, 2 not this client's

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

// server reports whether c is a server's to send.
func (c Command) server() bool {
	switch c {
	case InitCommunicationAck, EndCommunicationAck, ResetCommunicationAck, RegisterForEventAck, DeregisterFromEventAck,
		ValueIDs, ValueInfo, Value, SetValueAck, RegisterForValueAck, DeregisterFromValueAck, ResetSimulationAck,
		ResetSimulationCompleted, NextStepAck, StepCompleted, AgentOverview, AgentOverviewNext, AgentInfo,
		AgentInfoNext, RegisterForAgentAck, DeregisterFromAgentAck:
		return true
	}
	return false
}

func (c Command) String() string { return fmt.Sprintf("command %d", byte(c)) }
