package shell

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

const (
	cmdHead  = "serial_number "
	setHead  = "command_type echo_serial_number status state line source_line source_file "
	statHead = setHead + "admin_state tt.count tt.last tt.now tt.start tt.elapsed tt.min tt.max tt.avg message "
	mobStat  = statHead + "time error heartbeat batteryVolt fuelLevel headLights "
	mobSet   = setHead + "cycleTime debug platformName length width height mass cg steerType botType effCount " +
		"senCount misCount "
	limits = "vmax amax wmax alphamax vCutoffAngle wCutoffAngle "
	motion = "tran%[1]s rpy%[1]s tran%[1]sRate rpy%[1]sRate "
)

// array is the names of an array's fields, for one element.
func array(name, fields string) string {
	all := name + "_length "
	for _, f := range strings.Fields(fields) {
		all += name + "[0]." + f + " "
	}
	return all
}

// waypoints are the fields of an array of waypoints.
var waypoints = array("waypoint", "p rpy neighborhood speed quality")

// names are the fields of messages, as the published headers, the tables of the servo shell and the sheet name them.
// The messages that are not here have their head alone.
var names = map[string]string{
	"NavDataExt": "time utmZone utmLetter " + fmt.Sprintf(motion, "Abs") + fmt.Sprintf(motion, "Rel") +
		fmt.Sprintf(motion, "True") +
		"absToRel.tran absToRel.rot speed steeringCurvature steeringCrabAngle",
	"SensorDataArray": array("arrayElem", "type id collectionTime dataTuple[0]"),
	"SensorDataTextArray": array("dataElem",
		"sensorType sensorID collectionTime dataTuple_length dataTuple[0] dataStr"),
	"SensorDataText": "txtBuffer strPtr_length strPtr[0] dVal_length dVal[0]",
	"RangeScannerData": "pitch startAngle increment maxRange minRange distances_length distances[0] " +
		"collectTimeStart collectTimeDuration",
	"SensorData3D": array("element", "time range pose.tran pose.rot"),
	"SensorData":   "time type data_length data[0]",
	"ServoSPSet": setHead + "cycleTime vehicleID startPose.tran startPose.rot " +
		array("sSetElem", "sType senName sensorToMount.tran sensorToMount.rot"),
	"ServoMisJACmdMove": cmdHead + array("linkCmd", "value type tolerance"),
	"ServoMisJAStat":    statHead + array("linkStat", "linkID jointVal torque"),
	"ServoMisJASet": setHead + "cycleTime debug name misToVeh.tran misToVeh.rot " +
		array("linkSet", "linkID parentLinkID jType maxVelocity maxTorque maxRange minRange loc rot"),
	"ServoMobJACmdAckerman":   cmdHead + "velocity steerAngle crabAngle",
	"ServoMobJACmdSkid":       cmdHead + "wLeft wRight",
	"ServoMobJACmdFlipSkid":   cmdHead + "wLeft wRight " + array("fCmd", "fType flipperAngle"),
	"ServoMobJACmdOmni":       cmdHead + "vLinear vLateral rot",
	"ServoMobJACmdSubmarine":  cmdHead + "propeller rudder sternPlane",
	"ServoMobJACmdRotaryWing": cmdHead + "vLinear vLateral vVertical vRotation",
	"ServoMobJAStat":          mobStat,
	"ServoMobJAStatGrdVeh":    mobStat + "steerAngle crabAngle " + array("fStat", "fType flipperAngle"),
	"ServoMobJAStatAirBot":    mobStat + "vRotation vLateral vLinear vVertical",
	"ServoMobJACfgTeleport":   cmdHead + "goal.tran goal.rot",
	"ServoMobJASet":           mobSet,
	"ServoMobJASetGrdVeh": mobSet +
		"maxWheelRot maxTorque wheelSeparation wheelRadius wheelBase maxSteerAngle maxCrabAngle minTurningRadius " +
		array("fSet", "fType minAngle maxAngle length width location orientation"),
	"ServoMobJASetAirBot":        mobSet + "maxLatVel maxLinVel maxRotVel maxVertVel",
	"ServoEffJACmdOpcode":        cmdHead + "effID opcode param",
	"PrimSPCmdGo":                cmdHead + "outputCycleTime",
	"PrimMobJACmdMoveArcSegment": cmdHead + array("arcList", "center end normal theta annular_tol speed isArc"),
	"PrimMobJACmdMoveWaypoint":   cmdHead + "prim_path hasOrientation " + waypoints,
	"PrimMobJACmdMoveWaypose":    cmdHead + "prim_path hasOrientation " + waypoints,
	"PrimMobJACmdRotate":         cmdHead + "theta thetaTol direction",
	"PrimMobJACmdVel":            cmdHead + "v w",
	"PrimMobJACmdDock": cmdHead +
		"freeSpaceUpperRight freeSpaceLowerLeft stationUpperRight stationLowerLeft dockPoint",
	"PrimMobJAStat":               statHead + "command_type_sent serial_number_sent pathIndex",
	"PrimMobJACfgMove":            cmdHead + limits,
	"PrimMobJASet":                setHead + "cycleTime debug " + limits + "controlPoint.tran controlPoint.rot",
	"AmSPCfgDumpWM":               cmdHead + "level",
	"AmSPSet":                     setHead + "cycleTime debug dumpLevel",
	"AmMobJACmdMoveWaypoint":      cmdHead + "computeHorizonCosts neighborhood speed " + waypoints,
	"AmMobJACmdPrepareMove":       cmdHead + "neighborhood speed",
	"AmMobJACmdSpin":              cmdHead + "direction absAngle tolerance",
	"AmMobJAStat":                 statHead + "amMobJAError seed_length seed[0]",
	"AmMobJACfgCellResolution":    cmdHead + "cellResolution",
	"AmMobJACfgDumpWM":            cmdHead + "turnOn",
	"AmMobJACfgPlanHorizon":       cmdHead + "planHorizon",
	"AmMobJACfgVehicleMinTurnRad": cmdHead + "vehicleMinTurnRad",
	"AmMobJACfgVehicleWidth":      cmdHead + "vehicleWidth",
	"AmMobJASet": setHead + "cellResolution controlPoint.tran controlPoint.rot cycleTime debug " +
		"dumpWM planHorizon vehicleMinTurnRad vehicleWidth",
	"VehMobPLCmdMoveWaypoint": cmdHead + "isLocal neighborhood speed " + waypoints,
	"SectMobPLCmdExplore":     cmdHead + "exploreDist",
	"SectMobPLCmdConnect":     cmdHead + "vehID_length vehID[0] doSendInit",
	"SectMobPLStat":           statHead + "vehID_length vehID[0] explored",
}

// head is the fields of a message that has no line in names.
func head(m nml.Message) string {
	switch symbol := moast.Symbol(m.MessageType()); m.(type) {
	case moast.Reporter:
		return statHead
	case moast.Setting:
		return setHead + "cycleTime debug"
	default:
		if strings.HasSuffix(symbol, "CfgCycleTime") {
			return cmdHead + "cycleTime"
		} else if strings.HasSuffix(symbol, "CfgDebug") {
			return cmdHead + "debug"
		}
		return cmdHead
	}
}

// TestPrintFields: every message type prints its type and a line for each field, by the published names.
func TestPrintFields(t *testing.T) {
	seen := 0
	for id := int32(1); id < 20000; id++ {
		m := moast.New(id)
		switch m.(type) {
		case nil, *moast.SensorData1D, *moast.SensorData2D, *moast.SensorDataList: // columns, in TestPrintColumns
			continue
		}
		seen++
		one(reflect.ValueOf(m).Elem())
		symbol := moast.Symbol(id)
		want := names[symbol]
		if want == "" {
			want = head(m)
		}
		var out strings.Builder
		if err := Print(&out, m); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		var got []string
		for _, line := range lines[1:] {
			name, value, ok := strings.Cut(line, ":")
			if !ok || strings.ContainsAny(value, "{}&[]") {
				t.Errorf("%s: got line %q", symbol, line)
			}
			got = append(got, name)
		}
		if lines[0] != symbol || strings.Join(got, " ") != strings.TrimSpace(want) {
			t.Errorf("%s: got\n%s\n%s, want\n%s", symbol, lines[0], strings.Join(got, " "), want)
		}
	}
	if seen < 100 {
		t.Errorf("got %d types, want all of the sheet's", seen)
	}
}

// one gives every array of a message an element.
func one(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			one(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		one(v.Index(0))
	}
}

// TestPrintValues: the values are in their lines; a text cannot move a terminal's cursor.
func TestPrintValues(t *testing.T) {
	stat := &moast.PrimMobStat{CommandTypeSent: 4006, PathIndex: 3}
	stat.CommandType, stat.Status, stat.Admin, stat.SourceFile = 8010, moast.Exec, moast.AdminInitialized, "a\x1b[2J\nb"
	command := &moast.AMMobCmdMoveWaypoint{HorizonCosts: true,
		Waypoints: []moast.Waypoint{{}, {P: moast.Cartesian{X: 1, Y: -2.5}, Neighborhood: 0.3}}}
	values := &moast.SensorData{Kind: moast.Encoder}
	for i := range 12 {
		values.Data = append(values.Data, float64(i)/2)
	}
	for _, k := range []struct {
		m    nml.Message
		want []string
	}{
		{stat, []string{"PrimMobJAStat\n", "command_type:       PrimMobJACmdVel\n", "status:             RCS_EXEC\n",
			"admin_state:        ADMIN_INITIALIZED\n",
			"source_file:        a\\x1b[2J\\nb\n", "command_type_sent:  ServoMobJACmdSkid\n",
			"pathIndex:          3\n"}},
		{command, []string{"computeHorizonCosts: true\n", "waypoint_length:    2\n", "waypoint[1].p:      1 -2.5 0\n",
			"waypoint[1].neighborhood: 0.3\n"}},
		{values, []string{"type:               10\n", "data_length:        12\n",
			"data[0]:            0 0.5 1 1.5 2 2.5 3 3.5 4 4.5\n", "data[10]:           5 5.5\n"}},
		{&moast.NavDataExt{Rel: moast.Motion{Tran: moast.Cartesian{X: 1.5}}},
			[]string{"tranRel:            1.5 0 0\n"}},
		{&moast.ServoMobCfgTeleport{Goal: moast.Pose{S: 1}}, []string{"goal.rot:           1 0 0 0\n"}},
		{&moast.CfgValue{Kind: 11206, Value: 10}, []string{"planHorizon:        10\n"}},
	} {
		var out strings.Builder
		if err := Print(&out, k.m); err != nil {
			t.Fatal(err)
		}
		for _, want := range k.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("got\n%s, want %q", out.String(), want)
			}
		}
	}
}

// TestPrintColumns: maps, scans and points are columns of numbers, for gnuplot.
func TestPrintColumns(t *testing.T) {
	for _, k := range []struct {
		m    nml.Message
		want string
	}{
		{&moast.SensorData2D{X: 2, Y: 2, Features: []float64{1, 2, 3, 4}}, "1 2\n3 4\n"},
		{&moast.SensorData1D{Start: 1, Increment: -1, Features: []float64{4, 5}}, "1 4\n0 5\n"},
		{&moast.SensorDataList{Points: []moast.SensorPoint{{Sensor: moast.Cartesian{X: 1},
			Hit: moast.Cartesian{Y: 2}}}}, "1 0 0 2\n"},
	} {
		var out strings.Builder
		if err := Print(&out, k.m); err != nil || out.String() != k.want {
			t.Errorf("got %q, %v, want %q", out.String(), err, k.want)
		}
	}
}
