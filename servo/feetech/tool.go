package feetech

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// tool is the servo.ToolSpec of Feetech servos.
type tool struct{ *link }

// Tool returns a tool for single servos.
func (driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := tool{newLink(servo.NewExchange(line, bitsPerByte, exchangeRoom, exchangeRoom))}
	return servo.NewTool(cfg, servo.ToolSpec{
		Exchange: t.Exchange, Ping: t.ping, Identify: t.identify, Write: t.write, SetID: t.setID, SetBaud: t.setBaud,
		Question: t.question, Locked: true,
		Read: func(id int, _ servo.Model, r *servo.Register) (int64, error) {
			return t.register(byte(id), r, maxDelay)
		},
		Faults: func(id int, m servo.Model) (servo.Report, error) {
			v, err := t.register(byte(id), m.Register("hardware_error"), maxDelay)
			return faults.Report("", uint64(v)), err
		},
	})
}

func (t tool) ping(id int) error {
	t.Out = feetechwire.AppendPacket(t.Out[:0], &feetechwire.Packet{ID: byte(id), Code: byte(feetechwire.Ping)})
	_, err := t.answer(byte(id), 0, maxDelay)
	return err
}

// found is the identity in a servo's first registers.
type found struct {
	number   uint16
	series   Series
	firmware [2]byte // major, minor
}

// identity reads the first registers: a ping's reply carries no data.
func (l *link) identity(id byte) (f found, err error) {
	k, err := l.read(id, firstAt, firstSize, maxDelay)
	if err != nil {
		return f, err
	}
	// The byte before the model number defines its byte order.
	p := k.Params
	f.firmware, f.series = [2]byte(p[:2]), Series(p[2])
	if f.number = uint16(p[3]) | uint16(p[4])<<8; f.series == SCS {
		f.number = uint16(p[3])<<8 | uint16(p[4])
	}
	if minor := p[1]; f.series == STS && p[0] == firmwareHLS && minor >= firstHLS && minor < endHLS {
		f.series = HLS
	}
	return f, nil
}

func (t tool) identify(id int) (servo.Found, error) {
	if err := t.ping(id); err != nil {
		return servo.Found{}, err
	}
	f, err := t.identity(byte(id))
	if err != nil {
		return servo.Found{}, err
	}
	got := servo.Found{Number: int(f.number), Firmware: fmt.Sprintf("%d.%d", f.firmware[0], f.firmware[1])}
	if m := modelByNumber(f.number); m != nil {
		got.Model = m
		return got, nil
	}
	// The numbers of some are not published, but all models of a series have one table. A servo of another vendor does
	// not have its id at the same address.
	for _, m := range catalogue {
		if m.Number != 0 || m.Series != f.series {
			continue
		}
		if v, err := t.register(byte(id), m.Register("id"), maxDelay); err == nil && v == int64(id) {
			got.Model = m
			got.Note = fmt.Sprintf("model number %d is not published: using the register table of the %s", f.number,
				m.Name)
			return got, nil
		}
	}
	got.Note = "a Feetech servo, of " + servo.ErrUnknownModel.Error()
	return got, nil
}

// write unlocks the EEPROM for its write and locks it after it, also where the write fails.
func (t tool) write(id int, m servo.Model, r *servo.Register, v int64) error {
	if r.Access == servo.RAM {
		return t.store(byte(id), r, v, maxDelay)
	}
	lock := m.Register("lock")
	if err := t.store(byte(id), lock, 0, maxDelay); err != nil {
		return err
	}
	return errors.Join(t.store(byte(id), r, v, maxDelay), t.store(byte(id), lock, 1, maxDelay))
}

// setID locks the EEPROM at the new id, or at the old one where the write was lost.
func (t tool) setID(id int, m servo.Model, to int) error {
	if err := t.leave(id, m, "id", int64(to)); err != nil {
		return err
	}
	lock := m.Register("lock")
	err := t.store(byte(to), lock, 1, maxDelay)
	if servo.IsServoError(err) {
		err = errors.Join(err, t.store(byte(id), lock, 1, maxDelay))
	}
	return err
}

// setBaud is the same for a rate.
func (t tool) setBaud(id int, m servo.Model, baud int) error {
	code, ok := m.BaudCode(baud)
	if !ok {
		return fmt.Errorf("rate: got %d Bd, want a rate of the model", baud)
	}
	line, ok := t.Port.(servo.Line)
	before := t.Port.Baud()
	if err := t.leave(id, m, "baud_rate", int64(code)); err != nil || !ok {
		return err
	}
	if err := line.SetBaud(baud); err != nil {
		return err
	}
	lock := m.Register("lock")
	err := t.store(byte(id), lock, 1, maxDelay)
	if servo.IsServoError(err) {
		err = errors.Join(err, line.SetBaud(before), t.store(byte(id), lock, 1, maxDelay))
	}
	return err
}

// leave writes a register with which the servo leaves its place, where it may still reply or not: one write.
func (t tool) leave(id int, m servo.Model, register string, v int64) error {
	if err := t.store(byte(id), m.Register("lock"), 0, maxDelay); err != nil {
		return err
	}
	r := m.Register(register)
	var room [4]byte
	t.Out = feetechwire.AppendWrite(t.Out[:0], byte(id), byte(r.Addr), r.Append(room[:0], v))
	if _, err := t.answer(byte(id), 0, maxDelay); err != nil && !servo.IsServoError(err) {
		return err
	}
	return nil
}

// question reads the id.
func (t tool) question(m servo.Model, id int) servo.Question {
	r := m.Register("id")
	q := servo.Question{Ask: feetechwire.AppendRead(nil, byte(id), byte(r.Addr), byte(r.Size)),
		Want: feetechwire.AppendPacket(nil, &feetechwire.Packet{ID: byte(id), Params: []byte{byte(id)}})}
	// The error byte reports alarms, which may come and go.
	q.Same = func(got []byte) bool { return servo.SameBut(got, q.Want, 4, len(q.Want)-1) }
	q.Sound = servo.CheckComplement
	return q
}
