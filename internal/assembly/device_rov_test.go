package assembly_test

import (
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// The emulated ROV passes the suite of all bodies, on either board.
func TestROVConforms(t *testing.T) {
	for _, board := range []string{"pca9685", "maestro"} {
		t.Run(board, func(t *testing.T) {
			path := rigtest.RovOn(t, board)
			haltest.Run(t, func(t *testing.T) haltest.Subject {
				return rigtest.Subject(t, rigtest.PlanOf(t, path, configs.Options{}))
			})
		})
	}
}

// dive lets a pilot hold a depth of 2 m and a heading for half a minute and reports how far off it was in the end.
func dive(t *testing.T, s *rigtest.Stepped) (bits []uint64, depth, heading float64) {
	t.Helper()
	p, err := autopilot.New(s.Agent.Layout(), autopilot.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s.Agent.SetAutopilot(p)
	none := s.Inputs
	s.Run(4 * time.Second)
	p.SetTargets(autopilot.Targets{Attitude: [4]float64{math.Cos(0.4), 0, 0, math.Sin(0.4)}, Depth: 2})
	p.Arm()
	s.Inputs = none
	bits = s.Run(30 * time.Second)
	truth := hal.NewFrame(s.Agent.Layout())
	if err := s.Sys.Scene.Vehicle("rov").Read(truth); err != nil {
		t.Fatal(err)
	}
	at := truth.Measured[rigtest.SensorOf(t, s.Agent.Layout(), "pose").First:]
	return bits, -at[2], 2 * math.Atan2(at[6], at[3])
}

// The same laws hold depth and heading on the simulated and on the emulated ROV: within 5 cm and 2 degrees.
func TestROVDives(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"sim", "pca9685", "maestro"} {
		t.Run(body, func(t *testing.T) {
			path, o := rigtest.RovOn(t, body), configs.Options{}
			if body == "sim" {
				o.Body = "sim"
			}
			bits, depth, heading := dive(t, rigtest.Step(t, rigtest.PlanOf(t, path, o)))
			t.Logf("depth %.3f m, heading %.3f rad", depth, heading)
			if math.Abs(depth-2) > 0.05 || math.Abs(heading-0.8) > 2*math.Pi/180 {
				t.Errorf("got depth %.3f m, heading %.3f rad, want 2 and 0.8", depth, heading)
			}
			again, _, _ := dive(t, rigtest.Step(t, rigtest.PlanOf(t, path, o)))
			if !slices.Equal(bits, again) {
				t.Error("two dives differ")
			}
		})
	}
}

// An IMU that is unplugged is told, and no thruster goes on without it; the same with a board, and a disarmed robot.
// Nothing moves before the ESCs are armed.
func TestROVFaults(t *testing.T) {
	rig := func() (*rigtest.Stepped, *autopilot.Pilot, *chip.Bus) {
		s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RovOn(t, ""), configs.Options{}))
		p, err := autopilot.New(s.Agent.Layout(), autopilot.Config{})
		if err != nil {
			t.Fatal(err)
		}
		s.Agent.SetAutopilot(p)
		p.SetTargets(autopilot.Targets{Attitude: [4]float64{1}, Depth: 2})
		p.Arm()
		return s, p, s.Sys.Emulation.Buses["main"]
	}
	t.Run("arming", func(t *testing.T) {
		s, _, _ := rig()
		s.Run(2900 * time.Millisecond)
		if s.Duties() != 0 {
			t.Errorf("before the ESCs are armed: got duty %v", s.Duties())
		}
		s.Run(300 * time.Millisecond)
		if s.Duties() == 0 {
			t.Error("armed: no thruster turns")
		}
		for _, d := range []string{"flh", "imu", "pressure", "battery", "pose"} {
			if s.Device(d).Err != nil {
				t.Errorf("%s: %v", d, s.Device(d).Err)
			}
		}
		if s.Saw("/rov/battery/Alarm") {
			t.Error("a full battery rings")
		}
	})
	t.Run("imu", func(t *testing.T) {
		s, _, bus := rig()
		s.Run(5 * time.Second)
		bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: imu.BNO055Address})
		s.Run(time.Second)
		if s.Device("imu").Err == nil || s.Device("pose").Err == nil || s.Device("pressure").Err != nil ||
			!s.Saw("/rov/imu/Fault") {
			t.Errorf("unplugged: imu %v, pose %v, pressure %v", s.Device("imu").Err, s.Device("pose").Err,
				s.Device("pressure").Err)
		}
		if s.Duties() != 0 {
			t.Errorf("without an attitude: got duty %v", s.Duties())
		}
		bus.ClearFaults()
		s.Run(3 * time.Second)
		if s.Device("imu").Err != nil || s.Duties() == 0 {
			t.Errorf("plugged in: %v, duty %v", s.Device("imu").Err, s.Duties())
		}
	})
	t.Run("board", func(t *testing.T) {
		s, _, bus := rig()
		s.Run(5 * time.Second)
		bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: pwm.PCA9685Address})
		s.Run(500 * time.Millisecond)
		if s.Device("brv").Err == nil || s.Device("imu").Err != nil || !s.Saw("/rov/brv/Fault") || s.Duties() != 0 {
			t.Errorf("lost: got %v, duty %v", s.Device("brv").Err, s.Duties())
		}
		for _, stop := range s.Sys.Rig.EmergencyStop("test") {
			if stop.Err == nil {
				t.Errorf("emergency stop: %s acknowledged", stop.Joint)
			}
		}
		bus.ClearFaults()
		s.Run(time.Second)
		for _, stop := range s.Sys.Rig.EmergencyStop("again") {
			if stop.Err != nil {
				t.Errorf("emergency stop: %s: %v", stop.Joint, stop.Err)
			}
		}
	})
	t.Run("disarming", func(t *testing.T) {
		s, p, _ := rig()
		s.Run(5 * time.Second)
		s.Agent.Disarm()
		s.Run(100 * time.Millisecond)
		if s.Duties() != 0 || p.Armed() {
			t.Errorf("disarmed: got duty %v", s.Duties())
		}
		if err := s.Agent.Arm(); err != nil {
			t.Fatal(err)
		}
		s.Run(time.Second)
		if s.Duties() != 0 {
			t.Errorf("armed again, but not the autopilot: got duty %v", s.Duties())
		}
		s.Agent.SetAutopilot(nil)
		s.Inputs[s.Agent.Layout().Actuators[0].Goal[hal.DutyMode]] = 0.5
		s.Run(100 * time.Millisecond)
		if d := s.Duties(); math.Abs(d-0.5) > 0.01 {
			t.Errorf("by hand: got duty %v, want 0.5", d)
		}
	})
}

// A thruster whose truth is not its calibration pushes the other way.
func TestThrusterMountedWrong(t *testing.T) {
	path := rigtest.RigOf(t, rigtest.RovRig, "", "channel: 0, frequency: 200}",
		"channel: 0, frequency: 200, ground_truth: {direction: -1}}")
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	for _, a := range s.Agent.Layout().Actuators {
		s.Inputs[a.Goal[hal.DutyMode]] = 0.5
	}
	s.Run(4 * time.Second)
	for _, m := range s.Sys.Emulation.Robots[0].Outputs {
		name, want := s.Agent.Layout().Actuators[m.At].Name, 0.5
		if name == "flh" {
			want = -0.5
		}
		if got := s.Sys.Emulation.Robots[0].Frame.Inputs[m.Input]; math.Abs(got-want) > 0.01 {
			t.Errorf("%s: got duty %v, want %v", name, got, want)
		}
	}
}

// Depth is by the water that the config says: the sea's is heavier, and the same pressure is less deep.
func TestDensity(t *testing.T) {
	for said, want := range map[string]float64{"": 997, ", density: 1029": 1029} {
		sys, err := assembly.Build(rigtest.PlanOf(t, rigtest.RigOf(t, rigtest.RovRig, "", "device: ms5837-30ba",
			"device: ms5837-30ba"+said),
			configs.Options{}), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		p := &sys.Plan.Agents[0]
		if got := p.PascalPerMetre() / 9.80665; math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: got %g kg/m³, want %g", said, got, want)
		}
		a := sys.Rig.Agents()[0]
		measured := a.Measured(nil)
		at := func(kind string) int {
			return p.Layout.Sensors[slices.IndexFunc(p.Layout.Sensors,
				func(s hal.Sensor) bool { return s.Kind == kind })].First
		}
		// The pool is of fresh water, so that of the same pressure the sea's depth is less.
		if depth, pascals := -measured[at("pose")+2],
			measured[at("pressure")]; math.Abs(depth-pascals/(want*9.80665)) > 1e-9 || pascals < 5000 {
			t.Errorf("%q: got a depth of %g m at %g Pa", said, depth, pascals)
		}
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	}
}
