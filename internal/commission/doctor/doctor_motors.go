package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/servo"
)

// examineMotors examines motor controllers by the chain that will drive them: whether each is there, has a firmware
// whose packets are known, is set so that it stops without a host, and what it complains of. Nothing moves and no
// setting is written; one that stops when it is asked for its state is merely asked whether it is there.
func (b *BusCheck) examineMotors() error {
	cfg := servo.ChainConfig{Name: b.Name, Line: b.line, Latency: b.latency}
	for _, s := range b.servos {
		b.Check("servo")
		b.Check("setting")
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: s.id, Model: s.plan.Servo, Joint: s.joint})
	}
	c := b.row.Driver.Chain(cfg) // not closed: the line is the examination's
	faults, unplaced := faultsOf(c.Open())
	if unplaced != nil {
		return unplaced
	}
	var absent []*ServoCheck
	for _, s := range b.servos {
		switch e := faults[int(s.id)]; {
		case e == nil:
		case e.Kind == hal.Absent:
			absent = append(absent, s)
		default: // the controller reports the setting and its value
			fix := cmp.Or(e.Try, "set "+s.joint+" as the finding says")
			if errors.Is(e, servo.ErrCorrupt) {
				fix = b.noiseFix()
			}
			s.fail("setting", e.Kind, e.Err.Error(), fix)
		}
	}
	if n := len(b.servos); n > 1 && len(absent) == n {
		b.fail("power", hal.BusFault, "none of the motors answers", b.busFix())
		return nil
	}
	others, err := b.neighbours()
	if err != nil {
		return err
	}
	for _, s := range absent {
		found := faults[int(s.id)].Err.Error()
		if others != "" && !strings.Contains(found, "which no joint") {
			found += ", but " + others + ", which no joint of the config has"
		}
		s.fail("servo", hal.Absent, found, s.cableFix(absent)+
			"; or it has another id: halyard scan "+b.port()+" --protocol "+b.Config.Type)
	}
	for _, s := range b.servos {
		s.guarded()
	}
	if b.row.Stops {
		return nil
	}
	if err := c.Receive(); err != nil {
		return err
	}
	for i, s := range b.servos {
		if own := c.State(i).Ceiling; !math.IsNaN(own) {
			f := s.finding("current-limit", StateOK,
				fmt.Sprintf("its own limit is %.3g A, that of a %s %.3g A: the lower holds",
					own, s.called(), s.model.Units().MaxEffort), "")
			b.Found = append(b.Found, f)
		}
		b.Check("alarm")
		if st := c.State(i); st.Err == nil && st.Alarm != 0 {
			s.fail("alarm", hal.BusFault, st.Report.String(), st.Fix)
		}
	}
	return nil
}

// neighbours lists the devices of a line where one is in front of the others, adds a finding where two have one id, and
// returns those that no joint has.
func (b *BusCheck) neighbours() (others string, err error) {
	if !b.row.Chained {
		return "", nil
	}
	b.Check("id")
	tool, err := commission.NewTool(b.line, b.row, servo.ToolConfig{Bus: b.Name, Latency: b.latency})
	if err != nil {
		return "", err
	}
	ids, _, err := tool.List()
	if errors.Is(err, servo.ErrDisconnected) {
		return "", err
	}
	var texts []string
	for i, id := range ids { // where it lists none, the examination goes on without
		s := servo.Find(b.servos, func(s *ServoCheck) bool { return int(s.id) == id })
		switch {
		case s == nil:
			texts = append(texts, fmt.Sprintf("id %d answers", id))
		case slices.Contains(ids[:i], id):
			s.fail("id", hal.BusFault, fmt.Sprintf("two devices have id %d", id), "connect one of them: "+
				b.row.FixedIDs.Try)
		}
	}
	return strings.Join(texts, " and "), nil
}

// faultsOf splits the error of opening a chain by servo id; unplaced has the rest.
func faultsOf(err error) (faults map[int]*hal.Error, unplaced error) {
	faults = map[int]*hal.Error{}
	all := []error{err}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		all = j.Unwrap()
	}
	for _, one := range all {
		var e *hal.Error
		switch {
		case one == nil:
		case errors.Is(one, servo.ErrDisconnected) || !errors.As(one, &e):
			return nil, one
		default:
			faults[e.ID] = e
		}
	}
	return faults, nil
}

// busFix is what a whole bus of silence calls for.
func (b *BusCheck) busFix() string {
	if b.row.Filters != nil {
		return "switch on their supply, check CAN_H, CAN_L and ground, a resistor of 120 Ω at both ends, and that " +
			"all have the bus's bit rate"
	}
	return "switch on their supply and check the data line and its baud rate"
}

// noiseFix is what damaged answers call for.
func (b *BusCheck) noiseFix() string {
	return fmt.Sprintf("check the plugs, the ground and the shield of the cable and its distance to motor cables, "+
		"and that the device has the bus's rate of %d Bd", b.Config.Baud)
}

// guarded checks that the config has the settings by which a chain sets the watchdog.
func (s *ServoCheck) guarded() {
	if len(s.row.Guard) == 0 {
		return
	}
	s.Check("watchdog")
	if len(s.plan.Hardware.Registers) < len(s.row.Guard) {
		s.warn("watchdog", "whether it stops when the cable is pulled is not known", s.row.GuardFix)
	}
}
