package echelon

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Controller is what one kind of module does.
type Controller interface {
	// Task does one step of a command that is no administrative one. It sets State and Status of m.Head: at NewCommand
	// it begins, at S0 it has ended. changed is set where the superior has changed fields of the command at work.
	Task(m *Module, c moast.Command, changed bool)
	// Configure applies a configuration, or reports why it cannot.
	Configure(m *Module, c moast.Command) error
	// Update runs in each cycle of a module that is not shut down, before its step; init reports that INIT was done.
	Update(m *Module, now float64)
	// Stop ends all motion that the module causes itself.
	Stop(m *Module)
}

// plain is the empty methods of a Controller: a command ends at once.
type plain struct{}

func (plain) Task(m *Module, _ moast.Command, _ bool)    { m.Finish() }
func (plain) Configure(_ *Module, _ moast.Command) error { return nil }
func (plain) Update(*Module, float64)                    {}
func (plain) Stop(*Module)                               {}

// Module is one controller and its buffers.
type Module struct {
	Head     *moast.StatHead // of the status
	Settings *moast.SetHead
	Now      float64 // of the cycle, s
	Elapsed  float64 // since the last cycle, s; 0 in the first

	kind            *moast.Module
	controller      Controller
	cycle           *float64 // s, of settings
	due             float64
	cmd, cfg        *nml.Buffer
	stat, set       *nml.Buffer
	status          moast.Reporter
	settings        moast.Setting
	command, config moast.Command
	cmdID, cfgID    int32
	subordinates    []*Link
	superior        *nml.Writer // over the network, of the last command; nil = a module of this vehicle, or none alive
	silence         float64     // s, after which it counts as gone; 0 = never
	requests        uint64      // of its
	received        float64     // when they rose
	err             error       // of a buffer, the first
}

// buffers make and find the buffers of one vehicle.
type buffers struct {
	vehicle  int
	radius   float64     // m, of the circle about the vehicle
	nav      *nml.Buffer // where it is: navDataExt
	encoding nml.Encoding
	all      []*nml.Buffer
	byName   map[string]*nml.Buffer
}

// header is what an rcslib program keeps in a buffer beside the message, bytes.
const header = 64

// dispGrowth times four is the characters of a double over its bytes.
const dispGrowth = 10

// get is a buffer that exists, or a new one that takes each of messages in full: an rcslib program refuses a buffer
// that is smaller than the object of a message, and takes an encoded one of twice that in packed and xdr, four times
// that in disp, where a double has up to 318 characters.
func (b *buffers) get(name string, messages ...int32) *nml.Buffer {
	if have := b.byName[name]; have != nil {
		return have
	}
	size := 0
	for _, id := range messages {
		size = max(size, int(nml.Size(moast.New(id)))+header)
	}
	if b.encoding == nml.Disp {
		size *= dispGrowth
	}
	buffer, err := nml.NewBuffer(nml.BufferOptions{Name: name, Number: int32(len(b.all) + 1), Size: size,
		Encoding: b.encoding, Vocabulary: moast.New})
	if err != nil {
		panic(err) // a name of ours, a size of ours
	}
	b.all, b.byName[name] = append(b.all, buffer), buffer
	return buffer
}

// newModule opens the buffers of a module: from here on it is UNINITIALIZED. status and settings are its messages,
// cycle is the cycle time in settings.
func newModule(b *buffers, name string, c Controller, status moast.Reporter, settings moast.Setting,
	cycle *float64) *Module {
	return newSubsystem(b, name, 0, c, status, settings, cycle)
}

// newPlain is newModule with plain settings, of a kind.
func newPlain(b *buffers, name string, cycle float64, c Controller, status moast.Reporter, kind int32) *Module {
	set := &moast.PlainSet{Kind: kind, CycleTime: cycle}
	return newModule(b, name, c, status, set, &set.CycleTime)
}

// newSubsystem is newModule for one of several modules of a name, from 1.
func newSubsystem(b *buffers, name string, subsystem int, c Controller, status moast.Reporter, settings moast.Setting,
	cycle *float64) *Module {
	kind := moast.ModuleNamed(name)
	open := func(r moast.Role) *nml.Buffer { return b.get(kind.Buffer(r, b.vehicle, subsystem), kind.IDs(r)...) }
	m := &Module{kind: kind, controller: c, cycle: cycle, cmd: open(moast.Cmd), cfg: open(moast.Cfg),
		stat: open(moast.Stat),
		set:  open(moast.Set), status: status, settings: settings, Head: status.Report(), Settings: settings.Settings()}
	m.Head.Admin, m.Head.Status, m.Head.State = moast.AdminUninitialized, moast.Done, moast.S0
	m.Settings.Status, m.Settings.State = moast.Done, moast.S0
	// as the original's modules do, so that a superior finds a command and a configuration
	for role, buffer := range map[moast.Role]*nml.Buffer{moast.Cmd: m.cmd, moast.Cfg: m.cfg} {
		for _, nop := range []string{"Nop", "Noop"} {
			if id := kind.ID(role, nop); id != 0 {
				m.note(buffer.Write(&moast.Plain{Kind: id, CmdHead: moast.CmdHead{Serial: 1}}))
			}
		}
	}
	return m
}

// link lets m command a module below it.
func (m *Module) link(b *buffers, name string, stat string) *Link {
	kind := moast.ModuleNamed(name)
	l := &Link{kind: kind, cmd: b.get(kind.Buffer(moast.Cmd, b.vehicle, 0), kind.IDs(moast.Cmd)...),
		stat:   b.get(kind.Buffer(moast.Stat, b.vehicle, 0), kind.IDs(moast.Stat)...),
		report: moast.New(kind.ID(moast.Stat, stat)).(moast.Reporter)}
	m.subordinates = append(m.subordinates, l)
	return l
}

func (m *Module) note(err error) {
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("%s: %w", m.kind.Name, err)
	}
}

// run does one cycle at now where it is due.
func (m *Module) run(now float64) {
	if now < m.due {
		return
	}
	if m.due += *m.cycle; m.due <= now {
		m.due = now + *m.cycle
	}
	if m.Head.Admin == moast.AdminShutDown {
		return
	}
	if m.Head.Tracker.Count > 0 {
		m.Elapsed = now - m.Now
	}
	m.Now = now
	m.Head.Tracker.Tick(now)
	m.controller.Update(m, now)
	changed := m.readCommand()
	m.readConfig()
	m.watch()
	m.step(changed)
	m.configure()
	m.note(m.stat.Write(m.status))
	m.note(m.set.Write(m.settings))
}

// watch ends what a superior has left: its connection has ended, or it has been silent for too long. All that it moves
// stops, and the robot is free for others.
func (m *Module) watch() {
	if m.superior == nil {
		return
	}
	if n := m.superior.Requests(); n != m.requests {
		m.requests, m.received = n, m.Now
	}
	why := "superior silent"
	switch {
	case m.superior.Left():
		why = "superior gone"
	case m.silence == 0 || m.Now-m.received <= m.silence:
		return
	}
	m.superior = nil
	m.abandon(why)
	m.controller.Stop(m)
	for _, l := range m.subordinates {
		l.leave()
	}
}

// abandon ends a task at work with an error: after a stop it must not go on when an operator arms.
func (m *Module) abandon(why string) {
	if m.Head.Status == moast.Exec && !m.administrative() {
		m.Fail(why)
		m.controller.Stop(m)
	}
}

// readCommand takes a new message of Cmd, and reports whether it changes the command at work.
func (m *Module) readCommand() (changed bool) {
	message, id, err := m.cmd.Read(moast.New, m.cmdID)
	m.cmdID = id
	if errors.Is(err, nml.ErrOld) {
		return false
	}
	c, ok := message.(moast.Command)
	if err != nil || !ok {
		return false
	}
	if m.superior = m.cmd.Writer(); m.superior != nil {
		m.requests, m.received = m.superior.Requests(), m.Now
	}
	h := m.Head
	if c.Head().Serial == h.EchoSerial && m.command != nil && c.MessageType() == m.command.MessageType() {
		m.command = c
		return true
	}
	if c.Head().Serial == h.EchoSerial && m.command != nil {
		return false // another command under the serial of the one at work: not a new one
	}
	m.command = c
	h.CommandType, h.EchoSerial, h.State, h.Status, h.Message = c.MessageType(), c.Head().Serial, moast.NewCommand,
		moast.Exec, ""
	return false
}

func (m *Module) readConfig() {
	message, id, err := m.cfg.Read(moast.New, m.cfgID)
	m.cfgID = id
	c, ok := message.(moast.Command)
	if err != nil || !ok || m.config != nil && c.Head().Serial == m.Settings.EchoSerial {
		return
	}
	m.config = c
	s := m.Settings
	s.CommandType, s.EchoSerial, s.State, s.Status = c.MessageType(), c.Head().Serial, moast.NewCommand, moast.Exec
}

// administrative reports whether the present command changes the administrative state; it is true without a command.
func (m *Module) administrative() bool {
	switch m.name() {
	case "Init", "Abort", "Halt", "Shutdown", "Nop", "Noop", "":
		return true
	}
	return false
}

// name is the command at work by the module's own table, "" if absent or it is another module's.
func (m *Module) name() string {
	if m.command == nil {
		return ""
	}
	for _, name := range m.kind.Commands {
		if m.kind.ID(moast.Cmd, name) == m.command.MessageType() {
			return name
		}
	}
	return ""
}

// step does one step of the command at work.
func (m *Module) step(changed bool) {
	h := m.Head
	name := m.name()
	switch {
	case h.State == moast.S0:
	case name == "":
		m.Fail("illegal command")
	case name == "Nop" || name == "Noop":
		m.Finish()
	case m.administrative():
		m.administer(name)
	case h.State == moast.NewCommand && h.Admin != moast.AdminInitialized:
		m.Fail("not initialized")
	default:
		m.controller.Task(m, m.command, changed)
	}
}

// administer does one step of INIT, ABORT, HALT or SHUTDOWN: to the subordinates first.
func (m *Module) administer(name string) {
	if m.Head.State == moast.NewCommand {
		if name != "Init" {
			m.controller.Stop(m)
		}
		for _, l := range m.subordinates {
			m.note(l.Send(&moast.Plain{Kind: l.kind.ID(moast.Cmd, name)}))
		}
		m.Head.State = moast.S1
	}
	for _, l := range m.subordinates {
		switch l.Status() {
		case moast.Error:
			m.Fail(l.kind.Name + " failed")
			return
		case moast.Exec:
			return
		}
	}
	switch name {
	case "Init":
		m.Head.Admin = moast.AdminInitialized
	case "Abort":
		m.Head.Admin = moast.AdminUninitialized
	case "Shutdown":
		m.Head.Admin = moast.AdminShutDown
	}
	m.Finish()
}

// Finish ends the command at work: DONE. Fail ends it: ERROR, with a message of at most 79 bytes.
func (m *Module) Finish() { m.Head.State, m.Head.Status = moast.S0, moast.Done }
func (m *Module) Fail(why string) {
	m.Head.State, m.Head.Status, m.Head.Message = moast.S0, moast.Error, why
}

// configure does the configuration at work.
func (m *Module) configure() {
	if m.Settings.State != moast.NewCommand {
		return
	}
	const least, most = 0.001, 60 // s, of a cycle
	m.Settings.State, m.Settings.Status = moast.S0, moast.Done
	if c, ok := m.config.(*moast.CfgCycleTime); ok && c.Kind == m.kind.ID(moast.Cfg, "CycleTime") {
		if c.CycleTime >= least && c.CycleTime <= most {
			*m.cycle = c.CycleTime
		} else {
			m.Settings.Status = moast.Error
			return
		}
	} else if id := m.config.MessageType(); id/1000*1000 != m.kind.Base {
		m.Settings.Status = moast.Error
		return
	}
	if m.controller.Configure(m, m.config) != nil {
		m.Settings.Status = moast.Error
	}
}

// Link commands one subordinate and follows its status.
type Link struct {
	kind      *moast.Module
	cmd, stat *nml.Buffer
	report    moast.Reporter
	serial    int32
	last      moast.Command
}

// Send sends c under a new serial number.
func (l *Link) Send(c moast.Command) error {
	l.look()
	l.serial = max(l.serial, l.report.Report().EchoSerial) + 1
	return l.Change(c)
}

// Change sends c under the serial number of the last command: it changes its fields.
func (l *Link) Change(c moast.Command) error {
	c.Head().Serial, l.last = l.serial, c
	return l.cmd.Write(c)
}

// Order changes the command at work to c if it has c's type, else sends c.
func (l *Link) Order(c moast.Command) error {
	if l.Running(c) {
		return l.Change(c)
	}
	return l.Send(c)
}

// Failed reports whether the last command sent ended with an error, by the status read last.
func (l *Link) Failed() bool {
	r := l.report.Report()
	return r.Status == moast.Error && r.EchoSerial == l.serial
}

// Running reports whether the last command sent has c's type and is not ended.
func (l *Link) Running(c moast.Command) bool {
	return l.last != nil && l.last.MessageType() == c.MessageType() && l.Status() == moast.Exec
}

// leave halts the subordinate, unless a client commands it.
func (l *Link) leave() {
	if l.last != nil && l.cmd.Writer() == nil {
		l.Send(&moast.Plain{Kind: l.kind.ID(moast.Cmd, "Halt")})
	}
}

func (l *Link) look() bool { return l.stat.Peek(l.report) == nil }

// Status is the status of the last command sent: EXEC until the subordinate has echoed and ended it.
func (l *Link) Status() moast.Status {
	if !l.look() || l.report.Report().EchoSerial != l.serial {
		return moast.Exec
	}
	return l.report.Report().Status
}
