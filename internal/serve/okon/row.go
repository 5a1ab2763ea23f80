// Package okon serves Okon's control and video channels for the vehicles of a system.
package okon

import (
	"fmt"

	"github.com/halyard-robotics/halyard/internal/autopilot"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Protocols are the rows of Okon's control and video channels.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{
		"okon":       {Single: true, Check: checkOkon, Listen: openOkon},
		"okon-video": {Check: checkOkon, Listen: openOkon},
	}
}

// checkOkon refuses robots that have no thrusters.
func checkOkon(s *catalog.ServedAgent) {
	if n := len(autopilot.OkonThrusters()); !plan.Afloat(s.Layout) || len(s.Layout.Actuators) != n {
		s.Fault("agent", s.Agent+", which is "+s.Model, fmt.Sprintf("an underwater vehicle with %d thrusters", n))
	}
}
