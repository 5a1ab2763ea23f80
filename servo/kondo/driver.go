package kondo

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
)

type driver struct{}

// Driver is the driver of ICS servos, bus type "kondo".
func Driver() servo.Driver { return driver{} }

func (driver) Traits() *servo.Traits {
	wire := servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 6 * n }} // 3 sent, 3 replied
	return &servo.Traits{
		Type: "kondo", Vendor: "Kondo", LastID: kondowire.LastID, Bauds: Bauds(), Even: true, Alone: true, FreeID: true,
		Same: func(a, b servo.Model) bool { return true }, Samples: []string{"krs-2552"}, Explain: explain,
		Benchmarks: []servo.Benchmark{{Model: "krs-2552", Bauds: []int{115_200, 625_000, 1_250_000}, Bound: wire.Bound,
			First: 1}},
		Foreign:  func(byte) []byte { return []byte{9, 0x3A, 0x4C} },
		Unproven: "ICS has no checksum: what could be is believed, by Halyard and by the servo",
	}
}

func (driver) Models() []servo.Model { return servo.ModelsOf(catalogue) }

func (driver) Chain(cfg servo.ChainConfig) servo.LineChain { return NewChain(cfg) }

// Table lists the values of a servo that can be written or read.
func (m *Model) Table() []servo.Register { return m.Registers }

// Setting returns a parameter.
func (m *Model) Setting(name string) *servo.Register {
	if r := m.Register(name); r != nil && r.Addr >= kondowire.Stretch && r.Addr <= kondowire.Heat {
		return r
	}
	return nil
}

// Meaning is "": the units are sufficient.
func (m *Model) Meaning(*servo.Register, int64) string { return "" }

// tool is the servo.ToolSpec of ICS servos.
type tool struct{ *link }

// Tool returns a tool for single servos. Its line's echo is out of it already.
func (driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := tool{newLink(servo.NewExchange(line, bitsPerByte, kondowire.MaxPacket, 8*kondowire.MaxPacket))}
	return servo.NewTool(cfg, servo.ToolSpec{
		Exchange: t.Exchange, Ping: t.ping, Read: t.read, Write: t.write, SetID: t.setID, Question: question,
		Identify: func(id int) (servo.Found, error) {
			return servo.Found{Model: catalogue[0], Assumed: true,
				Note: "an ICS servo; the protocol does not report the model"}, t.ping(id)
		},
	})
}

// ping reads the stiffness: nothing moves.
func (t tool) ping(id int) error {
	_, err := t.exchange(kondowire.Packet{Op: kondowire.Read, ID: byte(id), A: kondowire.Stretch})
	return err
}

// asked are the parameters that can be read, by the registers that they are.
var asked = map[string]byte{"stretch": kondowire.Stretch, "speed": kondowire.Speed, "present_amps": kondowire.Current,
	"present_heat": kondowire.Heat}

func (t tool) read(id int, _ servo.Model, r *servo.Register) (int64, error) {
	if r.Name == "id" {
		return int64(id), t.ping(id)
	}
	k, err := t.exchange(kondowire.Packet{Op: kondowire.Read, ID: byte(id), A: asked[r.Name]})
	return int64(k.B), err
}

var errWritable = errors.New("ICS writes stretch, speed, current_limit, heat_limit and, in setup, the id")

// write writes a parameter, which the reply repeats, or frees the servo. The value is lost at power-off.
func (t tool) write(id int, m servo.Model, r *servo.Register, v int64) error {
	switch {
	case r.Name == "torque_enable" && v == 0:
		_, err := t.exchange(kondowire.At(byte(id), free))
		return err
	case m.Setting(r.Name) == nil:
		return &hal.Error{Kind: hal.Invalid, ID: id, Op: "write " + r.Name, Err: errWritable}
	}
	k, err := t.exchange(kondowire.Packet{Op: kondowire.Write, ID: byte(id), A: byte(r.Addr), B: byte(v)})
	if err != nil {
		return err
	}
	return servo.Unequal(int64(k.B), v)
}

// setID sets the id of the only servo of the line: the command has no address.
func (t tool) setID(id int, _ servo.Model, to int) error {
	if to < 0 || to > kondowire.LastID {
		return &hal.Error{Kind: hal.Invalid, ID: id, Op: "set id",
			Err: fmt.Errorf("got %d, want 0..%d", to, kondowire.LastID)}
	}
	k, err := t.exchange(kondowire.Packet{Op: kondowire.ID, ID: kondowire.LastID})
	if err != nil || int(k.ID) != id {
		return errors.Join(err, &hal.Error{Kind: hal.Unsafe, ID: id, Op: "write id",
			Err: errors.New("it must be the only servo on the line")})
	}
	_, err = t.exchange(kondowire.Packet{Op: kondowire.ID, ID: byte(to), A: 1})
	return err
}

// question reads the stiffness: the id cannot be asked for.
func question(_ servo.Model, id int) servo.Question {
	k := kondowire.Packet{Op: kondowire.Read, ID: byte(id), A: kondowire.Stretch, B: 1}
	want := kondowire.AppendPacket(nil, &k, kondowire.FromServos)
	return servo.Question{Ask: kondowire.AppendPacket(nil, &k, kondowire.FromHost), Want: want,
		Same:  func(got []byte) bool { return servo.SameBut(got, want, 2) },
		Sound: func(got []byte) bool { return got[2] < 0x80 }} // ICS has no checksum
}
