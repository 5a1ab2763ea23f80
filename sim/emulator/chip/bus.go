package chip

import (
	"errors"
	"fmt"
	"time"

	"periph.io/x/conn/v3/physic"

	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Device is one emulated chip on a bus. The bus calls it, one call at a time.
type Device interface {
	// Address is the 7-bit address it answers at now, and Transfer one whole transaction at it: w is written, then r is
	// read. Its error is a byte that it did not acknowledge.
	Address() uint16
	Transfer(w, r []byte, now time.Duration) error
	// Power takes its power away or gives it: everything volatile is lost then, and it boots from now on.
	Power(on bool, now time.Duration)
}

// address is that of a device that keeps it; for embedding.
type address uint16

// Address implements Device.
func (a address) Address() uint16 { return uint16(a) }

// Errors of a host's Tx. The kernel's are EREMOTEIO and ETIMEDOUT.
var (
	ErrNoAcknowledge = errors.New("no acknowledge")
	ErrHangs         = errors.New("bus does not become free")
)

// hang is how long the kernel waits for a bus that is held low.
const hang = time.Second

// Bus is an I2C bus in memory. It is a hal.World: Advance moves its clock along with the scene's. All methods may be
// called from any goroutine.
type Bus struct {
	hertz   int64
	devices []Device

	wire.Medium
	busy     time.Duration // time of all hosts' transactions since then
	total    time.Duration // and since the bus was made
	overruns uint64
	dark     map[Device]bool
}

// NewBus returns the bus called name that runs at hertz (400 kHz, usually), with its devices under power for long. seed
// is of the faults' dice.
func NewBus(name string, hertz int, seed int64, devices ...Device) *Bus {
	b := &Bus{hertz: int64(max(1000, hertz)), devices: devices, dark: map[Device]bool{}}
	b.Medium = wire.NewMedium(name, seed, 0x12C, nil, b.power)
	for _, d := range devices {
		d.Power(true, -time.Hour)
	}
	return b
}

// Advance lets a period of dt pass. Transactions that took longer than it count as an overrun: on copper they would not
// have been over.
func (b *Bus) Advance(dt time.Duration) error {
	b.Lock()
	defer b.Unlock()
	// Hosts do not wait for each other here; that they would have to is seen in the sum.
	if b.busy > dt {
		b.overruns++
	}
	b.busy = 0
	b.Step(dt)
	return nil
}

// Overruns counts the periods that their transactions did not fit into.
func (b *Bus) Overruns() uint64 {
	b.Lock()
	defer b.Unlock()
	return b.overruns
}

// Busy is how long the bus has been busy since it was made.
func (b *Bus) Busy() time.Duration {
	b.Lock()
	defer b.Unlock()
	return b.total
}

// Host returns a handle for one program, or one goroutine of it. One goroutine at a time uses it.
func (b *Bus) Host() *Host { return &Host{bus: b} }

// Host is one program's handle of a Bus: periph's i2c.Bus and, for the waits between transactions, a hal.Clock.
type Host struct {
	bus *Bus
	own time.Duration // its time after its transactions and waits
}

func (h *Host) String() string { return h.bus.Name }

// Now is the handle's own time: the edge's, or later after its waits.
func (h *Host) Now() time.Duration {
	h.own = max(h.own, h.bus.Edge())
	return h.own
}

// SleepUntil returns at once; the handle's time is t then, or later.
func (h *Host) SleepUntil(t time.Duration) { h.own = max(h.Now(), t) }

// SetSpeed sets the rate of the whole bus.
func (h *Host) SetSpeed(f physic.Frequency) error {
	hertz := int64(f / physic.Hertz)
	if hertz < 1000 || hertz > 5_000_000 {
		return fmt.Errorf("%s: speed: got %v, want 1kHz..5MHz", h.bus.Name, f)
	}
	h.bus.Lock()
	defer h.bus.Unlock()
	h.bus.hertz = hertz
	return nil
}

// Tx is one transaction. It returns at once and advances the handle's time by the wire time: 9 bits a byte, address
// bytes included, and a bit each for start, repeated start and stop.
func (h *Host) Tx(addr uint16, w, r []byte) error {
	h.Now()
	b := h.bus
	b.Lock()
	defer b.Unlock()
	bits := int64(1 + 9*(1+len(w)) + 1)
	if len(w) > 0 && len(r) > 0 {
		bits++
	}
	if len(r) > 0 {
		bits += int64(9 * len(r))
		if len(w) > 0 {
			bits += 9
		}
	}
	took := time.Duration(bits * int64(time.Second) / b.hertz)
	// Power first: a brown-out takes effect before this transaction.
	b.power(h.own)
	if b.Occurs(wire.HeldLow, int(addr), h.own) != nil {
		h.own += hang
		return ErrHangs
	}
	d := b.at(addr)
	if d == nil || b.dark[d] || b.Occurs(wire.Dropped, int(addr), h.own) != nil {
		h.own += time.Duration(11 * int64(time.Second) / b.hertz) // only the address
		return fmt.Errorf("address 0x%02X: %w", addr, ErrNoAcknowledge)
	}
	// The chip acts at the beginning: a conversion that this transaction starts runs while its stop bit is sent.
	begin := h.own
	h.own += took
	b.busy += took
	b.total += took
	if err := d.Transfer(w, r, begin); err != nil {
		return fmt.Errorf("address 0x%02X: %w", addr, err)
	}
	b.corrupt(addr, r, begin)
	return nil
}

// at is the device that answers at addr, or nil.
func (b *Bus) at(addr uint16) Device {
	for _, d := range b.devices {
		if d.Address() == addr {
			return d
		}
	}
	return nil
}

// power takes the power of each device, or gives it back, as the faults at work at now make it. Under the lock.
func (b *Bus) power(now time.Duration) {
	if len(b.Planted()) == 0 && len(b.dark) == 0 {
		return
	}
	for _, d := range b.devices {
		if off := b.Find(wire.PowerLoss, int(d.Address()), now) != nil ||
			b.Find(wire.Unplugged, int(d.Address()), now) != nil; off != b.dark[d] {
			d.Power(!off, now)
			if b.dark[d] = off; !off {
				delete(b.dark, d)
			}
		}
	}
}

// corrupt lets an answer go wrong on its way. Under the lock.
func (b *Bus) corrupt(addr uint16, r []byte, now time.Duration) {
	if len(r) == 0 {
		return
	}
	if f := b.Occurs(wire.Corrupted, int(addr), now); f != nil {
		r[f.Dice.IntN(len(r))] ^= 1 << f.Dice.IntN(8)
	}
	if f := b.Occurs(wire.Garbage, int(addr), now); f != nil {
		wire.Scramble(r, f.Dice)
	}
}
