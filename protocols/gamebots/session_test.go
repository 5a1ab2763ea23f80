package gamebots

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest"
	"github.com/halyard-robotics/halyard/protocols"
)

func bubble(t *testing.T, c config, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c.mode = hal.Realtime
		f(newStage(t, c, protocolstest.NewPipes("pipes"), &bubbleClock{time.Now()}))
	})
}

const nfoLine = `
	a< NFO {Gametype USARBot.USARDeathMatch} {Level DM-USAR_yellow} {TimeLimit 0}
	`

// plain removes all sensors, packages and cameras, so that only STA is sent.
func plain(r *Robot) { r.Sensors, r.Packages, r.Cameras = nil, nil, nil }

// TestManual: every message to the manual's own examples, character by character.
func TestManual(t *testing.T) {
	bubble(t, config{}, func(s *stage) {
		s.play(nfoLine + `
		a> INIT {ClassName USARBot.P2AT} {Name R1} {Location 4.5,1.9,1.8}
		a< STA {Time 0.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000} {Velocity 0.0000,0.0000,0.0000} {LightToggle False} {LightIntensity 0} {Battery 3600}
		a< MIS {Type PanTilt} {Name Cam1} {Part CameraBase Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000} {Part CameraPan Location 0.0000,0.0000,0.0280 Orientation 0.0000,0.0000,0.0000} {Part CameraTilt Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000} {Type Arm} {Name Arm1} {Part Bar Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000}
		a< SEN {Time 0.01} {Type Sonar} {Name F1 Range 0.0000} {Name F2 Range 0.0000} {Name F3 Range 0.0000} {Name F4 Range 0.0000} {Name F5 Range 0.0000} {Name F6 Range 0.0000} {Name F7 Range 0.0000} {Name F8 Range 0.0000}
		a< SEN {Type IR} {Name IR1 Range 0.0000}
		a< SEN {Type Odometry} {Name Odometry} {Pose 0.0000,0.0000,0.0000}
		a< SEN {Type INU} {Name INU} {Orientation 0.0000,0.0000,0.0000}
		a< SEN {Type Encoder} {Name ECLeft Tick 0} {Name ECRight Tick 0}
		a< SEN {Type Touch} {Name Front Touch False} {Name Left Touch False}
		a< SEN {Type Sound} {Name Sound} {Loudness 0.00} {Duration 0.00}
		a< SEN {Type HumanMotion} {Name Motion} {Prob 0.00}
		`)
		p := s.town.puppet("R1")
		q := attitude([3]float64{0.00001, -0.00035, 0})
		p.set("truth", 4.49766, -1.90005, -1.85279, q[0], q[1], q[2], q[3], -0.00001, -0.00002, 0.00003)
		for i, v := range []float64{4.46901, 1.93879, 1.9159, math.Inf(1), math.NaN(), 7, 1.10759, 2.0773} {
			p.set("F"+string(rune('1'+i)), v)
		}
		p.set("IR1", 0.98)
		p.set("Odometry", 0.24159, -0.0029, 0.51571)
		p.set("INU", 0, -0.03021, 0.50519)
		p.set("ECLeft", -61)
		p.set("ECRight", -282)
		p.set("Front", 1)
		p.set("Sound", 17.229, 6.63)
		p.set("Motion", 0.81)
		rfid, victims := hits(s, "RFID"), hits(s, "VictRFID")
		rfid.Put(Hit{Tag: 1, ID: "0", At: [3]float64{1.23, -2.23, -0.12}})
		rfid.Put(Hit{Tag: 2, ID: "3", At: [3]float64{-2.23, 1.23, -0.12}})
		victims.Put(Hit{Tag: 1, ID: "Jim", State: "Responsive", At: [3]float64{1.2, 2.2, -0.21}})
		victims.Put(Hit{Tag: 2, ID: "Sarah", State: "None", At: [3]float64{2.1, -2.2, 0.21}})
		s.play(`
		a> CAMERA {Rotation 0,0.1,0.5693}
		a< STA {Time 1.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,-0.0003,0.0000} {Velocity -0.0000,0.0000,-0.0000} {LightToggle False} {LightIntensity 0} {Battery 3599}
		a< MIS {Type PanTilt} {Name Cam1} {Part CameraBase Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000} {Part CameraPan Location 0.0000,0.0000,0.0280 Orientation 0.0000,0.0000,0.5693} {Part CameraTilt Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.1000,0.0000} {Type Arm} {Name Arm1} {Part Bar Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000}
		a< SEN {Time 1.01} {Type Sonar} {Name F1 Range 4.4690} {Name F2 Range 1.9387} {Name F3 Range 1.9159} {Name F4 Range 5.0000} {Name F6 Range 5.0000} {Name F7 Range 1.1075} {Name F8 Range 2.0773}
		a< SEN {Type IR} {Name IR1 Range 0.9800}
		a< SEN {Type Odometry} {Name Odometry} {Pose 0.2415,0.0029,-0.5157}
		a< SEN {Type INU} {Name INU} {Orientation 0.0000,0.0302,-0.5051}
		a< SEN {Type Encoder} {Name ECLeft Tick -61} {Name ECRight Tick -282}
		a< SEN {Type Touch} {Name Front Touch True} {Name Left Touch False}
		a< SEN {Type RFID} {Name RFID} {ID 0} {Location 1.23,2.23,0.12} {ID 3} {Location -2.23,-1.23,0.12}
		a< SEN {Type VictRFID} {Name VictRFID} {ID Jim} {State Responsive} {Location 1.20,-2.20,0.21} {ID Sarah} {State None} {Location 2.10,2.20,-0.21}
		a< SEN {Type Sound} {Name Sound} {Loudness 17.22} {Duration 6.63}
		a< SEN {Type HumanMotion} {Name Motion} {Prob 0.81}
		`)
		p.set("Scanner1", 2.2109, 2.20759, math.Inf(1), math.NaN(), 0.5)
		s.play(`
		a> SET {Type RangeScanner} {Name Scanner1} {Opcode SCAN}
		a< RES {Time 1.01} {Type RangeScanner} {Name Scanner1} {Status OK}
		a< SEN {Type RangeScanner} {Name Scanner1} {Resolution 0.0174} {FOV 3.1415} {Range 2.2109,2.2075,20.0000,NaN,0.5000}
		a< STA {Time 2.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,-0.0003,0.0000} {Velocity -0.0000,0.0000,-0.0000} {LightToggle False} {LightIntensity 0} {Battery 3598}
		`)
	})
}

func hits(s *stage, sensor string) *Hits {
	for _, r := range s.town.robots["R1"].Sensors {
		if r.Name == sensor {
			return r.Hits
		}
	}
	return nil
}

// TestAnswers: queries and SET, and the original's answers for unknown items.
func TestAnswers(t *testing.T) {
	bubble(t, config{change: func(r *Robot) { r.Interval = time.Hour }}, func(s *stage) {
		s.play(nfoLine + `
		a> SET {Type Odometry} {Name Odometry} {Opcode RESET}   # before INIT: no answer
		a> GETGEO {Type Sonar}
		a> INIT {ClassName p2at} {Location 1 2 3} {Rotation 0 0 1.5708} {Name R1}
		`)
		for range 10 {
			s.receive("a")
		}
		s.play(`
		a> GETGEO {Type Camera}
		a< GEO {Type Camera} {Name Camera Location 0.0820,0.0002,0.0613 Orientation 0.0000,0.0000,0.0000 Mount CameraTilt}
		a> GETGEO {Type sonar} {Name f2}
		a< GEO {Type Sonar} {Name F2 Location 0.1450,-0.1300,0.0000 Orientation 0.0000,0.0000,-1.5708 Mount None}
		a> GETGEO {Type Touch}
		a< GEO {Type Touch} {Name Front Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000 Mount None} {Name Left Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000 Mount None}
		a> GETGEO {Type PanTilt}
		a< GEO {Type PanTilt} {Name Cam1 Location 0.1200,0.0000,-0.0826 Orientation 0.0000,0.0000,0.0000} {Part CameraBase Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000} {Part CameraPan Location 0.0000,0.0000,0.0280 Orientation 0.0000,0.0000,0.0000} {Part CameraTilt Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000}
		a> GETGEO {Type Gripper} {Name G}
		a< GEO {Type Gripper} {Name G}
		a> GETGEO {Type Robot}
		a< GEO {Type Robot}
		a> GETCONF {Type Camera}
		a< CONF {Type Camera} {CameraDefFov 0.8727} {CameraMinFov 0.3491} {CameraMaxFov 2.0944} {CameraFov 0.8727}
		a> GETCONF {Type PanTilt} {Name Cam1}
		a< CONF {Type PanTilt} {ScanInterval 3600.00} {Name Cam1} {Part CameraBase Parent None} {Part CameraPan Parent None Mount M_CameraPan_CameraTilt Location 0.0000,0.0000,-0.0719 Orientation 0.0000,0.0000,0.0000} {Part CameraTilt Parent CameraPan}
		a> GETCONF {Type Sonar}
		a< CONF {Type Sonar} {MaxRange 5.0000} {BeamAngle 0.3491}
		a> GETCONF {Type RangeScanner}
		a< CONF {Type RangeScanner} {MaxRange 20.0000} {bYaw True}
		a> GETCONF {Type RFIDReleaser}
		a< CONF {Type RFIDReleaser} {NumTags 10.0000}
		a> GETCONF {Type Nothing}
		a< CONF {Type Nothing}
		a> SET {Type Odometry} {Name Odometry} {Opcode RESET} {Params 1}
		a< RES {Time 0.01} {Type Odometry} {Name Odometry} {Status OK}
		a> SET {Type inu} {Name inu} {Opcode reset}
		a< RES {Time 0.01} {Type inu} {Name inu} {Status OK}
		a> SET {Type Encoder} {Name ECLeft} {Opcode RESET}
		a< RES {Time 0.01} {Type Encoder} {Name ECLeft} {Status OK}
		a> SET {Type Sonar} {Name F1} {Opcode RESET}
		a< RES {Time 0.01} {Type Sonar} {Name F1} {Status Failed}
		a> SET {Type Odometry} {Name Odo2} {Opcode RESET}
		a< RES {Time 0.01} {Type Odometry} {Name Odo2} {Status Failed}
		a> SET {Type RangeScanner} {Name Scanner1} {Opcode SPIN}
		a< RES {Time 0.01} {Type RangeScanner} {Name Scanner1} {Status Failed}
		a> SET {Type Camera} {Name Camera} {Opcode Zoom} {Params 0.5}
		a< RES {Time 0.01} {Type Camera} {Name Camera} {Status 0.5000}
		a> SET {Type Camera} {Name Camera} {Opcode Zoom} {Params 9}
		a< RES {Time 0.01} {Type Camera} {Name Camera} {Status 2.0944}
		a> SET {Type Camera} {Name Camera} {Opcode Zoom} {Params wide}
		a< RES {Time 0.01} {Type Camera} {Name Camera} {Status -1}
		a> CAMERA {Zoom 0.35}
		a< RES {Time 0.01} {Type Camera} {Name Camera} {Status 0.3500}
		a> GETCONF {Type Camera}
		a< CONF {Type Camera} {CameraDefFov 0.8727} {CameraMinFov 0.3491} {CameraMaxFov 2.0944} {CameraFov 0.3500}
		a> SET {Type RFIDReleaser} {Name Gun} {Opcode TagsRemaining}
		a< RES {Time 0.01} {Type RFIDReleaser} {Name Gun} {Status 2}
		a> SET {Type RFIDReleaser} {Name Gun} {Opcode Release}
		a< RES {Time 0.01} {Type RFIDReleaser} {Name Gun} {Status OK}
		a> SET {Type RFIDReleaser} {Name Gun} {Opcode Release}
		a< RES {Time 0.01} {Type RFIDReleaser} {Name Gun} {Status OK}
		a> SET {Type RFIDReleaser} {Name Gun} {Opcode Release}
		a< RES {Time 0.01} {Type RFIDReleaser} {Name Gun} {Status Failed}
		a> SET {Type Camera} {Robot R1} {Name Camera} {Client 10.0.0.2}   # no image server here
		a< RES {Time 0.01} {Type Camera} {Name Camera} {Status Failed}
		`)
		if got, want := s.town.asked[0], "USARBot.P2AT R1 [1 -2 -3] [0.7071 0 -0 -0.7071]"; got != want {
			t.Errorf("spawned: got %s, want %s", got, want)
		}
	})
}

// TestStarts: the start of an INIT without a position, and the answer to GETSTARTPOSES.
func TestStarts(t *testing.T) {
	arena := func(a *Arena) {
		a.Starts = []Start{{"P1", pose([3]float64{4.5, 1.9, 1.8}, [3]float64{})},
			{"P2", pose([3]float64{1, -2, 1.16}, [3]float64{0, 0, 1.5})}}
	}
	bubble(t, config{arena: arena, change: plain}, func(s *stage) {
		s.play(nfoLine + `
		a> GETSTARTPOSES
		a< NFO {StartPoses 2} {P1 4.5000,1.9000,1.8000 0.0000,0.0000,0.0000 P2 1.0000,-2.0000,1.1600 0.0000,0.0000,1.5000}
		a> INIT {ClassName USARBot.P2AT}
		`)
		s.receive("a")
		s.play("b> INIT {ClassName USARBot.P2AT} {Start p2}")
		s.receive("b")
		s.receive("b")
		for i, want := range []string{"USARBot.P2AT P2AT1 [4.5 -1.9 -1.8] [1 0 -0 -0]",
			"USARBot.P2AT P2AT2 [1 2 -1.16] [0.7317 0 -0 -0.6816]"} {
			if got := s.town.asked[i]; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
	bubble(t, config{}, func(s *stage) { s.play(nfoLine + "a> GETSTARTPOSES\na< NFO {StartPoses 0}") })
}

var nan = math.NaN()

// TestDrive: the inputs that each command sets. Other inputs are not commanded.
func TestDrive(t *testing.T) {
	type inputs map[string]float64
	for _, k := range []struct {
		name, line string
		want       inputs
		events     string
		dialect    Dialect
		relative   bool
		dark       bool
	}{
		{name: "two sides", line: "DRIVE {Left 1.0} {Right -2.5}", want: inputs{"LeftFWheel/velocity": 1,
			"LeftRWheel/velocity": 1, "RightFWheel/velocity": -2.5, "RightRWheel/velocity": -2.5}},
		{name: "MOAST's case", line: "Drive{left 1}{RIGHT 1}",
			want: inputs{"LeftFWheel/velocity": 1, "RightRWheel/velocity": 1}},
		{name: "normalised", line: "DRIVE {Left 50} {Right -100} {Normalized true}",
			want: inputs{"LeftFWheel/velocity": 2.6925, "RightFWheel/velocity": -5.385}},
		{name: "one side", line: "DRIVE {Left 1}", want: inputs{"LeftFWheel/velocity": 1, "RightFWheel/velocity": nan}},
		{name: "a joint's speed", line: "DRIVE {Name leftfwheel} {Order 1} {Value 0.175}",
			want: inputs{"LeftFWheel/velocity": 0.175, "LeftRWheel/velocity": nan}},
		{name: "a joint's torque", line: "DRIVE {Name LeftFWheel} {Order 2} {Value 3}",
			want: inputs{"LeftFWheel/torque": 3, "LeftFWheel/velocity": nan}},
		{name: "a joint's angle, reversed", line: "DRIVE {Name CameraPan} {Value 0.5}",
			want: inputs{"pan/position": -0.5}},
		{name: "steering alone", line: "DRIVE {Name LeftFWheel} {Steer 1.57}",
			want: inputs{"steering/position": -1.57, "LeftFWheel/velocity": nan}},
		{name: "several joints", line: "DRIVE {Name CameraPan} {Order 1} {Value 1} {Name CameraTilt} {Value 0.25}",
			want: inputs{"pan/velocity": -1, "tilt/position": -0.25}},
		{name: "light", line: "DRIVE {Left 1} {Light True}", want: inputs{"LeftFWheel/velocity": 1},
			events: "light true"},
		{name: "light of a robot that has none, as UvA's client sends it", dark: true,
			line: "DRIVE {Left 1.5} {Right -0.5} {Light True}",
			want: inputs{"LeftFWheel/velocity": 1.5, "RightFWheel/velocity": -0.5}},
		{name: "flip", line: "DRIVE {Flip true}", events: "flip"},
		{name: "no such joint", line: "DRIVE {Left 1} {Name Arm} {Value 1}", want: inputs{"LeftFWheel/velocity": nan}},
		{name: "no angle of a wheel", line: "DRIVE {Name LeftFWheel} {Value 1}",
			want: inputs{"LeftFWheel/velocity": nan}},
		{name: "no number", line: "DRIVE {Left 1} {Right nan} {Flip True}", want: inputs{"LeftFWheel/velocity": nan}},
		{name: "no order", line: "DRIVE {Name CameraPan} {Order 3} {Value 1}", want: inputs{"pan/position": nan}},
		{name: "no truth", line: "DRIVE {Left 1} {Light maybe}", want: inputs{"LeftFWheel/velocity": nan}},
		{name: "two numbers for one", line: "DRIVE {Left 1,2}", want: inputs{"LeftFWheel/velocity": nan}},
		{name: "the camera", line: "CAMERA {Rotation 0,0.175,0.3}",
			want: inputs{"pan/position": -0.3, "tilt/position": -0.175}},
		{name: "the camera, relative", relative: true, line: "CAMERA {Rotation 0,0.175,0}",
			want: inputs{"tilt/position": -0.175}},
		{name: "the camera's speed", line: "CAMERA {Rotation 0,0.2,0} {Order 1}",
			want: inputs{"pan/velocity": 0, "tilt/velocity": -0.2}},
		{name: "its package", line: "MISPKG {Name Cam1} {Rotation 0,0,0.57} {Order 0}",
			want: inputs{"pan/position": -0.57, "tilt/position": 0}},
		{name: "as misspelt", line: "MISPGK {Name cam1} {Rotation 0,0.1,0}",
			want: inputs{"pan/position": 0, "tilt/position": -0.1}},
		{name: "an arm", line: "MISPKG {Name Arm1} {Translation 0.1,0.2,-0.1} {Order 0}",
			want: inputs{"steering/position": 0.25}, events: "solve 0 [NaN NaN NaN] [0.1 -0.2 0.1] from [0]"},
		{name: "no such package", line: "MISPKG {Name Arm9} {Translation 0.1,0,-0.1}",
			want: inputs{"steering/position": nan}},
		{name: "a pan-tilt cannot be shifted", line: "MISPKG {Name Cam1} {Translation 1,0,0} {Rotation 0,0,1}",
			want: inputs{"pan/position": nan}},
		{name: "the later car", dialect: Later, line: "DRIVE {Speed 2} {FrontSteer 0.5}",
			want: inputs{"LeftFWheel/velocity": 2, "RightRWheel/velocity": 2, "steering/position": -0.5}},
		{name: "not in the manual's", line: "DRIVE {Speed 2} {FrontSteer 0.5}",
			want: inputs{"LeftFWheel/velocity": nan, "steering/position": nan}},
		{name: "ACT", dialect: Later, line: "ACT {Name Cam1} {Link 1} {Value 0.5} {Link 2} {Value 0.1} {Order 1}",
			want: inputs{"pan/position": -0.5, "tilt/velocity": -0.1}},
		{name: "ACT of no link", dialect: Later, line: "ACT {Name Cam1} {Link 1} {Value 0.5} {Link 3} {Value 1}",
			want: inputs{"pan/position": nan}},
		{name: "not in the manual's either", line: "ACT {Name Cam1} {Link 1} {Value 0.5}",
			want: inputs{"pan/position": nan}},
	} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, config{Options: Options{Dialect: k.dialect}, guard: hal.GuardConfig{Direct: true},
				change: func(r *Robot) {
					r.Interval, r.AbsoluteCamera = time.Hour, !k.relative
					if k.dark {
						r.Light = nil
					}
				}}, func(s *stage) {
				s.play("a> INIT {ClassName P2AT} {Name R1}\n")
				s.receive("a") // NFO
				s.receive("a") // STA: the robot exists
				go func() {
					for s.receive("a") != "" {
					}
				}()
				s.play("a> " + k.line)
				<-time.After(3 * period)
				synctest.Wait()
				p := s.town.puppet("R1")
				for name, want := range k.want {
					if got := p.goal(name); math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
						t.Errorf("%s: got %g, want %g\n%s", name, got, want, s.log)
					}
				}
				events := ""
				for _, e := range p.events {
					events += e
				}
				if events != k.events {
					t.Errorf("got %q, want %q", events, k.events)
				}
				s.conns["a"].Close()
				synctest.Wait()
				s.hang("a")
			})
		})
	}
}

// TestLater: the forms of 2007 and after.
func TestLater(t *testing.T) {
	later := config{Options: Options{Dialect: Later}, change: func(r *Robot) {
		r.Interval = time.Hour
		r.Sensors = append([]Sensor{r.Sensors[0]}, Sensor{Type: "GroundTruth", Name: "Truth", Index: 0})
	}}
	bubble(t, later, func(s *stage) {
		s.play(nfoLine + `
		a> INIT {ClassName USARBot.P2AT} {Name R1}
		a< STA {Type GroundVehicle} {Time 0.0100} {FrontSteer 0.0000} {RearSteer 0.0000} {LightToggle False} {LightIntensity 0} {Battery 3600} {View -1}
		a< MISSTA {Time 0.0100} {Name Cam1} {Link 1} {Value 0.0000} {Torque 0.00} {Link 2} {Value 0.0000} {Torque 0.00}
		a< MISSTA {Time 0.0100} {Name Arm1} {Link 1} {Value 0.0000} {Torque 0.00}
		a< SEN {Time 0.01} {Type Sonar} {Name F1 Range 0.0000}
		a< SEN {Time 0.01} {Type GroundTruth} {Name Truth} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000}
		a> GETCONF {Type Robot}
		a< CONF {Type GroundVehicle} {Name P2AT} {SteeringType SkidSteered} {Mass 14.0000} {MaxSpeed 5.3850} {MaxTorque 60.0000} {MaxFrontSteer 0.0000} {MaxRearSteer 0.0000}
		a> GETGEO {Type Robot}
		a< GEO {Type GroundVehicle} {Name P2AT} {Dimensions 0.5000,0.4900,0.2600} {COG 0.0000,0.0000,0.0000} {WheelRadius 0.1100} {WheelSeparation 0.3900} {WheelBase 0.2600}
		a> GETCONF {Type MisPkg} {Name Cam1}
		a< CONF {Type MisPkg} {Name Cam1} {Link 1} {JointType Revolute} {MaxSpeed 5.38} {MaxTorque 60.00} {MinRange -1.00} {MaxRange 2.00} {Link 2} {JointType Revolute} {MaxSpeed 5.38} {MaxTorque 60.00} {MinRange -1.00} {MaxRange 2.00}
		a> GETGEO {Type MisPkg} {Name Cam1}
		a< GEO {Type MisPkg} {Name Cam1} {Link 1} {ParentLink -1} {Location 0.0000,0.0000,0.0280} {Orientation 0.0000,0.0000,0.0000} {Link 2} {ParentLink 1} {Location 0.0000,0.0000,0.0000} {Orientation 0.0000,0.0000,0.0000}
		a> GETCONF {Type Sonar} {Name F1}
		a< CONF {Type Sonar} {Name F1} {MaxRange 5.0000} {BeamAngle 0.3491}
		a> SET {Type Sonar} {Name F1} {Opcode RESET}
		a< RES {Time 0.0100} {Type Sonar} {Name F1} {Status Failed}
		`)
	})
}

// TestBattery: when it is empty the wheels stop and commands are neither executed nor answered; messages continue.
func TestBattery(t *testing.T) {
	bubble(t, config{change: func(r *Robot) { plain(r); r.BatteryLife = 1500 * time.Millisecond }}, func(s *stage) {
		s.play("a> INIT {ClassName USARBot.P2AT} {Name R1}\na> DRIVE {Left 1} {Right 1}")
		s.receive("a")
		s.play(`
		a< STA {Time 0.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000} {Velocity 0.0000,0.0000,0.0000} {LightToggle False} {LightIntensity 0} {Battery 1}
		a< STA {Time 1.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000} {Velocity 0.0000,0.0000,0.0000} {LightToggle False} {LightIntensity 0} {Battery 0}
		`)
		p := s.town.puppet("R1")
		if v := p.goal("LeftFWheel/velocity"); v != 1 {
			t.Errorf("before: got %g rad/s, want 1", v)
		}
		s.receive("a")
		s.play(`
		a> DRIVE {Left 2} {Right 2}
		a> SET {Type Camera} {Name Camera} {Opcode Zoom} {Params 1}
		a< STA {Time 3.01} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000} {Velocity 0.0000,0.0000,0.0000} {LightToggle False} {LightIntensity 0} {Battery 0}
		`)
		if v := p.goal("LeftFWheel/velocity"); v != 0 {
			t.Errorf("empty: got %g rad/s, want 0", v)
		}
		if n := s.server.Traffic().Dropped(protocols.Refused); n != 2 {
			t.Errorf("refused: got %d, want 2", n)
		}
	})
}
