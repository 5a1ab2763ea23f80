package osp

import (
	"fmt"
	"testing"
	"testing/synctest"

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

// TestSentences: each sentence of the document that says what is, with the tests that hold it.
func TestSentences(t *testing.T) {
	if DefaultPort != 45454 {
		t.Errorf("default port: got %d, want 45454", DefaultPort)
	}
	const all, loss = "TestTranscripts", "TestLosses"
	protocolstest.Sentences(t, "../..", "OSP, sentence by sentence", [][4]string{
		{"1", "OSP clients can control an arbitrary number of controllable agents.", "", all},
		{"1", "An arbitrary number of OSP clients can connect to the simulator.", "at most `max_clients` of the config",
			all},
		{"1", "Any OSP client can reset the entire simulator communication.", "", all},
		{"1", "OSP clients can also directly read or change variables remotely.", "", all + ", TestSetInput"},
		{"2", "The OSP server is bound to a specific port (default is 45454).", "", "TestSentences"},
		{"2", "A new client handler is started for each OSP client.", "", all + ", TestRepeatedInit"},
		{"2", "OSP clients can terminate a connection by sending a termination command.", "", all},
		{"2", "A communication reset terminates all connected OSP clients.", "", all},
		{"3", "Messages use a single byte as header to identify the command.", "", "TestDecode, TestEncode"},
		{"3", "Integers are sent as 4 byte numbers in little-endian format.", "", "TestDecode, TestEncode"},
		{"3", "Floats are 4 byte values of IEEE 754; doubles are sent as floats.", "", "TestDecode, TestEncode"},
		{"3", "Strings are a sequence of bytes, terminated by '\\0'.", "", "TestStringEndsAtNUL, TestRefused"},
		{"4.1", "A client has to send an initial connection request with major and minor number.", "", all},
		{"4.1", "With older protocols the server creates an older client handler.",
			"differs: the only version is 1.1, others are counted and not answered", all},
		{"4.1", "The reply comes from the socket of the new client handler, where all further commands go.", "", all},
		{"4.2", "A reset cancels all connections and all registrations for agents, values and events.", "", all},
		{"4.2", "The reset confirmation is sent to all connected clients.", "71 follows, as the original's", all},
		{"4.2", "Clients are not expected to confirm the reset message.", "", all},
		{"4.3", "InterfaceValues are named, normalized double variables.",
			"`outputs: physical` does as the original did",
			"TestTerminals, TestPhysical"},
		{"4.3", "All InterfaceValues of an agent become part of its interface.", "", all},
		{"4.3", "The overview has, for each agent, an index, an id, a type, the available flag and a name.", "", all},
		{"4.3", "The available flag tells whether the agent is already controlled.", "", all},
		{"4.3", "The information has the numbers of inputs, outputs and infos, then each with range and name.", "",
			all},
		{"4.3", "The status of a registration is 1 at success, 0 if not found or controlled by another client.", "",
			all},
		{"4.3", "Each client can register for as many agents as desired, each separately.", "", all},
		{"4.3", "Before the overview the client handler does not know any agent by its id.", "", all},
		{"4.3", "The status of a deregistration is 1, also if not controlled; 2 if not found.", "", all},
		{"4.4", "Clients get a notification after each step about the registered events that did occur.", "",
			all + ", TestEventsBeforeReset"},
		{"4.4", "The exact global name of an event must be known; an event not found has the id 0.", "", all},
		{"4.4", "The localEventId is only unique for this client.", "", all},
		{"4.5", "All variable names matching a regular expression are listed.",
			"the whole name is matched, as by the original", all + ", TestLargeExpression"},
		{"4.5", "The index counts the datagrams; the localValueId is unique in the context of the client.", "", all},
		{"4.5", "The valueType is a string describing the variable type.", "", all + ", TestValueText"},
		{"4.5", "The valueContent always is a string, made in a type dependent manner.", "",
			"TestValueText, TestParseValue"},
		{"4.5", "The status of a set is 1; 0 if the string did not parse; 2 if the value was not found.", "", all},
		{"4.5", "Registered values are delivered after each simulation step.", "", all},
		{"4.5", "Ids in the reply are those of the request, 0 where not found.", "", all},
		{"4.5", "Previously registered values are not affected by a registration.", "", "TestValuesStayRegistered"},
		{"4.5", "The deregistration is analog; ids are 0 where it failed.", "", all},
		{"4.6", "During the reset all objects are moved to their starting positions.", "a real body moves there slowly",
			"TestTwoClientsRepeat, TestRealtime"},
		{"4.6", "The initial conditions for a specific seed are always the same.", "",
			"TestTwoClientsRepeat, cli.TestRandomResetOverOSP"},
		{"4.6", "All controlling clients have to send a request for each agent they control.", "", all},
		{"4.6", "The last valid seed is used; 0 is don't care.", "", all},
		{"4.6", "The server notifies all clients about the completion of a reset.", "", all},
		{"4.7", "A client has to request a new step for each controlled agent.", "", all},
		{"4.7", "Inputs are in the order of the agent information.", "", all},
		{"4.7", "The server executes a step after all clients sent a request for each controlled agent.", "",
			all + ", TestTwoClientsRepeat"},
		{"4.7", "Each client gets a notification for each controlled agent.", "", all + ", " + loss},
		{"4.7", "Outputs and infos are in the order of the agent information.", "", all},
		{"4.7", "Only the first notification of a step has observed values and events.", "", all},
		{"4.7", "The occurred ids are only the local ids of events that occurred during the step.", "", all},
		{"5", "All identifiers are unsigned chars.", "", "TestDecode, TestConformance"},
	})
}

// TestValuesStayRegistered: a second registration adds to the first.
func TestValuesStayRegistered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, Options{}, "pendulum")
		s.play(hello + `
		a> 28 s/Control/(CurrentStep|NumberOfTries)
		a< 29 i2 78
		a< 2b i0 i1 sInt s/Control/CurrentStep 78
		a< 2b i1 i2 sInt s/Control/NumberOfTries 78
		a> 36 i1 i1
		a< 37 i1 i1 78
		a> 36 i2 i2 i9
		a< 37 i2 i2 i0 78
		a> 64 i1
		a< 65 i1 01 78
		a> 50 i1 i0
		a< 51 i1 78
		a< 55 i1 i1 i1 i0 i2 f0 f0 78
		a< 33 i1 s1 78
		a< 33 i2 s0 78
		a> 56 i1
		`)
	})
}
