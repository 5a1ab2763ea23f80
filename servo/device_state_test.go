package servo

import (
	"errors"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

func TestMemberSeesTorque(t *testing.T) {
	for _, c := range []struct {
		name  string
		stage Stage
		seen  bool
		is    Switch
		taken bool
		good  bool
		held  error
		stays Stage
	}{
		{"on as told", TorqueOn, false, On, false, true, nil, TorqueOn},
		{"off before it was seen: try again", TorqueOn, false, Off, false, false, nil, TorqueOff},
		{"off after it was seen", TorqueOn, true, Off, false, false, ErrPowerLost, Inhibited},
		{"taken by an alarm", TorqueOn, true, Off, true, false, ErrLatched, Inhibited},
		{"limp as told", TorqueOff, false, Off, false, false, nil, TorqueOff},
		{"still on", TorqueOff, false, On, false, false, nil, TorqueOff},
	} {
		var m DeviceState
		m.Init("arm", 3, "elbow")
		m.Stage, m.Seen = c.stage, c.seen
		if got := m.SawTorque(c.is, c.taken); got != c.good || m.Stage != c.stays ||
			!errors.Is(m.State.Inhibit, c.held) {
			t.Errorf("%s: got %v, stage %d, %v; want %v, %d, %v", c.name, got, m.Stage, m.State.Inhibit, c.good,
				c.stays, c.held)
		}
		if m.Verify != (c.name == "still on") {
			t.Errorf("%s: verify: got %v", c.name, m.Verify)
		}
	}
	// Torque that is never seen on is given up, until Enable falls.
	var m DeviceState
	m.Init("arm", 3, "elbow")
	for range maxAttempts {
		m.Arm()
		m.SawTorque(Off, false)
	}
	if !errors.Is(m.State.Inhibit, ErrNoTorque) {
		t.Errorf("never on: got %v, want %v", m.State.Inhibit, ErrNoTorque)
	}
	if !m.Release() || m.State.Inhibit != nil || m.Stage != TorqueOff || m.Release() {
		t.Errorf("released: got %v, stage %d", m.State.Inhibit, m.Stage)
	}
}

// An implausible position is accepted when it is reported twice; a plausible one at once.
func TestMemberBelieves(t *testing.T) {
	const turn, speed, ms = 4096, 6, time.Millisecond // 78 ticks in 10 ms at twice its speed, and 32 of noise
	for _, c := range []struct {
		name  string
		ticks []float64 // one each 10 ms, after 2048
		want  []bool
	}{
		{"turns", []float64{2100, 2200, 2100}, []bool{true, true, true}},
		{"leaps once", []float64{2300, 2050, 2050}, []bool{false, true, true}},
		{"was turned", []float64{2300, 2310, 2320}, []bool{false, true, true}},
		{"turns on while it is doubted", []float64{2300, 2380, 2400}, []bool{false, true, true}},
		{"says nonsense", []float64{9000, 100, 2050}, []bool{false, false, true}},
		{"a turn off", []float64{2048 + turn}, []bool{true}},
		{"four turns off", []float64{2048 + 4*turn}, []bool{false}},
	} {
		var m DeviceState
		m.Init("", 1, "")
		if m.State.Position = 2048; !m.Believes(2048, turn, speed, 0) {
			t.Errorf("%s: where it stands", c.name)
		}
		m.State.Time = 0
		for i, ticks := range c.ticks {
			now := time.Duration(i+1) * 10 * ms
			got := m.Believes(ticks, turn, speed, now)
			if got {
				m.State.Position, m.State.Time = ticks, now
			}
			if got != c.want[i] {
				t.Errorf("%s: %g: got %v, want %v", c.name, ticks, got, c.want[i])
			}
		}
	}
	// The first position is accepted; a wheel may be anywhere.
	var m DeviceState
	if m.Init("", 1, ""); !m.Believes(17, turn, speed, 0) {
		t.Error("the first word")
	}
	if m.State.Position, m.Goal.Mode = 0, hal.VelocityMode; !m.Believes(2000, turn, speed, 0) {
		t.Error("a wheel")
	}
}

func TestMemberPosition(t *testing.T) {
	var m DeviceState
	m.Init("", 1, "")
	m.State.Position, m.Goal.Position = 500, 700
	if got := m.Position(false, false, 0, 600); got != 600 {
		t.Errorf("bounded: got %g", got)
	}
	if got := m.Position(false, true, 0, 1000); got != 500 {
		t.Errorf("idle: got %g, want where it stood", got)
	}
	m.State.Position = 480 // it gave way
	if got := m.Position(false, true, 0, 1000); got != 500 {
		t.Errorf("still idle: got %g, want where it stood", got)
	}
	if got := m.Position(true, false, 0, 1000); got != 480 {
		t.Errorf("rest: got %g, want where it is", got)
	}
}

// Torque is not switched on if a servo would jump to its limits; noise and play near the limits do no harm.
func TestMemberOutside(t *testing.T) {
	for _, c := range []struct {
		at      float64
		mode    hal.Mode
		outside bool
	}{
		{500, hal.NoMode, false}, {95, hal.PositionMode, false}, {905, hal.NoMode, false}, {80, hal.NoMode, true},
		{930, hal.PositionMode, true},
		{-4000, hal.VelocityMode, false}, // a wheel
	} {
		var m DeviceState
		m.Init("arm", 3, "elbow")
		m.State.Position, m.Goal.Mode = c.at, c.mode
		err := m.Outside(100, 900, 1024)
		if errors.Is(err, ErrOutOfLimits) != c.outside || c.outside != (err != nil) {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func TestPresence(t *testing.T) {
	var m DeviceState
	var p Presence
	m.Init("arm", 0, "elbow")
	for i := range LostAfter {
		if p.Lost {
			t.Errorf("lost after %d misses", i)
		}
		if !p.Miss(&m, 100, 0) {
			t.Error("silence was not silence")
		}
	}
	if !p.Lost || p.Ask != 100+lostPause || !errors.Is(m.State.Err, ErrLost) {
		t.Errorf("got lost %v, asked at %d, %v", p.Lost, p.Ask, m.State.Err)
	}
	p = Presence{Garbled: true, Misses: 9}
	if p.Miss(&m, 100, 0) || p.Lost || !errors.Is(m.State.Err, ErrCorrupt) {
		t.Errorf("a bad answer: got lost %v, %v", p.Lost, m.State.Err)
	}
	// an adapter may hold replies back for longer than many cycles of a fast line
	p, m.State.Time = Presence{}, time.Second
	for range 5 * LostAfter {
		if p.Miss(&m, 100, time.Second+lostAge-1); p.Lost {
			t.Fatal("lost within the time of a late reply")
		}
	}
	if p.Miss(&m, 100, time.Second+lostAge); !p.Lost {
		t.Error("silent for longer than a late reply: not lost")
	}
	if err := m.Error(hal.Timeout, "halt",
		ErrNoReply); err.Error() != `bus "arm": joint "elbow": id 0: halt: no answer` {
		t.Errorf("got %v", err)
	}
}

func TestClears(t *testing.T) {
	var c clearLimit
	for i := range MaxClears {
		if !c.Allow(time.Duration(i) * time.Minute) {
			t.Errorf("clear %d: refused", i)
		}
	}
	if c.Allow(ClearWindow - 1) {
		t.Error("one too many: allowed")
	}
	if !c.Allow(ClearWindow) || c.Allow(ClearWindow) {
		t.Error("after the window: want one more")
	}
}

// Every encoding, both ways.
func TestRegisterBytes(t *testing.T) {
	for _, c := range []struct {
		encoding Encoding
		size     uint16
		value    int64
		bytes    string
	}{
		{Unsigned, 1, 200, "\xC8"}, {Unsigned, 2, 0x1234, "\x34\x12"}, {Unsigned | BigEndian, 2, 0x1234, "\x12\x34"},
		{Signed, 2, -2, "\xFE\xFF"}, {Signed | BigEndian, 2, -2, "\xFF\xFE"}, {Signed, 1, -10, "\xF6"},
		{Magnitude10, 2, -3, "\x03\x04"}, {Magnitude11, 2, -100, "\x64\x08"}, {Magnitude15, 2, -1000, "\xE8\x83"},
		{Magnitude15 | BigEndian, 2, -1000, "\x83\xE8"}, {Magnitude10, 2, 0, "\x00\x00"},
		{Signed, 4, -1, "\xFF\xFF\xFF\xFF"},
	} {
		r := Reg("x", 0, c.size, RAM, c.encoding, -1<<31, 1<<31, 0, Measure{})
		if got := string(r.Append(nil, c.value)); got != c.bytes {
			t.Errorf("%d as %d: got % X, want % X", c.value, c.encoding, got, c.bytes)
		}
		if got := r.Decode([]byte(c.bytes)); got != c.value {
			t.Errorf("% X as %d: got %d, want %d", c.bytes, c.encoding, got, c.value)
		}
	}
}
