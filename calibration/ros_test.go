package calibration

import (
	"math"
	"strings"
	"testing"
)

const limitsYAML = `joint_limits:
  elbow: {has_position_limits: true, min_position: -1.5, max_position: 1.2, has_velocity_limits: true, max_velocity: 3}
`

// A URDF with the elements of the ROS wiki's page of <joint> and ros2_control's of <transmission>.
const urdfText = `<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <joint name="elbow" type="revolute">
    <parent link="base"/>
    <calibration rising="0.25"/>
    <limit effort="30" velocity="1.0" lower="-2.2" upper="0.7"/>
  </joint>
  <joint name="flange" type="fixed"/>
  <transmission name="t">
    <joint name="elbow" role="joint1"><mechanical_reduction>-2.5</mechanical_reduction><offset>0.5</offset></joint>
    <actuator name="m" role="actuator1"/>
  </transmission>
</robot>`

func TestJointLimits(t *testing.T) {
	joints, err := ParseJointLimits([]byte(limitsYAML))
	if err != nil || len(joints) != 1 {
		t.Fatal(joints, err)
	}
	c := sample(-1, 2, false)
	notes, err := joints[0].Apply(c)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "velocity limit 3") {
		t.Fatal(notes, err)
	}
	low, high := c.Range()
	near(t, "low", low, -1.5, 1e-12)
	near(t, "high", high, 1.2, 1e-12)
	data, _, err := ExportJointLimits([]*Joint{c})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseJointLimits(data)
	if err != nil || math.Abs(again[0].Low+1.5) > 1e-9 || math.Abs(again[0].High-1.2) > 1e-9 {
		t.Fatalf("got %+v, %v\n%s", again, err, data)
	}
}

func TestURDF(t *testing.T) {
	joints, err := ParseURDF([]byte(urdfText))
	if err != nil || len(joints) != 2 || joints[1].Moves {
		t.Fatal(joints, err)
	}
	c := sample(1, 1, false)
	notes, err := joints[0].Apply(c)
	if err != nil || len(notes) != 3 {
		t.Fatal(notes, err)
	}
	// joint = actuator / reduction + offset, and the actuator is at 0 in the middle of its turn.
	for ticks := 1500.0; ticks < 2500; ticks += 250 {
		near(t, "angle", c.Radians(ticks), (ticks-2048)*2*math.Pi/4096/-2.5+0.5, 1e-12)
	}
	data, _, err := ExportURDF([]*Joint{c})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseURDF(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	d := sample(1, 1, false)
	d.Joint = "left_elbow"
	if _, err := again[0].Apply(d); err != nil {
		t.Fatal(err)
	}
	near(t, "zero", d.ZeroTicks, c.ZeroTicks, 1e-6)
	near(t, "gear", d.Gear, 2.5, 0)
	near(t, "direction", float64(d.Direction), -1, 0)
	near(t, "range", d.RangeTicks[0], c.RangeTicks[0], 1e-6)
}

var rosFaults = []struct{ name, from, to, fault string }{
	{"range", "-1.5", "1.5", "min_position below max_position"},
	{"NaN", "-1.5", ".nan", "min_position"},
	{"key", "max_position", "max_positon", "unknown key"},
	{"limit order", `lower="-2.2"`, `lower="2.2"`, "want lower below upper"},
	{"limit NaN", `lower="-2.2"`, `lower="NaN"`, "want a number"},
	{"reduction", "-2.5", "0", "mechanical reduction: got 0"},
	{"transmission", `name="elbow" role`, `name="knee" role`, "knee"},
	{"cut off", "</robot>", "", "urdf"},
	{"twice", `name="flange"`, `name="elbow"`, "twice"},
}

func TestROSFaults(t *testing.T) {
	for _, c := range rosFaults {
		_, err := ParseJointLimits([]byte(strings.Replace(limitsYAML, c.from, c.to, 1)))
		if strings.Contains(urdfText, c.from) {
			_, err = ParseURDF([]byte(strings.Replace(urdfText, c.from, c.to, 1)))
		}
		if err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.fault)
		}
	}
}

// Any ROS file gives either a valid calibration or an error.
func FuzzROS(f *testing.F) {
	for _, c := range rosFaults {
		f.Add([]byte(strings.Replace(limitsYAML, c.from, c.to, 1)))
		f.Add([]byte(strings.Replace(urdfText, c.from, c.to, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, parse := range []func([]byte) ([]ROSJoint, error){ParseJointLimits, ParseURDF} {
			joints, err := parse(data)
			if err != nil {
				continue
			}
			for i := range joints {
				c := sample(1, 1, true)
				if _, err := joints[i].Apply(c); err == nil && c.Validate() != nil {
					t.Fatal(c.Validate())
				}
			}
		}
	})
}

// A number with anything behind it is refused, not cut: 1,57 is not 1, 90deg not 90 rad.
func TestURDFNumbers(t *testing.T) {
	for value, good := range map[string]bool{"1.57": true, " 1.57 ": true, "1e-1": true, "1,57": false,
		"3.14159/2": false, "90deg": false, "1.57 rad": false, "1.5.7": false} {
		j, err := ParseURDF([]byte(`<robot name="r"><joint name="a" type="revolute"><limit lower="-1" upper="` + value +
			`"/></joint></robot>`))
		if (err == nil) != good {
			t.Errorf("%q: got %+v, %v", value, j, err)
		}
	}
}
