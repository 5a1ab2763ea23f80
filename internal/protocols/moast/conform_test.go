package moast

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about MOAST's messages. All are compared with NIST's library, byte
// for byte.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	ids := types()
	slices.Sort(ids)
	for _, id := range ids {
		r := protocolstest.Row{Message: fmt.Sprintf("%d %s", id, Symbol(id)), From: "server",
			Note: protocolstest.Note{Tests: []string{"TestRCSLib"}}}
		if m, role, name, ok := locate(id); ok {
			if role == Cmd || role == Cfg {
				r.From = "client"
			}
			r.Proof = fmt.Sprintf(`\b%s%s%s\b`, m.class(), role, name)
		}
		rows = append(rows, r)
	}
	protocolstest.Conform(t, "../../..", "MOAST",
		"Messages of the published headers of MOAST, `internal/protocols/moast`. "+
			"A command that a module does not serve ends with ERROR in its status.", rows, nil)
	if n := len(rows); n < 150 || strings.Contains(fmt.Sprint(rows), "UNKNOWN") {
		t.Errorf("got %d messages, want 150 or more, all with names", n)
	}
}
