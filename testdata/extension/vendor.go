package main

import (
	"github.com/halyard-robotics/halyard/extend"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/servos"
)

// acme is the driver of Acme servos, bus type "acme": a stronger servo of an OEM, with the packets of another vendor.
type acme struct{ servo.Driver }

func newAcme() acme { return acme{hiwonder.Driver()} }

// Traits are those of the packets, under Acme's own name.
func (a acme) Traits() *servo.Traits {
	t := *a.Driver.Traits()
	t.Type, t.Vendor, t.Samples, t.Benchmarks = "acme", "Acme", nil, nil
	return &t
}

// Models are Acme's.
func (acme) Models() []servo.Model {
	m := *hiwonder.Models()[0]
	m.Name, m.StallTorque = "acme-20", 2
	return servo.ModelsOf([]*hiwonder.Model{&m})
}

// Tool takes every servo for Acme's one model: a servo does not report which it is.
func (a acme) Tool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	cfg.Model = a.Models()[0]
	return acmeTool{a.Driver.Tool(line, cfg), cfg.Model}
}

type acmeTool struct {
	servo.Tool
	model servo.Model
}

func (t acmeTool) Identify(id int) (servo.Found, error) {
	found, err := t.Tool.Identify(id)
	found.Model = t.model
	return found, err
}

// acmeRow is the vendor's row of the catalog.
func acmeRow() extend.Bus {
	row := extend.Servos(newAcme(), servos.New)
	if like, ok := actuator.Lookup("lx-16a"); ok {
		motor := *like
		motor.Name = "acme-20"
		row.Motors = []*actuator.Spec{&motor}
	}
	return row
}
