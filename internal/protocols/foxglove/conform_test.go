package foxglove

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// refusedOnReal is of the commander that both bridges have.
const refusedOnReal = "internal/protocols/rosbridge.TestOperatorsStop"

// TestConformance is the part of docs/conformance.md about Foxglove.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	sends := func(from, message, proof string) {
		rows = append(rows, protocolstest.Row{Message: message, From: from, Proof: proof})
	}
	for _, op := range []string{"subscribe", "unsubscribe", "advertise", "unadvertise", "getParameters",
		"setParameters"} {
		sends("client", op, `C \{"op":"`+op+`"`)
	}
	sends("client", "01 message data", `^B 01|^J \{`)
	sends("client", "02 service call request", `B 02|opServiceCallRequest`)
	for _, op := range []string{"serverInfo", "advertise", "advertiseServices", "status", "parameterValues",
		"serviceCallFailure"} {
		sends("server", op, `"op":"`+op+`"|`+op+`\b`)
	}
	sends("server", "01 message data", `^S 01`)
	sends("server", "02 time", `^S 02|opTime`)
	sends("server", "03 service call response", `^S 03|opServiceCallResponse`)
	for i, s := range services {
		sends("client", s.name, fmt.Sprintf(`^B 02 %02x000000`, i+1))
	}
	s := newStage(t, topicstest.Config{Mode: hal.Lockstep}, Options{})
	all, err := s.Robot.Topics()
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		from := "server"
		if all[i].Command() {
			from = "client"
		}
		if all[i].Kind == topics.Clock {
			continue // the protocol has a message of its own
		}
		sends(from, all[i].Name, regexp.QuoteMeta(all[i].Name)+`\b`)
	}
	protocolstest.Conform(t, "../../..", "Foxglove",
		"Foxglove WebSocket protocol, version 1, `internal/protocols/foxglove`.",
		rows, map[string]protocolstest.Note{
			"/arm": {Real: protocolstest.Refused, Why: "only the operator arms a real robot",
				Tests: []string{refusedOnReal}},
			"/reset": {Real: protocolstest.Refused, Why: "only the operator resets a real robot",
				Tests: []string{refusedOnReal}},
		})
}
