package nml

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about NML's requests, whose names are those of the constants.
func TestConformance(t *testing.T) {
	source, err := os.ReadFile("session.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := []protocolstest.Row{{Message: "0", From: "client", Proof: `^C \S{8} 00000000`}}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+)Type +=\s(\d+)`).FindAllStringSubmatch(string(source), -1) {
		n, _ := strconv.Atoi(m[2])
		k, known := requestTypes[uint32(n)]
		if !known {
			t.Errorf("%s: no row of requestTypes", m[1])
		}
		rows = append(rows, protocolstest.Row{Message: m[2] + " " + m[1], From: "client",
			Proof: fmt.Sprintf(`^C \S{8} %08x|"(00000001 )?%08x 00000001 0000000[01] 00000000`,
				n, n)})
		if k.words > 0 || n == writeType {
			rows = append(rows, protocolstest.Row{Message: m[2] + " " + m[1] + " reply", From: "server",
				Proof: fmt.Sprintf(`^C \S{8} %08x.*\nS |"(00000001 )?%08x 00000001 0000000[01] 00000000`, n, n)})
		}
	}
	if len(rows) < len(requestTypes) {
		t.Errorf("got %d rows, want one of each of %d requests", len(rows), len(requestTypes))
	}
	protocolstest.Conform(t, "../../..", "NML",
		"Requests of rcslib's clients, `internal/protocols/nml`. They do not depend on "+
			"the body.", rows, map[string]protocolstest.Note{
			"4 clean": {Sim: protocolstest.Differs, Why: "ends the original's server; this one goes on"},
		})
}
