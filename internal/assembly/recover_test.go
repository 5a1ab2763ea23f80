package assembly_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// A servo that has cut its torque keeps torque off, says what to type, and moves again after that: `halyard reset`
// clears the alarm, `halyard arm` lets commands pass. Its neighbours never notice.
func TestResetClearsAlarm(t *testing.T) {
	for _, config := range []string{"xm430-arm", "a-series", "so101", "lx16a-arm"} {
		t.Run(config, func(t *testing.T) {
			s := rigtest.Step(t, rigtest.PlanOf(t, config,
				configs.Options{Set: []string{"clock.mode=lockstep", "agents[0].body=emulated"}}))
			l, orders := s.Agent.Layout(), &control.Control{Rig: s.Sys.Rig}
			body := s.Sys.Scene.Body(s.Agent.Name())
			aim := func(goal float64) {
				for i := range 2 {
					s.Inputs[l.Actuators[i].Goal[hal.PositionMode]] = l.Actuators[i].Default + goal
				}
				s.Run(time.Second)
			}
			aim(0.1)
			if err := errors.Join(s.Device(l.Actuators[0].Name).Err, s.Device(l.Actuators[1].Name).Err); err != nil {
				t.Fatal(err)
			}
			body.Joint(0).Servo.Alarm = actuator.AlarmHeat
			aim(0)
			d := s.Device(l.Actuators[0].Name)
			if d.Err == nil || !strings.Contains(d.Err.Error(), "halyard reset") || body.Joint(0).Servo.Enable {
				t.Fatalf("heat: got %v, torque %v", d.Err, body.Joint(0).Servo.Enable)
			}
			ans := orders.Execute(control.OrderReset)
			if s.Run(100 * time.Millisecond); ans.Error != "" || ans.Joints[0].State != "disarmed" ||
				ans.Joints[1].State != "armed" {
				t.Errorf("reset: got %+v", ans)
			}
			// A Dynamixel of protocol 2.0 is cleared by a reboot.
			if s.Run(time.Second); body.Joint(0).Servo.Enable || body.Joint(0).Servo.Alarm != 0 ||
				!body.Joint(1).Servo.Enable {
				t.Errorf("reset: got torque %v, alarm %v; its neighbour's torque %v", body.Joint(0).Servo.Enable,
					body.Joint(0).Servo.Alarm, body.Joint(1).Servo.Enable)
			}
			if ans = orders.Execute(control.OrderArm); ans.Error != "" {
				t.Errorf("arm: got %s", ans.Error)
			}
			aim(0.1)
			at := s.Agent.Measured(nil)[l.Actuators[0].Position]
			if d := s.Device(l.Actuators[0].Name); d.Err != nil || math.Abs(at-l.Actuators[0].Default-0.1) > 0.06 {
				t.Errorf("armed: got %v, %.3f rad, want %.3f", d.Err, at, l.Actuators[0].Default+0.1)
			}
		})
	}
}
