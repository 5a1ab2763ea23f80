package feetech

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// explain is servo.Traits.Explain.
func explain(asked, data []byte, host bool, model func(id int) servo.Model) []string {
	var k feetechwire.Packet
	if host {
		p := feetechwire.NewParser(feetechwire.FromHost)
		return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) },
			func() string { return explainInstruction(&k, model) })
	}
	addr, p := addressed(asked), feetechwire.NewParser(feetechwire.FromServos)
	return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) }, func() string {
		text := fmt.Sprintf("id %d:", k.ID)
		if k.Code != 0 {
			text += fmt.Sprintf(" alarm %02x", k.Code)
		}
		switch {
		case len(k.Params) == 0:
			return text + " ok"
		case addr < 0:
			return text + fmt.Sprintf(" % x", k.Params)
		}
		return text + " " + servo.Fields(model(int(k.ID)), addr, k.Params)
	})
}

// addressed is the first register of the last read in asked; -1 if asked has no read.
func addressed(asked []byte) int {
	addr, p := -1, feetechwire.NewParser(feetechwire.FromHost)
	var k feetechwire.Packet
	for range servo.Packets(asked, p.Feed, func() bool { return p.Next(&k) }) {
		if op := feetechwire.Op(k.Code); (op == feetechwire.Read || op == feetechwire.SyncRead) && len(k.Params) > 1 {
			addr = int(k.Params[0])
		}
	}
	return addr
}

func explainInstruction(k *feetechwire.Packet, model func(id int) servo.Model) string {
	op, q := feetechwire.Op(k.Code), k.Params
	text := op.String()
	if k.ID != feetechwire.Broadcast {
		text += fmt.Sprintf(" id %d", k.ID)
	}
	switch {
	case op == feetechwire.Read && len(q) == 2:
		return text + ": " + servo.FieldNames(model(int(k.ID)), int(q[0]), int(q[1]))
	case (op == feetechwire.Write || op == feetechwire.RegWrite) && len(q) > 1:
		return text + ": " + servo.Fields(model(int(k.ID)), int(q[0]), q[1:])
	case op == feetechwire.SyncRead && len(q) > 2:
		return fmt.Sprintf("%s ids %s: %s", text, servo.JoinIDs(q[2:]),
			servo.FieldNames(model(int(q[2])), int(q[0]), int(q[1])))
	case op == feetechwire.SyncWrite && len(q) > 2 && q[1] > 0:
		var each []string
		for n, rest := int(q[1])+1, q[2:]; len(rest) >= n; rest = rest[n:] {
			each = append(each, fmt.Sprintf("id %d: %s", rest[0],
				servo.Fields(model(int(rest[0])), int(q[0]), rest[1:n])))
		}
		return text + " " + strings.Join(each, "; ")
	case len(q) > 0:
		return fmt.Sprintf("%s: % x", text, q)
	}
	return text
}
