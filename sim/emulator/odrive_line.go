package emulator

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
)

// odriveProtocol is what a controller understands on a serial line.
type odriveProtocol struct {
	bus   *Bus
	lines odrive.Lines
	words [8][]byte
	text  []byte // of the answer at hand
}

func (t *odriveProtocol) reset() { t.lines.Reset() }

func (t *odriveProtocol) parse(p []byte, start time.Duration) {
	for fed := 0; fed < len(p); {
		fed += t.lines.Feed(p[fed:])
		if line := t.lines.Line(); line != nil {
			t.execute(line, start+t.bus.path.Time(fed, t.bus.host))
		}
	}
}

// split cuts a line at its spaces; what is behind the eighth word is left out.
func (t *odriveProtocol) split(line []byte) [][]byte {
	n := 0
	for len(line) > 0 && n < len(t.words) {
		word := line
		end := bytes.IndexByte(line, ' ')
		if line = nil; end >= 0 {
			word, line = word[:end], word[end+1:]
		}
		if len(word) > 0 {
			t.words[n] = word
			n++
		}
	}
	return t.words[:n]
}

// execute does what a line says.
func (t *odriveProtocol) execute(line []byte, now time.Duration) {
	b := t.bus
	b.update(now)
	words := t.split(line)
	if len(words) == 0 || len(b.servos) == 0 {
		return
	}
	// Without an axis in it a line is for the whole controller.
	s, axis := b.servos[0], -1
	if len(words) > 1 {
		axis = axisOf(words[1])
	}
	for _, other := range b.servos {
		if int64(axis) == other.get(rID) {
			s = other
		}
	}
	if !b.canReceive(s, now) {
		return
	}
	t.text = t.text[:0]
	if axis >= 0 && int64(axis) != s.get(rID) {
		t.text = append(t.text, "invalid motor"...)
	} else {
		t.single(s.kind.(*odriveKind), s, words, now)
		s.drive()
	}
	if len(t.text) > 0 {
		t.send(s, now)
	}
}

// axisOf is the axis that a word names, a bare digit or the beginning of a property; -1 where it names none.
func axisOf(word []byte) int {
	word = bytes.TrimPrefix(word, []byte("axis"))
	if len(word) == 0 || word[0] < '0' || word[0] > '9' || len(word) > 1 && word[1] != '.' {
		return -1
	}
	return int(word[0] - '0')
}

// argument is the number of a word, 0 where it is none or missing.
func argument(words [][]byte, i int) float64 {
	var v [1]float64
	if i < len(words) {
		odrive.Numbers(words[i], v[:])
	}
	return v[0]
}

// single does what words say and puts the answer, where there is one, into text.
func (t *odriveProtocol) single(k *odriveKind, s *Servo, words [][]byte, now time.Duration) {
	switch string(words[0]) {
	case "p":
		t.goal(k, s, odrive.PositionControl, argument(words, 2), now)
	case "v":
		t.goal(k, s, odrive.VelocityControl, argument(words, 2), now)
	case "c":
		t.goal(k, s, odrive.TorqueControl, argument(words, 2), now)
	case "u":
		s.heard = now
	case "ss":
		for _, other := range t.bus.servos {
			other.kind.(*odriveKind).keep(other, now)
		}
	case "sc":
		for _, other := range t.bus.servos {
			k.clear(other)
		}
	case "f":
		s.measure()
		t.number(float64(s.get(rPresentPosition)) / motorTicks)
		t.text = append(t.text, ' ')
		t.number(s.si(rPresentVelocity) / (2 * math.Pi))
	case "r":
		if len(words) != 2 || !t.property(k, s, words[1]) {
			t.text = append(t.text, "invalid property"...)
		}
	case "w":
		if len(words) == 3 {
			k.write(s, words[1], argument(words, 2))
		}
	default:
		t.text = append(t.text, "unknown command"...)
	}
}

// goal is a command that tells a goal: it says which sort, too, and that the host is there.
func (t *odriveProtocol) goal(k *odriveKind, s *Servo, c odrive.Control, v float64, now time.Duration) {
	s.heard = now
	k.control(s, c)
	k.goal(s, c, v)
}

// number appends v, whole numbers without a point.
func (t *odriveProtocol) number(v float64) {
	places := 6
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		places = 0
	}
	t.text = strconv.AppendFloat(t.text, v, 'f', places, 64)
}

// is reports whether a word names a property of s.
func (k *odriveKind) is(s *Servo, word []byte, p odrive.Property) bool {
	var room [96]byte
	return bytes.Equal(word, p.Append(room[:0], k.dialect, int(s.get(rID))))
}

// property answers the question for one; false where there is none of that name.
func (t *odriveProtocol) property(k *odriveKind, s *Servo, word []byte) bool {
	p := odrive.FirmwareMajor
	for ; p <= odrive.HardwareMajor && !k.is(s, word, p); p++ {
	}
	s.measure()
	v := 0.0
	switch p {
	case odrive.FirmwareMajor:
	case odrive.FirmwareMinor:
		v = float64(k.dialect)
	case odrive.BusVolts:
		v = s.si(rPresentVoltage)
	case odrive.CurrentState:
		v = float64(k.state(s))
	case odrive.AxisErrors:
		v = float64(k.errors(s))
	case odrive.IqMeasured:
		v = s.si(rPresentCurrent)
	case odrive.CurrentLimit:
		if v = s.si(rCurrentLimit); s.get(rCurrentLimit) == math.MaxInt32 { // as it comes
			v = k.amps
		}
	case odrive.InputMode:
		v = odrive.Passthrough
	case odrive.FETCelsius:
		v = s.si(rPresentTemperature)
	case odrive.WatchdogTime:
		v = s.si(rTimeout)
	case odrive.WatchdogOn:
		v = float64(min(s.get(rWatchdog), 1))
	case odrive.HardwareMajor:
		v = float64(k.m.Hardware())
	default:
		var ok bool
		if v, ok = k.other(s, word); !ok {
			return false
		}
	}
	t.number(v)
	return true
}

// other is the value of a property that only tools ask for: what is measured, and what is kept and moves nothing.
func (k *odriveKind) other(s *Servo, word []byte) (float64, bool) {
	name, factor := k.named(s, word)
	switch name {
	case "present_position":
		return float64(s.get(rPresentPosition)) / motorTicks, true
	case "present_velocity":
		return s.si(rPresentVelocity) / factor, true
	}
	v, ok := k.idle[name]
	return v / factor, ok
}

// named is the register of the tools that a property is, and its factor; "" where it is none.
func (k *odriveKind) named(s *Servo, word []byte) (name string, factor float64) {
	for _, r := range odrive.Parameters() {
		if path, factor := odrive.Path(&r, k.dialect, int(s.get(rID))); path == string(word) && path != "" {
			return r.Name, factor
		}
	}
	return "", 1
}

// write sets a property; what is none, or cannot be written, is let pass, as the firmware does.
func (k *odriveKind) write(s *Servo, word []byte, v float64) {
	switch {
	case k.is(s, word, odrive.RequestedState):
		k.request(s, odrive.State(v))
	case k.is(s, word, odrive.CurrentLimit):
		s.setSI(rCurrentLimit, v)
	case k.is(s, word, odrive.WatchdogTime):
		s.setSI(rTimeout, v)
		k.arm(s, s.get(rWatchdog) > 0)
	case k.is(s, word, odrive.WatchdogOn):
		k.arm(s, v == 1)
	default:
		name, factor := k.named(s, word)
		if r := servo.Named(odrive.Parameters(), name); r != nil && r.Access == servo.EEPROM {
			k.idle[name] = v * factor
		}
	}
}

// send sends text as a line.
func (t *odriveProtocol) send(s *Servo, now time.Duration) {
	b := t.bus
	b.packet = odrive.AppendAnswer(b.packet[:0], t.text, t.lines.Sealed)
	sent := b.transmit(s, b.packet, now, s.baud())
	if sent.doubled { // the twin stands on the other side
		t.text = append(t.text, '1')
		b.packet = odrive.AppendAnswer(b.packet[:0], t.text, t.lines.Sealed)
		b.path.Put(b.packet, sent.start, s.baud())
	}
}
