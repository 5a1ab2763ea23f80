package doctor

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// examineMotors examines motor controllers by the chain that will drive them: whether each is there, has a firmware whose
// packets are known, is set so that it stops without a host, and what it complains of. Nothing moves and no setting is
// written; a CyberGear, which answers with where it is when it is told to let go, is merely asked whether it is there.
func (b *BusCheck) examineMotors() error {
	cfg := catalog.ChainConfig{Name: b.Name, Line: b.line, Latency: b.latency}
	for _, s := range b.servos {
		b.Check("servo")
		b.Check("setting")
		cfg.Servos = append(cfg.Servos, catalog.ChainServo{Id: s.id, Model: s.plan.Servo, Joint: s.joint})
	}
	kind := catalog.BusTypes[b.Config.Type]
	c := kind.Chain(cfg) // not closed: the line is the examination's
	faults, unplaced := commission.FaultsOf(c.Open())
	if unplaced != nil {
		return unplaced
	}
	var absent []*ServoCheck
	for _, s := range b.servos {
		switch e := faults[int(s.id)]; {
		case e == nil:
		case e.Kind == hal.Absent:
			absent = append(absent, s)
		default: // the controller says itself what is wrong, and where it is set
			s.fail("setting", e.Kind, e.Err.Error(), "set "+s.joint+" as it says")
		}
	}
	if n := len(b.servos); n > 1 && len(absent) == n {
		b.fail("power", hal.BusFault, "none of the motors answers", b.busFix())
		return nil
	}
	for _, s := range absent {
		s.fail("servo", hal.Absent, "no answer", s.cableFix(absent)+"; or it has another id")
	}
	for _, s := range b.servos {
		s.guarded()
	}
	if b.Config.Type == catalog.CybergearType {
		return nil
	}
	if err := c.Receive(); err != nil {
		return err
	}
	for i, s := range b.servos {
		b.Check("alarm")
		if st := c.State(i); st.Err == nil && st.Alarm != 0 {
			s.fail("alarm", hal.BusFault, st.Alarm.String(), "take the load away, let it cool down, and check its supply")
		}
	}
	return nil
}

// busFix is what a whole bus of silence calls for.
func (b *BusCheck) busFix() string {
	if catalog.BusTypes[b.Config.Type].Filters != nil {
		return "switch on their supply, check CAN_H, CAN_L and ground, a resistor of 120 Ω at both ends, and that all have the bus's bit rate"
	}
	return "switch on their supply and check the data line and its baud rate"
}

// guarded looks whether the watchdog of an ODrive on CAN is set before its torque goes on.
func (s *ServoCheck) guarded() {
	if s.Config.Type != catalog.OdriveCAN {
		return
	}
	s.Check("watchdog")
	if len(s.plan.Hardware.Registers) < 2 {
		s.warn("watchdog", "whether it stops when the cable is pulled is not known", "registers: {watchdog_endpoint: N, enable_endpoint: N} by its "+
			"firmware's flat_endpoints.json; or odrivetool: axis0.config.enable_watchdog = True, watchdog_timeout = 0.5, save_configuration()")
	}
}
