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

// TestSentences: each sentence of the document that says what is, with the tests that hold it.
func TestSentences(t *testing.T) {
	const all = "TestTranscript"
	protocolstest.Sentences(t, "../..", "ODCP, sentence by sentence", [][4]string{
		{"1", "For each simulated agent an ODCP server can be started.", "", "cli.TestODCPBesideOSP"},
		{"1", "Settings are applied during the next simulation step and kept until another command.",
			"on emulated and real bodies for as long as the guard's deadline", all},
		{"1", "Settings are applied when a UDP packet is received, independently of the current step.", "",
			all + ", cli.TestODCPBesideOSP"},
		{"1", "There is no protection against multiple controllers.",
			"differs on a real body: only while its lease is free", all + ", TestReal"},
		{"2", "Connecting and disconnecting are optional and notify the simulator.", "", all},
		{"2", "Any client can send commands and requests independently of the connection messages.", "", all},
		{"3", "Messages use a single byte as header to identify the command.", "", "TestDecode, TestEncode"},
		{"3", "Integers are sent as 4 byte numbers in little-endian format.", "", "TestDecode, TestEncode"},
		{"4.1", "The reply has the acknowledge header byte, 15 and 1.", "", all},
		{"4.2", "The reply to a disconnection is its header byte.", "", all},
		{"4.3", "Always all motor angles have to be sent at once.",
			"differs: of a short datagram the values that it has are used", all},
		{"4.3", "The order of the settings is the order of the motors of the agent.", "", all},
		{"4.3", "Motor angles are integers in a range of [0, 1023].", "clamped; -1 commands nothing",
			all + ", TestUnknown"},
		{"4.3", "The null position of the motors is set with a 512.", "the nearest to it: the middle is 511.5",
			"TestScale"},
		{"4.3", "The maximal torque is specified for each motor separately.", "", all},
		{"4.3", "Torque settings are integers in a range of [0, 1023].", "clamped", all + ", TestScale"},
		{"4.3", "The client does not get a reply.", "", all},
		{"4.4", "Motor positions are sent in the same format as in the motor setting command.", "",
			all + ", TestSocket"},
		{"5", "All identifiers are unsigned chars.", "", "TestDecode, TestConformance"},
	})
}
