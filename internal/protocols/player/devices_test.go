package player

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// TestDevices: the device list, and the first data of every device that has some.
func TestDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := s.dial(t)
		defer c.Close()
		list, err := c.Devices()
		want := "[position2d:0 position3d:0 simulation:0 laser:0 ranger:0 sonar:0 ranger:1 bumper:0 power:0 ptz:0 " +
			"camera:0 " +
			"actarray:0 limb:0 gripper:0 dio:0 imu:0 rfid:0 fiducial:0 opaque:0]"
		if err != nil || fmt.Sprint(list) != want {
			t.Errorf("devices: got %v, %v, want %s", list, err, want)
		}
		var info driverInfo
		if err := c.request(Device{Player, 0}, reqDriverInfo, &address{Device: Device{Limb, 0}}, &info); err != nil ||
			info.Driver != "halyard" {
			t.Errorf("driver: got %+v, %v", info, err)
		}
		identity := pose3{vector{1, 2, 0}, vector{}}
		for _, k := range []struct {
			device  Device
			subtype uint8
			want    payload
		}{
			{Device{Position2D, 0}, 1, &position2Data{}},
			{Device{Position3D, 0}, 1, &position3Data{Pose: identity}},
			{Device{Laser, 0}, 1, &laserData{MinAngle: -1, MaxAngle: 1, Resolution: 0.5, MaxRange: 8,
				Ranges: []float64{1, 2, math.NaN(), 4, 5}, ID: 1}},
			{Device{Ranger, 0}, 1, &doubles{1, 2, math.NaN(), 4, 5}},
			{Device{Sonar, 0}, 1, &floats{1.5, 2.5}},
			{Device{Ranger, 1}, 1, &doubles{1.5, 2.5}},
			{Device{Bumper, 0}, 1, &octets{1}},
			{Device{Power, 0}, 1, &powerData{Valid: 9, Volts: 12.5, Percent: 50, Joules: math.NaN(),
				Watts: math.NaN()}},
			{Device{PanTilt, 0}, 1, &ptzData{ptzCommand: ptzCommand{Zoom: 1}}},
			{Device{Camera, 0}, 1, &cameraData{4, 2, 24, 5, 1, 0, append(append([]byte{1}, make([]byte, 22)...), 255)}},
			{Device{ActArray, 0}, 1, &actArrayData{make5(actuatorState{Acceleration: math.NaN(), Current: math.NaN(),
				State: 1}), 1}},
			{Device{Limb, 0}, 1, &limbData{vector{0.5, 0, 0}, vector{1, 0, 0}, vector{0, 0, 1}, 1}},
			{Device{Gripping, 0}, 1, &gripperData{State: 2}},
			{Device{DIO, 0}, 1, &dioData{Count: 1}},
			{Device{IMU, 0}, 1, &pose3{P: vector{1, 2, 0}}},
			{Device{RFID, 0}, 1, &rfidData{[]rfidTag{{0, []byte("7")}}}},
			{Device{Fiducial, 0}, 1, &fiducialData{[]fiducial{{ID: 3, Pose: pose3{P: vector{1, 0, 0}}}}}},
		} {
			open(t, c, k.device)
			got := reflect.New(reflect.TypeOf(k.want).Elem()).Interface().(payload)
			data(t, c, k.device, k.subtype, got)
			if fmt.Sprintf("%.3g", got) != fmt.Sprintf("%.3g", k.want) {
				t.Errorf("%v: got %+v, want %+v", k.device, got, k.want)
			}
		}
		open(t, c, Device{Opaque, 0})
		var text octets
		data(t, c, Device{Opaque, 0}, 1, &text)
		if !strings.Contains(string(text), "supply/0 12.5\n") {
			t.Errorf("opaque: got %s", text)
		}
	})
}

func make5(v actuatorState) []actuatorState { return []actuatorState{v, v, v, v, v} }

// TestRequests: geometry and configurations.
func TestRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := s.dial(t)
		defer c.Close()
		mount := pose3{P: vector{0.2, 0, 0.3}}
		back := pose3{R: vector{0, 0, math.Pi}}
		for _, k := range []struct {
			device   Device
			subtype  uint8
			in, want payload // want nil = an answer without payload
			fails    bool
		}{
			{Device{Position2D, 0}, 1, nil, &geometry{Size: vector{0.5, 0.6, 0.4}}, false},
			{Device{Position2D, 0}, 3, &number{0}, nil, false},
			{Device{Position2D, 0}, 9, nil, nil, true},
			{Device{Position3D, 0}, 1, nil, &geometry{Size: vector{0.5, 0.6, 0.4}}, false},
			{Device{Position3D, 0}, 3, &number{0}, nil, false},
			{Device{Position3D, 0}, 4, &number{1}, nil, false},
			{Device{Position3D, 0}, 6, &pose3{P: vector{math.Inf(1), 0, 0}}, nil, true},
			{Device{Position3D, 0}, 7, nil, nil, true},
			{Device{Simulation, 0}, 1, &simulationPose{Name: "rover"}, &simulationPose{"rover", pose2{1, 2, 0}}, false},
			{Device{Simulation, 0}, 1, &simulationPose{Name: "another"}, nil, true},
			{Device{Simulation, 0}, 3, &simulationPose3{Name: "another"}, nil, true},
			{Device{Simulation, 0}, 2, &simulationPose{"rover", pose2{3, 4, 0}}, nil, false},
			{Device{Simulation, 0}, 2, &simulationPose{"rover", pose2{math.NaN(), 4, 0}}, nil, true},
			{Device{Laser, 0}, 1, nil, &geometry{Pose: mount}, false},
			{Device{Laser, 0}, 3, nil, &laserConfig{-1, 1, 0.5, 8, 0, 0, 10}, false},
			{Device{Laser, 0}, 2, &laserConfig{Resolution: 9}, &laserConfig{-1, 1, 0.5, 8, 0, 0, 10}, false},
			{Device{Laser, 0}, 4, &number{1}, nil, false},
			{Device{Laser, 0}, 5, nil, &number{0}, false},
			{Device{Ranger, 0}, 1, nil, &rangerGeometry{geometry{Pose: mount}, []pose3{mount}, []vector{{}}}, false},
			{Device{Ranger, 0}, 2, &number{1}, nil, false},
			{Device{Ranger, 0}, 3, &number{1}, nil, false},
			{Device{Ranger, 0}, 4, &rangerConfig{MaxRange: 99}, &rangerConfig{-1, 1, 0.5, 0, 8, 0, 10}, false},
			{Device{Ranger, 0}, 5, nil, &rangerConfig{-1, 1, 0.5, 0, 8, 0, 10}, false},
			{Device{Ranger, 1}, 1, nil, &rangerGeometry{geometry{}, []pose3{{P: vector{0.3, 0.1, 0}}, back},
				[]vector{{}, {}}}, false},
			{Device{Ranger, 1}, 5, nil, &rangerConfig{MaxRange: 5, Frequency: 10}, false},
			{Device{Sonar, 0}, 1, nil, &sonarGeometry{[]pose3{{P: vector{0.3, 0.1, 0}}, back}}, false},
			{Device{Sonar, 0}, 2, &number{0}, nil, false},
			{Device{Bumper, 0}, 1, nil, &bumperGeometry{[]bumperPlace{{}}}, false},
			{Device{PanTilt, 0}, 2, &number{1}, nil, false},
			{Device{PanTilt, 0}, 2, &number{0}, nil, true},
			{Device{PanTilt, 0}, 4, nil, &geometry{}, false},
			{Device{PanTilt, 0}, 5, nil, &number{}, false},
			{Device{Camera, 0}, 3, nil, nil, true}, // not opened
			{Device{ActArray, 0}, 2, &number{1}, nil, true},
			{Device{Limb, 0}, 3, nil, &vector{1.2, 0, 0}, false},
			{Device{Gripping, 0}, 1, nil, &gripperGeometry{Pose: pose3{P: vector{1.8, 0, 0}}}, false},
			{Device{IMU, 0}, 1, &number{3}, nil, false},
			{Device{IMU, 0}, 1, &number{6}, nil, true},
			{Device{Fiducial, 0}, 1, nil, &fiducialGeometry{}, false},
			{Device{Fiducial, 0}, 2, nil, &fiducialView{0, 1.5, 0.5}, false},
			{Device{Power, 0}, 1, nil, nil, true},
			{Device{Sonar, 1}, 1, nil, nil, true},
			{Device{Player, 0}, reqAuth, nil, nil, false},
		} {
			var got payload
			if k.want != nil {
				got = reflect.New(reflect.TypeOf(k.want).Elem()).Interface().(payload)
			}
			err := c.request(k.device, k.subtype, k.in, got)
			if k.fails {
				if !errors.Is(err, ErrRefused) {
					t.Errorf("%v %d: got %v, want %v", k.device, k.subtype, err, ErrRefused)
				}
				continue
			}
			if err != nil || got != nil && fmt.Sprintf("%.4g", got) != fmt.Sprintf("%.4g", k.want) {
				t.Errorf("%v %d: got %+v, %v, want %+v", k.device, k.subtype, got, err, k.want)
			}
		}
		if s.rover.placed != 1 {
			t.Errorf("placed: got %d times, want 1", s.rover.placed)
		}
		p := &actArrayGeometry{}
		if err := c.request(Device{ActArray, 0}, 3, nil, p); err != nil || len(p.Actuators) != 5 ||
			p.Actuators[0].Kind != 2 || p.Actuators[0].Max != 2 {
			t.Errorf("actuators: got %+v, %v", p, err)
		}
		if a := p.Actuators[0]; a.Axis != (vector{0, 0, 1}) || a.Length < 0.29 || a.Length > 0.61 || p.Base.P[0] < 0.5 {
			t.Errorf("geometry: got %+v from %v", a, p.Base.P)
		}
		var q imuQuaternion
		open(t, c, Device{IMU, 0})
		if data(t, c, Device{IMU, 0}, 3, &q); q.Q[0] != 1 || math.Abs(q.Acceleration[2]-9.8) > 1e-5 ||
			!math.IsNaN(q.Magnetic[0]) {
			t.Errorf("imu as a quaternion: got %+v", q)
		}
		for _, k := range []struct {
			device Device
			form   uint8
			got    payload
		}{
			{Device{IMU, 0}, 2, &imuCalibrated{}}, {Device{IMU, 0}, 3, &imuQuaternion{}},
			{Device{IMU, 0}, 4, &imuEuler{}}, {Device{IMU, 0}, 5, &imuFull{}},
		} {
			if err := c.request(k.device, 1, &number{uint32(k.form)}, nil); err != nil {
				t.Fatal(err)
			}
			if data(t, c, k.device, k.form, k.got); !strings.Contains(fmt.Sprintf("%.1f", k.got), "9.8") {
				t.Errorf("imu in form %d: got %+v, want the acceleration", k.form, k.got)
			}
		}
	})
}

// TestOdometry: a client sets the odometry, and another sees it.
func TestOdometry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c, other := s.dial(t), s.dial(t)
		defer c.Close()
		defer other.Close()
		position := Device{Position2D, 0}
		if err := c.request(position, 5, &pose2{5, 6, math.Pi / 2}, nil); err != nil {
			t.Fatal(err)
		}
		c.Drive(0.5, 0)
		time.Sleep(2 * time.Second)
		c.Drive(0, 0)
		time.Sleep(time.Second)
		open(t, other, position)
		var at position2Data
		data(t, other, position, 1, &at)
		if p := at.Pose; math.Abs(p.X-5) > 1e-6 || math.Abs(p.Y-7) > 0.1 || math.Abs(p.A-math.Pi/2) > 1e-6 {
			t.Errorf("1 m ahead: got %+v, want 5, 7, π/2", p)
		}
		if err := c.request(position, 6, nil, nil); err != nil {
			t.Fatal(err)
		}
		other.kept = nil
		time.Sleep(time.Second)
		for range 20 {
			data(t, other, position, 1, &at)
		}
		if at.Pose != (pose2{}) {
			t.Errorf("reset: got %+v", at.Pose)
		}
	})
}

// TestCommands: each command moves what it names.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime}, nil)
		c := s.dial(t)
		defer c.Close()
		for _, k := range []struct {
			name    string
			device  Device
			subtype uint8
			in      payload
			joints  [5]float64 // pan, tilt, shoulder, elbow, claw afterwards
		}{
			{"pan and tilt", Device{PanTilt, 0}, 1, &ptzCommand{Pan: 0.5, Tilt: 0.25}, [5]float64{0.5, -0.25, 0, 0, 0}},
			{"one joint", Device{ActArray, 0}, 1, &jointValue{2, 0.75}, [5]float64{0.5, -0.25, 0.75, 0, 0}},
			{"several", Device{ActArray, 0}, 2, &floats{0, 0, 1}, [5]float64{0, 0, 1, 0, 0}},
			{"too many", Device{ActArray, 0}, 2, &floats{0, 0, 0, 0, 0, 0}, [5]float64{0, 0, 1, 0, 0}},
			{"no such joint", Device{ActArray, 0}, 1, &jointValue{5, 1}, [5]float64{0, 0, 1, 0, 0}},
			{"not a number", Device{ActArray, 0}, 1, &jointValue{0, math.NaN()}, [5]float64{0, 0, 1, 0, 0}},
			{"beyond the limits", Device{ActArray, 0}, 1, &jointValue{0, 9}, [5]float64{2, 0, 1, 0, 0}},
			{"no speeds", Device{ActArray, 0}, 3, &jointValue{0, 1}, [5]float64{2, 0, 1, 0, 0}},
			{"no speeds of several", Device{ActArray, 0}, 4, &floats{1, 1}, [5]float64{2, 0, 1, 0, 0}},
			{"home", Device{ActArray, 0}, 5, &jointNumber{-1}, [5]float64{0.1, 0.1, 0.1, 0.1, 0.1}},
			{"open", Device{Gripping, 0}, 1, nil, [5]float64{0.1, 0.1, 0.1, 0.1, 1}},
			{"close", Device{Gripping, 0}, 2, nil, [5]float64{0.1, 0.1, 0.1, 0.1, -1}},
			{"reach", Device{Limb, 0}, 4, &vector{0.3, 0, -0.2}, [5]float64{0.1, 0.1, 0, math.Pi / 2, -1}},
			{"point", Device{Limb, 0}, 3, &limbPose{vector{0.5, 0, 0}, vector{1, 0, 0}, vector{0, 0, 1}},
				[5]float64{0.1, 0.1, 0, 0, -1}},
			{"out of reach", Device{Limb, 0}, 4, &vector{5, 0, 0}, [5]float64{0.1, 0.1, 0, 0, -1}},
			{"no direction", Device{Limb, 0}, 3, &limbPose{}, [5]float64{0.1, 0.1, 0, 0, -1}},
			{"limb stop", Device{Limb, 0}, 2, nil, [5]float64{0.1, 0.1, 0, 0, -1}},
			{"gripper stop", Device{Gripping, 0}, 3, nil, [5]float64{0.1, 0.1, 0, 0, -1}},
			{"limb home", Device{Limb, 0}, 1, nil, [5]float64{0.1, 0.1, 0.1, 0.1, -1}},
			{"a line of text", Device{Opaque, 0}, 1, new(octets("pan position -1\nclaw position 0\n")),
				[5]float64{-1, 0.1, 0.1, 0.1, 0}},
			{"a bad line", Device{Opaque, 0}, 1, new(octets("pan position 1\nnose position 0\n")),
				[5]float64{-1, 0.1, 0.1, 0.1, 0}},
		} {
			if err := c.command(k.device, k.subtype, k.in); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			for i, want := range k.joints {
				if got := s.rover.joint(2 + i); math.Abs(got-want) > 1e-3 {
					t.Errorf("%s: joint %d: got %g, want %g", k.name, i, got, want)
				}
			}
		}
		c.command(Device{DIO, 0}, 1, &dioData{1, 1})
		c.command(Device{Position3D, 0}, 1, &position3Velocity{pose3{P: vector{0.5, 0, 0}}, 1})
		time.Sleep(time.Second)
		if lit, flown := s.rover.state(); !lit || flown != [2][3]float64{{0.5, 0, 0}} {
			t.Errorf("lamp and flight: got %v, %v", lit, flown)
		}
		// the rover is at 1, 2: a client that calls it the origin counts from there
		if err := c.request(Device{Position3D, 0}, 5, nil, nil); err != nil {
			t.Fatal(err)
		}
		c.command(Device{Position3D, 0}, 2, &position3Data{Pose: pose3{P: vector{0, 0, 3}}})
		c.command(Device{DIO, 0}, 1, &dioData{5, 0})
		time.Sleep(time.Second)
		if lit, flown := s.rover.state(); !lit || flown != [2][3]float64{{1, 2, 3}} {
			t.Errorf("five outputs of one, and a pose: got %v, %v", lit, flown)
		}
		open(t, c, Device{Position3D, 0})
		var at position3Data
		if data(t, c, Device{Position3D, 0}, 1, &at); at.Pose != (pose3{}) {
			t.Errorf("pose after a reset: got %v, want 0", at.Pose)
		}
		c.Close()
		time.Sleep(time.Second)
		if _, flown := s.rover.state(); flown != [2][3]float64{} {
			t.Errorf("the client left: got %v, want speed 0", flown)
		}
	})
}

func TestInvalidRobot(t *testing.T) {
	for name, change := range map[string]func(*Robot){
		"no agent":       func(r *Robot) { r.Agent = nil },
		"no wheels":      func(r *Robot) { r.Drive.Wheels = nil },
		"no radius":      func(r *Robot) { r.Drive = kinematics.Sides([]int{0}, []int{1}, 0, 0.5) },
		"no such joint":  func(r *Robot) { r.PTZs[0].Pan = 99 },
		"a wheel pans":   func(r *Robot) { r.PTZs[0].Pan = 0 },
		"a joint drives": func(r *Robot) { r.Drive.Wheels[0].Actuator = 2 },
		"switches":       func(r *Robot) { r.Switches = make([]Switch, 33) },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, config{mode: hal.Realtime}, nil)
			change(s.robot)
			if _, err := NewServer(s.rig, s.pipes, s.robot, Options{}); err == nil {
				t.Errorf("%s: got no error", name)
			}
		})
	}
}
