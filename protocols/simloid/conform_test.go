package simloid

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about Simloid.
func TestConformance(t *testing.T) {
	rows := []protocolstest.Row{
		{Message: "traits", From: "server", Proof: `^\s*a< 0 0 0 -6`},
		{Message: "traits (later)", From: "server", Proof: `^\s*a< 1 lever$`},
		{Message: "ACK", From: "client", Proof: `^\s*a> ACK$`},
		{Message: "status", From: "server", Proof: `status\("0`},
		{Message: "status (later)", From: "server", Proof: `Dialect: Later`},
	}
	for _, s := range syntax {
		word := strings.TrimSpace(s.word)
		r := protocolstest.Row{Message: word, From: "client", Proof: `^\s*\w> ` + word + `(\s|$)`}
		if s.later {
			r.Message += " (later)"
		}
		rows = append(rows, r)
	}
	const supported, differs, refused = protocolstest.Supported, protocolstest.Differs, protocolstest.Refused
	real := []string{"TestReal"}
	world := protocolstest.Note{Real: refused, Tests: real, Why: "nothing pushes or lifts a real body"}
	state := protocolstest.Note{Others: refused, Tests: real, Why: "devices keep no states; the log has it once"}
	model := protocolstest.Note{Others: refused, Why: "a config names the devices", Tests: []string{"TestModel"}}
	protocolstest.Conform(t, "../..", "Simloid", "Simloid 0.1.0 of 2016, and its later dialect of 2018 to 2020, "+
		"`protocols/simloid`.", rows, map[string]protocolstest.Note{
		"status": {Sim: differs, Tests: []string{"TestClientOfOriginal", "TestNoiseOfBodies"},
			Why: "ends with the document's newline, where the original has a blank; emulated and real readings have no " +
				"noise added"},
		"status (later)": {Sim: protocolstest.Original, Tests: []string{"TestNoiseOfBodies"},
			Why: "ends with the original's blank"},
		"FI": {Sim: protocolstest.Original, Others: protocolstest.Original, Real: refused, Tests: real,
			Why: "the original's word for IM; nothing pushes a real body"},
		"FA": world, "FX": world, "IM": world, "GRAVITY OFF": world, "FIXED (later)": world,
		"RESET": {Real: differs, Tests: real, Why: "a real body moves to its default pose, slowly, then the status"},
		"SAVE":  state, "RESTORE": state, "MODEL (later)": model, "MOTOR (later)": model,
		"RECORD (later)": {Sim: differs, Why: "accepted; no pictures are recorded"},
		"ACK (later)":    {Sim: supported, Why: "as DONE"},
	})
}
