package assembly_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/rigtest"
)

// Every embedded config runs on simulated and on emulated bodies: four seconds in lock-step without a fault of any
// device, and a joint goes where it is told, as far as its load lets it.
func TestEmbeddedConfigsRun(t *testing.T) {
	for _, name := range configs.Names() {
		if name == "usarsim" || name == "p2at" { // their robots come with their controllers
			continue
		}
		for _, body := range []string{"sim", "emulated"} {
			t.Run(name+"/"+body, func(t *testing.T) {
				s := rigtest.Step(t, rigtest.PlanOf(t, name,
					configs.Options{Body: body, Set: []string{"clock.mode=lockstep"}}))
				l := s.Agent.Layout()
				a := &l.Actuators[0]
				goal, mode := a.Default+0.3*(a.Limits.MaxPosition-a.Default), hal.PositionMode
				if a.Goal[hal.PositionMode] == hal.None {
					goal, mode = 0, hal.DutyMode // a thruster
				}
				s.Inputs[a.Goal[mode]] = goal
				s.Run(4 * time.Second)
				for i, st := range s.Agent.Status(nil) {
					if st.Err != nil || 4*time.Second-st.Time > 300*time.Millisecond {
						t.Errorf("device %d: %v old: %v", i, 4*time.Second-st.Time, st.Err)
					}
				}
				if mode == hal.PositionMode {
					if got := s.Agent.Measured(nil)[a.Position]; math.Abs(got-goal) > 0.12 {
						t.Errorf("%s: got %.3f rad, want %.3f", a.Name, got, goal)
					}
				}
			})
		}
	}
}
