package osp

import (
	"encoding/binary"
	"errors"
)

// The errors of decode.
var (
	ErrTruncated = errors.New("osp: datagram ends before its fields do")
	ErrOversized = errors.New("osp: datagram is longer than MaxDatagram")
	ErrUnknown   = errors.New("osp: unknown command")
)

// versionNumber is the protocol's version in 5 and 6.
type versionNumber struct {
	Major, Minor int32
	Bytes        bool // sent as bytes, as the original does, not as ints
}

// Datagram is any datagram of the protocol. Command reports which fields it has; decode leaves the others zero.
//
// There is one type for all datagrams, so that a session reuses one: its slices keep their memory from one decode to
// the next, and a step allocates nothing.
type Datagram struct {
	Command Command
	Version versionNumber // 5 6
	ID      int32         // of an agent, a value or an event
	Index   int32         // 43 92 98: from 0
	Count   int32         // 41 91: of the datagrams that follow
	Seed    int32         // 70
	Status  byte          // 53 101 106; 92: 1 = available
	Type    string        // 43 92
	Name    string        // 20 43 92 96 98; 40: the regular expression
	Content []byte        // 51 52: a view of the decoded datagram

	NumInputs, NumOutputs, NumInfos int32     // 96
	Min, Max                        float32   // 98
	Inputs                          []float32 // 80
	Outputs, Infos                  []float32 // 85
	IDs                             []int32   // 54 to 57: values; 85: events
	NumValues                       int32     // 85: of the 51 that follow

	Numbered bool // a number is behind the terminator
	Number   byte
}

// Append encodes d behind b. A server's datagram ends with 120. Strings end at their first NUL.
func Append(b []byte, d *Datagram) []byte {
	c := coder{b: append(b, byte(d.Command)), encode: true}
	c.fields(d)
	if d.Command.server() || d.Numbered {
		c.b = append(c.b, datagramEnd)
	}
	if d.Numbered {
		c.b = append(c.b, d.Number)
	}
	return c.b
}

// decode reads b into d. Bytes after the fields are ignored, except a number. decode reads only within b and allocates
// at most len(b) bytes. After an error d is undefined.
func decode(b []byte, d *Datagram) error {
	switch {
	case len(b) == 0:
		return ErrTruncated
	case len(b) > MaxDatagram:
		return ErrOversized
	}
	*d = Datagram{Command: Command(b[0]), Inputs: d.Inputs[:0], Outputs: d.Outputs[:0], Infos: d.Infos[:0],
		IDs: d.IDs[:0]}
	c := coder{b: b[1:]}
	if !c.fields(d) {
		return ErrUnknown
	}
	if c.short {
		return ErrTruncated
	}
	// a lone terminator is the document's; one with a byte behind it is a number's
	if len(c.b) >= 2 && c.b[0] == datagramEnd {
		d.Numbered, d.Number = true, c.b[1]
	}
	return nil
}

// fields encodes or decodes the fields after the command: one description for both directions, so that they agree.
// It returns false for an unknown command.
func (c *coder) fields(d *Datagram) bool {
	switch d.Command {
	case endCommunication, endCommunicationAck, resetCommunication, resetCommunicationAck, valueInfoAck,
		resetSimulationAck, resetSimulationCompleted, resetSimulationCompletedAck, getAgentOverview, agentOverviewAck,
		agentInfoAck:
		// no fields
	case initCommunication, initCommunicationAck:
		c.version(&d.Version)
	case registerForEvent, getValueIDs:
		c.text(&d.Name)
	case registerForEventAck, deregisterFromEvent, deregisterFromEventAck, getValue, NextStepAck, StepCompletedAck,
		getAgentInfo, registerForAgent, deregisterFromAgent:
		c.int(&d.ID)
	case valueIDs, agentOverview:
		c.int(&d.Count)
	case valueInfo:
		c.int(&d.Index, &d.ID)
		c.text(&d.Type)
		c.text(&d.Name)
	case value, setValue:
		c.int(&d.ID)
		c.content(&d.Content)
	case setValueAck, registerForAgentAck, deregisterFromAgentAck:
		c.int(&d.ID)
		c.byte(&d.Status)
	case registerForValue, registerForValueAck, deregisterFromValue, deregisterFromValueAck:
		c.list(d)
	case resetSimulation:
		c.int(&d.Seed)
	case NextStep:
		c.int(&d.ID)
		c.floats(&d.Inputs, c.count(len(d.Inputs)))
	case StepCompleted:
		// all counts come first, then the lists
		c.int(&d.ID)
		outputs, infos, events := c.count(len(d.Outputs)), c.count(len(d.Infos)), c.count(len(d.IDs))
		c.int(&d.NumValues)
		c.floats(&d.Outputs, outputs)
		c.floats(&d.Infos, infos)
		c.ints(&d.IDs, events)
	case agentOverviewNext:
		c.int(&d.Index, &d.ID)
		c.text(&d.Type)
		c.byte(&d.Status)
		c.text(&d.Name)
	case agentInfo:
		c.int(&d.ID, &d.NumInputs, &d.NumOutputs, &d.NumInfos)
		c.text(&d.Name)
	case agentInfoNext:
		c.int(&d.Index)
		c.float(&d.Min)
		c.float(&d.Max)
		c.text(&d.Name)
	default:
		return false
	}
	return true
}

// version is ints in the document, bytes in the original. A received version is distinguished by its length: 2 or 3
// bytes against 8 or more after the command.
func (c *coder) version(v *versionNumber) {
	if !c.encode {
		v.Bytes = len(c.b) <= 3
	}
	if !v.Bytes {
		c.int(&v.Major, &v.Minor)
		return
	}
	major, minor := byte(v.Major), byte(v.Minor)
	c.byte(&major)
	c.byte(&minor)
	v.Major, v.Minor = int32(major), int32(minor)
}

// list is a count and that many ids. A 55 without the count, as in the document, is recognised by its first int, which
// does not match its length. That is ambiguous in general, but a client has the number of ids that it requested.
func (c *coder) list(d *Datagram) {
	if !c.encode && d.Command == registerForValueAck {
		n := len(c.b) / 4
		if n == 0 || int(int32(binary.LittleEndian.Uint32(c.b))) != n-1 {
			c.ints(&d.IDs, n)
			return
		}
	}
	c.ints(&d.IDs, c.count(len(d.IDs)))
}
