package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Joint resolves the joint j of the agent c at path. The simulated joint has the servo that the hardware names, so
// that all three bodies are of the same make.
func (r *Resolver) Joint(path configs.Path, c *configs.Agent, robot *model.Robot, j *model.Joint) JointPlan {
	p := JointPlan{Body: c.BodyOf(j.Name), Hardware: c.Joint(j.Name)}
	at := path.Key("hardware").Key("joints").Key(j.Name)
	switch {
	case p.Hardware == nil && c.Hardware == nil && c.Body != configs.Sim:
		return p // missing hardware is reported once
	case p.Hardware == nil:
		if p.Body != configs.Sim {
			r.fault(at, "none", fmt.Sprintf("the servo of %s, which is %s", j.Name, p.Body), "")
		}
		return p
	case p.Hardware.Device != "":
		p.Pulses = r.pulses(at, p.Hardware, p.Body)
		r.pulsed(at, &p, j)
		return p
	}
	file := p.Hardware.Model
	name, spec, err := ServoOf(r.Config, r.Catalog.Buses, file)
	if err != nil {
		r.fault(at.Key("model"), file, "a good servo file: "+err.Error(), "halyard identify writes one")
		return p
	}
	p.Hardware.Model = name
	if p.Servo = r.Catalog.Buses.Model(p.Hardware.Model); p.Servo == nil {
		r.fault(at.Key("model"), p.Hardware.Model, "a known servo",
			catalog.LikelyOr(p.Hardware.Model, actuator.Names(), "halyard scan lists the servos of a line"))
		return p
	}
	bus, there := r.Config.Buses[p.Hardware.Bus]
	line, carries := r.Catalog.Buses.Of(bus.Type), r.Catalog.Buses.Has(bus.Type)
	switch {
	case !there || !carries && !slices.Contains(deviceBuses, bus.Type):
		return p // the bus, or its type, is a fault of its own
	case !carries:
		r.fault(at.Key("bus"), p.Hardware.Bus+", which is "+bus.Type,
			"a bus of type "+strings.Join(r.typesOf(p.Hardware.Model), " or ")+", for "+p.Hardware.Model, "")
		return p
	case line.Lookup(p.Hardware.Model) == nil:
		r.fault(at.Key("model"), p.Hardware.Model, "a servo that speaks "+bus.Type, "")
	default:
		p.Servo = line.Lookup(p.Hardware.Model)
		r.Rate(p.Hardware.Bus, &line, p.Servo)
		if last := line.LastID; p.Hardware.ID > last {
			r.fault(at.Key("id"), strconv.Itoa(p.Hardware.ID), fmt.Sprintf("0..%d, of type %s", last, bus.Type), "")
		}
	}
	r.setUp(at, &p, &bus)
	if spec != nil {
		equip(robot, j, spec)
		r.supply(at, robot, j, &p, bus.Supply)
	} else if p.Body == configs.Emulated {
		r.fault(at.Key("model"), p.Hardware.Model, "a servo with an actuator model, to be emulated", "")
	}
	for _, name := range report.SortedKeys(p.Hardware.Registers) {
		key, v, reg := at.Key("registers").Key(name), p.Hardware.Registers[name], p.Servo.Setting(name)
		if reg == nil && p.Servo.Register(name) == nil {
			r.fault(key, name, "a register of "+p.Hardware.Model,
				catalog.LikelyOr(name, line.SettingNames(p.Servo), "halyard registers read PORT --id N lists them"))
		} else if reg == nil {
			r.fault(key, name, "a setting in RAM; halyard setup writes what stays", "")
		} else if int64(v) < reg.Min || int64(v) > reg.Max {
			r.fault(key, fmt.Sprint(v), fmt.Sprintf("%d..%d", reg.Min, reg.Max), "")
		}
	}
	p.Calibration = calibrated(r, at, p.Hardware.Calibration,
		"a calibration file of this servo, since the joint is real", p.Body, calibration.Load,
		fmt.Sprintf("%s id %d", p.Hardware.Model, p.Hardware.ID), func(c *calibration.Joint) string {
			return fmt.Sprintf("%s id %d", c.Servo.Model, c.Servo.ID)
		})
	if spec != nil && p.Calibration != nil {
		j.Servo = calibratedServo(spec, p.Calibration)
	}
	if spec != nil && len(p.Hardware.Registers)+len(p.EEPROM) > 0 && len(r.Faults) == 0 {
		preset(j, &line, &p)
	}
	return p
}

// calibratedServo is the servo spec as a joint with the calibration c has it: behind its gear, which multiplies the
// torque and divides the speed, and with its delay of the torque. Sim, emulation and twin take it from here.
func calibratedServo(spec *actuator.Spec, c *calibration.Joint) *actuator.Spec {
	if c.Gear == 1 && c.Torque.Delay == 0 {
		return spec
	}
	k := spec.Geared(c.Gear)
	k.TorqueDelay = c.Torque.Delay
	return k
}

// preset gives a joint the registers of its hardware, by the one firmware that there is of them: the emulated device's.
func preset(j *model.Joint, line *catalog.BusType, p *JointPlan) {
	act := actuator.NewServo(j.Servo)
	device := line.Emulate(p.Servo, p.Hardware.ID, act, p.Truth())
	for name, v := range p.EEPROM {
		device.Preset(name, int64(v))
	}
	for name, v := range p.Hardware.Registers {
		device.Preset(name, int64(v))
	}
	spec := *j.Servo
	spec.MinVolts, spec.MaxVolts = p.volts(&spec)
	if spec.Gains = act.Gains; !spec.CurrentControl {
		act.DutyLimit = min(act.DutyLimit, act.Limit)
	}
	j.Servo, j.Preset = &spec, act
}

// setUp checks the EEPROM values of a joint's servo.
func (r *Resolver) setUp(at configs.Path, p *JointPlan, bus *configs.Bus) {
	p.EEPROM = map[string]int{}
	take := func(at configs.Path, values map[string]int, all bool) {
		for _, name := range report.SortedKeys(values) {
			switch reg := p.Servo.Register(name); {
			case reg == nil || reg.Access != servo.EEPROM:
				if all {
					r.fault(at.Key(name), name, "an EEPROM register of "+p.Hardware.Model,
						"halyard registers read PORT "+
							"--id N lists them; registers: has those in RAM")
				}
			case int64(values[name]) < reg.Min || int64(values[name]) > reg.Max:
				r.fault(at.Key(name), fmt.Sprint(values[name]), fmt.Sprintf("%d..%d", reg.Min, reg.Max), "")
			default:
				p.EEPROM[name] = values[name]
			}
		}
	}
	take(configs.Path("buses").Key(p.Hardware.Bus).Key("eeprom"), bus.EEPROM, false)
	take(at.Key("eeprom"), p.Hardware.EEPROM, true)
}

// volts are the limits of a joint's servo's supply, V: as it was set up, or its model's.
func (p *JointPlan) volts(k *actuator.Spec) (low, high float64) {
	low, high = k.MinVolts, k.MaxVolts
	for name, to := range map[string]*float64{"min_voltage": &low, "max_voltage": &high} {
		if v, ok := p.EEPROM[name]; ok {
			*to = p.Servo.Register(name).SI(int64(v))
		}
	}
	return low, high
}

// CalibratedGear is the gear of a joint's calibration, 1 without one.
func (p *JointPlan) CalibratedGear() float64 {
	if p.Calibration == nil {
		return 1
	}
	return p.Calibration.Gear
}

// Truth is the true mounting of an emulated servo: its calibration, unless the config overrides it.
func (p *JointPlan) Truth() emulator.GroundTruth {
	t := emulator.GroundTruth{ZeroTicks: p.Servo.Units().CentreTicks, Direction: 1, Gear: p.CalibratedGear()}
	if c := p.Calibration; c != nil {
		t = emulator.GroundTruth{ZeroTicks: c.ZeroTicks, Direction: float64(c.Direction), Gear: c.Gear}
	}
	if own := p.Hardware.GroundTruth; own != nil {
		t = emulator.GroundTruth{ZeroTicks: configs.Or(own.Zero, t.ZeroTicks),
			Direction: float64(configs.Or(own.Direction, int(t.Direction))),
			Gear:      configs.Or(own.Gear, t.Gear), Backlash: own.Backlash}
	}
	return t
}

// ServoOf returns the servo model that a joint of c names, and its simulation spec: of the table, or of a servo file.
// The spec is nil if the simulator has none.
func ServoOf(c *configs.Config, buses catalog.Buses, named string) (name string, spec *actuator.Spec, err error) {
	if !identify.IsFile(named) {
		return named, buses.Motor(named), nil
	}
	s, err := identify.ReadServo(c.Resolve(named))
	if err != nil {
		return named, nil, err
	}
	return s.Model, &s.Spec, nil
}

// Rate checks that a servo supports the rate of its bus; otherwise the only symptom is silence. Motor controllers are
// set by their vendors' tools to any rate.
func (r *Resolver) Rate(bus string, line *catalog.BusType, m servo.Model) {
	baud := r.Config.Buses[bus].Baud
	if _, ok := m.BaudCode(baud); ok || line.Duplex || r.rated[bus] {
		return
	}
	if r.rated == nil {
		r.rated = map[string]bool{}
	}
	r.rated[bus] = true
	var has []string
	for _, rate := range slices.Sorted(slices.Values(catalog.UsualBauds())) {
		if _, ok := m.BaudCode(rate); ok {
			has = append(has, strconv.Itoa(rate))
		}
	}
	r.fault(configs.Path("buses").Key(bus).Key("baud"), strconv.Itoa(baud), "a rate of a "+m.Units().Name+": "+
		strings.Join(has, ", "), "")
}

// typesOf are the types of line on which there are servos of a model.
func (r *Resolver) typesOf(model string) (types []string) {
	for _, name := range r.Catalog.Buses.Names() {
		if t := r.Catalog.Buses.Of(name); t.Lookup(model) != nil {
			types = append(types, name)
		}
	}
	return types
}

// calibrated reads the calibration file of the device at path, which is called device; of returns the device of a file.
// Without a file a device that is not real runs on nominal values: nil. must is the rule of a real one.
func calibrated[T any](r *Resolver, at configs.Path, file, must string, body configs.BodyKind,
	load func(string) (*T, error), device string, of func(*T) string) *T {
	at = at.Key("calibration")
	if file == "" {
		if body == configs.Real {
			r.uncalibrated(at, gotNone, must, r.measureFix(at, must))
		}
		return nil
	}
	c, err := load(r.Config.Resolve(file))
	switch {
	case hal.KindOf(err) == hal.Uncalibrated && body != configs.Real:
		return nil // the file is yet to be made
	case err != nil:
		r.unread(at, file, must, err)
		return nil
	case of(c) != device:
		r.uncalibrated(at, "one of "+of(c), "one of "+device, r.measureFix(at, must))
	}
	return c
}

// measureFix returns the fix for a calibration that is missing, or of another device.
func (r *Resolver) measureFix(at configs.Path, must string) string {
	keys := strings.Split(string(at.Parent()), ".")
	device := " --sensor " + keys[len(keys)-1]
	switch {
	case strings.Contains(must, "of this servo"):
		device = ""
	case strings.Contains(must, "channel"):
		device = " --pulse " + keys[len(keys)-1]
	}
	return "halyard calibrate " + r.Config.Source + device + " writes it (docs/calibration.md); halyard doctor " +
		r.Config.Source +
		" lists what else is missing"
}

// unread reports a calibration file that is missing or cannot be read.
func (r *Resolver) unread(at configs.Path, file, must string, err error) {
	if hal.KindOf(err) == hal.Uncalibrated {
		r.uncalibrated(at, file+", which is not there", must, r.measureFix(at, must))
		return
	}
	if r.ownFaults(err) {
		return
	}
	f := r.Config.Fault(at, file, must, err.Error())
	f.Kind = hal.KindOf(err)
	r.Faults.Add(f)
}
