package osp

import (
	"fmt"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about OSP.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	for c, k := range commands {
		from, mark := "client", ">+"
		if k.server {
			from, mark = "server", "<"
		}
		if k.name != "" {
			rows = append(rows, protocolstest.Row{Message: fmt.Sprintf("%d %s", c, k.name), From: from,
				Proof: fmt.Sprintf(`^\s*\w%s %02x\b`, mark, c)})
		}
	}
	protocolstest.Conform(t, "../..", "OSP", "ORCS Standard Protocol 1.1, `protocols/osp`. "+
		"Numbers and names are those of the document's appendix, without `UDP_`.", rows,
		map[string]protocolstest.Note{
			"5 INIT_COMMUNICATION":      {Why: "the version as ints or, as the original's client sends it, as bytes"},
			"55 REGISTER_FOR_VALUE_ACK": {Sim: protocolstest.Original, Why: "the number of ids comes first"},
			"70 RESET_SIMULATION": {Real: protocolstest.Differs, Tests: []string{"TestRealtime"},
				Why: "a real body moves to its default pose within the guard's speed; the seed moves nothing"},
			"75 RESET_SIMULATION_COMPLETED": {Sim: protocolstest.Original,
				Why: "the server sends 75, the client answers 76; the document has them swapped"},
			"76 RESET_SIMULATION_COMPLETED_ACK": {Sim: protocolstest.Original,
				Why: "the client sends it; the document has it swapped with 75"},
			"80 NEXT_SIMULATION_STEP": {Real: protocolstest.Differs, Tests: []string{"TestRealtime"},
				Why: "a step of a real body is one period of the wall clock"},
		})
}
