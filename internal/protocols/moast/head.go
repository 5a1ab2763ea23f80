package moast

import (
	"cmp"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Status is the state of a module's command or configuration.
type Status int32

// The statuses.
const (
	Uninitialized Status = -1
	Done          Status = 1
	Exec          Status = 2
	Error         Status = 3
)

var statusNames = map[Status]string{Uninitialized: "UNINITIALIZED_STATUS", Done: "RCS_DONE", Exec: "RCS_EXEC",
	Error: "RCS_ERROR"}

func (s Status) String() string { return cmp.Or(statusNames[s], "?") }

// Admin is the administrative state of a module.
type Admin int32

// The administrative states.
const (
	AdminUninitialized Admin = 1
	AdminInitialized   Admin = 2
	AdminShutDown      Admin = 3
)

var adminNames = map[Admin]string{AdminUninitialized: "ADMIN_UNINITIALIZED", AdminInitialized: "ADMIN_INITIALIZED",
	AdminShutDown: "ADMIN_SHUT_DOWN"}

func (a Admin) String() string { return cmp.Or(adminNames[a], "?") }

// Step is the state of a command's table.
type Step int32

// The steps: at NewCommand a command begins, S1 and on are its own, at S0 it has ended.
const (
	NewCommand Step = -2
	S0         Step = 0
	S1         Step = 1
)

// Command is a message of a Cmd or Cfg buffer.
type Command interface {
	nml.Message
	// Head is what all commands have.
	Head() *CmdHead
}

// CmdHead is the head of commands and configurations: RCS_CMD_MSG.
type CmdHead struct{ Serial int32 }

// Head returns h.
func (h *CmdHead) Head() *CmdHead { return h }

func (h *CmdHead) update(c *nml.Codec) { c.Int(&h.Serial) }

// SetHead is the head of settings: RCS_STAT_MSG.
type SetHead struct {
	CommandType      int32 // of the configuration at work
	EchoSerial       int32
	Status           Status
	State            Step
	Line, SourceLine int32
	SourceFile       string // at most 63 bytes
}

const sourceFile = 64

func (h *SetHead) update(c *nml.Codec) {
	c.Long(&h.CommandType)
	c.Int(&h.EchoSerial)
	nml.Enum(c, &h.Status)
	nml.Enum(c, &h.State)
	c.Int(&h.Line, &h.SourceLine)
	c.Chars(&h.SourceFile, sourceFile)
}

// Settings returns h.
func (h *SetHead) Settings() *SetHead { return h }

// Setting is a message of a Set buffer.
type Setting interface {
	nml.Message
	Settings() *SetHead
}

// Tracker counts a module's cycles and times them, s.
type Tracker struct {
	Count                                    int32
	Last, Now, Start, Elapsed, Min, Max, Avg float64
}

func (t *Tracker) update(c *nml.Codec) {
	c.Nested()
	c.Int(&t.Count)
	c.Double(&t.Last, &t.Now, &t.Start, &t.Elapsed, &t.Min, &t.Max, &t.Avg)
}

// Tick counts a cycle at now, s.
func (t *Tracker) Tick(now float64) {
	if t.Count == 0 {
		t.Start, t.Last, t.Min = now, now, 0
	} else {
		t.Elapsed = now - t.Last
		t.Last = now
		if t.Count == 1 || t.Elapsed < t.Min {
			t.Min = t.Elapsed
		}
		t.Max = max(t.Max, t.Elapsed)
		t.Avg = (now - t.Start) / float64(t.Count)
	}
	t.Now = now
	t.Count++
}

// StatHead is the head of statuses: RCS_STAT_MSG_V2.
type StatHead struct {
	SetHead
	Admin   Admin
	Tracker Tracker
	Message string // at most 79 bytes
}

const messageSize = 80

func (h *StatHead) update(c *nml.Codec) {
	h.SetHead.update(c)
	nml.Enum(c, &h.Admin)
	h.Tracker.update(c)
	c.Text(&h.Message, messageSize)
}

// Report returns h.
func (h *StatHead) Report() *StatHead { return h }

// Reporter is a message of a Stat buffer.
type Reporter interface {
	nml.Message
	Report() *StatHead
}

// Plain is a command or configuration without fields; Kind is its type.
type Plain struct {
	CmdHead
	Kind int32
}

func (m *Plain) MessageType() int32  { return m.Kind }
func (m *Plain) Update(c *nml.Codec) { m.CmdHead.update(c) }

// PlainStat is a status without fields of its own.
type PlainStat struct {
	StatHead
	Kind int32
}

func (m *PlainStat) MessageType() int32  { return m.Kind }
func (m *PlainStat) Update(c *nml.Codec) { m.StatHead.update(c) }

// PlainSet is the settings of a module whose only ones are its cycle time, s, and debug mask.
type PlainSet struct {
	SetHead
	Kind      int32
	CycleTime float64
	Debug     int32
}

func (m *PlainSet) MessageType() int32 { return m.Kind }
func (m *PlainSet) Update(c *nml.Codec) {
	m.SetHead.update(c)
	c.Double(&m.CycleTime)
	c.Int(&m.Debug)
}

// CfgCycleTime sets a module's cycle time, s.
type CfgCycleTime struct {
	CmdHead
	Kind      int32
	CycleTime float64
}

func (m *CfgCycleTime) MessageType() int32 { return m.Kind }
func (m *CfgCycleTime) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Double(&m.CycleTime)
}

// CfgDebug sets a module's debug mask.
type CfgDebug struct {
	CmdHead
	Kind, Debug int32
}

func (m *CfgDebug) MessageType() int32 { return m.Kind }
func (m *CfgDebug) Update(c *nml.Codec) {
	m.CmdHead.update(c)
	c.Int(&m.Debug)
}
