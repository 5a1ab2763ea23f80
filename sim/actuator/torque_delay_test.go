package actuator

import "testing"

// A torque that is switched off holds for its delay, and then the arm falls; an alarm takes it at once.
func TestTorqueDelay(t *testing.T) {
	held := func(delay float64, cut func(*Servo)) float64 {
		spec, _ := Lookup("xm430-w350")
		k := *spec
		k.TorqueDelay = delay
		s := NewServo(&k)
		s.Load = Load{Mass: 0.5, Length: 0.2}
		s.Reset(1.5)
		s.Enable, s.GoalPosition, s.Shutdown = true, 1.5, AlarmHeat
		run(s, 500)
		cut(s)
		for ms := range 500 {
			before := s.Duty
			if run(s, 1); before != 0 && s.Duty == 0 {
				return float64(ms) / 1000
			}
		}
		return -1
	}
	off := func(s *Servo) { s.Enable = false }
	for _, c := range []struct {
		delay, want float64
		cut         func(*Servo)
	}{{0, 0, off}, {0.02, 0.02, off}, {0.1, 0.1, off}, {0.1, 0.001, func(s *Servo) { s.Temperature = 200 }}} {
		if got := held(c.delay, c.cut); got < c.want-0.0015 || got > c.want+0.0015 {
			t.Errorf("delay %g s: torque went after %g s, want %g", c.delay, got, c.want)
		}
	}
}
