package gamebots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about USARSim.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	sends := func(message, from, proof string) {
		if !slices.ContainsFunc(rows, func(r protocolstest.Row) bool { return r.Message == message }) {
			rows = append(rows, protocolstest.Row{Message: message, From: from, Proof: proof})
		}
	}
	for _, c := range commands {
		sends(c.name, "client", `\b`+c.name+`\b`)
		for name := range strings.FieldsSeq(c.values) {
			sends(fmt.Sprintf("%s {%s}", c.name, name), "client", fmt.Sprintf(`\b%s \{.*\b%s\b`, c.name, name))
		}
	}
	for _, s := range shown {
		if s.value != "" {
			sends(fmt.Sprintf("%s {%s %s} (%v)", s.command, s.name, s.value, s.dialect), "client",
				fmt.Sprintf(`(?i)\b%s \{.*%s (USARBot\.)?%s\b`, s.command, s.name, s.value))
		} else {
			sends(s.command, "client", `\b`+s.command+`\b`)
		}
	}
	for _, name := range []string{"RESET", "SCAN", "Release", "TagsRemaining", "Zoom"} {
		sends("SET {Opcode "+name+"}", "client", `(?i)SET \{.*\{Opcode `+name+`\}`)
	}
	sends("SET {Type Viewports}", "client", `SET \{Type Viewports\}`)
	for _, name := range []string{"NFO", "STA", "MIS", "MISSTA", "ASTA", "RES", "GEO", "CONF"} {
		sends(name, "server", `\b`+name+` \{`)
	}
	for _, name := range wireTypes {
		sends("SEN {Type "+name+"}", "server", `SEN .*\{Type `+name+`\}`)
	}
	for _, name := range []string{"GroundTruth", "INS", "GPS"} {
		sends("SEN {Type "+name+"} (later)", "server", `SEN .*\{Type `+name+`\}`)
	}
	slices.SortFunc(rows, func(a, b protocolstest.Row) int {
		return strings.Compare(a.From+a.Message, b.From+b.Message)
	})
	const spawned = "a new body of the class in simulation; a class that the config makes real or emulated binds " +
		"its robot"
	none := protocolstest.Note{Sim: protocolstest.Refused,
		Why: "no such robot or command here: logged, and counted as unknown"}
	protocolstest.Conform(t, "../..", "USARSim",
		"Gamebots of USARSim 2.0.1, 2007 to 2010 (later) and 2010 to 2015 (udk), "+
			"`protocols/gamebots`. Values of a command are in braces.", rows, map[string]protocolstest.Note{
			"INIT": {Others: protocolstest.Differs, Why: spawned,
				Tests: []string{"cli.TestUSARSimEmulatedClass",
					"cli.TestUSARSimRealClass"}},
			"CONTROL": none, "GETPATHNODES": none,
		})
}
