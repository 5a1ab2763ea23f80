package gamebots

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Dialect is a generation of the protocol. Each accepts the commands of those before it.
type Dialect int32

const (
	document Dialect = iota // the manual of version 2.0.1
	Later                   // USARSim on UT2004, 2007 to 2010
	udk                     // USARSim on UDK, 2010 to 2015
)

var dialectNames = [...]string{"document", "later", "udk"}

func (d Dialect) String() string { return dialectNames[d] }

// ParseDialect is the dialect of that name.
func ParseDialect(name string) (Dialect, error) {
	if d := slices.Index(dialectNames[:], name); d >= 0 {
		return Dialect(d), nil
	}
	return document, &hal.Error{Kind: hal.Invalid, Op: "gamebots: dialect",
		Err: fmt.Errorf("got %q, want %s", name, strings.Join(dialectNames[:], ", "))}
}

// currentDialect is a session's dialect. The reader sets it, the writer and the rig's cycle read it.
type currentDialect struct{ d atomic.Int32 }

func (s *currentDialect) set(d Dialect)        { s.d.Store(int32(d)) }
func (s *currentDialect) get() Dialect         { return Dialect(s.d.Load()) }
func (s *currentDialect) since(d Dialect) bool { return s.get() >= d }

// shown are the words that only one dialect and those after it have: a command, the name of a pair, and the value of
// that pair; empty = any.
var shown = [...]struct {
	command, name, value string
	dialect              Dialect
}{
	{"CAMERA", "Rotation", "", document}, {"MISPKG", "Rotation", "", document}, {"MISPGK", "", "", document},
	{"GETCONF", "Type", "PanTilt", document}, {"GETGEO", "Type", "PanTilt", document},
	{"GETCONF", "Type", "INU", document}, {"GETGEO", "Type", "INU", document},
	{"GETCONF", "Type", "Robot", Later}, {"GETGEO", "Type", "Robot", Later},
	{"GETCONF", "Type", "MisPkg", Later}, {"GETGEO", "Type", "MisPkg", Later},
	{"GETCONF", "Type", "GroundTruth", Later}, {"GETGEO", "Type", "GroundTruth", Later},
	{"GETCONF", "Type", "INS", Later}, {"GETGEO", "Type", "INS", Later},
	{"GETCONF", "Type", "GPS", Later}, {"GETGEO", "Type", "GPS", Later},
	{"GETCONF", "Type", "VictSensor", Later}, {"GETGEO", "Type", "VictSensor", Later},
	{"INIT", "Start", "", Later}, {"MISPKG", "Link", "", Later},
	{"DRIVE", "Speed", "", Later}, {"DRIVE", "FrontSteer", "", Later}, {"DRIVE", "RearSteer", "", Later},
	{"INIT", "ClassName", "P3AT", Later}, {"INIT", "ClassName", "P3DX", Later}, {"INIT", "ClassName", "Kenaf", Later},
	{"INIT", "ClassName", "Talon", Later}, {"INIT", "ClassName", "Matilda", Later},
	{"INIT", "ClassName", "AirRobot", Later},
	{"ACT", "", "", udk}, {"CONTROL", "", "", udk}, {"GETPATHNODES", "", "", udk}, {"SET", "Type", "Joint", udk},
	{"GETCONF", "Type", "Actuator", udk}, {"GETGEO", "Type", "Actuator", udk},
}

// shows is the dialect that m is a word of; false where all have it.
func (m *Message) shows() (d Dialect, ok bool) {
	for i := range shown {
		s := &shown[i]
		if !m.Is(s.command) {
			continue
		}
		value, has := m.Value(s.name)
		if s.name != "" && !has || s.value != "" && !equal(value, s.value) && !equal(value, "USARBot."+s.value) {
			continue
		}
		if !ok || s.dialect > d {
			d, ok = s.dialect, true
		}
	}
	return d, ok
}

// listen chooses the session's dialect by m, where it may: the first word that only some dialects have decides, and a
// word of one after that raises it. Otherwise the log names a command of another dialect, once each.
func (s *session) listen(m *Message) {
	d, ok := m.shows()
	have := s.dialect.get()
	if !ok || d == have || d > document && d < have {
		s.chosen = s.chosen || ok
		return
	}
	if s.server.options.Choose && (!s.chosen || d > have && have > document) {
		s.chosen = true
		s.dialect.set(d)
		s.log.Info("gamebots: dialect chosen", "dialect", d, "by", string(m.Type))
		s.pace()
		return
	}
	if !s.warned["dialect "+d.String()] {
		s.warned["dialect "+d.String()] = true
		s.log.Warn("gamebots: client speaks another dialect", "command", string(m.Type), "got", d, "served", have,
			"try", "halyard usarsim --dialect "+d.String())
	}
}

// laterInterval is the scan interval of USARSim on UT2004: the 0.2 s of its configuration, rounded up to its next tick.
const laterInterval = 220 * time.Millisecond

// pace lets the robot's scanners read as often as the dialect's did.
func (s *session) pace() {
	k := s.robot.Load()
	if k == nil || !s.dialect.since(Later) {
		return
	}
	s.server.rig.BetweenCycles(k.pace)
}
