package odrive

import (
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// CANClient asks nodes one by one, for tools. One goroutine calls it. It makes no motor turn.
type CANClient struct {
	Name            string        // the bus in errors
	Latency         time.Duration // what the adapter may hold an answer back
	Watchdog, Armed uint16        // the endpoints of watchdog_timeout and enable_watchdog; 0 = not known

	x       servo.Exchange
	can     *servo.CANExchange
	node    byte
	want    Command
	point   uint16 // endpoint of the TxSDO that is waited for
	got     servo.CANFrame
	dialect Dialect
}

// NewCANClient returns a client of a line, which stays the caller's.
func NewCANClient(line servo.Line) *CANClient {
	c := &CANClient{x: servo.NewExchange(line, frameBits, 8*servo.CANSize, 64*servo.CANSize), dialect: V06}
	c.can = servo.NewCANExchange(&c.x, c.accept)
	return c
}

func (c *CANClient) accept(f *servo.CANFrame) bool {
	node, command, ok := Split(f)
	if !ok || f.Remote || node != c.node || command != c.want {
		return false
	}
	if s, ok := ParseSDO(f); command == TxSDO && (!ok || s.Endpoint != c.point) {
		return false
	}
	c.got = *f
	return true
}

// ask sends what is put and waits for command of node. What came before is thrown away.
func (c *CANClient) ask(op string, node byte, command Command, put *servo.CANFrame, delay time.Duration) error {
	c.node, c.x.Latency = node, c.Latency
	c.want = Command(0xFF) // nobody's
	if err := c.can.Drain(); err != nil {
		return servo.Fault(c.Name, int(node), op, err)
	}
	if c.want = command; put != nil {
		c.can.Put(put)
	}
	return servo.Fault(c.Name, int(node), op, c.can.Collect(1, delay))
}

func (c *CANClient) remote(op string, node byte, command Command) error {
	f := Ask(node, command)
	return c.ask(op, node, command, &f, canDelay)
}

// Identify asks node who it is. Firmware 0.5 does not say, and runs on v3 alone.
func (c *CANClient) Identify(node int) (*Model, error) {
	err := c.remote("identify", byte(node), GetVersion)
	if err == nil {
		if c.dialect = V06; c.got.Len != 8 {
			return nil, servo.Fault(c.Name, node, "identify", servo.ErrCorrupt)
		}
		if m := modelOf(float64(c.got.Data[1])); m != nil {
			return m, nil
		}
		return nil, servo.Refuse(c.Name, node, "identify", "hardware: got %d, want 4 or 5", c.got.Data[1])
	}
	if hal.KindOf(err) != hal.Timeout {
		return nil, err
	}
	if err = c.remote("identify", byte(node), Estimates); err != nil {
		return nil, err
	}
	c.dialect = V05
	return ModelByName("odrive-v3"), nil
}

// answers are where a register's value stands: in a frame of CANSimple, at a byte of it.
func answers(name string) (command Command, at int, newer bool) {
	switch name {
	case "present_position":
		return Estimates, 0, false
	case "present_velocity":
		return Estimates, 4, false
	case "present_current":
		return GetIq, 4, false
	case "present_voltage":
		return GetBus, 0, false
	case "supply_current":
		return GetBus, 4, false
	case "present_temperature":
		return GetTemperature, 0, true
	case "errors":
		return GetErrors, 0, true
	case "state", torqueEnable:
		return Heartbeat, 0, false
	case "watchdog_timeout", "watchdog_enable":
		return TxSDO, 0, true
	}
	return 0, 0, false
}

// CANParameters are the registers of a node, as tools know them: what CANSimple has a frame for, and the watchdog, whose
// endpoints depend on the firmware. The slice is the caller's.
func CANParameters() []servo.Register {
	return slices.DeleteFunc(Parameters(), func(r servo.Register) bool { c, _, _ := answers(r.Name); return c == 0 })
}

// endpoint is that of a register of the watchdog, 0 where it is not known.
func (c *CANClient) endpoint(name string) uint16 {
	if name == "watchdog_enable" {
		return c.Armed
	}
	return c.Watchdog
}

// Read reads a register of CANParameters, raw. What a node does it says in its heartbeats, which are waited for.
func (c *CANClient) Read(node int, r *servo.Register) (int64, error) {
	op := "read " + r.Name
	command, at, newer := answers(r.Name)
	_, factor := Path(r, c.dialect, 0)
	point := uint16(0)
	if command == TxSDO {
		point = c.endpoint(r.Name)
	}
	switch {
	case command == 0 || newer && c.dialect == V05 || command == TxSDO && point == 0:
		return 0, servo.Refuse(c.Name, node, op, "%w", servo.ErrNoRegister)
	case command == Heartbeat:
		if err := c.ask(op, byte(node), command, nil, heartbeatTimeout); err != nil {
			return 0, err
		}
		beat, ok := ParseBeat(&c.got)
		switch {
		case !ok:
			return 0, servo.Fault(c.Name, node, op, servo.ErrCorrupt)
		case r.Name == "state":
			return int64(beat.State), nil
		case beat.State == ClosedLoop:
			return 1, nil
		}
		return 0, nil
	case command == TxSDO:
		f := SDO{Endpoint: point}.Frame(byte(node), RxSDO)
		c.point = point
		if err := c.ask(op, byte(node), TxSDO, &f, canDelay); err != nil {
			return 0, err
		}
		s, _ := ParseSDO(&c.got)
		if r.Encoding == servo.Float {
			return r.Round(float64(math.Float32frombits(s.Value)) * factor), nil
		}
		return int64(s.Value & 1), nil
	}
	if err := c.remote(op, byte(node), command); err != nil {
		return 0, err
	}
	if r.Encoding != servo.Float {
		return int64(c.got.Word(at)), nil
	}
	v := c.got.Float(at)
	if !finite(v) {
		return 0, servo.Fault(c.Name, node, op, servo.ErrCorrupt)
	}
	return r.Round(v * factor), nil
}

// Write writes a register of the watchdog where its endpoint is known, or takes the torque, and reads back. It is lost with
// the power.
func (c *CANClient) Write(node int, r *servo.Register, v int64) error {
	op := "write " + r.Name
	point := c.endpoint(r.Name)
	command, _, _ := answers(r.Name)
	var f servo.CANFrame
	switch {
	case r.Name == torqueEnable && v == 0:
		f = Words(byte(node), SetState, uint32(Idle))
	case command != TxSDO || point == 0 || c.dialect == V05:
		return servo.Refuse(c.Name, node, op, "%w", servo.ErrNoRegister)
	case r.Encoding == servo.Float:
		f = SDO{Write: true, Endpoint: point, Value: floatWord(r.SI(v))}.Frame(byte(node), RxSDO)
	default:
		f = SDO{Write: true, Endpoint: point, Value: uint32(v)}.Frame(byte(node), RxSDO)
	}
	c.can.Put(&f)
	if err := c.can.Write(); err != nil {
		return servo.Fault(c.Name, node, op, err)
	}
	got, err := c.Read(node, r)
	if err == nil && got != v { // the first heartbeat may be of the moment before
		got, err = c.Read(node, r)
	}
	if err != nil {
		return err
	}
	return servo.Verify(c.Name, node, r.Name, got, v)
}
