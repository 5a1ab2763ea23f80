package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/vesc"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// joint resolves the joint j of the agent c at path. The simulated joint has the servo that the hardware names, so
// that all three bodies are of the same make.
func (r *resolver) joint(path configs.Path, c *configs.Agent, robot *model.Robot, j *model.Joint) jointPlan {
	p := jointPlan{body: c.BodyOf(j.Name)}
	if c.Hardware != nil {
		if hw, ok := c.Hardware.Joints[j.Name]; ok {
			p.hardware = &hw
		}
	}
	at := path.Key("hardware").Key("joints").Key(j.Name)
	switch {
	case p.hardware == nil && c.Hardware == nil && c.Body != configs.Sim:
		return p // that there is no hardware at all is told once
	case p.hardware == nil:
		if p.body != configs.Sim {
			r.fault(at, "none", fmt.Sprintf("the servo of %s, which is %s", j.Name, p.body), "")
		}
		return p
	case p.hardware.Device != "":
		p.pulses = r.pulses(at, p.hardware, p.body)
		r.pulsed(at, &p, j)
		return p
	}
	if p.servo = lookupServo(p.hardware.Model); p.servo == nil {
		r.fault(at.Key("model"), p.hardware.Model, "a known servo", likelyOr(p.hardware.Model, actuator.Names(), "halyard scan says what is on a line"))
		return p
	}
	bus, there := r.config.Buses[p.hardware.Bus]
	line, carries := busTypes[bus.Type]
	switch {
	case !there || !carries && !slices.Contains(deviceBuses, bus.Type):
		return p // the bus, or its type, is a fault of its own
	case !carries:
		r.fault(at.Key("bus"), p.hardware.Bus+", which is "+bus.Type, "a bus of type "+strings.Join(typesOf(p.hardware.Model), " or ")+", for "+p.hardware.Model, "")
		return p
	case line.lookup(p.hardware.Model) == nil:
		r.fault(at.Key("model"), p.hardware.Model, "a servo that speaks "+bus.Type, "")
	default:
		r.rate(p.hardware.Bus, &line, p.servo)
		if last := lastIDOn(bus.Type); p.hardware.ID > last {
			r.fault(at.Key("id"), strconv.Itoa(p.hardware.ID), fmt.Sprintf("0..%d, of type %s", last, bus.Type), "")
		}
	}
	if spec, simulated := actuator.Lookup(p.hardware.Model); simulated {
		equip(robot, j, spec)
	} else if p.body == configs.Emulated {
		r.fault(at.Key("model"), p.hardware.Model, "a servo with an actuator model, to be emulated", "")
	}
	for _, name := range sortedKeys(p.hardware.Registers) {
		key, v, reg := at.Key("registers").Key(name), p.hardware.Registers[name], p.servo.Register(name)
		if reg == nil {
			r.fault(key, name, "a register of "+p.hardware.Model, likelyOr(name, registerNames(p.servo), "halyard registers read PORT --id N lists them"))
		} else if !line.setting(reg) {
			r.fault(key, name, "a setting in RAM; halyard setup writes what stays", "")
		} else if int64(v) < reg.Min || int64(v) > reg.Max {
			r.fault(key, fmt.Sprint(v), fmt.Sprintf("%d..%d", reg.Min, reg.Max), "")
		}
	}
	p.calibration = r.calibration(at, &p)
	return p
}

// rate checks that a servo has the rate of its bus, which nothing else would tell than silence. Of motor controllers it is
// set by their makers' tools, and any is possible.
func (r *resolver) rate(bus string, line *busType, m servoModel) {
	baud := r.config.Buses[bus].Baud
	if _, ok := m.BaudCode(baud); ok || line.duplex || r.rated[bus] {
		return
	}
	if r.rated == nil {
		r.rated = map[string]bool{}
	}
	r.rated[bus] = true
	var has []string
	for _, rate := range slices.Sorted(slices.Values(usualBauds())) {
		if _, ok := m.BaudCode(rate); ok {
			has = append(has, strconv.Itoa(rate))
		}
	}
	r.fault(configs.Path("buses").Key(bus).Key("baud"), strconv.Itoa(baud), "a rate of a "+m.Units().Name+": "+strings.Join(has, ", "), "")
}

// lastIDOn is the greatest id on a type of line.
func lastIDOn(kind string) int {
	switch kind {
	case "vesc":
		return vesc.LastID
	case "odrive":
		return 1 // the axes of a board
	case odriveCAN:
		return odrive.LastNode
	case cybergearType:
		return cybergear.LastID
	}
	p, _ := protocolsOf(kind) // of any other type there is one
	return lastID[p[0]]
}

// typesOf are the types of line on which there are servos of a model.
func typesOf(model string) (types []string) {
	for _, name := range sortedKeys(busTypes) {
		if busTypes[name].lookup(model) != nil {
			types = append(types, name)
		}
	}
	return types
}

// likely is the Fix of a mistyped name, "" where nothing in list is near.
func likely(name string, list []string) string { return likelyOr(name, list, "") }

// likelyOr is likely, or else where nothing is near.
func likelyOr(name string, list []string, otherwise string) string {
	if c := configs.Closest(name, list); c != "" {
		return fmt.Sprintf("did you mean %q?", c)
	}
	return otherwise
}

// calibration reads a joint's calibration file. Without one a simulated or emulated joint runs on nominal values: nil.
func (r *resolver) calibration(at configs.Path, p *jointPlan) *calibration.Joint {
	at = at.Key("calibration")
	const must = "a calibration file of this servo, since the joint is real"
	if p.hardware.Calibration == "" {
		if p.body == configs.Real {
			r.uncalibrated(at, "none", must, r.measureFix())
		}
		return nil
	}
	c, err := calibration.Load(r.config.Resolve(p.hardware.Calibration))
	switch {
	case hal.KindOf(err) == hal.Uncalibrated && p.body != configs.Real:
		return nil // the file is yet to be made
	case err != nil:
		r.unread(at, p.hardware.Calibration, must, err)
	case c.Servo.Model != p.hardware.Model || c.Servo.ID != p.hardware.ID:
		r.uncalibrated(at, fmt.Sprintf("one of %s id %d", c.Servo.Model, c.Servo.ID),
			fmt.Sprintf("one of %s id %d", p.hardware.Model, p.hardware.ID), r.measureFix())
	}
	return c
}

// measureFix is what to do about a calibration that is not there, or of something else.
func (r *resolver) measureFix() string {
	return "docs/calibration.md says how it is made, halyard doctor " + r.config.Source + " what else is missing"
}

// unread tells of a calibration file that cannot be read, or is not there.
func (r *resolver) unread(at configs.Path, file, must string, err error) {
	if hal.KindOf(err) == hal.Uncalibrated {
		r.uncalibrated(at, file+", which is not there", must, r.measureFix())
		return
	}
	f := r.config.Fault(at, file, must, err.Error())
	f.Kind = hal.KindOf(err)
	r.faults.Add(f)
}
