package cybergear

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

type driver struct{}

// Driver is the driver of CyberGear motors on a CAN bus, bus type "cybergear".
func Driver() servo.Driver { return driver{} }

func (driver) Traits() *servo.Traits {
	// A goal and the feedback that replies to it: two extended frames of 8 bytes, 131 bits from the start of one to
	// where the next may start, nothing stuffed (ISO 11898-1).
	wire := servo.CycleBytes{Bits: 2 * 131, Bytes: func(n int) int { return n }}
	return &servo.Traits{
		Type: "cybergear", Vendor: "CyberGear", LastID: cybergearwire.LastID, Bauds: []int{Bitrate},
		MaxBaud: math.MaxInt32,
		Duplex:  true, Named: true, Stops: true, Releases: "CyberGear, CAN timeout of 0.5 s",
		// Replies are addressed to this host; the reply to DeviceID is addressed to all.
		Filters: func([]byte) []servo.CANFilter {
			return []servo.CANFilter{{ID: servo.ExtendedCAN | cybergearwire.Host, Mask: servo.ExtendedCAN | 0xFF},
				{ID: servo.ExtendedCAN | 0xFE, Mask: servo.ExtendedCAN | 0xFF}}
		},
		Samples: []string{"cybergear"},
		Explain: explain,
		Benchmarks: []servo.Benchmark{{Model: "cybergear", Bauds: []int{Bitrate}, Counts: []int{1, 2, 4, 6, 12},
			Bound: wire.Bound, First: 1}},
		Foreign: servo.ForeignCAN,
	}
}

func (driver) Models() []servo.Model { return servo.ModelsOf(catalogue) }

func (driver) Chain(cfg servo.ChainConfig) servo.LineChain { return NewChain(cfg) }

// Table is every parameter.
func (m *Model) Table() []servo.Register { return Parameters() }

// Register returns a parameter.
func (m *Model) Register(name string) *servo.Register { return servo.Named(Parameters(), name) }

// Setting returns the register of a config's setting: "can_timeout".
func (m *Model) Setting(name string) *servo.Register { return servo.Named(m.Settings, name) }

// Meaning is "": the units are sufficient.
func (m *Model) Meaning(*servo.Register, int64) string { return "" }

// tool is the servo.ToolSpec of CyberGear motors.
type tool struct {
	can *servo.CANExchange
	// the reply that is waited for: its type, its sender as Extra, and of a reading the index as Data
	want cybergearwire.Message
	got  cybergearwire.Message
}

// Tool returns a tool for single motors.
func (driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := &tool{}
	t.can = servo.NewCANExchange(servo.NewExchange(line, frameBits, 8*servo.CANSize, 64*servo.CANSize), t.accept)
	m := catalogue[0]
	return servo.NewTool(cfg, servo.ToolSpec{
		Exchange: t.can.Exchange, Ping: t.ping, Read: t.read, Write: t.write,
		Identify: func(id int) (servo.Found, error) { return servo.Found{Model: m}, t.ping(id) },
		// Its torque must be off. It replies from the new id, which it keeps without power.
		SetID: func(id int, _ servo.Model, to int) error {
			m := cybergearwire.To(byte(id), cybergearwire.SetID)
			m.Extra = uint16(to)<<8 | cybergearwire.Host
			return t.ask(m, cybergearwire.DeviceID, byte(to))
		},
	})
}

// accept stores f if it is the expected reply.
func (t *tool) accept(f *servo.CANFrame) bool {
	var m cybergearwire.Message
	if !m.Parse(f) || m.Type != t.want.Type {
		return false
	}
	id, ok := m.Sender()
	if !ok || uint16(id) != t.want.Extra || m.Type == cybergearwire.Read &&
		[2]byte(m.Data[:2]) != [2]byte(t.want.Data[:2]) {
		return false
	}
	t.got = m
	return true
}

// ask sends m and waits for a reply of a type from id; earlier frames are discarded.
func (t *tool) ask(m cybergearwire.Message, reply cybergearwire.Type, id byte) error {
	t.want = cybergearwire.Message{}
	if err := t.can.Drain(); err != nil {
		return err
	}
	t.want = cybergearwire.Message{Type: reply, Extra: uint16(id), Data: m.Data}
	f := m.Frame()
	t.can.Put(&f)
	return t.can.Collect(1, replyDelay)
}

func (t *tool) ping(id int) error {
	return t.ask(cybergearwire.To(byte(id), cybergearwire.DeviceID), cybergearwire.DeviceID, byte(id))
}

// read reads a parameter. A motor whose firmware lacks it does not reply: servo.ErrNoRegister if the motor is there.
func (t *tool) read(id int, _ servo.Model, r *servo.Register) (int64, error) {
	if r.Name == "id" {
		return int64(id), t.ping(id)
	}
	if err := t.ask(cybergearwire.Ask(byte(id), cybergearwire.Index(r.Addr)), cybergearwire.Read,
		byte(id)); err != nil {
		if errors.Is(err, servo.ErrNoReply) && t.ping(id) == nil {
			err = servo.ErrNoRegister
		}
		return 0, err
	}
	return r.Decode(t.got.Data[4:]), nil
}

var errStillOn = errors.New("it still has its torque")

// write writes a parameter and reads it back, or stops the motor. It is lost with the power.
func (t *tool) write(id int, m servo.Model, r *servo.Register, v int64) error {
	switch {
	case r.Name == "torque_enable" && v == 0:
		if err := t.ask(cybergearwire.To(byte(id), cybergearwire.Stop), cybergearwire.Report, byte(id)); err != nil {
			return err
		}
		if cybergearwire.State(t.got.Extra>>14) == cybergearwire.Running {
			return errStillOn
		}
		return nil
	case r.Name == "torque_enable":
		return servo.ErrNoRegister
	}
	k := cybergearwire.Ask(byte(id), cybergearwire.Index(r.Addr))
	k.Type = cybergearwire.Write
	r.Append(k.Data[:4], v)
	if err := t.ask(k, cybergearwire.Report, byte(id)); err != nil {
		return err
	}
	got, err := t.read(id, m, r)
	if err != nil {
		return err
	}
	return servo.Unequal(got, v)
}
