package plan

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// robot loads a built-in robot or a robot file, as a copy whose servos may be changed. It may be nil without an error:
// then r has the faults of the file.
func (r *Resolver) robot(path configs.Path, c *configs.Agent) (*model.Robot, error) {
	if strings.ToLower(filepath.Ext(c.Model)) == ".ini" {
		return r.ini(path, c)
	}
	if file := r.Config.Resolve(c.Model); model.InXML(file) {
		return r.file(path, c, file)
	}
	robot, err := model.Open(c.Model, r.Config.Resolve(c.Model))
	if r.ownFaults(err) {
		return nil, nil
	} else if err != nil {
		known := slices.Concat(model.Names(), model.RescueNames(), hydro.Names())
		meant := ""
		if fix := catalog.Likely(c.Model, known); fix != "" {
			meant = "; " + fix
		}
		return nil, fmt.Errorf("a robot (%s or simloid-ID), or the path of a robot file, a vehicle file, a URDF or "+
			"an MJCF%s", strings.Join(known, ", "), meant)
	}
	own := *robot
	own.Joints = slices.Clone(robot.Joints)
	return &own, nil
}

// drive gives the robot the drive of the config.
func (r *Resolver) drive(path configs.Path, c *configs.Agent, robot *model.Robot) {
	if c.Drive == nil {
		return
	}
	for _, f := range robot.SetDrive(model.DriveOptions(*c.Drive)) {
		r.fault(path.Key("drive")+"."+f.Path, f.Got, f.Rule, "")
	}
}

// file loads a robot file in XML with the servos that the hardware names for its joints; the rest are ideal motors.
// Names that only the hardware has are faults elsewhere; joints that it leaves out are noted here, as is what was
// repaired.
func (r *Resolver) file(path configs.Path, c *configs.Agent, file string) (*model.Robot, error) {
	o := model.FileOptions{Base: c.Base, Self: c.SelfCollision, Strict: !c.Repair}
	robot, err := model.OpenFile(file, o)
	if r.ownFaults(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if c.Hardware != nil {
		driven := []string{}
		o.Servos = map[string]string{}
		for name, hw := range c.Hardware.Joints {
			if robot.Joint(name) == hal.None {
				continue
			}
			driven = append(driven, name)
			// else a fault of the joint
			if servo, spec, err := ServoOf(r.Config, r.Catalog.Buses, hw.Model); err == nil && spec != nil {
				o.Servos[name] = servo
			}
		}
		if robot, err = model.OpenFile(file, o); r.ownFaults(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		missing, _ := model.Unmatched(robot, driven)
		for _, name := range missing {
			if c.BodyOf(name) == configs.Sim {
				r.Config.Notes.Add(r.Config.Fault(path.Key("hardware").Key("joints").Key(name), "none",
					"its servo; without one it is an ideal motor of the file's limits", ""))
			}
		}
	}
	for _, n := range robot.Notes {
		r.Config.Notes.Add(n)
	}
	return robot, nil
}

// scene finds the scene that the config names and makes it once, to see that it can be made.
func (r *Resolver) scene() func(seed int64) (*model.Scene, error) {
	name := r.Config.World.Scene
	load, err := model.OpenScene(name, r.Config.Resolve(name))
	if err != nil {
		known := append(model.SceneNames(), model.ArenaNames()...)
		r.fault("world.scene", name, "a scene ("+strings.Join(known, ", ")+") or the path of a scene file",
			catalog.Likely(name, known))
		return nil
	}
	_, err = load(r.Config.World.Seed)
	r.ownFaults(err)
	return load
}

// ownFaults reports the faults of a file that the config names, each at its own place; false where err is something
// else.
func (r *Resolver) ownFaults(err error) bool {
	var own configs.Faults
	ok := errors.As(err, &own)
	for _, f := range own {
		r.Faults.Add(f)
	}
	return ok
}

// equip gives a joint the servo that its hardware names, in place of the model's servo or of an idealised motor.
func equip(robot *model.Robot, j *model.Joint, spec *actuator.Spec) {
	j.Servo = spec
	if j.Motor == nil {
		return
	}
	j.Motor = nil
	for m := range j.Modes {
		j.Modes[m] = j.Modes[m] && spec.Modes[m]
	}
	robot.Supply.Volts = spec.NominalVolts
}

// supply gives a joint the supply of its own entry, or its bus's, and adds a note if it does not suit the servo.
func (r *Resolver) supply(at configs.Path, robot *model.Robot, j *model.Joint, p *JointPlan, bus *configs.Supply) {
	have := robot.Supply
	own := cmp.Or(p.Hardware.Supply, bus)
	if own != nil {
		// which its servos share
		have = model.Supply{Name: "bus " + p.Hardware.Bus, Volts: own.Volts, Resistance: own.Ohms}
		if p.Hardware.Supply != nil {
			have.Name = "joint " + j.Name
		}
		k := slices.Index(robot.Supplies, have)
		if k < 0 {
			k, robot.Supplies = len(robot.Supplies), append(slices.Clip(robot.Supplies), have)
		}
		j.Supply = k + 1
	} else if j.Supply > 0 {
		have = robot.Supplies[j.Supply-1]
	}
	s := j.Servo
	if v, ok := p.EEPROM["shutdown"]; ok && v&1 == 0 {
		return // it was set up to go on at another voltage
	}
	if low, high := p.volts(s); have.Volts < low || have.Volts > high {
		// A servo is sold for several voltages under one model: its own limit is that of the strongest.
		if r := p.Servo.Register("max_voltage"); own != nil && r != nil && have.Volts >= low &&
			have.Volts <= r.SI(r.Default) {
			return
		}
		r.noteOnce(r.Config.Fault(at.Key("supply"), fmt.Sprintf("%g V", have.Volts),
			fmt.Sprintf("%g..%g V, of a %s", low, high, s.Name),
			"a converter, and supply: {volts: V} at the joint or its bus"))
	}
}

// noteOnce adds a note, but for one that an earlier part has in the same words: a bus of equal servos is one note.
func (r *Resolver) noteOnce(f configs.Fault) {
	if !slices.ContainsFunc(r.Config.Notes, func(n configs.Fault) bool { return n.Got == f.Got && n.Rule == f.Rule }) {
		r.Config.Notes.Add(f)
	}
}
