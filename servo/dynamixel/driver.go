package dynamixel

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// driver is the servo.Driver of one protocol.
type driver struct{ protocol int }

// Driver1 is the driver of servos that speak protocol 1.0, bus type "dynamixel1"; Driver2 of those that speak 2.0, bus
// type "dynamixel2".
func Driver1() servo.Driver { return driver{1} }
func Driver2() servo.Driver { return driver{2} }

func (d driver) Traits() *servo.Traits {
	t := &servo.Traits{Vendor: "Dynamixel", ReadsFast: readsFast, Both: true, Firmware: "DYNAMIXEL Wizard 2.0",
		Benchmarks: d.benchmarks(), Explain: explain(d.protocol)}
	t.Roll, t.RollIDs = d.roll(), d.rollIDs
	t.RollSlot = func(int) time.Duration { return broadcastSlot }
	if d.protocol == 1 {
		// Those of Dynamixel reply all at once; Feetech's servos reply to it too, by their ids.
		t.RollSlot = func(baud int) time.Duration { return servo.WireTime(12, 10, baud) }
		// The rate's register divides 2 Mbit/s.
		t.Type, t.LastID, t.MaxBaud, t.Packets, t.Samples = "dynamixel1", 253, 2_000_000, "ff ff id len",
			[]string{"ax-12a", "mx-64"}
		t.Foreign = func(id byte) []byte { return AppendStatus1(nil, &Status{ID: id, Data: []byte{0, 2}}) }
		t.Firmwares = [2][]int{{1}, {255}}
		return t
	}
	t.Firmwares, t.Quirks = [2][]int{{1}, {255}}, []string{"no_broadcast_ping"}
	t.Slot, t.Exact, t.Published = broadcastSlot, true, published()
	t.Type, t.LastID, t.Samples = "dynamixel2", 252, []string{"xm430-w350", "xl430-w250", "xl-320"}
	t.Foreign = func(id byte) []byte { return AppendStatus2(nil, &Status{ID: id, Data: []byte{0, 8, 0, 0}}) }
	return t
}

// roll is a ping of all.
func (d driver) roll() []byte {
	ping := Instruction{ID: Broadcast, Op: Ping}
	if d.protocol == 1 {
		return AppendInstruction1(nil, &ping)
	}
	return AppendInstruction2(nil, &ping)
}

// rollIDs are the ids in the replies to roll.
func (d driver) rollIDs(got []byte) ([]int, bool) {
	p := NewParser(d.protocol, FromServos)
	var k Packet
	return servo.IDsIn(got, &p.Framer, func() (int, bool) { ok := p.Next(&k); return int(k.ID), ok })
}

func readsFast(m servo.Model) bool {
	own, _ := m.(*Model)
	return own != nil && own.FastRead
}

func (d driver) Models() (all []servo.Model) {
	for _, m := range catalogue {
		if m.Protocol == d.protocol {
			all = append(all, m)
		}
	}
	return all
}

func (driver) Chain(cfg servo.ChainConfig) servo.LineChain { return NewChain(cfg) }

// Table is the control table.
func (m *Model) Table() []servo.Register { return m.Registers }

// Setting returns a register of RAM that holds configuration.
func (m *Model) Setting(name string) *servo.Register {
	if r := m.Register(name); r != nil && r.Setting() {
		return r
	}
	return nil
}

// Meaning names rates and alarms.
func (m *Model) Meaning(r *servo.Register, raw int64) string {
	switch r.Name {
	case "baud_rate":
		return servo.RateText(m.Rate(byte(raw)))
	case "hardware_error", "shutdown":
		var r servo.Report
		m.report(&r, byte(raw))
		return r.String()
	case "controller_state":
		if raw >= 0 && raw < int64(len(controllerStates)) {
			return controllerStates[raw]
		}
	}
	if strings.HasPrefix(r.Name, "error_code") {
		if e := m.ErrorCode(byte(raw)); e != nil {
			return e.Name
		}
		return "none"
	}
	return ""
}

// BestReading is the best way in which a chain reads the model.
func (m *Model) BestReading() servo.Level {
	switch {
	case m.FastRead:
		return servo.FastReads
	case m.BulkRead:
		return servo.SyncReads
	}
	return servo.SingleReads
}

// tool is the servo.ToolSpec of Dynamixel servos.
type tool struct{ *Client }

// Tool returns a tool for single servos.
func (d driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := tool{NewClient(line, d.protocol)}
	t.Name = cfg.Bus
	return servo.NewTool(cfg, servo.ToolSpec{
		Exchange: t.link.Exchange, Ping: t.ping, Identify: t.identify, Read: t.read, Write: t.write, List: t.list,
		Question: t.question, Faults: t.faults,
		SetID: func(id int, m servo.Model, to int) error { return t.leave(id, m, "id", int64(to)) },
		SetBaud: func(id int, m servo.Model, baud int) error {
			code, _ := m.BaudCode(baud)
			return t.leave(id, m, "baud_rate", int64(code))
		},
	})
}

// ping is a bare ping; a reply with an error status counts as success.
func (t tool) ping(id int) error {
	_, err := t.pingStatus(id)
	return err
}

// pingStatus is the reply to a ping.
func (t tool) pingStatus(id int) (Status, error) {
	st, err := t.exchange("ping", &Instruction{ID: byte(id), Op: Ping}, 3)
	if _, refused := errors.AsType[Refusal](err); refused {
		err = nil
	}
	return st, err
}

func (t tool) identify(id int) (servo.Found, error) {
	f, err := t.Client.Ping(byte(id))
	got := servo.Found{Number: int(f.Number), Firmware: strconv.Itoa(int(f.Firmware))}
	if m := f.Model(t.link.protocol); m != nil {
		got.Model = m
	}
	return got, err
}

// list is a broadcast ping, which servos of protocol 2.0 answer in the order of their ids.
func (t tool) list() (ids []int, ok bool, err error) {
	if t.link.protocol == 1 {
		return nil, false, nil
	}
	all, err := t.PingAll()
	if err != nil {
		if hal.KindOf(err) == hal.Absent {
			return nil, false, err
		}
		return nil, false, nil // replies collided
	}
	for _, f := range all {
		ids = append(ids, int(f.ID))
	}
	return ids, true, nil
}

// read reads a register. A later firmware has registers that an earlier one refuses.
func (t tool) read(id int, m servo.Model, r *servo.Register) (int64, error) {
	p, err := t.Client.Read(byte(id), r.Addr, int(r.Size))
	if no, refused := errors.AsType[Refusal](err); refused {
		return 0, errors.Join(servo.ErrNoRegister, no)
	}
	if err != nil {
		return 0, err
	}
	return r.Decode(p), nil
}

var errLocked = errors.New("its EEPROM is locked until its power goes off: switch it off and on")

// unlocked makes sure that a servo of protocol 1.0 has no closed lock.
func (t tool) unlocked(id int, m servo.Model) error {
	lock := m.Register("lock")
	if lock == nil {
		return nil
	}
	locked, err := t.read(id, m, lock)
	if err == nil && locked != 0 {
		err = &hal.Error{Kind: hal.Unsafe, Bus: t.Name, ID: id, Op: "write", Err: errLocked}
	}
	return err
}

// write writes a register and reads it back. A closed lock of protocol 1.0 takes a write and forgets it.
func (t tool) write(id int, m servo.Model, r *servo.Register, v int64) error {
	if r.Access == EEPROM {
		if err := t.unlocked(id, m); err != nil {
			return err
		}
	}
	own, _ := m.(*Model)
	err := t.WriteRegister(byte(id), own, r.Name, v)
	if err != nil && hal.KindOf(err) != hal.Timeout { // a low status return level has no acknowledgement
		return err
	}
	got, err := t.read(id, m, r)
	if err == nil && got != v {
		err = servo.Fault(t.Name, id, "verify "+r.Name, fmt.Errorf("got %d, want %d", got, v))
	}
	return err
}

// leave writes a register with which the servo leaves its place: some reply from the new one.
func (t tool) leave(id int, m servo.Model, register string, v int64) error {
	if err := t.unlocked(id, m); err != nil {
		return err
	}
	r := m.Register(register)
	var room [4]byte
	err := t.Client.Write(byte(id), r.Addr, r.Append(room[:0], v))
	if hal.KindOf(err) == hal.Timeout {
		return nil
	}
	return err
}

// faults reads hardware_error or error_code, or the error byte of a ping's reply, where protocol 1.0 has them.
func (t tool) faults(id int, m servo.Model) (r servo.Report, err error) {
	own, _ := m.(*Model)
	for _, name := range [...]string{"hardware_error", "error_code"} {
		if reg := m.Register(name); reg != nil {
			v, err := t.read(id, m, reg)
			if err == nil {
				own.report(&r, byte(v))
			}
			return r, err
		}
	}
	st, err := t.pingStatus(id)
	if err == nil {
		const range1 = 0x0A // errors of a command, not of the servo
		own.report(&r, st.Error&^range1)
	}
	return r, err
}

// question reads the id.
func (t tool) question(m servo.Model, id int) servo.Question {
	r := m.Register("id")
	in, st := Instruction{ID: byte(id), Op: Read, Addr: r.Addr, Size: r.Size},
		Status{ID: byte(id), Data: []byte{byte(id)}}
	// The error byte reports alarms, which may come and go, and the checksum is over it.
	if t.link.protocol == 1 {
		want := AppendStatus1(nil, &st)
		return servo.Question{Ask: AppendInstruction1(nil, &in), Want: want, Sound: t.sound,
			Same: func(got []byte) bool { return servo.SameBut(got, want, 4, 6) }}
	}
	want := AppendStatus2(nil, &st)
	return servo.Question{Ask: AppendInstruction2(nil, &in), Want: want, Sound: t.sound,
		Same: func(got []byte) bool { return servo.SameBut(got, want, 8, 10, 11) }}
}

func (t tool) sound(got []byte) bool {
	p := NewParser(t.link.protocol, FromServos)
	p.Feed(got)
	var k Packet
	return p.Next(&k)
}
