// Package simloid serves Simloid for one robot of a system.
package simloid

import (
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/protocols/simloid"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Protocols is the row of Simloid.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{"simloid": {Prepare: prepare, Check: checkSimloid, Listen: openSimloid}}
}

// checkSimloid refuses robots that the protocol has no words for.
func checkSimloid(s *catalog.ServedAgent) {
	if s.Robot == nil {
		return
	}
	hinges := 0
	for j := range s.Robot.Joints {
		if s.Robot.Joints[j].Kind == model.Hinge {
			hinges++
		}
	}
	if hinges < 1 || hinges > simloid.MaxJoints || len(s.Robot.Bodies) > simloid.MaxBodies {
		s.Fault("agent", fmt.Sprintf("%s with %d hinges and %d bodies", s.Agent, hinges, len(s.Robot.Bodies)),
			fmt.Sprintf("one with 1..%d hinges and at most %d bodies", simloid.MaxJoints, simloid.MaxBodies))
	}
}

// prepare sets the motors of the original's robots to the server's settings. A robot of another kind gets what its
// clients look for: where each of its bodies is.
func prepare(s *configs.Server, robot *model.Robot) {
	named := map[string]bool{}
	told := false
	for i := range robot.Sensors {
		k := robot.Sensors[i].Kind
		named[robot.Sensors[i].Name], told = true, told || k == "body" || k == "pose"
	}
	robot.Sensors = slices.Clip(robot.Sensors)
	for i := range robot.Bodies {
		if name := robot.Bodies[i].Name; !told && !named[name] {
			robot.Sensors = append(robot.Sensors, model.Sensor{Name: name, Kind: "body", Body: i})
		}
	}
	for k := range robot.Joints {
		m := robot.Joints[k].Motor
		if m == nil || m.Kind != model.Bristle {
			continue
		}
		own := *m
		if s.PID != nil {
			own.Proportional, own.Integral, own.Deriv = s.PID[0], s.PID[1], s.PID[2]
		}
		if s.StartTorque != nil {
			own.StartTorque = *s.StartTorque
		}
		robot.Joints[k].Motor = &own
	}
}
