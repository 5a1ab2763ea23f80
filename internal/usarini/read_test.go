package usarini

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

func example(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/USARBot.ini")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func near(t *testing.T, what string, got, want [3]float64) {
	t.Helper()
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-4 {
			t.Errorf("%s: got %.4f, want %.4f", what, got, want)
			return
		}
	}
}

// forward returns the direction of an item's x, upward that of its z, in its parent's axes.
func forward(p hal.Pose) [3]float64 { return p.Turn([3]float64{1}) }
func upward(p hal.Pose) [3]float64  { return p.Turn([3]float64{0, 0, 1}) }

// TestExample: every key of the manual, with the poses of the real robot.
func TestExample(t *testing.T) {
	b, err := ParseBots("USARBot.ini", example(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Robots) != 3 || len(b.Devices) != 13 {
		t.Fatalf("got %d robots and %d devices, want 3 and 13", len(b.Robots), len(b.Devices))
	}
	r := b.Robot("p2at")
	if r == nil || !r.AbsoluteCamera || r.Interval != 0.2 || r.Weight != 14 || r.Payload != 40 ||
		r.BatteryLife != 3600 ||
		r.ChassisMass != 1.5 || r.MotorTorque != 30 || r.SafeDistance != 0.18 || r.Joints.SteerSpeed != 15000 ||
		r.Tires.SlipRate != 0.0005 {
		t.Fatalf("P2AT: got %+v", r)
	}
	// the manual: F1 is at {145, -130} mm and looks to -90°, J670's y is to the right
	f1, f8 := r.Sensors[0], r.Sensors[1]
	if f1.Class != "USARBot.SonarSensor" || f1.Name != "F1" || f1.Parent != "" {
		t.Errorf("F1: got %+v", f1)
	}
	near(t, "F1", f1.Pose.Position, [3]float64{0.145, 0.130, 0})
	near(t, "F1 looks", forward(f1.Pose), [3]float64{0, 1, 0})
	near(t, "F8", f8.Pose.Position, [3]float64{0.145, -0.130, 0})
	near(t, "F8 looks", forward(f8.Pose), [3]float64{0, -1, 0})
	// a pitch of 45° points up, in Unreal's axes and in J670's
	scanner := r.Sensors[2]
	near(t, "Scanner1", scanner.Pose.Position, [3]float64{0, 0, 0.1})
	near(t, "Scanner1 looks", forward(scanner.Pose), [3]float64{math.Sqrt2 / 2, 0, math.Sqrt2 / 2})
	near(t, "camera", r.Cameras[0].Pose.Position, [3]float64{0.08, 0, -0.064})
	near(t, "releaser looks", forward(r.Effecters[0].Pose), [3]float64{-1, 0, 0})

	wheel, pan, tilt := r.Parts[0], r.Parts[1], r.Parts[2]
	if wheel.Joint != Wheel || !wheel.SteeringLocked || wheel.BrakeTorque != 100 || wheel.Package != "" {
		t.Errorf("wheel: got %+v", wheel)
	}
	near(t, "wheel", wheel.ParentPosition, [3]float64{0.13, 0.197, -0.08})
	near(t, "wheel's spin", wheel.ParentAxis2, [3]float64{0, -1, 0})
	if pan.Joint != Hinge || pan.Parent != "" || pan.Package != "Cam1" || pan.PackageType != "PanTilt" ||
		tilt.Parent != "CameraPan" {
		t.Errorf("pan-tilt: got %+v and %+v", pan, tilt)
	}
	near(t, "pan's axis", pan.ParentAxis, [3]float64{0, 0, 1})

	// metres and radians of J670: z is down, so that 0.09 is below and -0.1 above
	omni := b.Robot("USARBot.Raviomni")
	near(t, "omni's wheel", omni.Parts[0].ParentPosition, [3]float64{-0.055, 0.0953, -0.09})
	near(t, "omni's camera", omni.Cameras[0].Pose.Position, [3]float64{0.12, -0.02, 0.1})
	near(t, "omni's camera looks", forward(omni.Cameras[0].Pose), [3]float64{math.Cos(0.5), 0, math.Sin(0.5)})
	near(t, "omni's odometry looks", forward(omni.Sensors[0].Pose), [3]float64{0, -1, 0})
	near(t, "and stands upright", upward(omni.Sensors[0].Pose), [3]float64{0, 0, 1})

	corky := b.Robot("USARBc")
	if corky.SpeedControl || corky.PID != (PID{0.2, 0.8, 0, -20, 20}) || corky.MotorTorque != 20 {
		t.Errorf("Corky: got %+v", corky)
	}
	near(t, "Corky's front", corky.Sensors[0].Pose.Position, [3]float64{-80 / 52.5, 0, 50 / 52.5})

	sonar, laser := b.Device("SonarSensor"), b.Device("usarbot.rangescanner")
	if !sonar.Hidden || !sonar.TimeStamp || sonar.MaxRange != 5 || sonar.BeamAngle != 0.3491 || sonar.Noise != 0.05 ||
		len(sonar.OutputCurve) != 2 || sonar.OutputCurve[1] != (Point{5, 5}) {
		t.Errorf("sonar: got %+v", sonar)
	}
	if math.Abs(laser.ScanFOV-math.Pi) > 1e-9 || math.Abs(laser.Resolution-0.0767) > 1e-4 || !laser.Yaw ||
		laser.Pitch || laser.ScanInterval != 0.5 {
		t.Errorf("scanner: got %+v", laser)
	}
	if v := b.Device("EncoderSensor"); v.Resolution != 0.01745 {
		t.Errorf("encoder: got %+v", v)
	}
	if v := b.Device("HumanMotionSensor"); math.Abs(v.FOV-math.Pi/3) > 1e-9 {
		t.Errorf("motion: got %g rad, want 60 degrees", v.FOV)
	}
	if v := b.Device("RFIDReleaser"); v.Weight != 0.4 || v.NumTags != 10 {
		t.Errorf("releaser: got %+v", v)
	}
	if v := b.Device("OdometrySensor"); v.LeftTire != "LeftFWheel" || v.EncoderResolution != 0.01 {
		t.Errorf("odometry: got %+v", v)
	}
	if v := b.Device("RFIDVictSensor"); v.FPMinRange != 1.33 || v.VictStatusRange != 0.25 || v.RFIDFOV != 0.52 {
		t.Errorf("victims: got %+v", v)
	}
	if b.Robot("Tank") != nil || b.Device("Tank") != nil {
		t.Error("found what is not there")
	}
	var ignored []string
	for _, f := range b.Ignored {
		ignored = append(ignored, string(f.Path))
	}
	if want := "[USARBot.P2AT] StaticMesh;[USARBot.P2AT] bDebug;[Engine.Engine] AnythingAtAll"; strings.Join(ignored,
		";") != want {
		t.Errorf("ignored: got %q, want %q", ignored, want)
	}
}

// TestEncodings: the same file as UTF-16 in both orders, with a mark, and with other line ends.
func TestEncodings(t *testing.T) {
	text := string(example(t))
	wide := func(order binary.AppendByteOrder) []byte {
		b := order.AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, u)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"utf-16 little": wide(binary.LittleEndian), "utf-16 big": wide(binary.BigEndian),
		"utf-8 with a mark": []byte("\ufeff" + text),
		"dos":               []byte(strings.ReplaceAll(text, "\n", "\r\n")),
		"mac":               []byte(strings.ReplaceAll(text, "\n", "\r")),
		"latin-1":           []byte("; \xfcber\n" + text),
	} {
		got, err := ParseBots(name, b)
		if err != nil || len(got.Robots) != 3 || len(got.Devices) != 13 {
			t.Errorf("%s: got %d robots, %d devices, %v", name, len(got.Robots), len(got.Devices), err)
		}
	}
}

// TestFaults: every fault with file, line and key, all together.
func TestFaults(t *testing.T) {
	for _, k := range []struct{ name, text, want string }{
		{"no section", "Weight=1\n", `f.ini:1: got "Weight=1", want a section first: [name]`},
		{"a bad section", "[USARBot.P2AT\nmsgTimer=1", `f.ini:1: got "[USARBot.P2AT", want a section: [name]`},
		{"no key", "[USARBot.A]\n\nnonsense\n", `f.ini:3: [USARBot.A]: got "nonsense", want key=value`},
		{"several at once", "[USARBot.A]\nmsgTimer=soon\nWeight=-1\nbMountByUU=maybe\nPayload=1e999\nbatteryLife=NaN",
			`f.ini:2: [USARBot.A] msgTimer: got "soon", want a number
f.ini:3: [USARBot.A] Weight: got -1, want 0..100000
f.ini:4: [USARBot.A] bMountByUU: got "maybe", want True or False
f.ini:5: [USARBot.A] Payload: got "1e999", want a number
f.ini:6: [USARBot.A] batteryLife: got "NaN", want a number`},
		{"twice", "[USARBot.A]\nWeight=1\nPayload=1\nweight=2",
			`f.ini:4: [USARBot.A] weight: got a second one, want it once: line 2 has it`},
		{"a section twice", "[USARBot.A]\nPayload=1\n[usarbot.a]\nPayload=1",
			`f.ini:3: [usarbot.a]: got a second one, want each section once`},
		{"a parenthesis open before the next key",
			"[USARBot.A]\nSensors=(ItemClass=class'A.B',ItemName=\"F1\",Position=(X=1\nSensors=(ItemClass=class'A.B',ItemName=\"F2\")",
			`f.ini:2: [USARBot.A] Sensors: got a parenthesis that is not closed, want a value`},
		{"a parenthesis open before a section", "[USARBot.S]\nOutputCurve=(Points=((InVal=0,\n[USARBot.T]\nNoise=1",
			`f.ini:2: [USARBot.S] OutputCurve: got a parenthesis that is not closed, want a value`},
		{"one too many, as in the tutorial", "[USARBot.A]\nJointParts=(PartName=\"A\",ParentAxis2=(Y=1)),SelfPos=(Z=0)",
			`f.ini:2: [USARBot.A] JointParts: got ",SelfPos=(Z=0)" after the value, want a value`},
		{"a quote", "[USARBot.A]\nSensors=(ItemName=\"F1,Position=(X=1))",
			`f.ini:2: [USARBot.A] Sensors: got a quote that is not closed, want a value`},
		{"an item", "[USARBot.A]\nSensors=(ItemClass=class'A.B',ItemNam=\"F1\",Position=(X=a,W=1),Parent=\"Arm\")",
			`f.ini:2: [USARBot.A] Sensors.ItemNam: got a field of that name, want one of ItemClass, ItemName, Parent, Position, Direction, SensorClass, SenName
f.ini:2: [USARBot.A] Sensors.Position.X: got "a", want a number
f.ini:2: [USARBot.A] Sensors.Position.W: got a field of that name, want one of X, Y, Z
f.ini:2: [USARBot.A] Sensors.ItemName: got "", want one word of at most 64 letters`},
		{"two of a name", "[USARBot.A]\nSensors=(ItemClass=class'A.B',ItemName=\"F1\")\nSensors=(ItemClass=class'a.b',ItemName=\"f1\")",
			`f.ini:3: [USARBot.A] Sensors.ItemName: got "f1", want another name: line 2 has it`},
		{"a part", "[USARBot.A]\nJointParts=(PartName=\"P\",PartClass=class'A.B',JointClass=class'KBall',Parent=\"Q\",PackageName=\"Arm\")\n" +
			"JointParts=(PartName=\"p\",PartClass=class'A.B',JointClass=class'KDHinge',Parent=\"P\")",
			`f.ini:2: [USARBot.A] JointParts.JointClass: got "KBall", want KCarWheelJoint or KDHinge
f.ini:2: [USARBot.A] JointParts.Parent: got "Q", want a part of this robot that precedes it
f.ini:2: [USARBot.A] JointParts.PackageName: got "Arm", want both PackageName and PackageType, or neither
f.ini:3: [USARBot.A] JointParts.PartName: got "p", want a name that no part before it has`},
		{"not a structure", "[USARBot.A]\nSensors=F1",
			`f.ini:2: [USARBot.A] Sensors: got "F1", want fields in parentheses
f.ini:2: [USARBot.A] Sensors.ItemClass: got "", want one word of at most 64 letters
f.ini:2: [USARBot.A] Sensors.ItemName: got "", want one word of at most 64 letters`},
		{"a curve", "[USARBot.S]\nOutputCurve=(Points=((InVal=1,OutVal=0),(InVal=1,OutVal=x)))",
			`f.ini:2: [USARBot.S] OutputCurve.Points[1].OutVal: got "x", want a number
f.ini:2: [USARBot.S] OutputCurve.Points[1].InVal: got 1, want above 1, that of the point before`},
		{"no curve", "[USARBot.S]\nOutputCurve=(InVal=1)",
			`f.ini:2: [USARBot.S] OutputCurve: got something else, want (Points=((InVal=0,OutVal=0),...))`},
		{"a scanner", "[USARBot.S]\nScanFov=32768\nNumTags=1.5",
			`f.ini:1: [USARBot.S] Resolution: got a scanner of too many rays, want at most 65536 in ScanFov
f.ini:3: [USARBot.S] NumTags: got "1.5", want a whole number`},
		{"a camera", "[USARBot.C]\nCameraMinFov=2\nCameraMaxFov=1\nCameraDefFov=9",
			`f.ini:1: [USARBot.C] CameraMinFov: got more than CameraMaxFov, want at most that
f.ini:4: [USARBot.C] CameraDefFov: got 9, want 0.01..3.1415`},
		{"a quote in a name", "[USARBot.A]\nSensors=(ItemClass='USARBot.SonarSensor',ItemName='F\"1')\n",
			`f.ini:2: [USARBot.A] Sensors.ItemName: got "F\"1", want one word of at most 64 letters`},
		{"a backslash in a name", "[USARBot.A]\nSensors=(ItemClass='USARBot.SonarSensor',ItemName=F\\n1)\n",
			`f.ini:2: [USARBot.A] Sensors.ItemName: got "F\\n1", want one word of at most 64 letters`},
		{"not text", "[A]\x00\n", `f.ini:1: got a NUL in line 1, want text`},
	} {
		t.Run(k.name, func(t *testing.T) {
			err := every(ParseBots("f.ini", []byte(k.text)))
			if err == nil || err.Error() != k.want {
				t.Errorf("got\n%v\nwant\n%s", err, k.want)
			}
			if hal.KindOf(err) != hal.Invalid {
				t.Errorf("kind: got %v, want invalid", hal.KindOf(err))
			}
		})
	}
}

// every is the error of a whole file: its own faults and those of its robots.
func every(b *Bots, err error) error {
	var all yaml.Faults
	errors.As(err, &all)
	for i := range b.Robots {
		for _, f := range b.Robots[i].Faults {
			all.Add(f)
		}
	}
	return all.Err()
}

// TestBounds: files that are large, deep, or wrong in every line.
func TestBounds(t *testing.T) {
	for name, text := range map[string]string{
		"large":                 strings.Repeat(" ", maxFile+1),
		"deep":                  "[USARBot.A]\nSensors=" + strings.Repeat("(", 1e5),
		"deep and closed":       "[USARBot.A]\nSensors=" + strings.Repeat("(", 1000) + strings.Repeat(")", 1000),
		"wide":                  "[USARBot.A]\nSensors=(" + strings.Repeat("X=1,", 1e5) + ")",
		"wrong in every line":   "[USARBot.A]\n" + strings.Repeat("x\n", 1e5),
		"a value without end":   "[USARBot.A]\nSensors=(\n" + strings.Repeat("X=1,\n", 2e5),
		"many sections alike":   strings.Repeat("[USARBot.A]\nWeight=1\n", 1e4),
		"keys that are ignored": "[USARBot.A]\n" + strings.Repeat("Key=1\n", 1e5) + "Payload=x",
	} {
		b, err := ParseBots(name, []byte(text))
		err = every(b, err)
		if err == nil || len(err.Error()) > 100*yaml.MaxFaults+10000 || len(b.Ignored) > yaml.MaxFaults {
			t.Errorf("%s: got %d ignored and an error of %.100v", name, len(b.Ignored), err)
		}
	}
}

func TestAPI(t *testing.T) {
	a, err := ParseAPI("BotAPI.ini",
		[]byte("[BotAPI.BotServer] \nListenPort=3001 \nMaxConnections=4\nbDebug=True\n[BotAPI.Other]\nX=1\n"))
	if err != nil || a.ListenPort != 3001 || a.MaxConnections != 4 || len(a.Ignored) != 2 {
		t.Errorf("got %+v, %v", a, err)
	}
	a, err = ParseAPI("BotAPI.ini", nil)
	if err != nil || a.ListenPort != 3000 || a.MaxConnections != 16 {
		t.Errorf("defaults: got %+v, %v", a, err)
	}
	_, err = ParseAPI("f", []byte("[BotAPI.BotServer]\nListenPort=70000\nMaxConnections=0\n[botapi.botserver]\n"))
	want := `f:2: [BotAPI.BotServer] ListenPort: got 70000, want 1..65535
f:3: [BotAPI.BotServer] MaxConnections: got 0, want 1..1024
f:4: [botapi.botserver]: got a second one, want each section once`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// FuzzINI: any file is read or refused within bounds, and all values read are finite.
func FuzzINI(f *testing.F) {
	f.Add(example(f))
	f.Add([]byte("[USARBot.A]\nSensors=(ItemClass=class'A.B',ItemName=\"F1\",Position=(X=1,Y=2,Z=3),Direction=(Pitch=1,Yaw=2))"))
	f.Add([]byte("[USARBot.S]\nOutputCurve=(Points=((InVal=0,OutVal=0),(InVal=1,OutVal=1)))\nResolution=800\nScanFov=32768"))
	f.Add([]byte("[BotAPI.BotServer]\nListenPort=3000\nMaxConnections=16"))
	f.Add([]byte("[USARBot.A]\nSensors=((((((\n)))"))
	f.Add([]byte("[USARSensor.SICK]\nScanFov=3.1\nResolution=0.02\n[USARBot.P3AT]\nmsgTimer=1\n[USARBot.P3AT]\nAddParts=(ItemClass=class'USARSensor.SICK')"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if a, err := ParseAPI("f", text); err == nil && (a.ListenPort < 1 || a.MaxConnections < 1) {
			t.Errorf("got %+v", a)
		}
		b, err := ParseBots("f", text)
		if err != nil {
			for _, f := range err.(yaml.Faults) {
				if f.Line < 1 {
					t.Errorf("a fault without a line: %v", f)
				}
			}
			return
		}
		for _, r := range b.Robots {
			if len(r.Faults) > 0 {
				continue // Twin refuses it
			}
			for _, list := range [][]Item{r.Sensors, r.Cameras, r.Effecters, r.Added} {
				for _, it := range list {
					n := 0.0
					for _, q := range it.Pose.Rotation {
						n += q * q
					}
					if it.Name == "" || math.Abs(n-1) > 1e-6 || math.IsNaN(it.Pose.Position[0]) {
						t.Errorf("got %+v", it)
					}
				}
			}
		}
		for _, v := range b.Devices {
			if v.ScanFOV > 0 && v.ScanFOV/v.Resolution > maxRays+1 {
				t.Errorf("got %+v", v)
			}
		}
	})
}
