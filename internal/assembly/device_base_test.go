package assembly_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// scanners are other devices in the place of the laser.
func scanners() map[string]string {
	return map[string]string{"": "sick-lms200", "urg": "hokuyo, model: urg-04lx",
		"ust":    "hokuyo, model: ust-10lx, resolution: 0.5",
		"lms291": "sick-lms291, resolution: 0.5, range_max: 32", "rplidar": "rplidar",
		"rplidar standard": "rplidar, standard: true, resolution: 2, fov: 180",
		"rplidar ultra":    "rplidar, scan: ultra, resolution: 0.5", "rplidar dense": "rplidar, scan: dense"}
}

func pioneer(t *testing.T, o configs.Options, pairs ...string) *rigtest.Stepped {
	t.Helper()
	return rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rigtest.PioneerRig, "", pairs...), o))
}

func TestBaseConforms(t *testing.T) {
	path := rigtest.RigOf(t, rigtest.PioneerRig, "")
	haltest.Run(t, func(t *testing.T) haltest.Subject {
		return rigtest.Subject(t, rigtest.PlanOf(t, path, configs.Options{}))
	})
}

// The same commands drive the simulated and the emulated base to the same place, and the emulated one knows where it
// is.
func TestBaseDrives(t *testing.T) {
	ends := map[string][3]float64{}
	for body, o := range map[string]configs.Options{"sim": {Body: "sim"}, "emulated": {}} { // the option clears parts
		s := pioneer(t, o)
		s.Run(time.Second)
		if x, y, _ := s.Truth(); math.Hypot(x-5, y+6) > 1e-3 {
			t.Errorf("%s: moved to %.3f %.3f before any command", body, x, y)
		}
		s.Wheels(4, 4)
		s.Run(3 * time.Second)
		s.Wheels(-2, 2)
		s.Run(2 * time.Second)
		s.Wheels(0, 0)
		s.Run(2 * time.Second)
		x, y, h := s.Truth()
		ends[body] = [3]float64{x, y, h}
		for _, name := range []string{"left_front_wheel", "right_rear_wheel", "f1", "r8", "scanner1", "odometry", "inu",
			"groundtruth", "battery"} {
			if d := s.Device(name); d.Err != nil || d.Time < 6500*time.Millisecond {
				t.Errorf("%s: %s: %v of %v", body, name, d.Err, d.Time)
			}
		}
		pose := s.Sensor("groundtruth")
		yaw := hal.Pose{Rotation: [4]float64(pose[3:7])}.RollPitchYaw()[2]
		t.Logf("%s: at %.3f %.3f %.3f, says %.3f %.3f %.3f, odometry %.3f", body, x, y, h, pose[0], pose[1], yaw,
			s.Sensor("odometry"))
		if math.Hypot(pose[0]-x, pose[1]-y) > 0.05 || math.Abs(yaw-h) > 0.02 {
			t.Errorf("%s: says that it is at %.3f %.3f %.3f, is at %.3f %.3f %.3f", body, pose[0], pose[1], yaw, x, y,
				h)
		}
	}
	a, b := ends["sim"], ends["emulated"]
	// A base ramps up and down and is told ten times a second how it goes: it ends a little elsewhere.
	if math.Hypot(a[0]-b[0], a[1]-b[1]) > 0.3 || math.Abs(a[2]-b[2]) > 0.4 {
		t.Errorf("ends: simulated %.3f, emulated %.3f", a, b)
	}
}

// Two runs are the same, bit for bit, with each scanner.
func TestBaseRepeats(t *testing.T) {
	for name, device := range scanners() {
		run := func() []uint64 {
			s := pioneer(t, configs.Options{}, "sick-lms200", device)
			s.Wheels(3, 2)
			return s.Run(time.Second)
		}
		if !slices.Equal(run(), run()) {
			t.Errorf("%s: two runs differ", name)
		}
	}
}

// Pulling any cable stops the base: its own by its watchdog, another's by the guard. It does not go on because the
// cable is back, but with the next command.
func TestBaseCables(t *testing.T) {
	for _, c := range []struct {
		cable  string
		within time.Duration
	}{
		// The watchdog of a P2 is two seconds; at 1 m/s² it takes as much as half a second to stand.
		{"base", 2700 * time.Millisecond},
		// The guard waits for a second, and a scan may have been on its way.
		{"laser", 2 * time.Second},
		{"main", 2 * time.Second},
	} {
		t.Run(c.cable, func(t *testing.T) {
			s := pioneer(t, configs.Options{})
			s.Run(500 * time.Millisecond)
			s.Wheels(4, 3)
			s.Run(2 * time.Second)
			if _, still := s.Stops(100 * time.Millisecond); still {
				t.Fatal("it does not drive")
			}
			plug := func(out bool) {
				switch line := s.Line(c.cable); {
				case line == nil && out:
					s.Sys.Emulation.Buses[c.cable].Fault(wire.Fault{Kind: wire.PowerLoss, Target: imu.BNO055Address})
				case line == nil:
					s.Sys.Emulation.Buses[c.cable].ClearFaults()
				case out:
					line.Fault(wire.Fault{Kind: wire.OpenWire})
				default:
					line.ClearFaults()
				}
			}
			plug(true)
			// the client continues to command
			after, still := s.Stops(4 * time.Second)
			t.Logf("%s: stands after %v", c.cable, after)
			if !still || after > c.within {
				t.Errorf("stands %v after %v, want within %v", still, after, c.within)
			}
			for i := range s.Inputs {
				s.Inputs[i] = math.NaN() // the client says nothing more
			}
			plug(false)
			s.Run(3 * time.Second)
			if _, still := s.Stops(time.Second); !still {
				t.Error("it drives because the cable is back")
			}
			s.Wheels(4, 3)
			s.Run(2 * time.Second)
			if _, still := s.Stops(100 * time.Millisecond); still {
				t.Errorf("a new command does not drive it: wheel %v, scanner %v", s.Device("left_front_wheel").Err,
					s.Device("scanner1").Err)
			}
		})
	}
}

// The emergency stop ends at the base's board, which reports that its motors are off; nothing brings them back but to
// be armed and commanded.
func TestBaseEmergencyStop(t *testing.T) {
	s := pioneer(t, configs.Options{})
	s.Run(500 * time.Millisecond)
	s.Wheels(5, 5)
	s.Run(2 * time.Second)
	stops := s.Sys.Rig.EmergencyStop("test")
	acknowledged := 0
	for _, j := range stops {
		if j.Err == nil && strings.HasSuffix(j.Joint, "wheel") {
			acknowledged++
		}
	}
	if acknowledged != 4 {
		t.Errorf("got %+v, want an acknowledgement of four wheels", stops)
	}
	if after, still := s.Stops(2 * time.Second); !still || after > time.Second {
		t.Errorf("stands %v after %v", still, after)
	}
	s.Sys.Rig.Recover()
	if err := s.Agent.Arm(); err != nil {
		t.Fatal(err)
	}
	for i := range s.Inputs {
		s.Inputs[i] = math.NaN()
	}
	if _, still := s.Stops(time.Second); !still {
		t.Error("armed: it drives without a command")
	}
	s.Wheels(5, 5)
	s.Run(time.Second)
	if _, still := s.Stops(100 * time.Millisecond); still {
		t.Error("armed and commanded: it stands")
	}
}

// What is wrong with a base or a scanner is told with its path before anything is opened.
func TestBaseFaults(t *testing.T) {
	for _, c := range []struct{ from, to, path, want string }{
		{"robot: p2at", "robot: p2atx", "agents[0].hardware.base.robot", `did you mean "p2at"?`},
		{"device: p2os", "device: roomba", "agents[0].hardware.base.device", "p2os"},
		{"model: usarsim-p2at", "model: a-series", "agents[0].hardware.base", "no wheels on two sides"},
		{"base: {bus: base", "base: {bus: main", "agents[0].hardware.base.bus", "a bus of type serial"},
		{"base: {bus: base", "base: {bus: laser", "agents[0].hardware.sensors.scanner1.bus", "a line of its own"},
		{"scanner1: {bus: laser, device: sick-lms200", "scanner1: {bus: laser, device: hokuyo",
			"agents[0].hardware.sensors.scanner1.model", "urg-04lx"},
		// given, though others have it by default
		{"laser: {type: serial", "laser: {baud: 115200, type: serial", "agents[0].hardware.sensors.scanner1.bus",
			"38400"},
		{"device: sick-lms200", "device: sick-lms200, fov: 120", "agents[0].hardware.sensors.scanner1.fov",
			"180 or 100"},
		{"device: sick-lms200", "device: sick-lms200, resolution: 0.25",
			"agents[0].hardware.sensors.scanner1.resolution", "0.25 with fov: 100"},
		{"device: sick-lms200", "device: sick-lms200, range_max: 20", "agents[0].hardware.sensors.scanner1.range_max",
			"8, 16 or 32"},
		{"device: sick-lms200", "device: hokuyo, model: urg-04lx, fov: 300", "agents[0].hardware.sensors.scanner1.fov",
			"239"},
		{"device: sick-lms200", "device: hokuyo, model: urg-04lx, resolution: 0.4",
			"agents[0].hardware.sensors.scanner1.resolution", "0.351562"},
		{"device: sick-lms200", "device: rplidar, resolution: 7", "agents[0].hardware.sensors.scanner1.resolution",
			"a whole part of 360"},
		{"inu: {bus: main, device: bno055}", "inu: {bus: main, device: rplidar}",
			"agents[0].hardware.sensors.inu.device", "bno055"},
		{"parts: {camera_pan: sim, camera_tilt: sim}",
			"parts: {camera_pan: sim, camera_tilt: sim, left_rear_wheel: sim}",
			"agents[0].parts.left_rear_wheel", "emulated as the whole base"},
	} {
		config, err := configs.Load(rigtest.RigOf(t, rigtest.PioneerRig, "", c.from, c.to), configs.Options{})
		if err == nil {
			_, err = plan.Resolve(config, builtin.Catalog())
		}
		if err == nil || !strings.Contains(err.Error(), c.path+":") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want at %s: %s", c.to, err, c.path, c.want)
		}
	}
}

// A scanner makes the robot's sensor what it is, on every body, and its rays end at the walls of the hall.
func TestScanners(t *testing.T) {
	for name, device := range scanners() {
		path := rigtest.RigOf(t, rigtest.PioneerRig, "", "sick-lms200", device)
		count := map[string]int{}
		for _, body := range []string{"sim", "emulated"} {
			s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{Set: []string{"agents[0].body=" + body}}))
			s.Run(4 * time.Second) // an RPLIDAR spins up
			scan, d := s.Sensor("scanner1"), s.Device("scanner1")
			if count[body] = len(scan); d.Err != nil {
				t.Errorf("%s %s: %v", name, body, d.Err)
				continue
			}
			at := s.Sys.Scene.Body("pioneer").Pose(0).Times(hal.Pose{Position: [3]float64{0.144, 0, 0.13}})
			p := s.Sys.Plan.Sensors[slices.IndexFunc(s.Sys.Plan.Sensors,
				func(p *catalog.SensorPlan) bool { return p.Name == "scanner1" })].Scanner
			wrong := 0
			for i, got := range scan {
				want := math.Min(p.Reach, toWalls(at, (float64(i)-float64(len(scan)-1)/2)*p.Step))
				// What a hokuyo or an rplidar does not see it does not tell from what it did not measure.
				if unknown := math.IsNaN(got) && want > 0.99*p.Reach; !unknown &&
					!(math.Abs(got-want) <= 0.03+0.03*want) {
					wrong++
				}
			}
			if wrong > len(scan)/50 {
				t.Errorf("%s %s: %d of %d rays are wrong", name, body, wrong, len(scan))
			}
		}
		if count["sim"] != count["emulated"] || count["sim"] < 90 {
			t.Errorf("%s: got %v rays", name, count)
		}
	}
}

// toWalls is how far the walls of the hall are from a place along an angle.
func toWalls(from hal.Pose, turn float64) float64 {
	far := math.Inf(1)
	way := from.Turn([3]float64{math.Cos(turn), math.Sin(turn), 0})
	for _, d := range []float64{(0 - from.Position[0]) / way[0], (20 - from.Position[0]) / way[0],
		(0 - from.Position[1]) / way[1], (-12 - from.Position[1]) / way[1]} {
		if d > 0 {
			far = math.Min(far, d)
		}
	}
	return far
}

// Both rings of bumpers go round clockwise: the first of the rear one is on the right.
func TestBumperSegments(t *testing.T) {
	robot, err := base.RobotOf("p2at")
	if err != nil {
		t.Fatal(err)
	}
	p := &plan.BasePlan{Robot: robot}
	for degrees, want := range map[float64][2]int{90: {0, 0}, 45: {0, 1}, 0: {0, 2}, -45: {0, 3}, -90: {0, 4},
		-135: {1, 1}, 180: {1, 2}, 135: {1, 3}, -105: {1, 0}, 105: {1, 4}} {
		sin, cos := math.Sincos(degrees * catalog.Degree / 2)
		ring, segment := p.Segment(hal.Pose{Rotation: [4]float64{cos, 0, 0, sin}})
		if got := [2]int{ring, segment}; got != want {
			t.Errorf("looks %g° to the left: got ring and segment %v, want %v", degrees, got, want)
		}
	}
}

// A rate that the config gives comes first, also the one that a bus has without one.
func TestBaseRates(t *testing.T) {
	given := 115200
	for _, c := range []struct {
		bus  configs.Bus
		want []int
	}{
		{configs.Bus{Baud: 115200}, []int{9600, 38400, 115200}},
		{configs.Bus{Baud: 115200, GivenBaud: &given}, []int{115200, 9600, 38400}},
	} {
		if got := (&plan.BasePlan{}).Bauds(&c.bus); !slices.Equal(got, c.want) {
			t.Errorf("given %t: got %v, want %v", c.bus.GivenBaud != nil, got, c.want)
		}
	}
}
