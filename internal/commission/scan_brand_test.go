package commission_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

func TestScanOfBrands(t *testing.T) {
	for _, c := range []struct {
		kind, model string
		baud        int
		types       []string
		want        string
	}{
		// Asked as a Dynamixel it answers, and says then what it is.
		{"feetech", "sts3215", 500000, []string{"dynamixel2", "dynamixel1"}, "3 sts3215 500000; 7 sts3215 500000; "},
		{"feetech", "scs0009", 1000000, []string{"feetech"}, "3 scs0009 1000000; 7 scs0009 1000000; "},
		{"hiwonder", "lx-16a", 115200, []string{"hiwonder"}, "3 lx-16a 115200; 7 lx-16a 115200; "},
		{"kondo", "krs-2552", 1250000, []string{"kondo"}, "3  1250000!; 7  1250000!; "},
	} {
		s := rigtest.SurveyOf(rigtest.BrandBus(t, c.kind, c.model, c.baud, 3, 7).Line())
		s.Types, s.Bauds = c.types, []int{1000000, 1250000, 500000, 115200}
		rows, err := s.Run(t.Context())
		if got := brief(rows); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.model, got, err, c.want)
		}
		for _, r := range rows {
			if r.Type != c.kind {
				t.Errorf("%s: got type %q", c.model, r.Type)
			}
		}
	}
}

// Without being told anything, a scan finds every vendor, at every rate that it has.
func TestScanFindsEveryBrand(t *testing.T) {
	for _, c := range append(everyBrand(), brandCase{"feetech", "sts3215", 38400},
		brandCase{"feetech", "scs0009", 76800},
		brandCase{"feetech", "sts3250", 128000}, brandCase{"kondo", "krs-2552", 1250000},
		brandCase{"kondo", "krs-2552", 625000},
		brandCase{"dynamixel2", "xl-320", 9600}, brandCase{"dynamixel1", "ax-12a", 19200}) {
		s := rigtest.SurveyOf(rigtest.BrandBus(t, c.kind, c.model, c.baud, 3).Line())
		s.Types = allTypes()
		rows, err := s.Run(t.Context())
		if err != nil || len(rows) != 1 || rows[0].Type != c.kind || rows[0].Baud != c.baud || rows[0].ID != 3 {
			t.Errorf("%s at %d: got %+v, %v", c.model, c.baud, rows, err)
		}
	}
}

func TestSetupOfBrands(t *testing.T) {
	for _, c := range []struct {
		name, kind, model string
		baud              int
		change            func(s *commission.Setup)
		want              string // id@baud of all, or a part of the error
	}{
		{"id", "feetech", "sts3215", 1000000, func(s *commission.Setup) { s.NewID = 9 }, "9@1000000"},
		{"id and rate", "feetech", "sts3250", 1000000, func(s *commission.Setup) { s.NewID, s.NewBaud = 9, 500000 },
			"9@500000"},
		{"id", "hiwonder", "lx-16a", 115200, func(s *commission.Setup) { s.NewID = 9 }, "9@115200"},
		{"id", "kondo", "krs-2552", 1250000, func(s *commission.Setup) { s.NewID = 9 }, "9@1250000"},
		{"absent", "feetech", "sts3215", 1000000, func(s *commission.Setup) { s.ID, s.NewID = 4, 9 },
			"no servo answers"},
		{"the same", "kondo", "krs-2552", 1250000, func(s *commission.Setup) { s.NewID = 40 }, "want 0..31"},
		{"a rate it has not", "hiwonder", "lx-16a", 115200, func(s *commission.Setup) { s.NewBaud = 1000000 },
			"does not support"},
		{"no such register", "feetech", "sts3215", 1000000, func(s *commission.Setup) {
			s.NewID, s.Writes = 9, []servo.Setting{{Register: "nonsense", Value: 1}}
		}, "no such register"},
		{"a setting that moves it", "hiwonder", "lx-16a", 115200, func(s *commission.Setup) {
			s.Writes = []servo.Setting{{Register: "motor_mode", Value: 1}}
		}, "guard"},
	} {
		bus := rigtest.BrandBus(t, c.kind, c.model, c.baud, 3)
		s := &commission.Setup{Finder: commission.Finder{Buses: catalog.BuiltinBuses(), Line: bus.Line(), Port: "PORT",
			Bauds: []int{115200, 1000000, 1250000}, Types: []string{c.kind}}, ID: 3, NewID: -1,
			Note: func(string, ...any) {}}
		c.change(s)
		done, err := s.Start(t.Context())
		one := bus.Servos()[0]
		id, _ := one.Register("id")
		got := fmt.Sprint(id, "@", c.baud)
		if code, ok := one.Register("baud_rate"); ok && c.kind == "feetech" {
			got = fmt.Sprint(id, "@", map[int64]int{0: 1000000, 1: 500000}[code])
		}
		if got = strings.ReplaceAll(got, " ", ""); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && (done == nil || !done.Done || len(done.Backup) == 0) {
			t.Errorf("%s %s: got %q, %+v; want %q", c.model, c.name, got, done, c.want)
		}
		// In every case the EEPROM is locked again.
		if v, ok := one.Register("lock"); ok && v != 1 {
			t.Errorf("%s %s: the lock is open", c.model, c.name)
		}
	}
	// A taken id is refused.
	bus := rigtest.BrandBus(t, "feetech", "sts3215", 1000000, 3, 9)
	s := &commission.Setup{Finder: commission.Finder{Buses: catalog.BuiltinBuses(), Line: bus.Line(),
		Bauds: []int{1000000},
		Types: []string{"feetech"}}, ID: 3, NewID: 9, Note: func(string, ...any) {}}
	if _, err := s.Start(t.Context()); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("taken: got %v", err)
	}
}

// A servo of another vendor whose change breaks off is where it was, as it was, and locked; what is lost once is sent
// again.
func TestSetupOfBrandsRestores(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    brandCase
		baud  int                                  // new; 0 = keep
		spoil func(n int, p []byte, cancel func()) // the n-th writing of a command that changes something
		want  string
		kind  hal.Kind
	}{
		{"interrupted", brandCase{"feetech", "sts3215", 1000000}, 500000, func(n int, p []byte, cancel func()) {
			if isWrite(p, 5) {
				cancel()
			}
		}, "3@1000000", hal.Unexpected},
		{"rate lost", brandCase{"feetech", "sts3215", 1000000}, 500000, func(n int, p []byte, cancel func()) {
			if isWrite(p, 6) && p[6] == 1 {
				p[len(p)-1] ^= 0xFF
			}
		}, "3@1000000", hal.Timeout},
		{"lost once", brandCase{"feetech", "sts3215", 1000000}, 500000, func(n int, p []byte, cancel func()) {
			if n == 1 || n == 4 {
				p[len(p)-1] ^= 0xFF
			}
		}, "9@500000", hal.Unexpected},
		{"id lost once", brandCase{"hiwonder", "lx-16a", 115200}, 0, func(n int, p []byte, cancel func()) {
			if n == 1 {
				p[len(p)-1] ^= 0xFF
			}
		}, "9@0", hal.Unexpected},
	} {
		t.Run(c.name+" "+c.of.model, func(t *testing.T) {
			bus := rigtest.BrandBus(t, c.of.kind, c.of.model, c.of.baud, 3)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			line := &rigtest.Watched{Line: bus.Line(), Before: func(p []byte) {
				if isWrite(p, 5) || isWrite(p, 6) || isWrite(p, 7) || len(p) > 4 && p[0] == 0x55 && p[4] == 13 {
					n++
					c.spoil(n, p, cancel)
				}
			}}
			s := &commission.Setup{Finder: commission.Finder{Buses: catalog.BuiltinBuses(), Line: line, Port: "PORT",
				Bauds: []int{c.of.baud},
				Types: allTypes()}, ID: 3, NewID: 9,
				NewBaud: c.baud, Note: func(string, ...any) {}}
			if c.of.kind == "feetech" {
				s.Writes = []servo.Setting{{Register: "return_delay", Value: 10}}
			}
			_, err := s.Start(ctx)
			one := bus.Servos()[0]
			id, _ := one.Register("id")
			rate, lock, delay := 0, int64(1), int64(0)
			if code, ok := one.Register("baud_rate"); ok {
				rate = map[int64]int{0: 1000000, 1: 500000}[code]
				lock, _ = one.Register("lock")
				delay, _ = one.Register("return_delay")
			}
			undone := strings.HasPrefix(c.want, "3@")
			if got := fmt.Sprintf("%d@%d", id, rate); got != c.want || lock != 1 || undone && delay != 0 ||
				(err != nil) != undone || hal.KindOf(err) != c.kind && c.kind != hal.Unexpected {
				t.Errorf("got %s, lock %d, delay %d, %v; want %s, locked", got, lock, delay, err, c.want)
			}
		})
	}
}

// isWrite tells a Feetech packet that writes from addr on.
func isWrite(p []byte, addr byte) bool {
	return len(p) > 6 && p[0] == 0xFF && p[4] == 3 && p[5] == addr
}

// With a short timeout a late answer is still assigned to the id that was asked.
func TestScanOfLateAnswers(t *testing.T) {
	for _, c := range everyBrand() {
		if c.kind == "dynamixel2" { // all are asked at once, with time
			continue
		}
		for _, late := range []string{"", "slow servo 3 by=8ms", "slow bus by=8ms", "slow bus by=11ms",
			"slow servo 4 by=8ms p=0.5"} {
			bus := rigtest.BrandBus(t, c.kind, c.model, c.baud, 3, 4, 7)
			if late != "" {
				f, err := wire.Parse(late)
				if err == nil {
					err = bus.Fault(f)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			s := rigtest.SurveyOf(bus.Line())
			s.Bauds, s.Types, s.Latency, s.Hurry = []int{c.baud}, []string{c.kind}, 50*time.Millisecond,
				4*time.Millisecond
			rows, err := s.Run(t.Context())
			var ids []int
			for _, r := range rows {
				if ids = append(ids, r.ID); r.Type != c.kind || r.Finding == commission.CollisionText {
					t.Errorf("%s, %s: got %+v", c.model, late, r)
				}
			}
			if err != nil || !slices.Equal(ids, []int{3, 4, 7}) {
				t.Errorf("%s, %s: got %v, %v; want 3, 4, 7", c.model, late, ids, err)
			}
		}
	}
}
