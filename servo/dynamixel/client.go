package dynamixel

import (
	"errors"
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Client exchanges packets with one servo at a time, for tools. Every call blocks for at most its wire time, the
// servos' return delay, Latency and 2 ms. It must be the only user of its port.
type Client struct {
	Name string // the bus in errors
	link *link
}

// NewClient returns a client of protocol 1 or 2 on port, which stays the caller's.
func NewClient(port servo.Port, protocol int) *Client {
	return &Client{link: newLink(servo.NewExchange(port, bitsPerByte, 4*maxPacket, 2*maxPacket), protocol)}
}

// SetLatency sets how long the adapter may hold a reply back (FTDI: its latency timer).
func (c *Client) SetLatency(d time.Duration) { c.link.Latency = d }

// Protocol is 1 or 2.
func (c *Client) Protocol() int { return c.link.protocol }

// Counts returns how many bytes were dropped as noise and how many packets had a bad checksum so far.
func (c *Client) Counts() (garbage, badChecksum uint64) {
	return c.link.parser.Garbage, c.link.parser.BadChecksum
}

// Read returns n bytes from addr of a servo. The slice is the client's until its next call.
func (c *Client) Read(id byte, addr uint16, n int) ([]byte, error) {
	op := fmt.Sprintf("read %d at %d", n, addr)
	s, err := c.exchange(op, &Instruction{ID: id, Op: Read, Addr: addr, Size: uint16(n)}, n)
	if err != nil {
		return nil, err
	}
	if len(s.Data) != n {
		return nil, c.fault(hal.BusFault, id, op, fmt.Errorf("got %d bytes, want %d", len(s.Data), n))
	}
	return s.Data, nil
}

// Write writes data at addr and waits for the acknowledgement; to Broadcast it waits for none.
func (c *Client) Write(id byte, addr uint16, data []byte) error {
	in := &Instruction{ID: id, Op: Write, Addr: addr, Data: data}
	_, err := c.exchange(fmt.Sprintf("write %d at %d", len(data), addr), in, 0)
	return err
}

// RegWrite stages a write that Action carries out.
func (c *Client) RegWrite(id byte, addr uint16, data []byte) error {
	in := &Instruction{ID: id, Op: RegWrite, Addr: addr, Data: data}
	_, err := c.exchange(fmt.Sprintf("reg write %d at %d", len(data), addr), in, 0)
	return err
}

// Action executes a staged RegWrite; usually sent to Broadcast.
func (c *Client) Action(id byte) error { return c.plain(id, Action, nil) }

// Reboot restarts a servo: RAM goes to its defaults, latched hardware errors are cleared, torque goes off.
// The servo is deaf for some 0.2 s to 0.5 s afterwards.
func (c *Client) Reboot(id byte) error { return c.plain(id, Reboot, nil) }

// FactoryReset sets the EEPROM to its defaults, except the registers that keep selects (ResetAll, ResetKeepID,
// ResetKeepIDBps). Protocol 1.0 resets all registers and refuses other values.
func (c *Client) FactoryReset(id, keep byte) error {
	if c.link.protocol == 2 {
		return c.plain(id, FactoryReset, []byte{keep})
	}
	// Refused rather than ignored: it would lose the id that the caller meant to keep.
	if keep != ResetAll {
		return c.fault(hal.Invalid, id, "factory reset",
			fmt.Errorf("got option %02X, want %02X: protocol 1.0 keeps nothing", keep, ResetAll))
	}
	return c.plain(id, FactoryReset, nil)
}

// ClearMultiTurn brings the present position back into one turn. The servo must be at rest.
func (c *Client) ClearMultiTurn(id byte) error { return c.plain(id, Clear, []byte(ClearMultiTurn)) }

// ClearError clears the error code of a servo with the Y table. It refuses as long as the cause is there, and for
// errors that it cannot clear.
func (c *Client) ClearError(id byte) error { return c.plain(id, Clear, []byte(ClearErrorCode)) }

// StoreBackup stores the control table in the servo's own backup; torque must be off.
func (c *Client) StoreBackup(id byte) error { return c.plain(id, Backup, []byte(BackupStore)) }

// RestoreBackup brings it back; torque must be off.
func (c *Client) RestoreBackup(id byte) error { return c.plain(id, Backup, []byte(BackupRestore)) }

func (c *Client) plain(id byte, op Op, data []byte) error {
	if c.link.protocol == 1 && (op == Clear || op == Backup) {
		return c.fault(hal.Invalid, id, op.String(), errors.New("protocol 1.0 has no such instruction"))
	}
	_, err := c.exchange(op.String(), &Instruction{ID: id, Op: op, Data: data}, 0)
	return err
}

// exchange sends in and returns the servo's checked reply. A broadcast has no reply.
func (c *Client) exchange(op string, in *Instruction, reply int) (Status, error) {
	l := c.link
	l.Out = l.Out[:0]
	l.add(in)
	// No servo answers a broadcast of any instruction, except a ping: PingAll does not use exchange.
	if in.ID == Broadcast {
		return Status{}, c.classify(in.ID, op, l.Write())
	}
	// The counts that this exchange adds distinguish noise from silence.
	garbage, bad := l.parser.Garbage, l.parser.BadChecksum
	if err := l.ask(statusBytes(l.protocol, reply), maxDelay); err != nil {
		return Status{}, c.classify(in.ID, op, err)
	}
	for {
		s, err := l.status()
		// Bytes were received, but no packet: a wrong rate, a collision, a bad cable. Silence would mean: no servo.
		if errors.Is(err, servo.ErrNoReply) && len(l.Raw) > 0 {
			err = fmt.Errorf("%w: got %d bytes, %d bad checksums, %d bytes of noise", servo.ErrCorrupt, len(l.Raw),
				l.parser.BadChecksum-bad, l.parser.Garbage-garbage)
		}
		if err != nil {
			return Status{}, c.classify(in.ID, op, err)
		}
		if s.ID != in.ID {
			continue // another's late answer
		}
		return s, c.classify(in.ID, op, refusal(l.protocol, s.Error))
	}
}

// classify wraps err with its kind; nil stays nil.
func (c *Client) classify(id byte, op string, err error) error {
	return servo.Fault(c.Name, int(id), op, err)
}

func (c *Client) fault(kind hal.Kind, id byte, op string, err error) error {
	return servo.Error(kind, c.Name, int(id), op, err)
}

// ReadRegister returns the raw value of a register of a servo that is an m.
func (c *Client) ReadRegister(id byte, m *Model, name string) (int64, error) {
	r := m.Register(name)
	if r == nil {
		return 0, c.fault(hal.Invalid, id, "read "+name, fmt.Errorf("%s has no such register", m.Name))
	}
	p, err := c.Read(id, r.Addr, int(r.Size))
	if err != nil {
		return 0, err
	}
	return r.Decode(p), nil
}

// WriteRegister writes a raw value. It refuses writes that the servo would refuse or even execute: read-only registers,
// values out of range, and EEPROM while torque is on, which it reads first.
func (c *Client) WriteRegister(id byte, m *Model, name string, v int64) error {
	op := "write " + name
	r := m.Register(name)
	if err := r.CheckWrite(m.Name, v); err != nil {
		return c.fault(hal.Invalid, id, op, err)
	}
	// 2.0 servos refuse it themselves; 1.0 ones take it and may lose the write. One question more is cheap here.
	if r.Access == EEPROM && id != Broadcast {
		torque, err := c.ReadRegister(id, m, "torque_enable")
		if err != nil {
			return err
		}
		if torque != 0 {
			return c.fault(hal.Unsafe, id, op, fmt.Errorf("torque is on: EEPROM is writable only with torque off"))
		}
	}
	var room [4]byte
	return c.Write(id, r.Addr, r.Append(room[:0], v))
}
