package okon

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// TestConformance is the part of docs/conformance.md about Okon.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	// tests of pictures and zones name the types, those of transcripts the words
	types := map[Type]string{GetDepth: "GetDepth", GetDepthBytes: "GetDepthBytes", GetVideo: "GetVideo",
		GetVideoBytes: "GetVideoBytes", HitNoGo: "HitNoGo", HitFinish: "HitFinish"}
	for i, name := range typeNames {
		kind := Type(i)
		sends := func(from, mark string) {
			proof := `\b[a-z]` + mark + ` ` + name + `\b`
			if types[kind] != "" {
				proof = `\b` + types[kind] + `\b`
			}
			rows = append(rows, protocolstest.Row{Message: name, From: from, Proof: proof})
		}
		if name != "" && kind != HitNoGo && kind != HitFinish && kind != failure {
			sends("client", ">")
		}
		if name != "" && kind != ArmMotors && kind != DisarmMotors && kind != torpedo {
			sends("server", "<")
		}
	}
	rows = append(rows, protocolstest.Row{Message: "0xFF", From: "client", Proof: `\ba> 0xFF`},
		protocolstest.Row{Message: "video 0x69", From: "client", Proof: "legacyVideo"},
		protocolstest.Row{Message: "video 0x69", From: "server", Proof: "legacyVideo"})
	const differs = protocolstest.Differs
	protocolstest.Conform(t, "../..", "Okon",
		"The Okon simulation of December 2022, control and video, `protocols/okon`.",
		rows, map[string]protocolstest.Note{
			"SET_ORIEN": {Real: protocolstest.Refused, Tests: []string{"TestTranscripts"},
				Why: "with data on a real robot an ERROR: it is not put anywhere; without, its estimated pose"},
			"RST_SIM": {Real: differs, Tests: []string{"TestRealReset"},
				Why: "a real robot is disarmed, its depth and heading become zero; nothing moves"},
			"SET_MTR": {Others: differs, Why: "disarmed motors of devices are answered by an ERROR, those of the " +
				"simulation " +
				"by nothing, as the original's"},
			"CHK_AP":  {Why: "the answer's flag is 0, as the original's"},
			"SET_SIM": {Why: "as the document; the original refused it"},
			"SET_PID": {Why: "speed PIDs are used, where the original answered with zeros"},
		})
}
