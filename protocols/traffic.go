package protocols

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Cause reports why a datagram was dropped.
type Cause uint8

// The causes.
const (
	Truncated  Cause = iota // it ends before its fields do, or announces more than it holds
	Oversized               // longer than any datagram of the protocol
	Unknown                 // its command is not defined, or clients do not send it
	Version                 // it asks for a protocol version that the server does not support
	Stranger                // its source is not the address of the session's client
	Unheld                  // it commands an agent that its sender does not control
	Refused                 // the rig did not take it: another holds the agent, or the rig has ended
	Full                    // no session is free
	Unsent                  // an answer that the socket did not take
	Unanswered              // an answer that was given up: never acknowledged, however often it was sent
	NumCauses
)

func (c Cause) String() string {
	if c >= NumCauses {
		return fmt.Sprintf("cause(%d)", uint8(c))
	}
	return [...]string{"truncated", "oversized", "unknown", "version", "stranger", "unheld", "refused", "full",
		"unsent", "unanswered"}[c]
}

// CauseOf is the cause of a decoder's error: Truncated or Oversized for the errors that mean that, else Unknown.
func CauseOf(err, truncated, oversized error) Cause {
	switch {
	case errors.Is(err, truncated):
		return Truncated
	case errors.Is(err, oversized):
		return Oversized
	}
	return Unknown
}

// Traffic counts the datagrams of one server. All methods may be called from any goroutine.
type Traffic struct {
	received, sent atomic.Uint64
	dropped        [NumCauses]atomic.Uint64
}

// Receive counts a datagram that came, Send one that left, Drop one that was not used.
func (t *Traffic) Receive()     { t.received.Add(1) }
func (t *Traffic) Send()        { t.sent.Add(1) }
func (t *Traffic) Drop(c Cause) { t.dropped[c].Add(1) }

// Received, Sent and Dropped are the counts since the server's start; Received includes what was dropped.
func (t *Traffic) Received() uint64       { return t.received.Load() }
func (t *Traffic) Sent() uint64           { return t.sent.Load() }
func (t *Traffic) Dropped(c Cause) uint64 { return t.dropped[c].Load() }
