package lab

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// reading is what the rig knows of a device: when its value came, and what is wrong with it.
type reading struct {
	at    time.Duration // < 0: never
	err   error
	wrong string // what is wrong with a value that is handed on as right, "" where it is right
	none  bool   // a reader reports no tag, as it does of a reader that is silent
}

// Read is what the rig knows of the device called name.
func (s *TestRig) Read(name string) (r reading) {
	if s.Row.Bus == VideoBus && slices.Contains(s.Row.names, name) {
		return s.shown()
	}
	l := s.agent.Layout()
	for i := range l.Actuators {
		if l.Actuators[i].Name == name {
			st := s.agent.Status(nil)[i]
			r = reading{at: st.Time, err: st.Err}
			switch {
			case st.Err != nil && name == "pulse":
				s.arrives = max(s.arrives, s.now+slewTime)
			case st.Err == nil && st.Time >= 0:
				r.wrong = s.Joint(i, st.Time)
			}
			return r
		}
	}
	for i := range l.Sensors {
		if at := &l.Sensors[i]; at.Name == name {
			st := s.agent.Status(nil)[len(l.Actuators)+i]
			r = reading{at: st.Time, err: st.Err}
			if st.Err == nil && st.Time >= 0 && slices.Contains(s.Row.names, name) {
				r.wrong = s.Row.Judge(name, s.agent.Measured(nil)[at.First:at.First+at.Count])
			}
			return r
		}
	}
	return s.monitor()
}

// What a position may be off by: the tick, backlash and dead band of a servo that moves, and of a pulse. Where a
// checksum of eight bits, or none, is all that guards a position, one that the servo could have come to is believed.
const (
	offPosition = 0.04 // rad
	offChance   = 0.2  // rad
	offPulse    = 0.03 // rad, of the servo's goal
	// slewTime is how long a pulse is on its way to its goal after a fault: its speed is limited.
	slewTime = 200 * time.Millisecond
)

// Joint describes what is wrong with the position of joint i, whose value came at the time at.
func (s *TestRig) Joint(i int, at time.Duration) string {
	period := s.Sys.Rig.Period()
	n := len(s.truth)
	if s.agent.Layout().Actuators[i].Name == "pulse" {
		// It sends no feedback: the servo's goal is checked, which must be the latest command.
		servo := s.Sys.Scene.Body("stand").Joint(i).Servo
		if !servo.Enable || s.now < s.arrives || s.now-at > 5*period {
			return ""
		}
		for k := max(0, n-12); k < n; k++ {
			if math.Abs(s.widths[k]-servo.GoalPosition) < offPulse {
				return ""
			}
		}
		return fmt.Sprintf("the servo's goal is %.3f rad, want %.3f", servo.GoalPosition, s.widths[n-1])
	}
	got := s.agent.Measured(nil)[s.agent.Layout().Actuators[i].Position]
	// It is of the cycle that ended at its time, or of one next to it.
	k := int(at/period) - 1
	for d := -2; d <= 1; d++ {
		if k+d >= 0 && k+d < n && math.Abs(s.truth[k+d][i]-got) < s.Row.Off {
			return ""
		}
	}
	return fmt.Sprintf("position %.3f rad, truly %.3f", got, s.truth[min(max(k, 0), n-1)][i])
}

// monitor is the reading of a device on trial that is no part of the robot.
func (s *TestRig) monitor() reading {
	for _, p := range s.Sys.Plan.Sensors {
		if len(p.Uses) > 0 {
			continue
		}
		poller := s.Sys.Pollers[p]
		values := make([]float64, poller.Values())
		age, err := poller.Latest(values, 0)
		r := reading{at: -1, err: err}
		if age >= 0 {
			r.at = s.now - age
		}
		if err == nil && age >= 0 {
			r.wrong = s.Row.Judge(p.Name, values)
			r.none = s.Row.mute && values[0] == 0
		}
		for _, tag := range s.tags {
			if tag != s.Row.Tag {
				r.wrong = fmt.Sprintf("tag %X, want %X", tag, s.Row.Tag)
			}
		}
		return r
	}
	return reading{at: -1, err: fmt.Errorf("there is no monitor")}
}
