package commission

import (
	"errors"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

type dynamixelTool struct {
	c *dynamixel.Client
	m *dynamixel.Model
}

func (t *dynamixelTool) Identify(id int) (catalog.ServoModel, error) {
	f, err := t.c.Ping(byte(id))
	if err != nil {
		return nil, err
	}
	if t.m = f.Model(t.c.Protocol()); t.m == nil {
		return nil, stranger(id, f.Number)
	}
	return t.m, nil
}

func (t *dynamixelTool) Read(id int, register string) (int64, error) {
	return t.c.ReadRegister(byte(id), t.m, register)
}

// unlocked makes sure that a Dynamixel of protocol 1.0 has no closed lock, under which a write is taken and forgotten.
func unlocked(t Tool, m *dynamixel.Model, id int) error {
	if m.Register("lock") == nil {
		return nil
	}
	locked, err := ReadOne(t, id, "lock")
	if err == nil && locked != 0 {
		err = &hal.Error{Kind: hal.Unsafe, ID: id, Op: "write", Err: errors.New("its EEPROM is locked until its power goes off: switch it off and on")}
	}
	return err
}

func (t *dynamixelTool) Write(id int, register string, v int64) error {
	if r := t.m.Register(register); r != nil && r.Access == dynamixel.EEPROM {
		if err := unlocked(t, t.m, id); err != nil {
			return err
		}
	}
	err := t.c.WriteRegister(byte(id), t.m, register, v)
	if err != nil && hal.KindOf(err) != hal.Timeout { // a low status return level acknowledges nothing
		return err
	}
	got, err := t.c.ReadRegister(byte(id), t.m, register)
	if err != nil {
		return err
	}
	return servo.Verify(t.c.Name, id, register, got, v)
}

type feetechTool struct {
	c *feetech.Client
	m *feetech.Model
}

func (t *feetechTool) Identify(id int) (catalog.ServoModel, error) {
	f, err := t.c.Ping(byte(id))
	if err != nil {
		return nil, err
	}
	if t.m = f.Model(); t.m != nil {
		return t.m, nil
	}
	// The numbers of some are not published, but all models of a series have one table. A servo of another vendor does not
	// have its id where that says.
	for _, m := range feetech.Models() {
		if m.Number == 0 && m.Series == f.Series {
			if v, err := t.c.ReadRegister(byte(id), m, "id"); err == nil && v == int64(id) {
				t.m = m
				return m, nil
			}
		}
	}
	return nil, stranger(id, f.Number)
}

func (t *feetechTool) Read(id int, register string) (int64, error) {
	return t.c.ReadRegister(byte(id), t.m, register)
}

func (t *feetechTool) Write(id int, register string, v int64) error {
	return t.c.WriteRegister(byte(id), t.m, register, v)
}

// hiwonderTool is of the one model that there is: a servo does not say what it is.
type hiwonderTool struct {
	c *hiwonder.Client
	m *hiwonder.Model
}

func (t hiwonderTool) Identify(id int) (catalog.ServoModel, error) {
	_, err := t.c.Ping(byte(id))
	return t.m, err
}

func (t hiwonderTool) Read(id int, register string) (int64, error) {
	return t.c.ReadRegister(byte(id), t.m, register)
}

// Write asks for the torque itself: the servo would take a limit with torque on, and jump.
func (t hiwonderTool) Write(id int, register string, v int64) error {
	if r := t.m.Register(register); r != nil && r.Access == dynamixel.EEPROM {
		if on, err := ReadOne(t, id, "torque_enable"); err != nil {
			return err
		} else if on != 0 {
			return &hal.Error{Kind: hal.Unsafe, Bus: t.c.Name, ID: id, Op: "write " + register,
				Err: errors.New("torque is on: what is kept can be written with torque off alone")}
		}
	}
	return t.c.WriteRegister(byte(id), t.m, register, v)
}

// kondoTool changes ids only of a servo that is alone on its line: the command names nobody.
type kondoTool struct {
	c *kondo.Client
	m *kondo.Model
}

func (t kondoTool) Identify(id int) (catalog.ServoModel, error) { return t.m, t.c.Ping(byte(id)) }

func (t kondoTool) Read(id int, register string) (int64, error) {
	sc, ok := map[string]byte{"stretch": kondo.Stretch, "speed": kondo.Speed, "present_amps": kondo.Current, "present_heat": kondo.Heat}[register]
	switch {
	case register == "id":
		return int64(id), t.c.Ping(byte(id))
	case !ok:
		return 0, &hal.Error{Kind: hal.Invalid, Bus: t.c.Name, ID: id, Op: "read " + register, Err: errors.New("ICS cannot read it")}
	}
	v, err := t.c.Get(byte(id), sc)
	return int64(v), err
}

func (t kondoTool) Write(id int, register string, v int64) error {
	r := t.m.Register(register)
	if err := r.CheckWrite(t.m.Name, v); err != nil {
		return &hal.Error{Kind: hal.Invalid, Bus: t.c.Name, ID: id, Op: "write " + register, Err: err}
	}
	switch {
	case register == "torque_enable" && v == 0:
		_, err := t.c.Free(byte(id))
		return err
	case register == "id":
		if alone, err := t.c.Alone(); err != nil || int(alone) != id {
			return errors.Join(err, &hal.Error{Kind: hal.Unsafe, Bus: t.c.Name, ID: id, Op: "write id", Err: errors.New("it must be alone on its line")})
		}
		return t.c.SetID(byte(v))
	case catalog.KondoSetting(r):
		return t.c.Set(byte(id), byte(r.Addr), byte(v))
	}
	return &hal.Error{Kind: hal.Invalid, Bus: t.c.Name, ID: id, Op: "write " + register,
		Err: errors.New("ICS writes stretch, speed, current_limit, heat_limit and, in setup, the id")}
}
