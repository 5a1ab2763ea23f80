package commission_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

func setupOf(bus *emulator.Bus, change func(*commission.Setup)) *commission.Setup {
	s := &commission.Setup{Finder: commission.Finder{Buses: catalog.BuiltinBuses(), Line: bus.Line(), Port: "PORT",
		Bauds: catalog.UsualBauds(),
		Types: []string{"dynamixel2", "dynamixel1"}}, ID: 1, NewID: -1, Note: func(string, ...any) {}}
	change(s)
	return s
}

// state is what the servos of a bus say of their place, as "id@baud".
func state(bus *emulator.Bus) string {
	var text []string
	for _, s := range bus.Servos() {
		id, _ := s.Register("id")
		code, _ := s.Register("baud_rate")
		text = append(text, commission.Place{Baud: dynamixel.ModelByName(s.Name()).Rate(byte(code)),
			ID: int(id)}.String())
	}
	return strings.Join(text, " ")
}

func TestSetup(t *testing.T) {
	arm := []onWire{{"xm430-w350", 1, 57600, 0}, {"xm430-w350", 2, 1000000, 0}, {"ax-12a", 7, 1000000, 0}}
	const before = "1@57600 2@1000000 7@1000000"
	for _, c := range []struct {
		name    string
		wire    []onWire
		change  func(*commission.Setup)
		prepare func(*emulator.Bus)
		kind    hal.Kind // of the error
		say     string
		after   string
	}{
		{"new id", arm, func(s *commission.Setup) { s.NewID = 3 }, nil, 0, "", "3@57600 2@1000000 7@1000000"},
		{"new rate", arm, func(s *commission.Setup) { s.NewBaud = 1000000 }, nil, 0, "",
			"1@1000000 2@1000000 7@1000000"},
		{"both", arm, func(s *commission.Setup) { s.NewID, s.NewBaud = 3, 4000000 }, nil, 0, "",
			"3@4000000 2@1000000 7@1000000"},
		{"protocol 1.0", arm, func(s *commission.Setup) { s.ID, s.NewID, s.NewBaud = 7, 8, 115200 }, nil,
			0, "", "1@57600 2@1000000 8@115200"},
		{"id 0", arm, func(s *commission.Setup) { s.NewID = 0 }, nil, 0, "", "0@57600 2@1000000 7@1000000"},
		{"torque on", arm, func(s *commission.Setup) { s.NewID = 3 },
			func(b *emulator.Bus) { b.Servos()[0].Preset("torque_enable", 1) },
			0, "", "3@57600 2@1000000 7@1000000"},
		{"answers to reads alone", arm, func(s *commission.Setup) { s.NewID = 3 },
			func(b *emulator.Bus) { b.Servos()[0].Preset("status_return", 1) },
			0, "", "3@57600 2@1000000 7@1000000"},
		{"dry run", arm, func(s *commission.Setup) { s.NewID, s.Dry = 3, true }, nil, 0, "", before},
		{"no servo", arm, func(s *commission.Setup) { s.ID, s.NewID = 9, 3 }, nil, hal.Absent, "halyard scan PORT",
			before},
		{"id taken at its rate", arm, func(s *commission.Setup) { s.NewID, s.NewBaud = 2, 1000000 }, nil,
			hal.Unsafe, "id 2 is taken at 1000000 Bd", before},
		{"id taken on the way", []onWire{{"xm430-w350", 1, 57600, 0}, {"xm430-w350", 2, 57600, 0}},
			func(s *commission.Setup) { s.NewID, s.NewBaud = 2, 1000000 }, nil,
			hal.Unsafe, "id 2 is taken at 57600 Bd", "1@57600 2@57600"},
		{"taken by two", []onWire{{"xm430-w350", 1, 57600, 0}, {"xm430-w350", 2, 57600, 0},
			{"xl430-w250", 2, 57600, 0}}, func(s *commission.Setup) { s.NewID = 2 }, nil,
			hal.Unsafe, "taken", "1@57600 2@57600 2@57600"},
		{"two at once", []onWire{{"xm430-w350", 1, 57600, 0}, {"xm430-w350", 1, 57600, 0.3}},
			func(s *commission.Setup) { s.NewID = 3 }, nil,
			hal.Unsafe, "several servos", "1@57600 1@57600"},
		{"two at different rates", []onWire{{"xm430-w350", 1, 57600, 0}, {"xm430-w350", 1, 1000000, 0}},
			func(s *commission.Setup) { s.NewID = 3 }, nil,
			hal.Unsafe, "57600 Bd (dynamixel2) and 1000000 Bd (dynamixel2)", "1@57600 1@1000000"},
		{"which of two is said", []onWire{{"xm430-w350", 1, 57600, 0}, {"xm430-w350", 1, 1000000, 0}},
			func(s *commission.Setup) { s.NewID, s.Bauds = 3, []int{1000000} }, nil,
			0, "", "1@57600 3@1000000"},
		{"EEPROM locked", arm, func(s *commission.Setup) { s.ID, s.NewID = 7, 8 },
			func(b *emulator.Bus) { b.Servos()[2].Preset("lock", 1) },
			hal.Unsafe, "off and on", before},
		{"no such rate", arm, func(s *commission.Setup) { s.NewBaud = 250000 }, nil,
			hal.Invalid, "want a rate of the xm430-w350: 57600, 1000000,", before},
		{"no such id in 2.0", arm, func(s *commission.Setup) { s.NewID = 253 }, nil, hal.Invalid, "0..252", before},
		{"no such register", arm, func(s *commission.Setup) { s.Set = []string{"punch=32"} }, nil, hal.Invalid, "punch",
			before},
		{"a setting that moves it", arm,
			func(s *commission.Setup) { s.Set = []string{"torque_enable=1", "goal_position=100"} }, nil,
			hal.Unsafe, "guard", before},
		{"a setting that loses it", arm, func(s *commission.Setup) { s.Set = []string{"status_return=0"} }, nil,
			hal.Unsafe, "no reads", before},
		{"register out of range", arm, func(s *commission.Setup) { s.Set = []string{"return_delay=255"} }, nil,
			hal.Invalid, "range", before},
	} {
		t.Run(c.name, func(t *testing.T) {
			bus := wireOf(t, emulator.Timing{}, c.wire...)
			if c.prepare != nil {
				c.prepare(bus)
			}
			s := setupOf(bus, c.change)
			err := s.Check(s.NewID >= 0)
			var done *commission.Assignment
			if err == nil {
				done, err = s.Start(t.Context())
			}
			if c.kind == 0 && err != nil ||
				c.kind != 0 && (hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.say)) {
				t.Errorf("got %v, want %v %q", err, c.kind, c.say)
			}
			if got := state(bus); got != c.after {
				t.Errorf("servos: got %s, want %s", got, c.after)
			}
			if c.kind == 0 && done != nil && (done.Done == s.Dry || done.Backup["return_delay"] != 250) {
				t.Errorf("got %+v", done)
			}
		})
	}
}

// A servo whose change breaks off is put back where it was.
func TestSetupRestores(t *testing.T) {
	writes := func(name string, m *dynamixel.Model, p []byte) bool {
		// FF FF FD 00 ID LENL LENH 03 ADDRL ..
		return len(p) > 9 && p[7] == byte(dynamixel.Write) && uint16(p[8]) == m.Register(name).Addr
	}
	run := func(t *testing.T, before func(bus *emulator.Bus, cancel func(), p []byte)) (string, error) {
		bus := wireOf(t, emulator.Timing{}, onWire{"xm430-w350", 1, 57600, 0})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := setupOf(bus, func(s *commission.Setup) {
			s.NewID, s.NewBaud, s.Set = 3, 1000000, []string{"return_delay=0"}
			s.Line = &rigtest.Watched{Line: s.Line, Before: func(p []byte) { before(bus, cancel, p) }}
		})
		if err := s.Check(true); err != nil {
			t.Fatal(err)
		}
		_, err := s.Start(ctx)
		delay, _ := bus.Servos()[0].Register("return_delay")
		if delay != 250 {
			t.Errorf("return delay: got %d, want the 250 of before", delay)
		}
		return state(bus), err
	}
	m := dynamixel.ModelByName("xm430-w350")
	t.Run("interrupted", func(t *testing.T) {
		after, err := run(t, func(_ *emulator.Bus, cancel func(), p []byte) {
			if writes("id", m, p) {
				cancel()
			}
		})
		if after != "1@57600" || err == nil {
			t.Errorf("got %s, %v", after, err)
		}
	})
	t.Run("lost write", func(t *testing.T) {
		after, err := run(t, func(_ *emulator.Bus, _ func(), p []byte) {
			if writes("baud_rate", m, p) && p[10] == 3 {
				p[len(p)-1] ^= 0xFF // the servo does not hear it
			}
		})
		if after != "1@57600" || hal.KindOf(err) != hal.Timeout {
			t.Errorf("got %s, %v", after, err)
		}
	})
	t.Run("lost once", func(t *testing.T) {
		bus := wireOf(t, emulator.Timing{}, onWire{"xm430-w350", 1, 57600, 0})
		lost := map[string]bool{}
		s := setupOf(bus, func(s *commission.Setup) {
			s.NewID, s.NewBaud = 3, 1000000
			s.Line = &rigtest.Watched{Line: s.Line, Before: func(p []byte) {
				for _, name := range []string{"id", "baud_rate", "torque_enable"} {
					if writes(name, m, p) && !lost[name] {
						lost[name] = true
						p[len(p)-1] ^= 0xFF
					}
				}
				if len(p) > 7 && p[7] == byte(dynamixel.Read) && !lost["read"] {
					lost["read"] = true
					p[len(p)-1] ^= 0xFF
				}
			}}
		})
		if _, err := s.Start(t.Context()); err != nil || state(bus) != "3@1000000" || len(lost) != 4 {
			t.Errorf("got %s, %v, %v", state(bus), err, lost)
		}
	})
	t.Run("gone", func(t *testing.T) {
		bus := wireOf(t, emulator.Timing{}, onWire{"xm430-w350", 1, 57600, 0})
		s := setupOf(bus, func(s *commission.Setup) {
			s.NewID = 3
			s.Line = &rigtest.Watched{Line: s.Line, Before: func(p []byte) {
				if writes("id", m, p) {
					bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 1, P: 1})
				}
			}}
		})
		if _, err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "not where it was") ||
			!strings.Contains(err.Error(), "halyard scan PORT") {
			t.Errorf("got %v", err)
		}
	})
}

func TestSetupBackup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servo1.json")
	bus := wireOf(t, emulator.Timing{}, onWire{"xm430-w350", 1, 57600, 0})
	s := setupOf(bus, func(s *commission.Setup) { s.NewID, s.Backup = 3, file })
	if _, err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Model     string
		ID        int
		Registers map[string]int64
	}
	if err := json.Unmarshal(data, &saved); err != nil || saved.Model != "xm430-w350" || saved.ID != 1 ||
		saved.Registers["id"] != 1 || saved.Registers["max_position"] != 4095 || len(saved.Registers) < 40 {
		t.Errorf("got %+v, %v", saved, err)
	}
	// An older backup is never written over, and without one nothing is changed.
	s = setupOf(bus, func(s *commission.Setup) { s.ID, s.NewID, s.Backup = 3, 4, file })
	if _, err := s.Start(t.Context()); hal.KindOf(err) != hal.Invalid || state(bus) != "3@57600" {
		t.Errorf("got %v, %s", err, state(bus))
	}
}
