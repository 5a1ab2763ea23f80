package rosbridge

import (
	"regexp"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
)

// TestConformance is the part of docs/conformance.md about rosbridge.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	for _, op := range operations {
		rows = append(rows, protocolstest.Row{Message: op, From: "client", Proof: `C \{"op":"` + op + `"`})
	}
	for _, op := range []string{"publish", "service_response", "status", "fragment", "png"} {
		rows = append(rows, protocolstest.Row{Message: op, From: "server", Proof: `S \{"op":"` + op + `"|"` + op + `"`})
	}
	for _, s := range services() {
		rows = append(rows, protocolstest.Row{Message: s.name, From: "client", Proof: regexp.QuoteMeta(s.name) + `\b`})
	}
	s := newStage(t, topicstest.Config{Mode: hal.Lockstep}, Options{})
	all, err := s.Robot.Topics()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		r := protocolstest.Row{Message: all[i].Name + " " + rosmsg.Type(all[i].Kind).TypeName(), From: "server",
			Proof: `"topic":"/?` + regexp.QuoteMeta(all[i].Name[1:]) + `"`}
		if all[i].Command() {
			r.From = "client"
		}
		rows = append(rows, r)
	}
	const refused = protocolstest.Refused
	protocolstest.Conform(t, "../../..", "rosbridge",
		"rosbridge 2.0 and rosapi, `internal/protocols/rosbridge`. Topics and "+
			"services are those of a robot with two wheels, a head and sensors.", rows, map[string]protocolstest.Note{
			"/rosapi/set_param":    {Sim: refused, Why: "the config holds the parameters"},
			"/rosapi/delete_param": {Sim: refused, Why: "the config holds the parameters"},
			"/rosapi/has_param":    {Sim: protocolstest.Differs, Why: "no: the config holds the parameters"},
			"/rosapi/get_param": {Sim: protocolstest.Differs,
				Why: "the request's default: the config holds the parameters"},
			"/rosapi/get_param_names": {Sim: protocolstest.Differs, Why: "none: the config holds the parameters"},
			"/arm": {Real: refused, Why: "only the operator arms a real robot",
				Tests: []string{"TestReal"}},
			"/reset": {Real: refused, Why: "only the operator resets a real robot",
				Tests: []string{"TestReal"}},
		})
}
