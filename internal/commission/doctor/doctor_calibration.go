package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// calibrated checks the joint's calibration: there, measured, and of this servo. It needs no answer of the servo.
func (s *ServoCheck) calibrated() {
	s.Check("calibration")
	path := s.plan.Hardware.Calibration
	fix := s.measureFix()
	if path == "" {
		if s.Kind == configs.Real {
			s.fail("calibration", hal.Uncalibrated, "no calibration file: ticks cannot be converted to radians", fix)
		}
		return // an emulated servo is mounted as in its nominal calibration
	}
	c, err := calibration.Load(s.Examination.plan.Config.Resolve(path))
	s.cal = c
	switch {
	case hal.KindOf(err) == hal.Uncalibrated && s.Kind == configs.Emulated:
		s.warn("calibration", path+" is missing: nominal values are used", fix)
	case err != nil:
		s.fail("calibration", hal.Uncalibrated, err.Error(), fix)
	case s.stale(c) != "":
		// else misfits says it, when all are known
		if s.moved = c.Servo.Model == s.plan.Hardware.Model && c.Servo.ID == int(s.id); !s.moved {
			s.fail("calibration", hal.Uncalibrated, "stale: "+s.stale(c), fix)
		}
	case c.Method == calibration.ByNominal:
		s.warn("calibration", "nominal: nothing was measured", fix)
	case s.OtherAdapter(c):
		s.warn("calibration", fmt.Sprintf("made at adapter %s, the bus's is %s", filepath.Base(c.Servo.Adapter),
			filepath.Base(s.Config.Port)),
			"see that it is not another robot's, or that two adapters are not swapped; else set servo.adapter in "+path)
	case s.readable && c.Servo.Firmware != "" && c.Servo.Firmware != s.firmware:
		s.warn("calibration", fmt.Sprintf("made with firmware %s, the servo has %s", c.Servo.Firmware, s.firmware),
			fix+", to be sure")
	case s.outside(c):
		s.warn("calibration",
			fmt.Sprintf("the joint is at tick %g, outside its calibrated %g..%g", s.position, c.RangeTicks[0],
				c.RangeTicks[1]),
			fix+", if its horn was mounted again")
	}
}

// measureFix is the command that measures the joint.
func (s *ServoCheck) measureFix() string {
	return "measure " + s.joint + ": halyard calibrate " + s.Examination.plan.Config.Source + " --joint " + s.joint
}

// drift compares where the joints of each robot lie with the rest pose of their calibrations.
func (d *Examination) drift() {
	for i := range d.plan.Agents {
		var joints []*ServoCheck
		for _, s := range d.met {
			if s.agent == i && s.cal != nil && s.cal.RestTicks != nil && s.stale(s.cal) == "" {
				joints = append(joints, s)
			}
		}
		var lie []calibration.Lying
		for _, s := range joints {
			lie = append(lie, calibration.Lying{Joint: s.cal, Ticks: s.position})
		}
		drifted, resting := calibration.Drift(lie)
		for i := range drifted {
			for _, s := range joints {
				if s.joint == drifted[i].Joint {
					s.warn("drift", drifted[i].String(), "halyard calibrate "+d.plan.Config.Source+" --joint "+s.joint)
				}
			}
		}
		if resting && len(drifted) == 0 {
			d.Found = append(d.Found, Finding{Check: "drift", State: StateOK, Bus: joints[0].Name,
				Found: fmt.Sprintf("%d joints lie as calibrated", len(joints))})
		}
	}
}

// misfits reports the servos whose zero offset is not that of their calibration, when all lines are known: another
// joint's may be.
func (d *Examination) misfits() {
	var all []calibration.Met
	by := map[[2]string]*ServoCheck{}
	for _, s := range d.met {
		if s.cal == nil {
			continue
		}
		m := calibration.Met{Joint: s.joint, Bus: s.Name, ID: int(s.id), File: s.cal, Offset: float64(s.homing)}
		all, by[[2]string{m.Bus, m.Joint}] = append(all, m), s
	}
	found := len(d.Found)
	defer func() { // what passed on a bus that has a finding now
		late := d.Found[found:]
		d.Found = slices.DeleteFunc(d.Found, func(f Finding) bool {
			return f.Check == "calibration" && f.State == StateOK &&
				slices.ContainsFunc(late, func(l Finding) bool { return l.Bus == f.Bus && l.State != StateOK })
		})
	}()
	for _, m := range calibration.Misfits(all) {
		if s := by[[2]string{m.Bus, m.Joint}]; s.moved {
			s.fail("calibration", hal.Uncalibrated, "stale: "+m.Found, m.Fix)
			s.moved = false
		}
	}
	for _, s := range d.met { // of a nominal file
		if s.moved {
			s.fail("calibration", hal.Uncalibrated, "stale: "+s.stale(s.cal), s.measureFix())
		}
	}
}

// stale describes what of the servo is not as it was when c was made, "" where all is.
func (s *ServoCheck) stale(c *calibration.Joint) string {
	switch {
	case c.Servo.Model != s.plan.Hardware.Model:
		return fmt.Sprintf("made with a %s, the servo is a %s", c.Servo.Model, s.plan.Hardware.Model)
	case c.Servo.ID != int(s.id):
		return fmt.Sprintf("made with id %d, the servo has %d", c.Servo.ID, s.id)
	case s.readable && c.Servo.HomingOffset != int(s.homing):
		return fmt.Sprintf("made with homing offset %d, the servo has %d", c.Servo.HomingOffset, s.homing)
	}
	return ""
}

// OtherAdapter reports whether c was made at another adapter than the bus's, where both are called by a name that
// stays: with the same ids and models nothing else distinguishes two equal arms.
func (s *ServoCheck) OtherAdapter(c *calibration.Joint) bool {
	const stable = "/dev/serial/by-id/"
	return s.Kind == configs.Real && c.Servo.Adapter != "" && strings.HasPrefix(s.Config.Port, stable) &&
		filepath.Base(c.Servo.Adapter) != filepath.Base(s.Config.Port)
}

// outside reports whether the joint is where it never was while it was calibrated.
func (s *ServoCheck) outside(c *calibration.Joint) bool {
	margin := c.TicksPerTurn / 20
	at := c.Unwrap(s.position) // NaN, which is nowhere, where the position is not known
	return s.readable && (at < c.RangeTicks[0]-margin || at > c.RangeTicks[1]+margin)
}

// Identity is what a servo that answers reports of itself, for what binds itself to it.
type Identity struct {
	Bus, Joint string
	ID         int
	Firmware   string
	Homing     int     // ticks, what its homing register holds; 0 where it has none
	Position   float64 // ticks; NaN = not read
}

// Identities are the servos that answered and are the value in the config, after Run.
func (d *Examination) Identities() (list []Identity) {
	for _, s := range d.met {
		list = append(list, Identity{s.Name, s.joint, int(s.id), s.firmware, int(s.homing), s.position})
	}
	return list
}
