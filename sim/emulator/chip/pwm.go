package chip

import (
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
)

// PCA9685 is an emulated PWM chip. Its pulses are read between cycles, while a stop may write to it from another
// goroutine.
type PCA9685 struct {
	mu sync.Mutex // guards gate and regs
	address
	ExtClk     bool // another program has set it to an external clock, and there is one only where it is configured
	oscillator float64
	gate       bool // OE is low
	regs       registers
}

// NewPCA9685 returns a chip at addr with an oscillator of hertz, 25e6 by the datasheet; its OE pin enables the outputs.
func NewPCA9685(addr uint16, hertz float64) *PCA9685 {
	return &PCA9685{address: address(addr), oscillator: hertz, gate: true}
}

func (c *PCA9685) Power(bool, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.regs = registers{}
	f := &c.regs.file
	f[pwmreg.PCA9685Mode1], f[pwmreg.PCA9685Mode2], f[pwmreg.PCA9685PreScale] = pwmreg.PCA9685Reset1,
		pwmreg.PCA9685Reset2, 30
	f[2], f[3], f[4], f[5] = 0xE2, 0xE4, 0xE8, 0xE0
	for i := range pwm.PCA9685Channels {
		f[pwmreg.PCA9685LED0+4*i+3] = pwmreg.PCA9685Full
	}
	if c.ExtClk {
		f[pwmreg.PCA9685Mode1] |= pwmreg.PCA9685ExtClk
	}
}

// Gate sets the OE pin: true enables the outputs. Use it as OutputWriterConfig.Gate of an emulated chip.
func (c *PCA9685) Gate(open bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gate = open
	return nil
}

// Transfer implements Device. Without the AI bit the pointer stays where it is.
func (c *PCA9685) Transfer(w, r []byte, _ time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &c.regs
	if len(w) > 0 {
		f.pointer = w[0]
		for _, v := range w[1:] {
			c.write(f.pointer, v)
			c.next()
		}
	}
	clear(r)
	for i := range r {
		if f.pointer < pwmreg.PCA9685All || f.pointer >= pwmreg.PCA9685PreScale {
			r[i] = f.file[f.pointer]
		}
		c.next()
	}
	return nil
}

// next moves the pointer on, round after the last channel.
func (c *PCA9685) next() {
	if c.regs.file[pwmreg.PCA9685Mode1]&pwmreg.PCA9685AI == 0 {
		return
	}
	if c.regs.pointer++; c.regs.pointer == pwmreg.PCA9685LED0+4*pwm.PCA9685Channels {
		c.regs.pointer = 0
	}
}

// write stores one byte by the rules.
func (c *PCA9685) write(register, v byte) {
	f := &c.regs.file
	switch {
	case register == pwmreg.PCA9685PreScale:
		if f[pwmreg.PCA9685Mode1]&pwmreg.PCA9685Sleep != 0 {
			f[register] = max(3, v)
		}
	case register == pwmreg.PCA9685Mode1:
		// A sleep during pulses sets RESTART, which writing 1 to it clears.
		restart := f[register] & pwmreg.PCA9685Restart &^ v
		if v&pwmreg.PCA9685Sleep != 0 && f[register]&pwmreg.PCA9685Sleep == 0 && c.pulses() {
			restart = pwmreg.PCA9685Restart
		}
		f[register] = v&^pwmreg.PCA9685Restart | restart | f[register]&pwmreg.PCA9685ExtClk // which is sticky
	case register >= pwmreg.PCA9685All && register < pwmreg.PCA9685PreScale:
		for i := range pwm.PCA9685Channels {
			f[pwmreg.PCA9685LED0+4*i+int(register-pwmreg.PCA9685All)] = v
		}
	case register < pwmreg.PCA9685LED0+4*pwm.PCA9685Channels:
		f[register] = v
	}
}

// pulses reports whether any channel is on.
func (c *PCA9685) pulses() bool {
	for i := range pwm.PCA9685Channels {
		if c.regs.file[pwmreg.PCA9685LED0+4*i+3]&pwmreg.PCA9685Full == 0 {
			return true
		}
	}
	return false
}

// Pulse is the output of channel i: the width of its pulses, 0 without pulses, and their rate.
func (c *PCA9685) Pulse(i int) (width time.Duration, hertz float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := &c.regs.file
	at := pwmreg.PCA9685LED0 + 4*i
	if !c.gate || f[pwmreg.PCA9685Mode1]&(pwmreg.PCA9685Sleep|pwmreg.PCA9685ExtClk) != 0 ||
		f[at+3]&pwmreg.PCA9685Full != 0 {
		return 0, 0
	}
	on, off := int(f[at])|int(f[at+1]&0x0F)<<8, int(f[at+2])|int(f[at+3]&0x0F)<<8
	step := (float64(f[pwmreg.PCA9685PreScale]) + 1) / c.oscillator
	// A pulse may begin anywhere in the period and go round its end.
	n := (off - on + pwmreg.PCA9685Steps) % pwmreg.PCA9685Steps
	return time.Duration(float64(n) * step * 1e9), 1 / (step * pwmreg.PCA9685Steps)
}

// Maestro is an emulated board on a serial line. Its pulses are read between cycles, while a stop may send to it from
// another goroutine.
type Maestro struct {
	mu      sync.Mutex // guards the fields below
	device  byte
	crc     bool
	targets []uint16 // quarter µs
	errors  uint16
	half    []byte
}

// NewMaestro returns a board of n channels with a device number for the Pololu protocol (factory default 12). It also
// accepts the compact protocol. crc is the board's setting for a CRC at the end of commands.
func NewMaestro(n int, device byte, crc bool) *Maestro {
	return &Maestro{device: device, crc: crc, targets: make([]uint16, n)}
}

func (m *Maestro) Power(bool, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.targets)
	m.errors, m.half = 0, m.half[:0]
}

// Pulse is the width of channel i's pulses, 0 without pulses. Their rate is 50 Hz.
func (m *Maestro) Pulse(i int) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Duration(m.targets[i]) * time.Microsecond / pwmreg.MaestroQuarters
}

// The error bits that this one can have.
const (
	maestroCRCBit      = 1 << 3
	maestroProtocolBit = 1 << 4
)

// Receive implements Endpoint. A byte with bit 7 begins a command, at any point.
func (m *Maestro) Receive(p []byte, _ time.Duration, answer []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range p {
		if b&0x80 != 0 {
			if len(m.half) > 0 && !m.justStart() {
				m.errors |= maestroProtocolBit
			}
			m.half = append(m.half[:0], b)
		} else if len(m.half) == 0 {
			m.errors |= maestroProtocolBit
			continue
		} else {
			m.half = append(m.half, b)
		}
		answer = m.whole(answer)
	}
	return answer
}

// justStart reports whether half is only the byte for the detection of the baud rate.
func (m *Maestro) justStart() bool { return len(m.half) == 1 && m.half[0] == pwmreg.MaestroStart }

// whole follows the command in half, once all of it is there.
func (m *Maestro) whole(answer []byte) []byte {
	// The Pololu protocol's command is the compact one without its highest bit, behind the board's number.
	command, data, mine := m.half[0], m.half[1:], true
	if command == pwmreg.MaestroStart {
		if len(m.half) < 3 {
			return answer
		}
		command, data, mine = m.half[2]|0x80, m.half[3:], m.half[1] == m.device
	}
	need := m.needs(command, data)
	if need < 0 {
		m.errors |= maestroProtocolBit
		m.half = m.half[:0]
		return answer
	}
	total := need
	if m.crc {
		total++
	}
	if len(data) < total {
		return answer
	}
	// A command to another board is whole, but not executed; its CRC is that board's to judge.
	sound := !m.crc || pwmreg.MaestroCRC(m.half[:len(m.half)-1]) == m.half[len(m.half)-1]
	switch {
	case mine && sound:
		answer = m.execute(command, data[:need], answer)
	case mine:
		m.errors |= maestroCRCBit
	}
	m.half = m.half[:0]
	return answer
}

// needs is how many bytes a command has behind it, below 0 of one that is not known. The Micro, of six channels, does
// not know to set many targets at once.
func (m *Maestro) needs(command byte, data []byte) int {
	switch command {
	case pwmreg.MaestroTarget, pwmreg.MaestroSpeed, pwmreg.MaestroAccel:
		return 3
	case pwmreg.MaestroPosition:
		return 1
	case pwmreg.MaestroMoving, pwmreg.MaestroErrors, pwmreg.MaestroHome:
		return 0
	case pwmreg.MaestroTargets:
		if len(m.targets) <= 6 {
			return -1
		}
		if len(data) == 0 {
			return 2
		}
		return 2 + 2*int(data[0])
	}
	return -1
}

func (m *Maestro) execute(command byte, data, answer []byte) []byte {
	two := func(v uint16) []byte { return append(answer, byte(v), byte(v>>8)) }
	switch command {
	case pwmreg.MaestroTarget:
		if int(data[0]) >= len(m.targets) {
			m.errors |= maestroProtocolBit
			break
		}
		m.targets[data[0]] = uint16(data[1]) | uint16(data[2])<<7
	case pwmreg.MaestroTargets:
		first, targets := int(data[1]), data[2:]
		if first+len(targets)/2 > len(m.targets) {
			m.errors |= maestroProtocolBit
			break
		}
		for i := range len(targets) / 2 {
			m.targets[first+i] = uint16(targets[2*i]) | uint16(targets[2*i+1])<<7
		}
	case pwmreg.MaestroPosition:
		if int(data[0]) < len(m.targets) {
			return two(m.targets[data[0]])
		}
		m.errors |= maestroProtocolBit
	case pwmreg.MaestroMoving:
		return append(answer, 0)
	case pwmreg.MaestroErrors:
		bits := m.errors
		m.errors = 0
		return two(bits)
	case pwmreg.MaestroHome:
		clear(m.targets)
	}
	return answer
}

// General returns the general call address of the bus of c, where a software reset is sent.
func (c *PCA9685) General() Device { return generalCall{c} }

type generalCall struct{ of *PCA9685 }

func (generalCall) Address() uint16           { return pwmreg.PCA9685General }
func (generalCall) Power(bool, time.Duration) {}

func (g generalCall) Transfer(w, r []byte, now time.Duration) error {
	if len(w) != 1 || w[0] != pwmreg.PCA9685Software || len(r) > 0 {
		return ErrNoAcknowledge
	}
	g.of.ExtClk = false
	g.of.Power(true, now)
	return nil
}
