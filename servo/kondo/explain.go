package kondo

import (
	"fmt"

	"github.com/halyard-robotics/halyard/servo"
)

// explain is servo.Traits.Explain.
func explain(_, data []byte, host bool, _ func(id int) servo.Model) []string {
	side := FromServos
	if host {
		side = FromHost
	}
	p := NewParser(side)
	var k Packet
	return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) }, func() string {
		if host {
			return explainCommand(&k)
		}
		return explainReply(&k)
	})
}

func explainCommand(k *Packet) string {
	switch {
	case k.Op == Position && k.Value() == 0:
		return fmt.Sprintf("torque off id %d", k.ID)
	case k.Op == Position:
		return fmt.Sprintf("move id %d: goal_position %d", k.ID, k.Value())
	case k.Op == Read:
		return fmt.Sprintf("read id %d: %s", k.ID, parameter(k.A, "present_amps", "present_heat"))
	case k.Op == Write:
		return fmt.Sprintf("write id %d: %s %d", k.ID, parameter(k.A, "current_limit", "heat_limit"), k.B)
	case k.A == 0:
		return "read the id"
	}
	return fmt.Sprintf("set the id to %d", k.ID)
}

func explainReply(k *Packet) string {
	switch k.Op {
	case Position:
		return fmt.Sprintf("id %d: present_position %d", k.ID, k.Value())
	case Read:
		return fmt.Sprintf("id %d: %s %d", k.ID, parameter(k.A, "present_amps", "present_heat"), k.B)
	case Write:
		return fmt.Sprintf("id %d: %s %d written", k.ID, parameter(k.A, "current_limit", "heat_limit"), k.B)
	}
	return fmt.Sprintf("id %d", k.ID)
}

// parameter is the register of a parameter's number; current and heat have another meaning read than written.
func parameter(number byte, current, heat string) string {
	names := map[byte]string{Stretch: "stretch", Speed: "speed", Current: current, Heat: heat}
	if name, ok := names[number]; ok {
		return name
	}
	return fmt.Sprintf("parameter %d", number)
}
