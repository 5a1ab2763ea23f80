package odrive

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/motor"
	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// protocol is the protocol of a controller on a serial line.
type protocol struct {
	bus    *emulator.Bus
	servos []*device
	out    []byte // scratch of a reply
	lines  odrivewire.Lines
	words  [8][]byte
	text   []byte // of the answer at hand
}

func (t *protocol) Reset() { t.lines.Reset() }

func (t *protocol) Parse(p []byte, start time.Duration) {
	for fed := 0; fed < len(p); {
		fed += t.lines.Feed(p[fed:])
		if line := t.lines.Line(); line != nil {
			t.execute(line, start+t.bus.WireTime(fed, t.bus.Host()))
		}
	}
}

// split splits a line at its spaces; words after the eighth are ignored.
func (t *protocol) split(line []byte) [][]byte {
	n := 0
	for word := range bytes.FieldsSeq(line) {
		if n == len(t.words) {
			break
		}
		t.words[n] = word
		n++
	}
	return t.words[:n]
}

// execute executes a line.
func (t *protocol) execute(line []byte, now time.Duration) {
	b := t.bus
	b.Update(now)
	words := t.split(line)
	if len(words) == 0 || len(t.servos) == 0 {
		return
	}
	// Without an axis in it a line is for the whole controller.
	s, axis := t.servos[0], -1
	if len(words) > 1 {
		axis = axisOf(words[1])
	}
	for _, other := range t.servos {
		if int64(axis) == other.Get(reg.ID) {
			s = other
		}
	}
	if !b.CanReceive(s.Servo, now) {
		return
	}
	t.text = t.text[:0]
	if axis >= 0 && int64(axis) != s.Get(reg.ID) {
		t.text = append(t.text, "invalid motor"...)
	} else {
		t.single(s, words, now)
		s.Drive()
	}
	if len(t.text) > 0 {
		t.send(s, now)
	}
}

// axisOf is the axis in a word, a digit or the beginning of a property; -1 if it has none.
func axisOf(word []byte) int {
	word = bytes.TrimPrefix(word, []byte("axis"))
	if len(word) == 0 || word[0] < '0' || word[0] > '9' || len(word) > 1 && word[1] != '.' {
		return -1
	}
	return int(word[0] - '0')
}

// argument is the number of a word, 0 if it is invalid or missing.
func argument(words [][]byte, i int) float64 {
	var v [1]float64
	if i < len(words) {
		odrivewire.Numbers(words[i], v[:])
	}
	return v[0]
}

// single executes the command in words and puts the reply, if there is one, into text.
func (t *protocol) single(s *device, words [][]byte, now time.Duration) {
	switch string(words[0]) {
	case "p":
		t.goal(s, odrivewire.PositionControl, argument(words, 2), now)
	case "v":
		t.goal(s, odrivewire.VelocityControl, argument(words, 2), now)
	case "c":
		t.goal(s, odrivewire.TorqueControl, argument(words, 2), now)
	case "u":
		s.Received = now
	case "ss":
		for _, other := range t.servos {
			other.keep(now)
		}
	case "sc":
		for _, other := range t.servos {
			other.clear()
		}
	case "f":
		s.Measure()
		t.number(float64(s.Get(reg.PresentPosition)) / motor.Ticks)
		t.text = append(t.text, ' ')
		t.number(s.SI(reg.PresentVelocity) / (2 * math.Pi))
	case "r":
		if len(words) != 2 || !t.property(s, words[1]) {
			t.text = append(t.text, "invalid property"...)
		}
	case "w":
		if len(words) == 3 {
			s.write(words[1], argument(words, 2))
		}
	default:
		t.text = append(t.text, "unknown command"...)
	}
}

// goal executes a goal command: it sets the control mode and feeds the watchdog.
func (t *protocol) goal(s *device, c odrivewire.Control, v float64, now time.Duration) {
	s.Received = now
	s.control(c)
	s.goal(c, v)
}

// number appends v, whole numbers without a point.
func (t *protocol) number(v float64) {
	places := 6
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		places = 0
	}
	t.text = strconv.AppendFloat(t.text, v, 'f', places, 64)
}

// is reports whether a word names a property of s.
func (s *device) is(word []byte, p odrivewire.Property) bool {
	var room [96]byte
	return bytes.Equal(word, p.Append(room[:0], s.dialect, int(s.Get(reg.ID))))
}

// property answers the question for one; false if no such name exists.
func (t *protocol) property(s *device, word []byte) bool {
	p := odrivewire.FirmwareMajor
	for ; p <= odrivewire.DisarmReasons && !s.is(word, p); p++ {
	}
	s.Measure()
	v := 0.0
	switch p {
	case odrivewire.FirmwareMajor:
	case odrivewire.FirmwareMinor:
		v = float64(t.bus.Firmware([3]int{0, int(s.dialect), 0})[1])
	case odrivewire.BusVolts:
		v = s.SI(reg.PresentVoltage)
	case odrivewire.CurrentState:
		v = float64(s.state())
	case odrivewire.AxisErrors:
		v = float64(s.errors())
	case odrivewire.MotorErrors:
		v = float64(s.motorErrors())
	case odrivewire.EncoderErrors, odrivewire.ControllerErrors, odrivewire.SensorlessErrors, odrivewire.DisarmReasons:
	case odrivewire.IqMeasured:
		v = s.SI(reg.PresentCurrent)
	case odrivewire.CurrentLimit:
		v = s.currentLimit()
	case odrivewire.InputMode:
		v = odrivewire.Passthrough
	case odrivewire.FETCelsius:
		v = s.SI(reg.PresentTemperature)
	case odrivewire.WatchdogTime:
		v = s.SI(reg.Timeout)
	case odrivewire.WatchdogOn:
		v = float64(min(s.Get(reg.Watchdog), 1))
	case odrivewire.HardwareMajor:
		v = float64(s.m.Hardware())
	default:
		var ok bool
		if v, ok = s.other(word); string(word) == "fw_version_revision" {
			v = float64(t.bus.Firmware([3]int{0, int(s.dialect), 6})[2])
		} else if !ok {
			return false
		}
	}
	t.number(v)
	return true
}

// other is the value of a property that only tools read: measurements, and stored values without effect on the motion.
func (s *device) other(word []byte) (float64, bool) {
	name, factor := s.registerOf(word)
	switch name {
	case "present_position":
		return float64(s.Get(reg.PresentPosition)) / motor.Ticks, true
	case "present_velocity":
		return s.SI(reg.PresentVelocity) / factor, true
	}
	v, ok := s.idle[name]
	return v / factor, ok
}

// registerOf is the register of the tools that a property is, and its factor; "" if it is invalid.
func (s *device) registerOf(word []byte) (name string, factor float64) {
	for _, r := range odrive.Parameters() {
		if path, factor := odrive.Path(&r, s.dialect, int(s.Get(reg.ID))); path == string(word) && path != "" {
			return r.Name, factor
		}
	}
	return "", 1
}

// write sets a property. Like the firmware, it ignores an unknown or read-only one.
func (s *device) write(word []byte, v float64) {
	switch {
	case s.is(word, odrivewire.RequestedState):
		s.request(odrivewire.State(v))
	case s.is(word, odrivewire.AxisErrors) && s.dialect == odrivewire.V05 && v == 0:
		s.Expired, s.Stopped = false, false
	case s.is(word, odrivewire.MotorErrors) && s.dialect == odrivewire.V05 && v == 0:
		s.ClearAlarms()
	case s.is(word, odrivewire.CurrentLimit):
		s.SetSI(reg.CurrentLimit, v)
	case s.is(word, odrivewire.WatchdogTime):
		s.SetSI(reg.Timeout, v)
		s.arm(s.Get(reg.Watchdog) > 0)
	case s.is(word, odrivewire.WatchdogOn):
		s.arm(v == 1)
	default:
		name, factor := s.registerOf(word)
		if r := servo.Named(odrive.Parameters(), name); r != nil && r.Access == servo.EEPROM {
			s.idle[name] = v * factor
		}
	}
}

// send sends text as a line.
func (t *protocol) send(s *device, now time.Duration) {
	b := t.bus
	t.out = odrivewire.AppendAnswer(t.out[:0], t.text, t.lines.Sealed)
	// Firmware 0.5.1 and 0.5.2 send a sealed line without its end.
	if n := b.Firmware([3]int{0, 5, 6}); t.lines.Sealed &&
		(b.Quirk(version.NoLineEnd) || n[1] == 5 && (n[2] == 1 || n[2] == 2)) {
		t.out = bytes.TrimRight(t.out, "\r\n")
	}
	sent := b.Transmit(s.Servo, t.out, now, s.Baud())
	if sent.Doubled { // the twin replies with another position
		t.text = append(t.text, '1')
		t.out = odrivewire.AppendAnswer(t.out[:0], t.text, t.lines.Sealed)
		b.Put(t.out, sent.Start, s.Baud())
	}
}
