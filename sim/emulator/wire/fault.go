package wire

import (
	"math/rand/v2"
	"time"
)

// Kind is the kind of a fault. The table of Kinds describes its effect on each kind of line.
type Kind uint8

// The kinds of fault.
const (
	PowerLoss Kind = iota
	Unplugged
	OpenWire
	Dropped
	Corrupted
	CRC
	Duplicated
	Delayed
	Truncated
	Garbage
	Foreign
	Echo
	DuplicateID
	HeldLow
	Stuck
	StuckLow
	StuckHigh
	Wrong
	Stale
	Slipped
	Denied
	Busy
	numKinds
)

// KindInfo is a kind of fault as a user reads it.
type KindInfo struct {
	Kind  Kind
	Name  string
	Alias []string // other words for the same, PX4's among them
	About string
}

// Kinds are all kinds of fault, in their order.
func Kinds() []KindInfo {
	return []KindInfo{
		{PowerLoss, "power_loss", []string{"off", "brownout"},
			"no power: silent, without torque; volatile settings are lost when it comes back"},
		{Unplugged, "unplugged", []string{"unplug"},
			"the adapter, the chip on USB or the camera is gone; of a servo: its cable, as power_loss"},
		{OpenWire, "open_wire", nil, "nothing gets through; GPIO: a wire is cut, and a resistor decides its level"},
		{Dropped, "dropped", []string{"drop", "intermittent"},
			"bytes, frames or edges are missing; servo: it misses an instruction; I2C: no acknowledge"},
		{Corrupted, "corrupted", nil, "bits are wrong"},
		{CRC, "crc", nil, "the checksum of an answer is wrong; camera: a part is missing, and the kernel reports it"},
		{Duplicated, "duplicated", nil, "bytes come twice; GPIO: contacts bounce"},
		{Delayed, "delayed", []string{"slow"}, "answers come later"},
		{Truncated, "truncated", []string{"truncate"}, "the end of an answer or a frame is missing"},
		{Garbage, "garbage", nil, "random bytes: before a telegram; in place of a frame, or of what a servo or a " +
			"chip measures"},
		{Foreign, "foreign", nil, "what another device sends comes first; camera: frames of another size"},
		{Echo, "echo", nil, "the host receives its own bytes"},
		{DuplicateID, "duplicate_id", nil, "a second servo with the same id answers over the first"},
		{HeldLow, "held_low", nil, "the I2C bus is held low: each transaction takes a second and fails"},
		{Stuck, "stuck", nil, "what is measured stays as it was; camera: no frame comes"},
		{StuckLow, "stuck_low", nil, "a GPIO line is shorted to ground"},
		{StuckHigh, "stuck_high", nil, "a GPIO line is shorted to the supply"},
		{Wrong, "wrong", []string{"offset"},
			"the position is off by a constant; camera: it sets another size than asked for"},
		{Stale, "stale", nil, "what is measured is old"},
		{Slipped, "slipped", []string{"loose_horn"},
			"the servo's horn has turned on its shaft by a constant, within 0.1 s"},
		{Denied, "denied", nil, "the device may not be opened"},
		{Busy, "busy", nil, "another program uses the device"},
	}
}

func (k Kind) String() string {
	if k < numKinds {
		return Kinds()[k].Name
	}
	return "unknown"
}

// All is the target of a fault that strikes everything on a line.
const All = -1

// Fault is one thing that goes wrong for a while, in the line's own time.
type Fault struct {
	Kind   Kind
	Target int           // a servo's id, a chip's address, a GPIO line's offset, or All
	P      float64       // how likely it strikes each time; 0 = always
	Delay  time.Duration // of Delayed, and the age of values under Stale
	Offset float64       // of Wrong and Slipped, ticks
	Bytes  string        // of Foreign
	From   time.Duration // after it was planted
	For    time.Duration // how long; 0 = for good
}

// Planted is a fault at work, with its own dice.
type Planted struct {
	Fault
	Dice  *rand.Rand
	start time.Duration
}

// slipTime is how long a horn takes to slip.
const slipTime = 100 * time.Millisecond

// Slip is how far the horn of a Slipped fault at work has turned at now, ticks.
func (p *Planted) Slip(now time.Duration) float64 {
	return p.Offset * min(1, float64(now-p.start)/float64(slipTime))
}

// Active reports whether the fault is at work at now; the dice decide beyond that.
func (p *Planted) Active(now time.Duration) bool {
	return now >= p.start && (p.For == 0 || now < p.start+p.For)
}

// Plan is the faults of one line. The zero Plan has none.
type Plan struct {
	seed, stream uint64 // of the next fault's dice
	planted      []*Planted
}

// newPlan returns a plan without faults. The random sources of its faults are seeded by seed and consecutive stream
// numbers.
func newPlan(seed int64, stream uint64) Plan { return Plan{seed: uint64(seed), stream: stream} }

// Add plants f, whose time begins at now.
func (p *Plan) Add(f Fault, now time.Duration) *Planted {
	x := &Planted{Fault: f, start: now + f.From, Dice: rand.New(rand.NewPCG(p.seed, p.stream))}
	p.stream++
	p.planted = append(p.planted, x)
	return x
}

// Planted are the faults, in their order; the slice is the plan's.
func (p *Plan) Planted() []*Planted { return p.planted }

// Find returns the first active fault of a kind on a target, or nil. Target All finds only faults of the whole line.
func (p *Plan) Find(k Kind, target int, now time.Duration) *Planted {
	for _, x := range p.planted {
		if x.Kind == k && (x.Target == All || x.Target == target) && x.Active(now) {
			return x
		}
	}
	return nil
}

// Occurs throws the dice of the fault of a kind on a target: nil where it does not strike.
func (p *Plan) Occurs(k Kind, target int, now time.Duration) *Planted {
	if x := p.Find(k, target, now); x != nil && (x.P == 0 || x.P >= 1 || x.Dice.Float64() < x.P) {
		return x
	}
	return nil
}

// Next is the next time after now at which a fault begins or ends; Never if none does.
func (p *Plan) Next(now time.Duration) time.Duration {
	at := Never
	for _, x := range p.planted {
		for _, edge := range [...]time.Duration{x.start, x.start + x.For} {
			if edge > now {
				at = min(at, edge)
			}
		}
	}
	return at
}

// Spoil applies the faults to a telegram of a target. It returns the resulting bytes and their delay. It may use b's
// memory.
func (p *Plan) Spoil(b []byte, target int, now time.Duration) (left []byte, late time.Duration) {
	if len(b) == 0 || len(p.planted) == 0 {
		return b, 0
	}
	if f := p.Occurs(Corrupted, target, now); f != nil {
		b[f.Dice.IntN(len(b))] ^= 1 << f.Dice.IntN(8)
	}
	if f := p.Occurs(Dropped, target, now); f != nil {
		i := f.Dice.IntN(len(b))
		b = append(b[:i], b[i+1:]...)
	}
	if f := p.Occurs(Duplicated, target, now); f != nil && len(b) > 0 {
		i := f.Dice.IntN(len(b))
		b = append(b[:i+1], b[i:]...)
	}
	if f := p.Occurs(Truncated, target, now); f != nil && len(b) > 0 {
		b = b[:f.Dice.IntN(len(b))]
	}
	if f := p.Occurs(Garbage, target, now); f != nil {
		noise := make([]byte, 1+f.Dice.IntN(8), 8+len(b))
		Scramble(noise, f.Dice)
		b = append(noise, b...)
	}
	if f := p.Occurs(Foreign, target, now); f != nil {
		b = append([]byte(f.Bytes), b...)
	}
	if f := p.Occurs(Delayed, target, now); f != nil {
		late = f.Delay
	}
	return b, late
}

// Scramble fills b with random bytes.
func Scramble(b []byte, dice *rand.Rand) {
	for i := range b {
		b[i] = byte(dice.Uint32())
	}
}
