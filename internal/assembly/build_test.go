package assembly

import (
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// spy is a driver that counts what it is asked for.
type spy struct{ cut, cleared, forgot, restarted int }

func (s *spy) Send() error          { return nil }
func (s *spy) Receive() error       { return nil }
func (s *spy) CutTorque() error     { s.cut++; return nil }
func (s *spy) ClearAlarms() []error { s.cleared++; return nil }
func (s *spy) ForgetReadings()      { s.forgot++ }
func (s *spy) Restart()             { s.restarted++ }

// A bus of emulated devices, which a reset restarts, still gets the stop and the reset of alarms.
func TestRestartedKeepsStop(t *testing.T) {
	s := &spy{}
	var b hal.Bus = restarted{s, s, s}
	if c, ok := b.(hal.TorqueCutter); !ok || c.CutTorque() != nil || s.cut != 1 {
		t.Errorf("a stop: got %d cuts, want 1", s.cut)
	}
	if c, ok := b.(interface{ ClearAlarms() []error }); !ok || c.ClearAlarms() != nil || s.cleared != 1 {
		t.Errorf("a reset of alarms: got %d, want 1", s.cleared)
	}
	if f, ok := b.(hal.Forgetter); !ok {
		t.Error("it does not forget")
	} else if f.Forget(); s.forgot != 1 || s.restarted != 1 {
		t.Errorf("a reset: got %+v", s)
	}
}
