package hiwonder

import (
	"fmt"

	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
)

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
