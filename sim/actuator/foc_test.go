package actuator

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// A motor controller comes to its goal and stays, with a light load and with one of a hundred times its rotor, and
// never gives more than its current limit allows.
func TestFOCPosition(t *testing.T) {
	for _, name := range Names() {
		k, _ := Lookup(name)
		if k.Firmware != FOC || !k.Modes[hal.PositionMode] {
			continue
		}
		for _, load := range []float64{0, 10, 100} {
			// A rotor behind a high gear counts many thousandfold: a hundred times that is more than the gear's torque
			// can brake.
			if 0.5*k.StallTorque < 10*load*k.Armature && load > 10 {
				continue
			}
			s := NewServo(k)
			s.Load.Inertia = load * k.Armature
			s.Limit = 0.5
			s.Enable, s.Mode, s.GoalPosition = true, hal.PositionMode, 1
			most := 0.0
			for range 4000 {
				s.Step(0.001)
				most = math.Max(most, math.Abs(s.Current))
			}
			if math.Abs(s.Position-1) > 0.01 || math.Abs(s.Velocity) > 0.05 || most > 0.5*k.MaxCurrent*1.001 {
				t.Errorf("%s, load %g: got %.4f rad, %.3f rad/s, at most %.2f of %.2f A", name, load, s.Position,
					s.Velocity, most, k.MaxCurrent)
			}
		}
	}
}

func TestFOCVelocity(t *testing.T) {
	k, _ := Lookup("odrive-s1")
	s := NewServo(k)
	s.Load.Inertia = 0.01
	s.Enable, s.Mode, s.GoalVelocity = true, hal.VelocityMode, 50
	run(s, 3000)
	if math.Abs(s.Velocity-50) > 0.5 {
		t.Errorf("speed: got %.2f, want 50", s.Velocity)
	}
	// Against a push it gives what the push takes.
	s.External = -1
	run(s, 3000)
	if math.Abs(s.Velocity-50) > 0.5 || math.Abs(s.Torque-1) > 0.1 {
		t.Errorf("pushed: got %.2f rad/s at %.3f N·m", s.Velocity, s.Torque)
	}
	// No goal turns it faster than its supply can.
	s.External, s.GoalVelocity = 0, 1e6
	run(s, 5000)
	if s.Velocity > k.NoLoadSpeed {
		t.Errorf("too fast: got %.1f of %.1f rad/s", s.Velocity, k.NoLoadSpeed)
	}
}
