package hiwonder

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
)

type driver struct{}

// Driver is the driver of LX servos, bus type "hiwonder".
func Driver() servo.Driver { return driver{} }

func (driver) Traits() *servo.Traits {
	// 10 bytes sent, 6 requested, 8 replied.
	wire := servo.CycleBytes{Bits: bitsPerByte, Bytes: func(n int) int { return 24 * n }}
	return &servo.Traits{
		Type: "hiwonder", Vendor: "Hiwonder", LastID: hiwonderwire.LastID, Bauds: []int{Baud},
		Samples:  []string{"lx-16a"},
		Explain:  explain,
		Roll:     hiwonderwire.AppendPacket(nil, &hiwonderwire.Packet{ID: hiwonderwire.Broadcast, Command: 14}),
		RollSlot: func(int) time.Duration { return 0 },
		RollIDs: func(got []byte) ([]int, bool) {
			p := hiwonderwire.NewParser()
			var k hiwonderwire.Packet
			return servo.IDsIn(got, &p.Framer, func() (int, bool) { ok := p.Next(&k); return int(k.ID), ok })
		},
		Benchmarks: []servo.Benchmark{{Model: "lx-16a", Bauds: []int{Baud}, Bound: wire.Bound, First: 1}},
		Foreign: func(id byte) []byte {
			return hiwonderwire.AppendPacket(nil, &hiwonderwire.Packet{ID: id, Command: 28, Params: []byte{0xF4, 1}})
		},
	}
}

func (driver) Models() []servo.Model { return servo.ModelsOf(catalogue) }

func (driver) Chain(cfg servo.ChainConfig) servo.LineChain { return NewChain(cfg) }

// Table is the memory behind the commands.
func (m *Model) Table() []servo.Register { return m.Registers }

// Setting is nil: tools write the stored settings, and the others are goals.
func (m *Model) Setting(string) *servo.Register { return nil }

// Meaning is "": the units are sufficient.
func (m *Model) Meaning(*servo.Register, int64) string { return "" }

// tool is the servo.ToolSpec of Hiwonder servos.
type tool struct{ *link }

// Tool returns a tool for single servos. A servo does not report its model; one is known. It takes a limit with torque
// on, and jumps.
func (driver) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := tool{newLink(servo.NewExchange(line, bitsPerByte, hiwonderwire.MaxPacket, 8*hiwonderwire.MaxPacket))}
	m := catalogue[0]
	read := func(id int, _ servo.Model, r *servo.Register) (int64, error) { return t.register(byte(id), r) }
	return servo.NewTool(cfg, servo.ToolSpec{
		Exchange: t.Exchange, Read: read, Write: t.write, Question: question, Locked: true,
		Identify: func(id int) (servo.Found, error) {
			_, err := read(id, m, m.Register("id"))
			return servo.Found{Model: m}, err
		},
		SetID: func(id int, m servo.Model, to int) error { return t.write(id, m, m.Register("id"), int64(to)) },
	})
}

// write writes a register with the other registers of its command as they are, and reads it back: a new id from its new
// place. An offset is saved for good.
func (t tool) write(id int, _ servo.Model, r *servo.Register, v int64) error {
	cmd := commandOf(r)
	k, err := t.read(byte(id), cmd)
	if err != nil {
		return err
	}
	params := append([]byte(nil), k.Params...)
	r.Append(params[:r.Addr-cmd.Addr], v)
	t.Out = t.Out[:0]
	t.link.write(byte(id), cmd.Write, params)
	if cmd.Write == hiwonderwire.AdjustOffset {
		t.link.write(byte(id), hiwonderwire.SaveOffset, nil)
	}
	if err := t.Exchange.Write(); err != nil {
		return err
	}
	if r.Name == "id" {
		id = int(v)
	}
	got, err := t.register(byte(id), r)
	if err != nil {
		return err
	}
	return servo.Unequal(got, v)
}

// question reads the id.
func question(_ servo.Model, id int) servo.Question {
	const readID = 14
	ask := hiwonderwire.AppendPacket(nil, &hiwonderwire.Packet{ID: byte(id), Command: readID})
	want := hiwonderwire.AppendPacket(nil,
		&hiwonderwire.Packet{ID: byte(id), Command: readID, Params: []byte{byte(id)}})
	return servo.Question{Ask: ask, Want: want,
		Same:  func(got []byte) bool { return servo.SameBut(got, want, len(want)-1) },
		Sound: func(got []byte) bool { return servo.SameBut(got, want) }}
}

// explain is servo.Traits.Explain. Commands and replies have the same format; a reply repeats the number of its
// command.
func explain(_, data []byte, host bool, model func(id int) servo.Model) []string {
	p := hiwonderwire.NewParser()
	var k hiwonderwire.Packet
	return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) }, func() string {
		return explainPacket(&k, host, model(int(k.ID)))
	})
}

func explainPacket(k *hiwonderwire.Packet, host bool, m servo.Model) string {
	for i := range commands {
		c := &commands[i]
		switch {
		case k.Command == c.Write && host && c.Write != 0:
			return fmt.Sprintf("write id %d: %s", k.ID, servo.Fields(m, int(c.Addr), k.Params))
		case k.Command == c.Read && host:
			return fmt.Sprintf("read id %d: %s", k.ID, servo.FieldNames(m, int(c.Addr), int(c.Size)))
		case k.Command == c.Read:
			return fmt.Sprintf("id %d: %s", k.ID, servo.Fields(m, int(c.Addr), k.Params))
		}
	}
	if name, ok := map[byte]string{hiwonderwire.MoveStart: "move_start", hiwonderwire.MoveStop: "move_stop",
		hiwonderwire.SaveOffset: "offset_save"}[k.Command]; ok {
		return fmt.Sprintf("%s id %d", name, k.ID)
	}
	return fmt.Sprintf("id %d: command %d: % x", k.ID, k.Command, k.Params)
}
