package cli

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about Pyro: the messages in the sources of its module, which
// TestPyro runs.
func TestConformance(t *testing.T) {
	source, err := os.ReadFile("../tools/pyro/robots/driver/utbot.py")
	if err != nil {
		t.Fatal(err)
	}
	var rows []protocolstest.Row
	for _, k := range []struct{ from, pattern string }{
		{"client", `_send\('(\w+)(?: \{Type )?(\w*)`}, {"server", `(?:_wait|_message)\('(\w+)', '(\w+)'`},
	} {
		for _, m := range regexp.MustCompile(k.pattern).FindAllStringSubmatch(string(source), -1) {
			r := protocolstest.Row{Message: m[1], From: k.from, Note: protocolstest.Note{Tests: []string{"TestPyro"}}}
			if m[2] != "" {
				r.Message += " {Type " + m[2] + "}"
			}
			if !slices.ContainsFunc(rows, func(have protocolstest.Row) bool { return have.Message == r.Message }) {
				rows = append(rows, r)
			}
		}
	}
	if len(rows) < 7 {
		t.Errorf("got %d messages, want 7 or more", len(rows))
	}
	protocolstest.Conform(t, "..", "Pyro",
		"Pyrobot's robot for USARSim, `tools/pyro`: what it sends and reads. Its player "+
			"robot is a client of libplayerc: see Player. The tests are in `cli`.", rows, nil)
}
