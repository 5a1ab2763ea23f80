package player

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// fieldRow is a field of a message as libplayerinterface names it.
type fieldRow struct {
	field  string
	source string // of the robot; fixed: and why, where it has one value
	value  string // of a robot that moves in every way
}

// fieldTable has every field of the data, and of the answers about geometry and configuration, of the nineteen
// interfaces, in the order of the wire.
var fieldTable = []struct {
	device  Device
	subtype uint8
	request bool
	want    payload
	rows    []fieldRow
}{
	{Device{Power, 0}, 1, false, &powerData{}, []fieldRow{
		{"valid", "fixed: the sensors there are: volts and percent", "9"}, {"volts", "sensor voltage", "11.5"},
		{"percent", "sensor battery", "25"}, {"joules", "fixed: not measured", "NaN"},
		{"watts", "fixed: not measured", "NaN"},
		{"charging", "fixed: not known, and not valid", "0"}}},
	{Device{Gripping, 0}, 1, false, &gripperData{}, []fieldRow{{"state", "position between open and closed", "3"},
		{"beams", "fixed: num_beams is 0", "0"}, {"stored", "fixed: capacity is 0", "0"}}},
	{Device{Gripping, 0}, 1, true, &gripperGeometry{}, []fieldRow{{"pose.px", "anchor of its joint", "2.8"},
		{"pose.py", "anchor", "2"}, {"pose.pz", "anchor", "3"}, fixedAngle, fixedAngle, fixedAngle,
		{"outer_size.sw", noSize, "0"}, {"outer_size.sl", noSize, "0"}, {"outer_size.sh", noSize, "0"},
		{"inner_size.sw", noSize, "0"}, {"inner_size.sl", noSize, "0"}, {"inner_size.sh", noSize, "0"},
		{"num_beams", "fixed: it has none", "0"}, {"capacity", "fixed: it has none", "0"}}},
	{Device{Position2D, 0}, 1, false, &position2Data{}, []fieldRow{{"pos.px", "sensor odometry", "7"},
		{"pos.py", "sensor odometry", "8"}, {"pos.pa", "sensor odometry", "0.5"},
		{"vel.px", "rates of the wheels", "0.075"}, {"vel.py", "fixed: wheels do not slide", "0"},
		{"vel.pa", "rates of the wheels", "0.1"}, {"stall", "no command moves it", "1"}}},
	{Device{Position2D, 0}, 1, true, &geometry{}, robotGeometry},
	{Device{Sonar, 0}, 1, false, &floats{}, []fieldRow{{"ranges 0", "first sonar", "3.5"},
		{"ranges 1", "second sonar", "4.5"}}},
	{Device{Sonar, 0}, 1, true, &sonarGeometry{}, append(poseRows("poses 0", 3), poseRows("poses 1", 4)...)},
	{Device{Laser, 0}, 1, false, &laserData{}, []fieldRow{{"min_angle", "field of view", "-0.75"},
		{"max_angle", "field of view", "0.75"}, {"resolution", "field of view, rays", "0.375"},
		{"max_range", "fixed: of the layout", "8"}, {"ranges 0", "ray", "2"}, {"ranges 1", "ray", "3"},
		{"ranges 2", "ray", "4"}, {"ranges 3", "ray", "5"}, {"ranges 4", "ray", "6"}, {"id", "counts scans", "1"}}},
	{Device{Laser, 0}, 1, true, &geometry{}, append(poseRows("pose", 2), sizeRows...)},
	{Device{Laser, 0}, 3, true, &laserConfig{}, []fieldRow{{"min_angle", "field of view", "-0.75"},
		{"max_angle", "field of view", "0.75"}, {"resolution", "field of view, rays", "0.375"},
		{"max_range", "fixed: of the layout", "8"}, {"range_res", "fixed: not known", "0"},
		{"intensity", "fixed: scanners measure none", "0"}, {"scanning_frequency", "its period", "2"}}},
	{Device{PanTilt, 0}, 1, false, &ptzData{}, []fieldRow{{"pan", "its joint", "0.2"}, {"tilt", "its joint", "-0.3"},
		{"zoom", "field of view of the camera", "0.6"}, {"panspeed", "its joint", "1.5"},
		{"tiltspeed", "its joint", "-2"}, {"status", "fixed: a driver's own; there is none", "0"}}},
	{Device{PanTilt, 0}, 4, true, &geometry{}, append(poseRows("pos", 9), sizeRows...)},
	{Device{Fiducial, 0}, 1, false, &fiducialData{}, []fieldRow{{"id", "victim's number", "4"},
		{"pose.px", "its place", "2"}, {"pose.py", "its place", "3"}, {"pose.pz", "its place", "4"},
		{"pose.proll", "its place", "0.1"}, {"pose.ppitch", "its place", "0.2"}, {"pose.pyaw", "its place", "0.3"},
		{"upose.px", noError, "0"}, {"upose.py", noError, "0"}, {"upose.pz", noError, "0"},
		{"upose.proll", noError, "0"}, {"upose.ppitch", noError, "0"}, {"upose.pyaw", noError, "0"}}},
	{Device{Fiducial, 0}, 1, true, &fiducialGeometry{}, append(append(fixedRows("fixed: places are in the robot's axes",
		"pose.px", "pose.py", "pose.pz", "pose.proll", "pose.ppitch", "pose.pyaw"), sizeRows...),
		fixedRows("fixed: victims differ", "fiducial_size.sw", "fiducial_size.sl")...)},
	{Device{Fiducial, 0}, 2, true, &fiducialView{}, []fieldRow{{"min_range", "fixed: it sees what is near", "0"},
		{"max_range", "the reader's", "2.5"}, {"view_angle", "the reader's", "0.75"}}},
	{Device{Bumper, 0}, 1, false, &octets{}, []fieldRow{{"bumpers 0", "sensor contact", "0"}}},
	{Device{Bumper, 0}, 1, true, &bumperGeometry{}, append(poseRows("pose", 5),
		fieldRow{"length", "its button", "0.04"}, fieldRow{"radius", "fixed: a straight line", "0"})},
	{Device{DIO, 0}, 1, false, &dioData{}, []fieldRow{{"count", "fixed: the switches there are", "1"},
		{"bits", "switches that are on", "1"}}},
	{Device{Position3D, 0}, 1, false, &position3Data{}, []fieldRow{{"pos.px", "sensor pose", "3"},
		{"pos.py", "sensor pose", "4"}, {"pos.pz", "sensor pose", "5"}, {"pos.proll", "sensor pose", "0.1"},
		{"pos.ppitch", "sensor pose", "0.2"}, {"pos.pyaw", "sensor pose", "0.3"}, {"vel.px", "sensor pose", "*"},
		{"vel.py", "sensor pose", "*"}, {"vel.pz", "sensor pose", "*"}, {"vel.proll", "sensor pose", "*"},
		{"vel.ppitch", "sensor pose", "*"}, {"vel.pyaw", "sensor pose", "*"}, {"stall", "no command moves it", "1"}}},
	{Device{Position3D, 0}, 1, true, &geometry{}, robotGeometry},
	{Device{Simulation, 0}, 3, true, &simulationPose3{}, []fieldRow{{"name", "fixed: as asked", ""},
		{"pose.px", "sensor pose", "3"}, {"pose.py", "sensor pose", "4"}, {"pose.pz", "sensor pose", "5"},
		{"pose.proll", "sensor pose", "0.1"}, {"pose.ppitch", "sensor pose", "0.2"},
		{"pose.pyaw", "sensor pose", "0.3"},
		{"simtime", "time of the measurements", "*"}}},
	{Device{Camera, 0}, 1, false, &cameraData{}, append([]fieldRow{{"width", "fixed: the camera's", "4"},
		{"height", "fixed: the camera's", "2"}, {"bpp", "fixed: RGB888 alone is sent", "24"},
		{"format", "fixed: RGB888", "5"},
		{"fdiv", "fixed: no scaled pixels", "1"}, {"compression", "fixed: raw", "0"}},
		fixedRows("*", strings.Fields(strings.Repeat("image ", 24))...)...)},
	{Device{Opaque, 0}, 1, false, &octets{}, nil}, // text of all channels
	{Device{ActArray, 0}, 1, false, &actArrayData{}, append(append(append(append(append(jointRows("0.2", "1.5"),
		jointRows("0.3", "2")...), jointRows("0.4", "2.5")...), jointRows("0.5", "3")...), jointRows("0.6", "3.5")...),
		fieldRow{"motor_state", "commands move it", "0"})},
	{Device{ActArray, 0}, 3, true, &actArrayGeometry{}, append(append(append(append(append(append(linkRows("0.3742"),
		linkRows("0.3742")...), linkRows("0.3742")...), linkRows("0.3742")...),
		linkRows("0")...), fieldRow{"base_pos.px", "anchor of the first joint", "1.6"},
		fieldRow{"base_pos.py", "anchor", "2"}, fieldRow{"base_pos.pz", "anchor", "3"}),
		fixedRows("fixed: geometry is in the robot's axes", "base_orientation.proll", "base_orientation.ppitch",
			"base_orientation.pyaw")...)},
	{Device{Limb, 0}, 1, false, &limbData{}, []fieldRow{{"position.px", "kinematics", "*"},
		{"position.py", "fixed: this arm moves in x and z", "0"}, {"position.pz", "kinematics", "*"},
		{"approach.px", "kinematics", "*"}, {"approach.py", "fixed: likewise", "0"}, {"approach.pz", "kinematics", "*"},
		{"orientation.px", "kinematics", "*"}, {"orientation.py", "fixed: likewise", "0"},
		{"orientation.pz", "kinematics", "*"}, {"state", "speeds of its joints", "3"}}},
	{Device{Limb, 0}, 3, true, &vector{}, []fieldRow{{"basePos.px", "anchor of its first joint", "2.2"},
		{"basePos.py", "anchor", "2"}, {"basePos.pz", "anchor", "3"}}},
	{Device{RFID, 0}, 1, false, &rfidData{}, []fieldRow{{"type", "fixed: readers report none", "0"},
		{"guid", "tag's number", "56"}}},
	{Device{IMU, 0}, 1, false, &pose3{}, imuPose},
	{Device{IMU, 0}, 3, false, &imuQuaternion{}, append(append([]fieldRow{}, imuCalib...),
		fieldRow{"q0", "sensor imu", "*"}, fieldRow{"q1", "sensor imu", "*"}, fieldRow{"q2", "sensor imu", "*"},
		fieldRow{"q3", "sensor imu", "*"})},
	{Device{IMU, 0}, 5, false, &imuFull{}, append(append(append([]fieldRow{}, imuPose...),
		fieldRow{"vel.px", "sensor pose", "0.1"}, fieldRow{"vel.py", "sensor pose", "0.2"},
		fieldRow{"vel.pz", "sensor pose", "0.3"}, fieldRow{"vel.proll", "sensor imu", "0.4"},
		fieldRow{"vel.ppitch", "sensor imu", "0.5"}, fieldRow{"vel.pyaw", "sensor imu", "0.6"},
		fieldRow{"acc.px", "sensor imu", "1"}, fieldRow{"acc.py", "sensor imu", "2"},
		fieldRow{"acc.pz", "sensor imu", "3"}),
		nanRows("acc.proll", "acc.ppitch", "acc.pyaw")...)},
	{Device{Ranger, 0}, 1, false, &doubles{}, []fieldRow{{"ranges 0", "ray", "2"}, {"ranges 1", "ray", "3"},
		{"ranges 2", "ray", "4"}, {"ranges 3", "ray", "5"}, {"ranges 4", "ray", "6"}}},
	{Device{Ranger, 0}, 1, true, &rangerGeometry{}, append(append(append(poseRows("pose", 2), sizeRows...),
		poseRows("element_poses 0", 2)...), sizeRows...)},
	{Device{Ranger, 0}, 5, true, &rangerConfig{}, []fieldRow{{"min_angle", "field of view", "-0.75"},
		{"max_angle", "field of view", "0.75"}, {"angular_res", "field of view, rays", "0.375"},
		{"min_range", "fixed: not known", "0"}, {"max_range", "fixed: of the layout", "8"},
		{"range_res", "fixed: not known", "0"}, {"frequency", "its period", "2"}}},
}

const (
	noSize  = "fixed: no model has it"
	noError = "fixed: readers report none"
)

var (
	fixedAngle = fieldRow{"pose angle", "fixed: anchors are in the robot's axes", "0"}
	sizeRows   = fixedRows(noSize, "size.sw", "size.sl", "size.sh")
	imuPose    = []fieldRow{{"pose.px", "sensor pose", "3"}, {"pose.py", "sensor pose", "4"},
		{"pose.pz", "sensor pose", "5"}, {"pose.proll", "sensor imu", "0.1"}, {"pose.ppitch", "sensor imu", "0.2"},
		{"pose.pyaw", "sensor imu", "0.3"}}
	imuCalib = append([]fieldRow{{"accel_x", "sensor imu", "1"}, {"accel_y", "sensor imu", "2"},
		{"accel_z", "sensor imu", "3"}, {"gyro_x", "sensor imu", "0.4"}, {"gyro_y", "sensor imu", "0.5"},
		{"gyro_z", "sensor imu", "0.6"}}, nanRows("magn_x", "magn_y", "magn_z")...)
	robotGeometry = append(fixedRows("fixed: it is the robot", "pose.px", "pose.py", "pose.pz", "pose.proll",
		"pose.ppitch", "pose.pyaw"), fieldRow{"size.sw", "the robot's", "0.7"},
		fieldRow{"size.sl", "the robot's", "0.8"},
		fieldRow{"size.sh", "the robot's", "0.9"})
)

func fixedRows(source string, names ...string) (rows []fieldRow) {
	for _, name := range names {
		if source == "*" {
			rows = append(rows, fieldRow{name, "a pixel", "*"})
			continue
		}
		rows = append(rows, fieldRow{name, source, "0"})
	}
	return rows
}

func nanRows(names ...string) (rows []fieldRow) {
	for _, name := range names {
		rows = append(rows, fieldRow{name, "fixed: not measured", "NaN"})
	}
	return rows
}

// mountOf is where TestFields mounts a sensor.
func mountOf(sensor int) hal.Pose {
	return hal.Pose{Position: [3]float64{0.03 + 0.1*float64(sensor), 0.5, 0.6},
		Rotation: hal.RotationOf([3]float64{0.1, 0.2, 0.3})}
}

func poseRows(name string, sensor int) []fieldRow {
	return []fieldRow{{name + ".px", "where it is mounted", fmt.Sprintf("%.4g", mountOf(sensor).Position[0])},
		{name + ".py", "mount", "0.5"}, {name + ".pz", "mount", "0.6"}, {name + ".proll", "mount", "0.1"},
		{name + ".ppitch", "mount", "0.2"}, {name + ".pyaw", "mount", "0.3"}}
}

func jointRows(position, speed string) []fieldRow {
	return []fieldRow{{"position", "joint", position}, {"speed", "joint", speed},
		{"acceleration", "fixed: not measured", "NaN"},
		{"current", "fixed: no sensor current", "NaN"}, {"state", "speed of the joint", "2"}}
}

func linkRows(length string) []fieldRow {
	pitch, yaw, source := "*", "*", "anchors of this and the next joint"
	if length == "0" {
		pitch, yaw, source = "0", "0", "fixed: no next joint"
	}
	return []fieldRow{{"type", "fixed: hinges", "2"}, {"length", source, length},
		{"orientation.proll", "fixed: a direction has none", "0"}, {"orientation.ppitch", source, pitch},
		{"orientation.pyaw", source, yaw}, {"axis.px", "axis", "1"},
		{"axis.py", "fixed: these axes have no y", "0"}, {"axis.pz", "axis", "0"}, {"min", "limits", "-1"},
		{"centre", "limits", "1"}, {"max", "limits", "3"}, {"home", "default", "0.4"},
		{"config_speed", "limits", "7"}, {"hasbrakes", "fixed: drives have none", "0"}}
}

// TestFields: each field of each interface has a value from the robot, or a reason to be what it always is.
func TestFields(t *testing.T) {
	still, moving := fieldsOf(t, false), fieldsOf(t, true)
	rows := 0
	interfaces := map[Interface]bool{}
	for i, m := range fieldTable {
		interfaces[m.device.Interface] = true
		what := fmt.Sprintf("%v, subtype %d, request %v", m.device, m.subtype, m.request)
		if m.device.Interface == Opaque {
			continue
		}
		if len(still[i]) != len(m.rows) || len(moving[i]) != len(m.rows) {
			t.Errorf("%s: got %d and %d fields, want %d: %q", what, len(still[i]), len(moving[i]), len(m.rows),
				moving[i])
			continue
		}
		for k, row := range m.rows {
			rows++
			got, before := moving[i][k], still[i][k]
			if row.value != "*" && got != row.value {
				t.Errorf("%s: %s (%s): got %s, want %s", what, row.field, row.source, got, row.value)
			}
			if fixed := strings.HasPrefix(row.source, "fixed: "); fixed != (got == before) && row.source != "a pixel" &&
				row.field != "id" {
				t.Errorf("%s: %s (%s): got %s of a robot that stands and %s of one that moves", what, row.field,
					row.source, before, got)
			}
		}
	}
	if len(interfaces) != 18 || rows < 250 {
		t.Errorf("got %d interfaces, %d fields, want 18 with opaque (player itself is the nineteenth), 250",
			len(interfaces), rows)
	}
}

// fieldsOf are the fields of each message of fieldTable, of a robot that stands, or that moves and is built otherwise.
func fieldsOf(t *testing.T, moves bool) (all [][]string) {
	synctest.Test(t, func(t *testing.T) {
		other := func(r *Robot) {
			if !moves {
				return
			}
			l := r.Agent.Layout()
			for i := range l.Sensors {
				l.Sensors[i].Mount = mountOf(i)
			}
			for i := range l.Actuators {
				l.Actuators[i].Limits.MinPosition, l.Actuators[i].Limits.MaxPosition = -1, 3
				l.Actuators[i].Limits.MaxVelocity, l.Actuators[i].Default = 7, 0.4
			}
			for i := range r.Links {
				r.Links[i] = Link{Anchor: [3]float64{1 + 0.3*float64(i), 2 + 0.2*float64(i%2), 3 + 0.1*float64(i%2)},
					Axis: [3]float64{1, 0, 0}}
			}
			r.Size, r.Scanners[2], r.PTZs[0].FieldOfView = [3]float64{0.8, 0.7, 0.9}, 1.5, 0.6
			r.PTZs[0].Mount = mountOf(9)
			r.Periods, r.Buttons = map[int]float64{2: 0.5}, map[int]float64{5: 0.04}
			r.VictimRange, r.VictimAngle = 2.5, 0.75
			r.Tags = func(time.Duration) []Tag { return []Tag{{Number: 8, Text: "8"}} }
			r.Victims = func(time.Duration) []Tag {
				at := mountOf(0)
				at.Position = [3]float64{2, 3, 4}
				return []Tag{{Number: 4, Place: at}}
			}
			r.Gripper.Open, r.Gripper.Closed = 3, -3
		}
		s := newStage(t, config{mode: hal.Realtime, change: other}, nil)
		s.rover.mu.Lock()
		s.rover.other, s.rover.lit = moves, moves
		s.rover.mu.Unlock()
		time.Sleep(time.Second)
		if moves {
			s.agent.Disarm()
			time.Sleep(time.Second)
		}
		c := s.dial(t)
		defer c.Close()
		for _, m := range fieldTable {
			got := reflect.New(reflect.TypeOf(m.want).Elem()).Interface().(payload)
			if m.request {
				var in payload
				if m.device.Interface == Simulation {
					in = &simulationPose3{}
				}
				if err := c.request(m.device, m.subtype, in, got); err != nil {
					t.Errorf("%v %d: %v", m.device, m.subtype, err)
				}
			} else {
				open(t, c, m.device)
				data(t, c, m.device, m.subtype, got)
			}
			var leaves []string
			leavesOf(reflect.ValueOf(got).Elem(), &leaves)
			all = append(all, leaves)
		}
	})
	return all
}

// leavesOf appends the fields of v that have no parts.
func leavesOf(v reflect.Value, out *[]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leavesOf(v.Field(i), out)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			leavesOf(v.Index(i), out)
		}
	case reflect.Float64:
		f := math.Round(v.Float()*1e4) / 1e4
		*out = append(*out, fmt.Sprintf("%.4g", f+0))
	default:
		*out = append(*out, fmt.Sprint(v))
	}
}
