package imageserver

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about USARSim's image server.
func TestConformance(t *testing.T) {
	rows := []protocolstest.Row{
		{Message: "OK", From: "client", Proof: `"OK`},
		{Message: "U x y width height (later)", From: "client", Proof: `'U'|"U`},
		{Message: "SET {Type Camera} {Client ip}", From: "client", Proof: `SET \{Type Camera\}`},
	}
	for f := range numFormats {
		proof := `range numFormats|f < numFormats|formatNames|ParseFormat`
		if f == Raw {
			proof += `|\bRaw\b`
		}
		rows = append(rows, protocolstest.Row{Message: "picture " + f.String(), From: "server", Proof: proof})
	}
	protocolstest.Conform(t, "../../..", "ImageServer",
		"USARSim's image server, `internal/protocols/imageserver`. A robot's "+
			"camera is rendered, emulated or real.", rows, nil)
}
