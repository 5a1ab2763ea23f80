// Package budget predicts how long the cycle of each bus of a config takes, before there is any hardware. It opens
// nothing: the drivers run over emulated servos in virtual time, as in halyard bench wire.
package budget

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/supervise"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Options replace what the config says of its adapters and how servos are read. The zero Options replace nothing.
type Options struct {
	Adapter string // one of Adapters
	Read    string // one of Reads
}

// adapters are what --adapter names, with the USB frame; an FTDI chip has a latency timer, too.
var adapters = []struct {
	name  string
	frame time.Duration
	timer bool
}{
	{"config", 0, false}, {"ideal", 0, false}, {"high-speed", 125 * time.Microsecond, false},
	{"full-speed", time.Millisecond, false},
	{"ftdi-high-speed", 125 * time.Microsecond, true}, {"ftdi-full-speed", time.Millisecond, true},
}

// Adapters are the words for an adapter: as the config's timing, none, USB at high or full speed, and FTDI chips, whose
// latency timer is the bus's latency.
func Adapters() (names []string) {
	for _, a := range adapters {
		names = append(names, a.name)
	}
	return names
}

// Reads are the words for how servos are read: as the driver does it, not faster than a sync read, each by itself.
func Reads() []string { return []string{"auto", "sync", "single"} }

// Bus is the budget of one bus. Times are of a cycle in which all servos are written and read.
type Bus struct {
	Bus    string        `json:"bus"`
	Type   string        `json:"type"`
	Baud   int           `json:"baud"`
	Servos int           `json:"servos"`
	Bytes  int           `json:"bytes"` // on the wire, mean
	Period report.Number `json:"period_ms"`
	Cycle  report.Number `json:"cycle_ms"`   // mean
	Most   report.Number `json:"max_ms"`     // longest
	Rate   report.Number `json:"rate_hz"`    // of back-to-back cycles
	Wire   report.Number `json:"wire_share"` // of the period in which bytes are on the wire
	// Latency is the age of a joint's position when the goal computed from it has arrived, where the controller takes
	// no time: the longest cycle. A client that answers in the next period adds one.
	Latency report.Number `json:"latency_ms"`
	Margin  report.Number `json:"margin"` // 1 - max/period; negative: the period cannot be met
	Met     bool          `json:"met"`
	// Span is how many periods an exchange of a real line takes on the average: its joints have new values that often,
	// and the rest of the rig keeps its period.
	Span int `json:"cycles"`
	// Every is between two values of a joint, on the average: an exchange begins with a period. It is that of an
	// emulated line; a real one is as slow as its slow exchanges.
	Every report.Number `json:"every_ms"`
	// Hang is when torque is off at the latest after the last cycle of a process that hangs, where the line is real:
	// halyard serve runs a supervisor.
	Hang    report.Number `json:"hang_ms"`
	Changes []string      `json:"changes"` // each by itself meets the period with Reserve
	Note    string        `json:"note,omitempty"`

	silence silence
}

// Reserve is the share of the period that a good plan leaves free.
const Reserve = 0.2

func (b Bus) Cells() report.Cells {
	what := strings.Join(b.Changes, "; ")
	if b.Note != "" {
		what = b.Note
	}
	return report.Cells{{"bus", b.Bus}, {"type", b.Type}, {"baud", b.Baud}, {"servos", b.Servos}, {"bytes", b.Bytes},
		{"period ms", b.Period}, {"cycle ms", b.Cycle}, {"max ms", b.Most}, {"rate Hz", b.Rate}, {"wire share", b.Wire},
		{"latency ms", b.Latency}, {"margin", b.Margin}, {"cycles", b.Span}, {"every ms", b.Every}, {"hang ms", b.Hang},
		{"changes that meet the period", what}}
}

// Warning is one sentence about a bus that does not meet its period or has little reserve; "" where it is well.
func (b *Bus) Warning() string {
	if b.Servos == 0 || float64(b.Margin) >= Reserve {
		return ""
	}
	how := "leaves little of"
	if !b.Met {
		how = "does not fit into"
	}
	rate := ""
	switch most := hal.MaxPace(time.Duration(float64(b.Period) * float64(time.Millisecond))); {
	case b.Span > most:
		rate = fmt.Sprintf(": the cycle waits for it beyond %d periods", most)
	case b.Span > 1:
		rate = fmt.Sprintf(": its joints have new values every %d periods", b.Span)
	}
	return fmt.Sprintf("buses.%s: a cycle of %s ms %s the period of %s ms%s (try: %s)", b.Bus, b.Most, how, b.Period,
		rate, strings.Join(b.Changes, ", or "))
}

// Of predicts each bus of p, in the order of their names.
func Of(p *plan.Plan, o Options) ([]Bus, error) {
	p, err := p.Stationed()
	if err != nil {
		return nil, err
	}
	var all []Bus
	for _, name := range report.SortedKeys(p.Config.Buses) {
		b, err := of(p, name, o)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

func of(p *plan.Plan, name string, o Options) (Bus, error) {
	c := p.Config.Buses[name]
	none := report.Number(math.NaN())
	ms := func(d time.Duration) report.Number { return report.Number(d.Seconds() * 1e3) }
	b := Bus{Bus: name, Type: c.Type, Baud: c.Baud, Period: ms(p.Config.Clock.Period), Cycle: none, Most: none,
		Rate: none, Wire: none, Latency: none, Margin: none, Every: none, Hang: none, Changes: []string{}}
	var on []plan.JointRef
	for _, kind := range []configs.BodyKind{configs.Sim, configs.Emulated, configs.Real} {
		on = append(on, p.On(name, kind)...)
	}
	if len(on) == 0 {
		b.Met, b.Note = true, "no servos: its devices are read in their own goroutines"
		return b, nil
	}
	l, err := lineOf(p, name, on, o)
	if err != nil {
		return b, err
	}
	t, err := l.measure()
	if err != nil {
		return b, err
	}
	period := p.Config.Clock.Period
	b.Servos, b.Bytes = len(on), int(t.bytes)
	b.Cycle, b.Most, b.Latency = ms(t.mean), ms(t.most), ms(t.most)
	b.Rate, b.Wire = report.Number(1/t.mean.Seconds()), report.Number(t.wire.Seconds()/period.Seconds())
	b.Span = max(1, int(math.Ceil(t.mean.Seconds()/period.Seconds())))
	b.Every = ms(t.every)
	b.Margin, b.Met = report.Number(1-t.most.Seconds()/period.Seconds()), t.most <= period
	worst, err := l.worst(c.Latency)
	if err != nil {
		return b, err
	}
	b.silence = hangOf(p, worst)
	b.Hang = ms(b.silence.within(p.Config) + supervise.Reserve)
	if float64(b.Margin) < Reserve {
		b.Changes, err = l.changes(t.most)
	}
	return b, err
}

// lineOf is the line of a config's bus.
func lineOf(p *plan.Plan, name string, on []plan.JointRef, o Options) (*Line, error) {
	c := p.Config.Buses[name]
	l := &Line{Type: p.Catalog.Buses.Of(c.Type), Baud: c.Baud, ReturnDelay: c.ReturnDelay,
		Timing: emulator.Timing{Reply: c.Timing.ServoDelay, Frame: c.Timing.USBFrame, Latency: c.AdapterLatency(),
			Echo: c.Timing.Echo},
		Chain: servo.ChainConfig{Name: name, Period: p.Config.Clock.Period}}
	invalid := func(flag, got string, want []string) error {
		return &hal.Error{Kind: hal.Invalid, Op: "plan --" + flag,
			Err: fmt.Errorf("got %q, want one of %s", got, strings.Join(want, ", "))}
	}
	if o.Adapter != "" && o.Adapter != "config" {
		i := slices.Index(Adapters(), o.Adapter)
		if i < 0 {
			return nil, invalid("adapter", o.Adapter, Adapters())
		}
		if l.Timing.Frame, l.Timing.Latency = adapters[i].frame, 0; adapters[i].timer {
			l.Timing.Latency = c.Latency
		}
	}
	switch o.Read {
	case "", "auto":
	case "sync":
		l.Chain.Reading = servo.SyncReads
	case "single":
		l.Chain.Reading = servo.SingleReads
	default:
		return nil, invalid("read", o.Read, Reads())
	}
	for _, h := range on {
		s := p.ServoConfig(h)
		motor := p.Agents[h.Agent].Robot.Joints[h.Joint].Servo
		if motor == nil {
			motor = p.Catalog.Buses.Motor(s.Model.Units().Name)
		}
		if motor == nil {
			motor = anyMotor() // only its timing matters, which is the driver's and the emulation's
		}
		l.Chain.Servos, l.Motors = append(l.Chain.Servos, s), append(l.Motors, motor)
	}
	return l, nil
}

func anyMotor() *actuator.Spec {
	m, _ := actuator.Lookup(actuator.Names()[0])
	return m
}

// fits reports whether the longest cycle leaves Reserve of the period.
func (l *Line) fits() bool {
	t, err := l.measure()
	return err == nil && t.most.Seconds() <= (1-Reserve)*l.Chain.Period.Seconds()
}

// changes lists the single changes after which the longest cycle leaves Reserve, and all of them together where none
// does by itself. A longer period always does: most is the longest cycle.
func (l *Line) changes(most time.Duration) (list []string, err error) {
	best := *l
	var together []string
	try := func(text string, change func(*Line)) bool {
		one := *l
		if change(&one); one.fits() {
			list = append(list, text)
			return true
		}
		return false
	}
	add := func(text string, change func(*Line)) {
		if !try(text, change) {
			change(&best)
			together = append(together, text)
		}
	}
	if l.ReturnDelay > 0 {
		add("return_delay: 0s", func(l *Line) { l.ReturnDelay = 0 })
	}
	if l.Timing.Latency > time.Millisecond {
		add("latency timer of 1ms", func(l *Line) { l.Timing.Latency = time.Millisecond })
	}
	rates := l.rates()
	for i, rate := range rates {
		faster := func(l *Line) { l.Baud = rate }
		text := "baud: " + strconv.Itoa(rate)
		if i == len(rates)-1 {
			add(text, faster)
		} else if try(text, faster) {
			break
		}
	}
	for n := 2; n <= min(4, len(l.Chain.Servos)); n++ {
		if try(fmt.Sprintf("the servos on %d buses", n), func(l *Line) { l.share(n) }) {
			break
		}
	}
	if len(list) == 0 && len(together) > 1 && best.fits() {
		list = append(list, strings.Join(together, " and "))
	}
	for _, ms := range []time.Duration{1, 2, 4, 5, 8, 10, 15, 20, 25, 40, 50, 100, 200, 500, 1000} {
		if p := ms * time.Millisecond; p > l.Chain.Period && most.Seconds() <= (1-Reserve)*p.Seconds() {
			return append(list, "clock.period: "+p.String()), nil
		}
	}
	return list, nil
}

// share leaves the line the servos that the fullest of n buses has.
func (l *Line) share(n int) {
	k := (len(l.Chain.Servos) + n - 1) / n
	l.Chain.Servos, l.Motors = l.Chain.Servos[:k], l.Motors[:k]
}

// rates are the higher rates that all servos of the line have, rising.
func (l *Line) rates() (list []int) {
	candidates := slices.Concat(l.Type.Bauds, []int{500000, 1000000, 2000000, 3000000, 4000000})
	slices.Sort(candidates)
	for _, rate := range slices.Compact(candidates) {
		if rate > l.Baud && !slices.ContainsFunc(l.Chain.Servos, func(s servo.ServoConfig) bool {
			_, ok := s.Model.BaudCode(rate)
			return !ok
		}) {
			list = append(list, rate)
		}
	}
	return list
}
