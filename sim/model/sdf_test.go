package model

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

func sdf(t *testing.T, version, inside string, files map[string]string) *Robot {
	t.Helper()
	r, err := ParseFile([]byte(`<?xml version="1.0"?><sdf version="`+version+`"><model name="m">`+inside+
		`</model></sdf>`),
		"m.sdf", FileOptions{Open: mjcfFiles(files)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const sdfSolid = `<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>`

// Links are placed in the model's frame or relative to another, joints in their child's, and axes in the frame that the
// version or the file says.
func TestSDF(t *testing.T) {
	r := sdf(t, "1.9", `<pose>7 7 7 0 0 1</pose>
		<link name="base">`+sdfSolid+`<collision name="c"><pose>0 0 0.5 0 0 0</pose><geometry><cylinder><radius>0.1</radius><length>1</length></cylinder></geometry>
			<surface><friction><ode><mu>0.3</mu></ode></friction></surface></collision>
			<sensor name="eye" type="gpu_lidar"><pose>0 0 0.2 0 0 0</pose><update_rate>10</update_rate><lidar><scan><horizontal><samples>91</samples>
			<min_angle>-0.785398</min_angle><max_angle>0.785398</max_angle></horizontal></scan><range><max>8</max></range></lidar></sensor>
			<sensor name="i" type="imu"/></link>
		<link name="upper"><pose relative_to="shoulder"/>`+sdfSolid+`</link>
		<link name="fore"><pose degrees="true">0 0 2 0 0 90</pose>`+sdfSolid+`</link>
		<joint name="shoulder" type="revolute"><pose relative_to="base">0 0 1 0 0 0</pose><parent>base</parent><child>upper</child>
			<axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>
			<dynamics><damping>0.5</damping><friction>0.1</friction></dynamics></axis></joint>
		<joint name="elbow" type="revolute"><parent>upper</parent><child>fore</child><axis><xyz expressed_in="__model__">0 1 0</xyz>
			<limit><lower>-1e16</lower><upper>1e16</upper><effort>-1</effort></limit></axis></joint>`, nil)
	if r.Fixed || r.Name != "m" || len(r.Bodies) != 3 || len(r.Joints) != 2 {
		t.Fatalf("got fixed %v, %d bodies, %d joints", r.Fixed, len(r.Bodies), len(r.Joints))
	}
	for name, want := range map[string]vec{"base": {}, "upper": {0, 0, 1}, "fore": {0, 0, 2}} {
		if got := r.Bodies[r.Body(name)].Pose.Position; !near(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	j := r.Joints[0]
	if j.Name != "shoulder" || j.Limits != [2]float64{-1, 2} || j.Damping != 0.5 || j.Friction != 0.1 ||
		j.Motor.MaxTorque != 30 || j.Motor.MaxVelocity != 4 || !near(j.Anchor, vec{0, 0, 1}) ||
		!near(j.Axis, vec{0, 1, 0}) {
		t.Errorf("the shoulder: got %+v", j)
	}
	if e := r.Joints[1]; !e.Wraps || !near(e.Axis, vec{0, 1, 0}) || !near(e.Anchor, vec{0, 0, 2}) ||
		!(e.Motor.MaxTorque > 0) {
		t.Errorf("the elbow: got %+v", e)
	}
	if s := r.Bodies[0].Shapes[0]; s.Kind != Cylinder || s.Half[2] != 0.5 || s.Material.Friction != 0.3 {
		t.Errorf("the solid: got %+v", s)
	}
	if len(r.Sensors) != 2 || r.Sensors[0].Kind != "range" || !nearly(r.Sensors[0].Device.FOV, 1.570796) ||
		r.Sensors[0].Device.Range != 8 || r.Sensors[0].Device.Interval != 0.1 || r.Sensors[1].Kind != "imu" {
		t.Errorf("sensors: got %+v", r.Sensors)
	}
	for version, want := range map[string]vec{"1.4": {0, 1, 0}, "1.6": {-1, 0, 0}} {
		r := sdf(t, version, `<link name="a">`+sdfSolid+`</link><link name="b"><pose>0 0 0 0 0 1.5707963267949</pose>`+
			sdfSolid+`</link>
			<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>`, nil)
		if got := r.Joints[0].Axis; !near(got, want) {
			t.Errorf("version %s: got the axis %v, want %v", version, got, want)
		}
	}
}

// A joint to the world fixes a robot; models stand within each other, in place or by include, with names behind theirs;
// a model.config names its file.
func TestSDFModels(t *testing.T) {
	files := map[string]string{
		"model://hand/model.config": `<model><name>hand</name><sdf version="1.5">old.sdf</sdf><sdf version="1.9">hand.sdf</sdf></model>`,
		"model://hand/hand.sdf":     `<sdf version="1.9"><model name="hand"><pose>9 9 9 0 0 0</pose><link name="palm">` + sdfSolid + `</link></model></sdf>`,
		"hand.sdf": `<sdf version="1.9"><model name="hand"><link name="palm">` + sdfSolid +
			`</link></model></sdf>`,
	}
	r := sdf(t, "1.9", `<link name="base">`+sdfSolid+
		`</link><joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>
		<include><uri>model://hand</uri><name>left</name><pose relative_to="base">0 1 0 0 0 0</pose></include>
		<model name="tool"><pose>0 0 3 0 0 0</pose><link name="tip"><pose>0 0 1 0 0 0</pose>`+sdfSolid+`</link></model>
		<joint name="l" type="prismatic"><parent>base</parent><child>left::palm</child><axis><xyz>1 0 0</xyz><limit><lower>0</lower><upper>0.2</upper></limit></axis></joint>
		<joint name="t" type="ball"><parent>base</parent><child>tool::tip</child></joint>`, files)
	if !r.Fixed || len(r.Joints) != 1 || r.Joints[0].Kind != Slide || len(r.Passive) != 1 || r.Passive[0].Kind != Ball {
		t.Fatalf("got fixed %v, joints %+v, %+v", r.Fixed, r.Joints, r.Passive)
	}
	for name, want := range map[string]vec{"left::palm": {0, 1, 0}, "tool::tip": {0, 0, 4}} {
		if k := r.Body(name); k == hal.None || !near(r.Bodies[k].Pose.Position, want) {
			t.Errorf("%s: got %+v, want it at %v", name, r.Bodies, want)
		}
	}
	r, err := ParseFile([]byte(files["model://hand/model.config"]), "model.config", FileOptions{Open: mjcfFiles(files)})
	if err != nil || r.Bodies[0].Name != "palm" || math.Abs(r.Bodies[0].Mass-2) > 1e-9 {
		t.Errorf("model.config: got %+v, %v", r, err)
	}
	for inside, want := range map[string]string{
		``: "want at least one",
		`<link name="a"/><joint name="j" type="screw"><parent>a</parent><child>b</child></joint><link name="b"/>`:  `"screw"`,
		`<link name="a"/><joint name="j" type="fixed"><parent>a</parent><child>z</child></joint>`:                  `"z"`,
		`<link name="a"/><joint name="j" type="fixed"><parent>z</parent><child>a</child></joint>`:                  `"z"`,
		`<link name="a"><pose relative_to="a"/></link>`:                                                            "itself",
		`<link name="a"><pose relative_to="q"/></link>`:                                                            `"q"`,
		`<link name="a"><pose>0 0</pose></link>`:                                                                   "6 numbers",
		`<link name="a"/><link name="a"/>`:                                                                         `"a"`,
		`<include><uri>model://gone</uri></include>`:                                                               "gone",
		`<link name="a"><collision name="c"><geometry><box><size>1 x 1</size></box></geometry></collision></link>`: `"x"`,
	} {
		_, err := ParseFile([]byte(`<sdf version="1.9"><model name="m">`+inside+`</model></sdf>`), "m.sdf",
			FileOptions{Open: mjcfFiles(nil)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "m.sdf") {
			t.Errorf("%s\ngot %v, want a fault that names m.sdf and %s", inside, err, want)
		}
	}
}

// TestURDFSensors: the sensors that a URDF has for Gazebo are the robot's.
func TestURDFSensors(t *testing.T) {
	r, err := ParseFile(urdf(`<link name="a">`+solid+
		`</link><gazebo reference="a"><sensor type="ray" name="laser"><pose>0 0 0.1 0 0 0</pose>
		<ray><scan><horizontal><samples>360</samples><min_angle>0</min_angle><max_angle>3.14</max_angle></horizontal></scan><range><max>10</max></range></ray></sensor>
		<sensor type="imu" name="im"/><sensor type="contact" name="bump"/><sensor type="sonar" name="s"/></gazebo>`), "r.urdf", FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for _, s := range r.Sensors {
		kinds += s.Kind + " "
	}
	if kinds != "range imu contact " || !nearly(r.Sensors[0].Pose.Position[2], 0.1) ||
		!strings.Contains(fmt.Sprint(r.Notes), `"sonar"`) {
		t.Errorf("got %+v, notes %v", r.Sensors, r.Notes)
	}
}
