package usarini

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// robots are those of the file in which a user would have them.
func robots(t testing.TB) *Bots {
	t.Helper()
	text, err := os.ReadFile("testdata/MyRobots.ini")
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseBots("MyRobots.ini", text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// built is a built-in class, as little of one as a twin needs.
func built() *Base {
	at := hal.Pose{Position: [3]float64{0.1, 0.2, 0}, Rotation: [4]float64{1}}
	return &Base{Chassis: "chassis", YAML: []byte("name: base\n\nsensors:\n  - {name: gone}\n\nusarsim:\n  class: " +
		"USARBot.Base\n  left: [left]\n  releaser: {name: gone}\n  packages:\n    - {name: kept}\n"),
		Joints: map[string][2]string{"leftfwheel": {"left", "left_wheel"}, "camerapan": {"pan", "base"},
			"cameratilt": {"tilt", "head"}},
		Package: map[string]string{"cameratilt": "CameraPanTilt"}, Poses: map[string]hal.Pose{"cameratilt": at}}
}

// The example has every key of the manual; another test shows that it behaves as its twin.
func TestExampleIsWhole(t *testing.T) {
	text, err := os.ReadFile("testdata/MyRobots.ini")
	if err != nil {
		t.Fatal(err)
	}
	var r Robot
	var v Device
	slots := append(r.slots(), v.slots()...)
	for _, key := range strings.Fields("ItemClass ItemName Parent Position Direction SensorClass SenName PartName " +
		"PartClass DrawScale3D JointClass " +
		"bSteeringLocked bSuspensionLocked BrakeTorque ParentPos ParentAxis ParentAxis2 SelfPos SelfAxis SelfAxis2 " +
		"PackageName PackageType " +
		"Sensors Cameras Effecters JointParts Pitch Yaw Roll InVal OutVal Points") {
		slots = append(slots, slot{key: key})
	}
	for _, s := range slots {
		if !strings.Contains(string(text), s.key+"=") && !strings.Contains(string(text), s.key+"(") {
			t.Errorf("no %s in the example", s.key)
		}
	}
}

// A user's own class becomes a complete robot file with a note for each assumption.
func TestTwin(t *testing.T) {
	twin, err := robots(t).Twin("mybot", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	text := string(twin.YAML)
	for _, want := range []string{
		"name: mybot\n", "class: \"USARBot.MyBot\"", "relative_camera: true", "left: [leftfwheel, leftrwheel]",
		"steering: SkidSteered",
		`{name: scanner1, path: "/Scanner1", kind: range, body: chassis, at_m: [0.1, 0, 0.1], range_m: 5.6, fov_deg: 240.001831054687, resolution_deg: 1.40625`,
		"manual: true, plane: xz", "joint: rightfwheel", "axis: [0, 0, -1], friction_nm: 2.4}", `package: "Cam1"`,
		`releaser: {name: "Gun", tags: 12, at_m: [-0.2, 0, 0]}`,
		`{type: "PanTilt", name: "Cam1", joints: [mypan, mytilt]}`, "size_m: [0.4, 0.44, 0.17]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if len(twin.Notes) != 1 || !strings.Contains(twin.Notes[0].String(),
		"MyRobots.ini:24: [USARBot.MyBot]: got a chassis whose mesh is not here") {
		t.Errorf("notes: got %v", twin.Notes)
	}
}

// A built-in class keeps its mechanics and its packages, and loses all that it carried.
func TestTwinOfBuiltIn(t *testing.T) {
	twin, err := robots(t).Twin("USARBot.P2AT", built(), false)
	if err != nil {
		t.Fatal(err)
	}
	text := string(twin.YAML)
	for _, want := range []string{"name: base\n", "body: left_wheel, joint: left", "body: head, at_m: [0.05, 0, 0]",
		"  left: [left]\n",
		"  packages:\n    - {name: kept}\n", "life_s: 1800", "interval_s: 0.25", "class: \"USARBot.P2AT\"",
		"torque_drive: false"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "gone") || strings.Contains(text, "USARBot.Base") {
		t.Errorf("kept what it should not:\n%s", text)
	}
	if twin, err = robots(t).Twin("USARBc", built(), false); err != nil ||
		!strings.Contains(string(twin.YAML), "torque_drive: true") ||
		!strings.Contains(string(twin.YAML), "rotation_deg: [0, 0, -90]}") {
		t.Errorf("Corky: got %v\n%s", err, twin.YAML)
	}
}

// Odd mechanics: wheels in one line get casters, wheels that steer a joint more, slanted wheels a turn of their own.
func TestTwinMechanics(t *testing.T) {
	const wheel = "PartClass=class'USARBot.%s',JointClass=class'KCarWheelJoint',bSuspensionLocked=True,SelfAxis=(Z=1),SelfAxis2=(Y=1),ParentAxis=(Z=1)"
	part := func(name, class, rest string) string {
		return "JointParts=(PartName=\"" + name + "\"," + strings.ReplaceAll(wheel, "%s", class) + "," + rest + ")\n"
	}
	for _, k := range []struct {
		name, text  string
		want, notes []string
	}{
		{"two wheels", part("L", "P2DXTire", "bSteeringLocked=True,ParentPos=(Y=-0.17),ParentAxis2=(Y=1)") +
			part("R", "P2DXTire", "bSteeringLocked=True,ParentPos=(Y=0.17),ParentAxis2=(Y=-1)"),
			[]string{"steering: Differential", "{sphere: 0.03, at_m: [-0.135, 0, -0.0505], material: slick}",
				"anchor_m: [0, -0.17, 0], axis: [0, 1, 0]"}, nil},
		{"a car", part("FL", "MyTire", "ParentPos=(X=0.2,Y=-0.17),ParentAxis2=(Y=1)") +
			part("BR", "PERTire", "bSteeringLocked=True,ParentPos=(X=-0.2,Y=0.17),ParentAxis2=(Y=1)"),
			[]string{"steering: AckermanSteered", `path: "/FLSteer"`, "parent: fl_steer, child: fl",
				"front: [fl_steer]", "steers: {fl: fl_steer}"},
			[]string{"USARBot.MyTire, whose mesh is not here"}},
		{"an omnidrive", part("A", "OmniTire", "bSteeringLocked=True,ParentPos=(X=0.1),ParentAxis2=(X=1)") +
			part("B", "OmniTire", "bSteeringLocked=True,ParentPos=(X=-0.05,Y=-0.0866),ParentAxis2=(X=-0.5,Y=-0.866)"),
			[]string{"steering: Omni", "{name: a, position_m: [0.1, 0, 0], rotation_deg: [0, 0, 90]", "axis: [1, 0, 0]",
				"along: y, material: roller", "rotation_deg: [0, 0, -149.999"}, nil},
	} {
		t.Run(k.name, func(t *testing.T) {
			b, err := ParseBots("f.ini", []byte("[USARBot.A]\nWeight=5\n"+k.text))
			if err != nil {
				t.Fatal(err)
			}
			twin, err := b.Twin("A", nil, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range k.want {
				if !strings.Contains(string(twin.YAML), want) {
					t.Errorf("no %q in\n%s", want, twin.YAML)
				}
			}
			var notes strings.Builder
			for _, n := range twin.Notes {
				notes.WriteString(n.String() + "\n")
			}
			for _, want := range k.notes {
				if !strings.Contains(notes.String(), want) {
					t.Errorf("no note of %q in\n%s", want, notes.String())
				}
			}
		})
	}
}

// All faults that prevent a build are reported together, with file, line and key.
func TestTwinFaults(t *testing.T) {
	const wheels = "JointParts=(PartName=\"L\",PartClass=class'A.PERTire',JointClass=class'KCarWheelJoint',ParentPos=(Y=-1),ParentAxis2=(Y=1))\n"
	for _, k := range []struct{ name, text, want string }{
		{"no parts", "[USARBot.A]\nPayload=1\n",
			`f.ini:1: [USARBot.A] JointParts: got none, and a class that is not built in, want its parts`},
		{"no wheel", "[USARBot.A]\nJointParts=(PartName=\"H\",PartClass=class'A.B',JointClass=class'KDHinge',ParentAxis=(Z=1))",
			`f.ini:1: [USARBot.A] JointParts: got no wheel, want parts with JointClass=KCarWheelJoint`},
		{"items", "[USARBot.A]\n" + wheels + `Sensors=(ItemClass=class'A.Nose',ItemName="N")
Sensors=(ItemClass=class'A.SonarSensor',ItemName="F1",Parent="Arm")
Sensors=(ItemClass=class'A.EncoderSensor',ItemName="E")
Cameras=(ItemClass=class'A.SonarSensor',ItemName="C")
Effecters=(ItemClass=class'A.Gripper',ItemName="G")
Effecters=(ItemClass=class'A.RFIDReleaser',ItemName="R1")
Effecters=(ItemClass=class'A.RFIDReleaser',ItemName="R2")`,
			`f.ini:3: [USARBot.A] Sensors.ItemClass: got "A.Nose", want a sensor of the manual, or a class whose section sets its kind
f.ini:4: [USARBot.A] Sensors.Parent: got "Arm", want a part that the robot has
f.ini:5: [USARBot.A] Sensors.Parent: got "", want the part whose turns the encoder counts
f.ini:6: [USARBot.A] Cameras.ItemClass: got "A.SonarSensor", want USARBot.RobotCamera, or a class with CameraDefFov
f.ini:7: [USARBot.A] Effecters.ItemClass: got "A.Gripper", want USARBot.RFIDReleaser, USARBot.Headlight, or a class with NumTags
f.ini:9: [USARBot.A] Effecters: got a second releaser of tags, want one`},
		{"no axis", "[USARBot.A]\n" + strings.ReplaceAll(wheels, ",ParentAxis2=(Y=1)", ""),
			`f.ini:2: [USARBot.A] JointParts.ParentAxis: got no axis of L, want the axis that it spins about`},
	} {
		t.Run(k.name, func(t *testing.T) {
			b, err := ParseBots("f.ini", []byte(k.text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = b.Twin("A", nil, false); err == nil || err.Error() != k.want {
				t.Errorf("got\n%v\nwant\n%s", err, k.want)
			}
		})
	}
	if _, err := robots(t).Twin("USARBot.None", nil, false); err == nil ||
		!strings.Contains(err.Error(), "MyRobots.ini:1: [USARBot.None]: got no such section") {
		t.Errorf("no section: got %v", err)
	}
}

// A fault of the robot file is reported at its line of the INI.
func TestBlame(t *testing.T) {
	twin, err := robots(t).Twin("MyBot", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	got := twin.Blame(yaml.Faults{
		{Source: "MyBot", Line: 3, Column: 4, Path: "sensors[2].range_m", Got: "0", Rule: "0.001..10000"},
		{Path: "sensors[2]", Got: "5000 rays", Rule: "fewer"},
		{Path: "sensors[12].life_s", Got: "0", Rule: "1..1e+07"}, {Path: "joints[1].torque_nm", Got: "0", Rule: "more"},
		{Path: "base", Got: "something"},
	})
	const want = `MyRobots.ini:127: [USARBot.MyLaser] MaxRange: got 0, want 0.001..10000
MyRobots.ini:65: [USARBot.MyBot] Sensors Scanner1: got 5000 rays, want fewer
MyRobots.ini:24: [USARBot.MyBot] batteryLife: got 0, want 1..1e+07
MyRobots.ini:56: [USARBot.MyBot] JointParts RightFWheel: got 0, want more
MyRobots.ini:1: base: something`
	if got.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", got, want)
	}
	var faults yaml.Faults
	if !errors.As(error(got), &faults) || hal.KindOf(got) != hal.Invalid {
		t.Error("faults of the twin are no faults")
	}
}

// Names of robot files begin with a letter, and are no word of YAML's own.
func TestOwn(t *testing.T) {
	w := &writer{names: map[string]bool{}}
	for _, c := range [][2]string{{"F1", "f1"}, {"f1", "f1_2"}, {"7", "x7"}, {"2nd Arm", "x2nd_arm"}, {"_L", "x_l"},
		{"null", "xnull"}, {"", "x"}, {"Arm_2", "arm_2"}} {
		if got := w.own(c[0]); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
}

// TestTwinOfNothing: a class whose only item is of an unknown kind says so, and that the built-in robot stands in for
// it.
func TestTwinOfNothing(t *testing.T) {
	b, err := ParseBots("Mine.ini",
		[]byte("[USARBot.P2DX]\nmsgTimer=0.3\nHeadlights=(ItemName=\"L1\",Position=(X=0.1))\n"))
	if err != nil {
		t.Fatal(err)
	}
	twin, err := b.Twin("USARBot.P2DX", &Base{Joints: map[string][2]string{}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Mine.ini:3: [USARBot.P2DX] Headlights: got an item of a kind that is unknown here",
		"Mine.ini:1: [USARBot.P2DX]: got no part or item that is read"} {
		if !strings.Contains(twin.Notes.Error(), want) {
			t.Errorf("got %v, want %s", twin.Notes, want)
		}
	}
}
