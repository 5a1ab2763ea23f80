package player

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
)

// wireNames are the names of what the devices serve, by subtype from 1, "-" where a device serves none of that number.
var wireNames = map[Interface]struct{ data, commands, requests string }{
	Position2D: {"STATE", "VEL POS CAR", "GET_GEOM MOTOR_POWER VELOCITY_MODE - SET_ODOM RESET_ODOM"},
	Position3D: {"STATE", "SET_VEL SET_POS", "GET_GEOM MOTOR_POWER VELOCITY_MODE POSITION_MODE RESET_ODOM SET_ODOM"},
	Simulation: {"", "", "GET_POSE2D SET_POSE2D GET_POSE3D SET_POSE3D"},
	Laser:      {"SCAN", "", "GET_GEOM SET_CONFIG GET_CONFIG POWER GET_ID"},
	Ranger:     {"RANGE", "", "GET_GEOM POWER INTNS_POWER SET_CONFIG GET_CONFIG"},
	Sonar:      {"RANGES", "", "GET_GEOM POWER"},
	Bumper:     {"STATE", "", "GET_GEOM"},
	Power:      {"STATE", "", ""},
	PanTilt:    {"STATE", "STATE", "- CONTROL_MODE - GEOM STATUS"},
	Camera:     {"STATE", "", "- - GET_IMAGE"},
	ActArray:   {"STATE", "POS MULTI_POS SPEED MULTI_SPEED HOME", "POWER - GET_GEOM"},
	Limb:       {"STATE", "HOME STOP SETPOSE SETPOSITION", "POWER - GEOM"},
	Gripping:   {"STATE", "OPEN CLOSE STOP", "GET_GEOM"},
	DIO:        {"VALUES", "VALUES", ""},
	IMU:        {"STATE CALIB QUAT EULER FULLSTATE", "", "SET_DATATYPE"},
	RFID:       {"TAGS", "", ""},
	Fiducial:   {"SCAN", "", "GET_GEOM GET_FOV"},
	Opaque:     {"STATE", "CMD", ""},
}

var metaNames = map[uint8]string{reqDeviceList: "DEVLIST", reqDriverInfo: "DRIVERINFO", reqDevice: "DEV",
	reqData: "DATA", reqDataMode: "DATAMODE", reqAuth: "AUTH", reqReplaceRule: "ADD_REPLACE_RULE"}

// goNames are what tests call of those that no transcript has.
var goNames = map[uint8]string{reqDeviceList: `c\.Devices\(`, reqDriverInfo: "reqDriverInfo", reqDevice: "reqDevice",
	reqData: "reqData,", reqDataMode: "reqDataMode", reqAuth: "reqAuth", reqReplaceRule: "reqReplaceRule"}

// TestConformance is the part of docs/conformance.md about Player. Each subtype that a device handles has a name, and
// each name a subtype that it handles.
func TestConformance(t *testing.T) {
	var rows []protocolstest.Row
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := newSession(s.server, s.pipes.Dial(), s.server.options.Log)
		for _, e := range s.server.entries {
			if e.device.Index > 0 {
				continue
			}
			names := wireNames[e.device.Interface]
			for _, of := range []struct {
				kind, names, from, in string
				handles               func(subtype uint8) bool
			}{
				{"DATA", names.data, "server", "Devices|Requests|Odometry", nil},
				{"CMD", names.commands, "client", "Command|Drive|Goal|Arm|Lease", func(n uint8) bool {
					return !errors.Is(e.unit.command(&c.control, n, nil), errUnknown)
				}},
				{"REQ", names.requests, "client", "Requests|Commands|Odometry|Arming", func(n uint8) bool {
					_, err := e.unit.request(&c.control, n, nil)
					return !errors.Is(err, errUnknown)
				}},
			} {
				list := strings.Fields(of.names)
				for n := uint8(1); of.handles != nil && n < 32; n++ {
					named := int(n) <= len(list) && list[n-1] != "-"
					if handled := of.handles(n); handled != named {
						t.Errorf("%v %s %d: handled: got %v, want %v by its name", e.device, of.kind, n, handled, named)
					}
				}
				for i, name := range list {
					if name != "-" {
						rows = append(rows, protocolstest.Row{Message: fmt.Sprintf("%v %s %d %s", e.device.Interface,
							of.kind, i+1, name), From: of.from, In: of.in, Proof: fmt.Sprintf(
							`Device\{%s, \d\}, %d,|position := Device\{%[1]s, 0\}(.*\n)*.*\(position, %d,`,
							goName(e.device.Interface), i+1, i+1)})
					}
				}
			}
		}
	})
	for n := range uint8(32) {
		if name := metaNames[n]; name != "" {
			rows = append(rows, protocolstest.Row{Message: fmt.Sprintf("player REQ %d %s", n, name), From: "client",
				Proof: fmt.Sprintf(`player0 \+ .\s*%08x |%s`, n, goNames[n])})
		}
	}
	slices.SortStableFunc(rows, func(a, b protocolstest.Row) int {
		return strings.Compare(strings.Fields(a.Message)[0], strings.Fields(b.Message)[0])
	})
	rows = append(rows, protocolstest.Row{Message: "other requests", From: "client", Proof: `Position2D, 0\}, 9,`,
		Note: protocolstest.Note{Sim: protocolstest.Refused, Why: "NACK, and the log once"}},
		protocolstest.Row{Message: "other commands", From: "client", Proof: `subtype := range uint8\(6\)`,
			Note: protocolstest.Note{Sim: protocolstest.Refused, Why: "counted, and the log once",
				Tests: []string{"TestHostile"}}})
	real := func(why, test string) protocolstest.Note {
		return protocolstest.Note{Real: protocolstest.Refused, Why: why, Tests: []string{test}}
	}
	protocolstest.Conform(t, "../../..", "Player",
		"Player 3, interfaces of libplayerinterface by their messages' numbers, "+
			"`internal/protocols/player`.", rows, map[string]protocolstest.Note{
			"simulation REQ 2 SET_POSE2D":    real("a real robot is not put anywhere", "TestRequests"),
			"simulation REQ 4 SET_POSE3D":    real("a real robot is not put anywhere", "TestRequests"),
			"position2d REQ 2 MOTOR_POWER":   real("only the operator arms a real robot", "TestArming"),
			"actarray REQ 1 POWER":           real("only the operator arms a real robot", "TestArming"),
			"laser REQ 2 SET_CONFIG":         {Sim: protocolstest.Differs, Why: "answered with what the scanner does"},
			"ranger REQ 4 SET_CONFIG":        {Sim: protocolstest.Differs, Why: "answered with what the scanner does"},
			"position2d REQ 3 VELOCITY_MODE": {Sim: protocolstest.Supported, Why: "the drives have one"},
		})
}

// goName is the name of an interface in Go.
func goName(i Interface) string {
	return map[Interface]string{Position2D: "Position2D", Position3D: "Position3D", Simulation: "Simulation",
		Laser: "Laser", Ranger: "Ranger", Sonar: "Sonar", Bumper: "Bumper", Power: "Power", PanTilt: "PanTilt",
		Camera: "Camera", ActArray: "ActArray", Limb: "Limb", Gripping: "Gripping", DIO: "DIO", IMU: "IMU",
		RFID:     "RFID",
		Fiducial: "Fiducial", Opaque: "Opaque"}[i]
}
