package gamebots

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// senses leaves the robot sensors of every rule of the later dialects: with the time, without, and only theirs.
func senses(r *Robot) {
	r.Interval, r.Packages, r.Cameras = time.Hour, r.Packages[:1], nil
	keep := map[string]bool{"F1": true, "F2": true, "Scanner1": true, "Odometry": true, "INU": true, "ECLeft": true,
		"RFID": true}
	var out []Sensor
	for _, s := range r.Sensors {
		if keep[s.Name] {
			if s.Type == "RFID" {
				s.Interval = 100 * time.Millisecond
			}
			out = append(out, s)
		}
	}
	out[2].Manual, out[2].Settings = false, []Setting{{Name: "MaxRange", Value: 20}, {Name: "MinRange", Since: Later},
		{Name: "ScanFov", Value: 3.1416}}
	out[2].Interval = 500 * time.Millisecond
	for _, kind := range []string{"GroundTruth", "INS", "GPS"} {
		out = append(out, Sensor{Type: kind, Name: kind, Index: 0, Since: Later})
	}
	r.Sensors = out
}

const spawnR1 = "a> INIT {ClassName USARBot.P2AT} {Name R1}\n"

// The document's dialect omits the fields of later dialects, for any equipment of the robot.
func TestDocumentSenses(t *testing.T) {
	bubble(t, config{change: senses}, func(s *stage) {
		s.play(nfoLine + spawnR1)
		for _, want := range []string{"STA {Time 0.01} {Location", "MIS ",
			"SEN {Time 0.01} {Type Sonar} {Name F1 Range 0.0000} {Name F2 Range 0.0000}",
			"SEN {Type RangeScanner}", "SEN {Type Odometry}", "SEN {Type INU}", "SEN {Type Encoder}"} {
			if got := s.receive("a"); !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want %q ...", got, want)
			}
		}
		s.play("a> GETCONF {Type RangeScanner}\na< CONF {Type RangeScanner} {MaxRange 20.0000} {ScanFov 3.1416}\n" +
			"a> GETCONF {Type GroundTruth}\na< CONF {Type GroundTruth}")
	})
}

// TestLaterSenses: each sensor's message for clients of 2007 to 2010. GPS by the example of its source (a place at the
// origin's 39° 8.0273' N, 77° 12.998' W, 1.9 m to the east).
func TestLaterSenses(t *testing.T) {
	bubble(t, config{Options: Options{Dialect: Later}, change: senses}, func(s *stage) {
		s.play(nfoLine + spawnR1 + `
		a< STA {Type GroundVehicle} {Time 0.0100} {FrontSteer 0.0000} {RearSteer 0.0000} {LightToggle False} {LightIntensity 0} {Battery 3600} {View -1}
		a< MISSTA {Time 0.0100} {Name Cam1} {Link 1} {Value 0.0000} {Torque 0.00} {Link 2} {Value 0.0000} {Torque 0.00}
		a< SEN {Time 0.01} {Type Sonar} {Name F1 Range 0.0000} {Name F2 Range 0.0000}
		a< SEN {Time 0.01} {Type RangeScanner} {Name Scanner1} {Resolution 0.0174} {FOV 3.1415} {Range 0.0000,0.0000,0.0000,0.0000,0.0000}
		a< SEN {Type Odometry} {Name Odometry} {Pose 0.0000,0.0000,0.0000}
		a< SEN {Type INU} {Name INU} {Orientation 0.0000,0.0000,0.0000}
		a< SEN {Type Encoder} {Name ECLeft Tick 0}
		a< SEN {Time 0.01} {Type GroundTruth} {Name GroundTruth} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000}
		a< SEN {Type INS} {Name INS} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000}
		a< SEN {Type GPS} {Name GPS} {Latitude 39,8.0297,N} {Longitude 77,12.9964,W} {Fix 1} {Satellites 8}
		a> GETCONF {Type RangeScanner}
		a< CONF {Type RangeScanner} {Name Scanner1} {MaxRange 20.0000} {MinRange 0.0000} {Fov 3.1416}
		`)
		hits(s, "RFID").Put(Hit{Tag: 1, ID: "0", At: [3]float64{1.23, -2.23, -0.12}})
		for {
			got := s.receive("a")
			if strings.Contains(got, "{Type RFID}") {
				if want := "} {Type RFID} {Name RFID} {ID 0} {Location 1.23,2.23,0.12}\r\n"; !strings.HasPrefix(got,
					"SEN {Time ") || !strings.HasSuffix(got, want) {
					t.Errorf("got %q, want SEN {Time ...%q", got, want)
				}
				break
			}
		}
	})
}

// TestUDKSenses: one message a sensor and one segment a value, as USARSim's UDK source writes them.
func TestUDKSenses(t *testing.T) {
	bubble(t, config{Options: Options{Dialect: udk}, change: senses}, func(s *stage) {
		s.play(nfoLine + spawnR1 + `
		a< STA {Time 0.0100} {Battery 3600} {FrontSteer 0.0000} {RearSteer 0.0000}
		a< ASTA {Time 0.0100} {Name Cam1} {Link 1} {Value 0.0000} {Link 2} {Value 0.0000}
		a< SEN {Time 0.0100} {Type Sonar} {Name F1} {Range 0.0000}
		a< SEN {Time 0.0100} {Type Sonar} {Name F2} {Range 0.0000}
		a< SEN {Time 0.0100} {Type RangeScanner} {Name Scanner1} {Resolution 0.0174} {FOV 3.1415} {Range 0.0000,0.0000,0.0000,0.0000,0.0000}
		a< SEN {Time 0.0100} {Type Odometry} {Name Odometry} {Pose 0.0000,0.0000,0.0000}
		a< SEN {Time 0.0100} {Type Encoder} {Name ECLeft} {Tick 0}
		a< SEN {Time 0.0100} {Type GroundTruth} {Name GroundTruth} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000}
		a< SEN {Type INS} {Name INS} {Location 4.4976,1.9000,1.8527} {Orientation 0.0000,0.0000,0.0000}
		a< SEN {Type GPS} {Name GPS} {Latitude 39,8.0297,N} {Longitude 77,12.9964,W} {Fix 1} {Satellites 8}
		a> GETGEO {Type Sonar}
		a< GEO {Type Sonar} {Name F1} {Location 0.1450,-0.1300,0.0000} {Orientation 0.0000,0.0000,-1.5708} {Mount P2AT} {Name F2} {Location 0.1450,-0.1300,0.0000} {Orientation 0.0000,0.0000,-1.5708} {Mount P2AT}
		a> GETCONF {Type Actuator} {Name Cam1}
		a< CONF {Type Actuator} {Name Cam1} {Link 1} {JointType Revolute} {MaxTorque 60.0000} {MinValue -1.0000} {MaxValue 2.0000} {Link 2} {JointType Revolute} {MaxTorque 60.0000} {MinValue -1.0000} {MaxValue 2.0000}
		a> GETGEO {Type Actuator} {Name Cam1}
		a< GEO {Type Actuator} {Name Cam1} {Location 0.1200,0.0000,-0.0826} {Orientation 0.0000,0.0000,0.0000} {Mount P2AT} {Link 1} {Parent 0} {Location 0.0000,0.0000,0.0280} {Orientation 0.0000,0.0000,0.0000} {Link 2} {Parent 1} {Location 0.0000,0.0000,0.0000} {Orientation 0.0000,0.0000,0.0000}
		`)
	})
}

// TestDialectChosen: the first word that only some dialects have chooses, where the server may; else the log names it.
func TestDialectChosen(t *testing.T) {
	for _, k := range []struct {
		name    string
		options Options
		lines   string
		want    Dialect
		warned  string
	}{
		{name: "by a query", options: Options{Choose: true}, lines: "a> GETCONF {Type Robot}", want: Later},
		{name: "by a link", options: Options{Choose: true}, lines: "a> MISPKG {Name Cam1} {Link 1} {Value 0.1}",
			want: Later},
		{name: "by an actuator", options: Options{Choose: true}, lines: "a> ACT {Name Cam1} {Link 1} {Value 0.1}",
			want: udk},
		{name: "by the class P3AT", options: Options{Choose: true},
			lines: "b> INIT {ClassName USARBot.P3AT} {Name R2}", want: Later},
		{name: "by the class P3DX", options: Options{Choose: true},
			lines: "b> INIT {ClassName USARBot.P3DX} {Name R2}", want: Later},
		{name: "by the class Kenaf", options: Options{Choose: true},
			lines: "b> INIT {ClassName USARBot.Kenaf} {Name R2}", want: Later},
		{name: "by the class Talon", options: Options{Choose: true},
			lines: "b> INIT {ClassName USARBot.Talon} {Name R2}", want: Later},
		{name: "by the class Matilda", options: Options{Choose: true},
			lines: "b> INIT {ClassName USARBot.Matilda} {Name R2}", want: Later},
		{name: "by the class AirRobot", options: Options{Choose: true},
			lines: "b> INIT {ClassName USARBot.AirRobot} {Name R2}", want: Later},
		{name: "later, then UDK", options: Options{Choose: true},
			lines: "a> GETGEO {Type Robot}\na> ACT {Name Cam1} {Link 1} {Value 0.1}", want: udk},
		{name: "by the manual's word", options: Options{Choose: true},
			lines: "a> CAMERA {Rotation 0,0,0}\na> GETCONF {Type Robot}", want: document, warned: "later"},
		{name: "by what all have", options: Options{Choose: true},
			lines: "a> DRIVE {Left 1} {Right 1}\na> GETCONF {Type Sonar}", want: document},
		{name: "not by a fixed one", options: Options{}, lines: "a> GETCONF {Type Robot}\na> GETGEO {Type Robot}",
			want: document, warned: "later"},
		{name: "not down from a fixed one", options: Options{Dialect: Later}, lines: "a> CAMERA {Rotation 0,0,0}",
			want: Later, warned: "document"},
		{name: "UDK has what is later", options: Options{Dialect: udk}, lines: "a> GETCONF {Type Robot}", want: udk},
	} {
		t.Run(k.name, func(t *testing.T) {
			bubble(t, config{Options: k.options, guard: hal.GuardConfig{Direct: true}, change: senses}, func(s *stage) {
				s.play(spawnR1 + k.lines)
				go func() {
					for s.receive("a") != "" {
					}
				}()
				<-time.After(3 * period)
				s.play("a> GETCONF {Type Sonar} {Name F1}")
				<-time.After(3 * period)
				synctest.Wait()
				log := s.log.String()
				if chosen := strings.Contains(log, "dialect chosen"); chosen != (k.options.Choose &&
					k.want != document) ||
					chosen && !strings.Contains(log, "dialect="+k.want.String()) {
					t.Errorf("want %v chosen, log:\n%s", k.want, log)
				}
				if n := strings.Count(log, "speaks another dialect"); k.warned == "" && n != 0 || k.warned != "" &&
					(n != 1 || !strings.Contains(log, "--dialect "+k.warned)) {
					t.Errorf("want a warning of %q, log:\n%s", k.warned, log)
				}
				s.conns["a"].Close()
				synctest.Wait()
				s.hang("a")
			})
		})
	}
}

// TestShown: each word that only some dialects have is one of the session's own dialect: no warning, no other choice.
// What no robot here has is answered by its type alone; CONTROL and GETPATHNODES are not served, and the log says so.
func TestShown(t *testing.T) {
	for _, k := range []struct {
		dialect Dialect
		lines   string
		unknown uint64
	}{
		{document, `
	a> GETCONF {Type INU}
	a< CONF {Type INU}
	a> GETGEO {Type INU} {Name INU}
	a< GEO {Type INU} {Name INU Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000 Mount None}
	`, 0},
		{Later, `
	a> GETCONF {Type INS}
	a< CONF {Type INS} {Name INS}
	a> GETCONF {Type GPS} {Name GPS}
	a< CONF {Type GPS} {Name GPS}
	a> GETGEO {Type GroundTruth}
	a< GEO {Type GroundTruth} {Name GroundTruth Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000 Mount None}
	a> GETGEO {Type INS}
	a< GEO {Type INS} {Name INS Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000 Mount None}
	a> GETGEO {Type GPS}
	a< GEO {Type GPS} {Name GPS Location 0.0000,0.0000,0.0000 Orientation 0.0000,0.0000,0.0000 Mount None}
	a> GETCONF {Type VictSensor}
	a< CONF {Type VictSensor}
	a> GETGEO {Type VictSensor}
	a< GEO {Type VictSensor}
	a> DRIVE {Speed 0.5} {FrontSteer 0.1} {RearSteer -0.1}
	`, 0},
		{udk, `
	a> CONTROL {Type Robot}
	a> GETPATHNODES
	`, 2},
	} {
		bubble(t, config{Options: Options{Dialect: k.dialect}, change: senses}, func(s *stage) {
			s.play(spawnR1)
			<-time.After(3 * period)
			last := "{Type GPS}"
			if k.dialect == document {
				last = "{Type Encoder}"
			}
			for !strings.Contains(s.receive("a"), last) {
			}
			s.play(k.lines)
			if k.dialect == udk {
				s.play("a> SET {Type Joint} {Name Arm} {Opcode Angle} {Params 1}")
				if got := s.receive("a"); !strings.HasSuffix(got, " {Type Joint} {Name Arm} {Status Failed}\r\n") {
					t.Errorf("got %q, want it failed", got)
				}
			}
			synctest.Wait() // the last messages are logged
			if n := s.server.Traffic().Dropped(protocols.Unknown); n != k.unknown {
				t.Errorf("%v: unknown: got %d, want %d\n%s", k.dialect, n, k.unknown, s.log)
			}
			if strings.Contains(s.log.String(), "speaks another dialect") {
				t.Errorf("%v: got a warning\n%s", k.dialect, s.log)
			}
		})
	}
}

// TestVictSensor: the messages of the original, by its source and by quotes in MRL's client and MOAST; no such message
// in the document's dialect.
func TestVictSensor(t *testing.T) {
	seen := &Parts{}
	change := func(r *Robot) {
		for _, s := range r.Sensors {
			if s.Type == "VictRFID" {
				r.Sensors = []Sensor{{Type: "VictSensor", Name: "VictSensor", Index: s.Index, TimeStamp: true,
					Since: Later, Parts: seen}}
			}
		}
		r.Interval, r.Packages, r.Cameras = 200*time.Millisecond, nil, nil
	}
	const sta = "a< STA {Type GroundVehicle} {Time 0.0100} {FrontSteer 0.0000} {RearSteer 0.0000} {LightToggle " +
		"False} {LightIntensity 0} {Battery 3600} {View -1}\n"
	bubble(t, config{Options: Options{Dialect: Later}, change: change}, func(s *stage) {
		s.play(nfoLine + spawnR1 + sta + "a< SEN {Time 0.01} {Type VictSensor} {Status NoVictims}\n")
		seen.Set(2, func(i int) BodyPart {
			return [...]BodyPart{{"Leg", [3]float64{2.05, -0.33, -0.46}}, {"Foot", [3]float64{2.51, -0.44, -0.39}}}[i]
		})
		s.receive("a")
		s.play("a< SEN {Time 0.21} {Type VictSensor} {Name VictSensor} {PartName Leg} {Location 2.05,0.33,0.46} " +
			"{PartName Foot} {Location 2.51,0.44,0.39}\n")
	})
	bubble(t, config{change: change}, func(s *stage) {
		s.play(nfoLine + spawnR1)
		for range 3 {
			if got := s.receive("a"); strings.Contains(got, "VictSensor") {
				t.Errorf("the document's dialect: got %q", got)
			}
		}
	})
}

// Links count the parts that move, also where two parts have one name.
func TestLinksOfEqualNames(t *testing.T) {
	k := &link{robot: &Robot{}, layout: &hal.Layout{Actuators: make([]hal.Actuator, 3)}, dialect: &currentDialect{}}
	k.dialect.set(udk)
	p := Package{Type: "Arm", Name: "Arm"}
	for i, name := range []string{"Joint", "Joint", "Hand"} {
		k.robot.Joints = append(k.robot.Joints, Joint{Name: name, Actuator: i, Steer: hal.None})
		p.Parts = append(p.Parts, Part{Name: name, Joint: i})
	}
	k.robot.Packages = []Package{p}
	var out text
	k.query(&out, "CONF", []byte("Actuator"), nil)
	for _, want := range []string{"{Link 1}", "{Link 2}", "{Link 3}"} {
		if n := strings.Count(string(out.b), want); n != 1 {
			t.Errorf("%s: got %d times in %s, want once", want, n, out.b)
		}
	}
}
