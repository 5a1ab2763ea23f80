package kondo

import (
	"fmt"

	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
)

// explain is servo.Traits.Explain.
func explain(_, data []byte, host bool, _ func(id int) servo.Model) []string {
	side := kondowire.FromServos
	if host {
		side = kondowire.FromHost
	}
	p := kondowire.NewParser(side)
	var k kondowire.Packet
	return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) }, func() string {
		if host {
			return explainCommand(&k)
		}
		return explainReply(&k)
	})
}

func explainCommand(k *kondowire.Packet) string {
	switch {
	case k.Op == kondowire.Position && k.Value() == 0:
		return fmt.Sprintf("torque off id %d", k.ID)
	case k.Op == kondowire.Position:
		return fmt.Sprintf("move id %d: goal_position %d", k.ID, k.Value())
	case k.Op == kondowire.Read:
		return fmt.Sprintf("read id %d: %s", k.ID, parameter(k.A, "present_amps", "present_heat"))
	case k.Op == kondowire.Write:
		return fmt.Sprintf("write id %d: %s %d", k.ID, parameter(k.A, "current_limit", "heat_limit"), k.B)
	case k.A == 0:
		return "read the id"
	}
	return fmt.Sprintf("set the id to %d", k.ID)
}

func explainReply(k *kondowire.Packet) string {
	switch k.Op {
	case kondowire.Position:
		return fmt.Sprintf("id %d: present_position %d", k.ID, k.Value())
	case kondowire.Read:
		return fmt.Sprintf("id %d: %s %d", k.ID, parameter(k.A, "present_amps", "present_heat"), k.B)
	case kondowire.Write:
		return fmt.Sprintf("id %d: %s %d written", k.ID, parameter(k.A, "current_limit", "heat_limit"), k.B)
	}
	return fmt.Sprintf("id %d", k.ID)
}

// parameter is the register of a parameter's number; current and heat have another meaning read than written.
func parameter(number byte, current, heat string) string {
	names := map[byte]string{kondowire.Stretch: "stretch", kondowire.Speed: "speed", kondowire.Current: current,
		kondowire.Heat: heat}
	if name, ok := names[number]; ok {
		return name
	}
	return fmt.Sprintf("parameter %d", number)
}
