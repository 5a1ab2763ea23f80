package ros2

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
)

// TestConformance is the part of docs/conformance.md about ROS 2: every endpoint of the node of a rover.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	synctest.Test(t, func(t *testing.T) {
		_, _, server := newStage(t, topicstest.Config{Mode: hal.Realtime})
		for _, list := range []string{"writers", "readers"} {
			all := reflect.ValueOf(server.node.p).Elem().FieldByName(list)
			for _, id := range all.MapKeys() {
				e := all.MapIndex(id).Elem().FieldByName("endpoint")
				topic, kind := e.FieldByName("Topic").String(), e.FieldByName("Type").String()
				if topic == "" || strings.HasPrefix(topic, "ros_discovery") || strings.HasPrefix(topic, "DCPS") {
					continue
				}
				from := map[string]string{"writers": "server", "readers": "client"}[list]
				prefix, name, _ := strings.Cut(topic, "/")
				name = strings.TrimPrefix(name, "r/")
				word := name
				if prefix == "rq" || prefix == "rr" { // a service: tests call its name
					word = strings.TrimSuffix(strings.TrimSuffix(name, "Request"), "Reply")
				}
				word = word[strings.LastIndex(word, "/")+1:]
				if strings.HasSuffix(name, "/commands") {
					word = name
				}
				rows = append(rows, protocolstest.Row{Message: prefix + "/" + name + " " + kind, From: from,
					Proof: `["/]` + word + `"`})
			}
		}
	})
	slices.SortFunc(rows, func(a, b protocolstest.Row) int { return strings.Compare(a.Message, b.Message) })
	none := protocolstest.Note{Sim: protocolstest.Refused, Why: "the config holds the parameters"}
	protocolstest.Conform(t, "../../..", "ROS 2",
		"A node without ROS, `internal/protocols/ros2`: topics (rt), requests (rq) "+
			"and replies (rr) of services and actions, by their DDS types.", rows, map[string]protocolstest.Note{
			"rq/rover/set_parametersRequest rcl_interfaces::srv::dds_::SetParameters_Request_":                      none,
			"rq/rover/set_parameters_atomicallyRequest rcl_interfaces::srv::dds_::SetParametersAtomically_Request_": none,
		})
}
