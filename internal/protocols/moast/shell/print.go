package shell

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Print prints a map in rows, a scan and points as columns; other messages as their type and then a line for each
// field, by the names of the published headers: "waypoint[0].neighborhood: 0.3".
func Print(w io.Writer, m nml.Message) error {
	switch m := m.(type) {
	case *moast.SensorData2D:
		for i, v := range m.Features {
			end := " "
			if m.X > 0 && (i+1)%int(m.X) == 0 {
				end = "\n"
			}
			fmt.Fprintf(w, "%g%s", v, end)
		}
		return nil
	case *moast.SensorData1D:
		for i, v := range m.Features {
			fmt.Fprintf(w, "%g %g\n", m.Start+float64(i)*m.Increment, v)
		}
		return nil
	case *moast.SensorDataList:
		for _, p := range m.Points {
			fmt.Fprintf(w, "%g %g %g %g\n", p.Sensor.X, p.Sensor.Y, p.Hit.X, p.Hit.Y)
		}
		return nil
	}
	fmt.Fprintln(w, moast.Symbol(m.MessageType()))
	return printFields(w, m, true)
}

// printFields prints the fields of a message, those of its head first, where head is set.
func printFields(w io.Writer, m nml.Message, head bool) error {
	p := printer{w: w, kind: m.MessageType(), headless: !head}
	p.fields("", reflect.ValueOf(m).Elem(), true)
	return p.err
}

// valuesInRow is how many elements of an array of numbers are in a line.
const valuesInRow = 10

type printer struct {
	w        io.Writer
	kind     int32 // the type of the message
	headless bool  // leaves out SetHead
	err      error // the first one
}

func (p *printer) row(name, value string) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, "%-19s %s\n", name+":", value)
	}
}

// fields prints the fields of a structure; an embedded one's without its name. A message's own Kind is its type.
func (p *printer) fields(prefix string, v reflect.Value, message bool) {
	for i := range v.NumField() {
		f, t := v.Field(i), v.Type().Field(i)
		name := fieldName(v.Type().Name(), t.Name)
		switch {
		case t.Anonymous && p.headless && t.Type == reflect.TypeFor[moast.SetHead]():
		case t.Anonymous:
			p.fields(prefix, f, false)
		case message && name == "kind":
		case message && name == "value" && valueNames[p.kind] != "":
			p.field(valueNames[p.kind], f)
		default:
			p.field(prefix+name, f)
		}
	}
}

func (p *printer) field(name string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case moast.Cartesian:
		p.row(name, fmt.Sprint(x.X, x.Y, x.Z))
	case moast.RPY:
		p.row(name, fmt.Sprint(x.R, x.P, x.Y))
	case moast.Pose:
		p.row(name+".tran", fmt.Sprint(x.Translation.X, x.Translation.Y, x.Translation.Z))
		p.row(name+".rot", fmt.Sprint(x.S, x.X, x.Y, x.Z))
	case moast.Motion: // tranAbs, rpyAbs, tranAbsRate, rpyAbsRate
		p.field("tran"+name, reflect.ValueOf(x.Tran))
		p.field("rpy"+name, reflect.ValueOf(x.RPY))
		p.field("tran"+name+"Rate", reflect.ValueOf(x.TranRate))
		p.field("rpy"+name+"Rate", reflect.ValueOf(x.RPYRate))
	case string:
		p.row(name, escape(x))
	case []byte:
		p.row(name, escape(string(x)))
	default:
		p.other(name, v)
	}
}

// other prints a structure's fields, an array's elements, or a number.
func (p *printer) other(name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		p.fields(name+".", v, false)
	case reflect.Slice:
		p.row(name+"_length", strconv.Itoa(v.Len()))
		p.elements(name, v)
	case reflect.Array:
		p.elements(name, v)
	default:
		if kind, ok := v.Interface().(int32); ok && strings.HasPrefix(name, "command_type") && moast.New(kind) != nil {
			p.row(name, moast.Symbol(kind))
			return
		}
		p.row(name, fmt.Sprint(v.Interface()))
	}
}

func (p *printer) elements(name string, v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Struct {
		for i := range v.Len() {
			p.field(fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
		return
	}
	for i := 0; i < v.Len(); i += valuesInRow {
		var row []any
		for k := i; k < min(i+valuesInRow, v.Len()); k++ {
			row = append(row, v.Index(k).Interface())
		}
		p.row(fmt.Sprintf("%s[%d]", name, i), strings.TrimSuffix(fmt.Sprintln(row...), "\n"))
	}
}

// escape is a text for a terminal: what does not print is as in Go.
func escape(s string) string {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}

// fieldName is the published name of a field of a structure: with a small letter first, but for those of fieldNames.
func fieldName(structure, field string) string {
	for _, key := range [...]string{structure + "." + field, field} {
		if name := fieldNames[key]; name != "" {
			return name
		}
	}
	return strings.ToLower(field[:1]) + field[1:]
}

// valueNames are the names of CfgValue's field in each of its messages.
var valueNames = map[int32]string{moast.CfgCellResolution: "cellResolution", moast.CfgPlanHorizon: "planHorizon",
	moast.CfgMinTurnRadius: "vehicleMinTurnRad", moast.CfgVehicleWidth: "vehicleWidth"}

// fieldNames are names of fields of all structures, or of one, in the headers, the sheet of the servo shell, and where
// neither has them, ours.
var fieldNames = map[string]string{
	// heads
	"Serial": "serial_number", "CommandType": "command_type", "EchoSerial": "echo_serial_number",
	"SourceLine": "source_line",
	"SourceFile": "source_file", "Admin": "admin_state", "Tracker": "tt",
	// all
	"RPY": "rpy", "ID": "id", "Waypoints": "waypoint", "UTMZone": "utmZone", "UTMLetter": "utmLetter",
	"NavDataExt.Abs": "Abs", "NavDataExt.Rel": "Rel", "NavDataExt.True": "True",
	"NavDataExt.Curvature": "steeringCurvature", "NavDataExt.CrabAngle": "steeringCrabAngle",
	"ArcSegment.AnnularTolerance": "annular_tol",
	// servo mobility
	"ServoMobCmdSkid.Left": "wLeft", "ServoMobCmdSkid.Right": "wRight",
	"ServoMobCmdFlipSkid.Left": "wLeft", "ServoMobCmdFlipSkid.Right": "wRight", "ServoMobCmdFlipSkid.Flippers": "fCmd",
	"Flipper.Kind": "fType", "Flipper.Angle": "flipperAngle", "FlipperSet.Kind": "fType",
	"ServoMobCmdOmni.Linear": "vLinear", "ServoMobCmdOmni.Lateral": "vLateral", "ServoMobCmdOmni.Rotation": "rot",
	"ServoMobCmdRotaryWing.Linear": "vLinear", "ServoMobCmdRotaryWing.Lateral": "vLateral",
	"ServoMobCmdRotaryWing.Vertical": "vVertical", "ServoMobCmdRotaryWing.Rotation": "vRotation",
	"ServoMobStat.ErrorCode": "error", "ServoMobStat.BatteryVolts": "batteryVolt",
	"ServoMobStatGround.Flippers": "fStat",
	"ServoMobStatAir.Linear":      "vLinear", "ServoMobStatAir.Lateral": "vLateral",
	"ServoMobStatAir.Vertical": "vVertical", "ServoMobStatAir.Rotation": "vRotation",
	"ServoMobSet.Platform": "platformName", "ServoMobSet.CenterOfGravity": "cg", "ServoMobSet.Steer": "steerType",
	"ServoMobSet.Bot": "botType", "ServoMobSet.Effectors": "effCount", "ServoMobSet.Sensors": "senCount",
	"ServoMobSet.MissionParts":           "misCount",
	"ServoMobSetGround.MaxWheelRotation": "maxWheelRot", "ServoMobSetGround.MinTurnRadius": "minTurningRadius",
	"ServoMobSetGround.Flippers": "fSet", "ServoMobSetAir.MaxLateral": "maxLatVel",
	"ServoMobSetAir.MaxLinear":   "maxLinVel",
	"ServoMobSetAir.MaxRotation": "maxRotVel", "ServoMobSetAir.MaxVertical": "maxVertVel",
	// mission packages, effectors, sensor processing
	"ServoMisCmdMove.Links": "linkCmd", "LinkCmd.Kind": "type", "ServoMisStat.Links": "linkStat",
	"LinkStat.Link":  "linkID",
	"LinkStat.Value": "jointVal", "ServoMisSet.Mount": "misToVeh", "ServoMisSet.Links": "linkSet",
	"LinkSet.Link":   "linkID",
	"LinkSet.Parent": "parentLinkID", "LinkSet.Joint": "jType", "LinkSet.Location": "loc", "LinkSet.Rotation": "rot",
	"ServoEffCmdOpcode.Effector": "effID", "ServoSPSet.Vehicle": "vehicleID", "ServoSPSet.Start": "startPose",
	"ServoSPSet.Sensors": "sSetElem", "SensorSet.Kind": "sType", "SensorSet.Name": "senName",
	"SensorSet.Mount": "sensorToMount",
	// prim
	"PrimSPCmdGo.OutputCycle": "outputCycleTime", "PrimMobCmdMoveArcSegment.Arcs": "arcList",
	"PrimMobCmdMoveWaypoint.PrimPath": "prim_path", "PrimMobCmdRotate.Tolerance": "thetaTol",
	"PrimMobCmdDock.FreeUpperRight": "freeSpaceUpperRight", "PrimMobCmdDock.FreeLowerLeft": "freeSpaceLowerLeft",
	"PrimMobCmdDock.Point": "dockPoint", "PrimMobStat.CommandTypeSent": "command_type_sent",
	"PrimMobStat.SerialSent": "serial_number_sent", "VMax": "vmax", "AMax": "amax", "WMax": "wmax",
	"AlphaMax": "alphamax",
	"VCutoff":  "vCutoffAngle", "WCutoff": "wCutoffAngle",
	// AM, vehicle, section
	"CfgSwitch.On": "turnOn", "AMMobCmdMoveWaypoint.HorizonCosts": "computeHorizonCosts",
	"AMMobCmdSpin.Angle":  "absAngle",
	"AMMobStat.ErrorCode": "amMobJAError", "AMMobStat.Seeds": "seed", "AMMobSet.MinTurnRadius": "vehicleMinTurnRad",
	"VehMobCmdMoveWaypoint.Local": "isLocal", "SectMobCmdExplore.Distance": "exploreDist",
	"SectMobCmdConnect.Vehicles": "vehID", "SectMobCmdConnect.SendInit": "doSendInit", "SectMobStat.Vehicles": "vehID",
	// sensor data
	"SensorData.Kind": "type", "SensorDataArray.Elements": "arrayElem", "SensorDataTextArray.Elements": "dataElem",
	"SensorData3D.Elements": "element", "DataElement.Kind": "type", "DataElement.Time": "collectionTime",
	"DataElement.Tuple": "dataTuple", "TextElement.Kind": "sensorType", "TextElement.ID": "sensorID",
	"TextElement.Time": "collectionTime", "TextElement.Tuple": "dataTuple", "TextElement.Text": "dataStr",
	"SensorDataText.Buffer": "txtBuffer", "SensorDataText.Pointers": "strPtr", "SensorDataText.Values": "dVal",
	"RangeScannerData.Start": "startAngle", "RangeScannerData.Time": "collectTimeStart",
	"RangeScannerData.Duration": "collectTimeDuration",
}
