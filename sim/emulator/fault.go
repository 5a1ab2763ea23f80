package emulator

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what goes wrong. The first seven words are PX4's; they mean on a servo bus what their comments say.
type FaultKind uint8

// The kinds of fault.
const (
	Off          FaultKind = iota // no power: silent and limp; its registers are lost when it comes back
	Stuck                         // what is measured stays as it was
	Garbage                       // what is measured is random, in sound packets
	Wrong                         // the position is off by a constant
	Slow                          // each answer comes later
	Delayed                       // what is measured is old
	Intermittent                  // does not hear an instruction, now and then
	CRC                           // the checksum of an answer is wrong
	Truncate                      // an answer ends in the middle
	DuplicateID                   // a second servo with the same ID answers on top
	Unplug                        // bus: the adapter is gone; servo: as Off
	Brownout                      // the supply breaks down: as Off, for a moment
	numFaults
)

var faultNames = [numFaults]string{
	"off", "stuck", "garbage", "wrong", "slow", "delayed", "intermittent",
	"crc", "truncate", "duplicate_id", "unplug", "brownout",
}

func (k FaultKind) String() string {
	if k < numFaults {
		return faultNames[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// WholeBus is the target of a fault that strikes every servo of a bus.
const WholeBus = -1

// Fault is one thing that goes wrong for a while, in the bus's own time. Its text is
//
//	KIND bus|servo N [p=0..1] [by=50ms] [by=100] [from=1s] [for=2s]
type Fault struct {
	Kind   FaultKind
	ID     int           // the servo's ID when the fault is planted, or WholeBus
	P      float64       // how likely it strikes each answer (Intermittent: each instruction), above 0, at most 1
	Delay  time.Duration // by: of Slow, and the age of values under Delayed
	Offset float64       // by: of Wrong, in ticks
	From   time.Duration // after it was planted
	For    time.Duration // how long; 0 = for good
}

// What a fault's text leaves out.
const (
	intermittentP = 0.5
	slowBy        = 5 * time.Millisecond
	delayedBy     = 50 * time.Millisecond
	wrongBy       = 100 // ticks: 9° of 4096 a turn
	brownoutFor   = 100 * time.Millisecond
	maxFault      = 1000 * time.Hour
	maxFaultIn    = 200 // bytes of text
)

// defaults returns the fault of a kind that nothing more is said about.
func defaults(k FaultKind) Fault {
	f := Fault{Kind: k, ID: WholeBus, P: 1}
	switch k {
	case Intermittent:
		f.P = intermittentP
	case Slow:
		f.Delay = slowBy
	case Delayed:
		f.Delay = delayedBy
	case Wrong:
		f.Offset = wrongBy
	case Brownout:
		f.For = brownoutFor
	}
	return f
}

// ParseFault reads a fault's text. Unknown words, words given twice and numbers out of range are errors.
func ParseFault(text string) (Fault, error) {
	if len(text) > maxFaultIn {
		return Fault{}, fmt.Errorf("fault: got %d bytes, want at most %d", len(text), maxFaultIn)
	}
	// KIND and target first, options after them in any order.
	words := strings.Fields(text)
	fail := func(what, got, want string) (Fault, error) {
		return Fault{}, fmt.Errorf("fault %q: %s: got %q, want %s", text, what, got, want)
	}
	if len(words) < 2 {
		return fail("words", text, "KIND bus or KIND servo N")
	}
	kind := FaultKind(0)
	for kind < numFaults && faultNames[kind] != words[0] {
		kind++
	}
	if kind == numFaults {
		return fail("kind", words[0], "one of "+strings.Join(faultNames[:], ", "))
	}
	// What the text leaves out is the kind's own.
	f := defaults(kind)
	rest := words[2:]
	switch words[1] {
	case "bus":
	case "servo":
		if len(rest) == 0 {
			return fail("servo", "", "an ID")
		}
		id, err := strconv.ParseUint(rest[0], 10, 8)
		if err != nil || id > 253 {
			return fail("servo", rest[0], "an ID of 0..253")
		}
		f.ID, rest = int(id), rest[1:]
	default:
		return fail("target", words[1], "bus or servo N")
	}
	// "p=0.1 p=0.2" is a mistake, not a choice.
	seen := map[string]bool{}
	for _, w := range rest {
		key, value, ok := strings.Cut(w, "=")
		if !ok || seen[key] {
			return fail("option", w, "p=, by=, from= or for=, each once")
		}
		seen[key] = true
		if want := f.set(key, value); want != "" {
			return fail(key, value, want)
		}
	}
	return f, nil
}

// set takes one option and returns what it should have been, empty when it is good.
func (f *Fault) set(key, value string) (want string) {
	switch {
	case key == "p":
		p, err := strconv.ParseFloat(value, 64)
		if err != nil || !(p > 0 && p <= 1) {
			return "above 0, at most 1"
		}
		f.P = p
	case key == "by" && f.Kind == Wrong:
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !(n >= -1e6 && n <= 1e6) {
			return "ticks, -1e6..1e6"
		}
		f.Offset = n
	case key == "by" && (f.Kind == Slow || f.Kind == Delayed):
		return parseTime(&f.Delay, value)
	case key == "from":
		return parseTime(&f.From, value)
	case key == "for":
		return parseTime(&f.For, value)
	default:
		return "an option that " + f.Kind.String() + " has"
	}
	return ""
}

// parseTime reads a bounded time and returns what it should have been, empty when it is good.
func parseTime(d *time.Duration, value string) (want string) {
	v, err := time.ParseDuration(value)
	if err != nil || v < 0 || v > maxFault {
		return "a time of 0s..1000h, such as 250ms"
	}
	*d = v
	return ""
}

// String is the text that ParseFault reads, without what is the default.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.Kind.String())
	if f.ID == WholeBus {
		b.WriteString(" bus")
	} else {
		fmt.Fprintf(&b, " servo %d", f.ID)
	}
	d := defaults(f.Kind)
	if f.P != d.P {
		fmt.Fprintf(&b, " p=%g", f.P)
	}
	if f.Delay != d.Delay {
		fmt.Fprintf(&b, " by=%v", f.Delay)
	}
	if f.Offset != d.Offset {
		fmt.Fprintf(&b, " by=%g", f.Offset)
	}
	if f.From != 0 {
		fmt.Fprintf(&b, " from=%v", f.From)
	}
	if f.For != d.For {
		fmt.Fprintf(&b, " for=%v", f.For)
	}
	return b.String()
}

// planted is a fault on a bus, with the dice that are its own, so that one fault never changes what another does.
type planted struct {
	Fault
	servo *Servo // nil = all
	start time.Duration
	dice  *rand.Rand
}

// on reports whether the fault is at work at now; the dice decide beyond that.
func (p *planted) on(now time.Duration) bool {
	return now >= p.start && (p.For == 0 || now < p.start+p.For)
}

// faultAt finds the first fault of a kind that is at work on s, or nil. With s nil it finds those of the whole bus.
func (b *Bus) faultAt(kind FaultKind, s *Servo, now time.Duration) *planted {
	for _, p := range b.faults {
		if p.Kind == kind && (p.servo == nil || p.servo == s) && p.on(now) {
			return p
		}
	}
	return nil
}

// faultOccurs throws the dice of the fault of a kind on s.
func (b *Bus) faultOccurs(kind FaultKind, s *Servo, now time.Duration) *planted {
	if p := b.faultAt(kind, s, now); p != nil && (p.P >= 1 || p.dice.Float64() < p.P) {
		return p
	}
	return nil
}

// Fault plants f, whose time begins now. An ID that no servo of the bus has is an error. It takes the bus's mutex, as
// every method does that touches servos.
func (b *Bus) Fault(f Fault) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &planted{Fault: f, start: b.now + f.From, dice: rand.New(rand.NewPCG(uint64(b.seed), uint64(b.planted)))}
	// The servo is found once: a fault stays with it when its ID changes.
	if f.ID != WholeBus {
		i := 0
		for i < len(b.servos) && b.servos[i].id() != f.ID {
			i++
		}
		if i == len(b.servos) {
			return fmt.Errorf("fault %q: servo: got %d, want the ID of a servo of bus %q", f, f.ID, b.name)
		}
		p.servo = b.servos[i]
	}
	b.planted++
	b.faults = append(b.faults, p)
	b.update(b.now)
	return nil
}

// ClearFaults ends all faults. Servos that were without power come up as at power-on.
func (b *Bus) ClearFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
	b.update(b.now)
}
