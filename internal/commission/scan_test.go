package commission_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	emudynamixel "github.com/halyard-robotics/halyard/internal/emulator/dynamixel"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// onWire describes a servo of a test's bus.
type onWire struct {
	model string
	id    int
	baud  int
	angle float64
}

// wireOf is a bus in memory with servos at their own rates.
func wireOf(t *testing.T, timing emulator.Timing, list ...onWire) *emulator.Bus {
	t.Helper()
	var servos []*emulator.Servo
	for _, w := range list {
		spec, ok := actuator.Lookup(w.model)
		if !ok {
			t.Fatalf("no actuator %s", w.model)
		}
		act := actuator.NewServo(spec)
		act.Reset(w.angle)
		servos = append(servos, emudynamixel.New(dynamixel.ModelByName(w.model), w.id, act, emulator.GroundTruth{}))
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "test", Baud: 1000000, Timing: timing}, servos...)
	for i, w := range list {
		code, ok := dynamixel.ModelByName(w.model).BaudCode(w.baud)
		if !ok || !servos[i].Preset("baud_rate", int64(code)) {
			t.Fatalf("%s: no rate %d", w.model, w.baud)
		}
	}
	return bus
}

// brief is "id model baud finding?" of each row.
func brief(rows []commission.FoundServo) string {
	var b strings.Builder
	for _, r := range rows {
		mark := ""
		if r.Finding != "" {
			mark = "!"
		}
		fmt.Fprintf(&b, "%d %s %d%s; ", r.ID, r.Model, r.Baud, mark)
	}
	return b.String()
}

func TestSurvey(t *testing.T) {
	mixed := []onWire{{"xm430-w350", 1, 1000000, 0}, {"ax-12a", 7, 115200, 0}, {"xl430-w250", 2, 57600, 0},
		{"ax-12a", 0, 1000000, 0}, {"xm430-w350", 252, 1000000, 0}, {"mx-28", 253, 9600, 0}}
	const all = "2 xl430-w250 57600; 1 xm430-w350 1000000; 252 xm430-w350 1000000; 0 ax-12a 1000000; 7 ax-12a " +
		"115200; 253 mx-28 9600; "
	for _, c := range []struct {
		name   string
		timing emulator.Timing
		wire   []onWire
		want   string
	}{
		{"every rate and protocol", emulator.Timing{}, mixed, all},
		{"echo", emulator.Timing{Echo: true}, mixed, all},
		{"FTDI with factory settings", emulator.FTDI(16 * time.Millisecond), mixed[:4],
			"2 xl430-w250 57600; 1 xm430-w350 1000000; 0 ax-12a 1000000; 7 ax-12a 115200; "},
		{"equal servos on one id", emulator.Timing{},
			[]onWire{{"xm430-w350", 3, 1000000, 0}, {"xm430-w350", 3, 1000000, 0.5}},
			"3 xm430-w350 1000000!; "},
		{"others on one id", emulator.Timing{}, []onWire{{"xm430-w350", 3, 1000000, 0}, {"xl430-w250", 3, 1000000, 0},
			{"xl430-w250", 4, 1000000, 0}},
			"3  1000000!; 4 xl430-w250 1000000; "},
		{"one id in protocol 1.0", emulator.Timing{}, []onWire{{"ax-12a", 3, 1000000, 0}, {"ax-12a", 3, 1000000, 0.5}},
			"3 ax-12a 1000000!; "},
		{"no servo", emulator.Timing{}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rigtest.SurveyOf(wireOf(t, c.timing, c.wire...).Line())
			s.Latency = c.timing.Latency
			rows, err := s.Run(t.Context())
			if got := brief(rows); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// Two servos on one id that answer one after the other are two, in either protocol.
func TestSurveyTwins(t *testing.T) {
	for _, model := range []string{"xm430-w350", "ax-12a"} {
		bus := wireOf(t, emulator.Timing{}, onWire{model, 3, 1000000, 0}, onWire{model, 3, 1000000, 0})
		bus.Servos()[1].Preset("return_delay", 0)
		s := rigtest.SurveyOf(bus.Line())
		s.Bauds = []int{1000000}
		if rows, err := s.Run(t.Context()); err != nil || len(rows) != 1 ||
			rows[0].Finding != commission.CollisionText {
			t.Errorf("%s: got %+v, %v, want one row with a finding", model, rows, err)
		}
	}
}

// What a scan says of a servo, and what it promises of time.
func TestSurveyRow(t *testing.T) {
	bus := wireOf(t, emulator.Timing{}, onWire{"xm430-w350", 1, 1000000, 0})
	bus.Servos()[0].Preset("firmware", 38)
	s := rigtest.SurveyOf(bus.Line())
	s.Bauds = []int{1000000}
	rows, err := s.Run(t.Context())
	want := commission.FoundServo{Port: "PORT", Baud: 1000000, Type: "dynamixel2", ID: 1, Model: "xm430-w350",
		Number: 1020, Firmware: "38", Voltage: 12}
	if err != nil || len(rows) != 1 || rows[0] != want {
		t.Errorf("got %+v, %v, want %+v", rows, err, want)
	}
	bus.Servos()[0].Preset("status_return", 0)
	if rows, _ := s.Run(t.Context()); len(rows) != 1 || !strings.Contains(rows[0].Finding, "status return level") {
		t.Errorf("a servo that answers no reads: got %+v", rows)
	}
	for _, protocol := range []string{"dynamixel1", "dynamixel2"} {
		for _, baud := range catalog.UsualBauds() {
			s := rigtest.SurveyOf(wireOf(t, emulator.Timing{}).Line())
			s.Bauds, s.Types = []int{baud}, []string{protocol}
			if !commission.Possible(catalog.BuiltinBuses(), protocol, baud) {
				continue
			}
			start := s.Line.Now()
			if _, err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			took, promised := s.Line.Now()-start, s.Estimate(baud, protocol)
			if took > promised*11/10 || took < promised/2 {
				t.Errorf("%d Bd, protocol %s: took %v, promised %v", baud, protocol, took, promised)
			}
		}
	}
}

func TestSurveyEnds(t *testing.T) {
	bus := wireOf(t, emulator.Timing{}, onWire{"xm430-w350", 1, 57600, 0})
	ctx, cancel := context.WithCancel(t.Context())
	s := rigtest.SurveyOf(bus.Line())
	s.Note = func(format string, args ...any) {
		if strings.Contains(fmt.Sprintf(format, args...), "xm430-w350 x1") {
			cancel()
		}
	}
	if rows, err := s.Run(ctx); len(rows) != 1 || err != context.Canceled {
		t.Errorf("interrupted: got %d rows, %v, want the one found", len(rows), err)
	}
	if err := bus.Fault(wire.Fault{Kind: wire.Unplugged, Target: wire.All, P: 1, From: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	s = rigtest.SurveyOf(bus.Line())
	if rows, err := s.Run(t.Context()); hal.KindOf(err) != hal.Absent && err == nil {
		t.Errorf("unplugged: got %d rows, %v, want absent", len(rows), err)
	}
	if err := s.Silence(); hal.KindOf(err) != hal.BusFault || !strings.Contains(err.Error(), "power") ||
		!strings.Contains(err.Error(), "halyard ports") {
		t.Errorf("silence: got %v", err)
	}
	if got := commission.Spans([]int{1, 2, 3, 20, 30, 31}); got != "1-3, 20, 30-31" {
		t.Errorf("spans: got %q", got)
	}
}

// doubling is a line on which two servos answer each question. Every third of the second answers is lost, beginning
// with the one numbered lost; or all of them come with the next answer.
type doubling struct {
	servo.Line
	lost  int // negative: none is lost
	late  bool
	count int
	queue []byte
	next  []byte
}

func (d *doubling) Read(p []byte, wait time.Duration) (int, error) {
	if len(d.queue) > 0 {
		n := copy(p, d.queue)
		d.queue = d.queue[n:]
		return n, nil
	}
	n, err := d.Line.Read(p, wait)
	for more := n; more > 0; n += more {
		more, _ = d.Line.Read(p[n:], time.Millisecond)
	}
	if n == 0 {
		return n, err
	}
	d.queue, d.next = d.next, nil
	if d.late {
		d.next = append(d.next, p[:n]...)
	} else if d.lost < 0 || d.count%3 != d.lost {
		d.queue = append(d.queue, p[:n]...)
	}
	d.count++
	return n, nil
}

// Two servos are seen although a second answer is lost, or all come late.
func TestDoubled(t *testing.T) {
	for _, c := range everyBrand() {
		for _, d := range []doubling{{lost: -1}, {lost: 0}, {lost: 1}, {lost: 2}, {late: true}} {
			bus := rigtest.BrandBus(t, c.kind, c.model, c.baud, 3)
			d.Line = bus.Line()
			row := catalog.BuiltinBuses().Of(c.kind)
			tool, err := commission.NewTool(d.Line, catalog.BuiltinBuses().Of(c.kind), servo.ToolConfig{Bus: "PORT"})
			if err != nil {
				t.Fatal(err)
			}
			two, err := commission.Doubled(&d, tool, row.Lookup(c.model), 3, 4*time.Millisecond)
			if err != nil || !two {
				t.Errorf("%s, lost %d, late %v: got %v, %v, want two servos", c.model, d.lost, d.late, two, err)
			}
			two, err = commission.Doubled(d.Line, tool, row.Lookup(c.model), 3, 4*time.Millisecond)
			if err != nil || two {
				t.Errorf("%s: got %v, %v, want one servo", c.model, two, err)
			}
		}
	}
}
