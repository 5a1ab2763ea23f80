package odcp

import (
	"fmt"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about ODCP.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	for c, k := range commands {
		from, proof := "client", `^\s*\{"%02x\b`
		if k.server {
			from, proof = "server", `^\s*\{"[0-9a-f ]*", "%02x\b`
		}
		if k.name != "" {
			rows = append(rows, protocolstest.Row{Message: fmt.Sprintf("%d %s", c, k.name), From: from,
				Proof: fmt.Sprintf(proof, c)})
		}
	}
	protocolstest.Conform(t, "../..", "ODCP", "ORCS Direct Control Protocol 1.0, `protocols/odcp`. "+
		"Numbers and names are those of the document's appendix, without `UDP_`.", rows,
		map[string]protocolstest.Note{
			"100 COMMAND_SET_MOTORS": {Real: protocolstest.Differs, Tests: []string{"TestReal"},
				Why: "refused and counted on a real body while another client holds its lease; an angle of -1 " +
					"commands nothing"},
			"151 COMMAND_MOTOR_SETTINGS": {Tests: []string{"TestUnknown"},
				Why: "angles as the document specifies, where the original mixed and clipped angles and torques; -1 " +
					"is an " +
					"angle that is not known"},
		})
}
