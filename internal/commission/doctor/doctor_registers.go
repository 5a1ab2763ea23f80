package doctor

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/servo"
)

// Read returns a register's raw value; false where the model has none or the line fails.
func (s *ServoCheck) Read(name string) (int64, bool) {
	r := s.model.Register(name)
	if r == nil || !commission.Readable(r) {
		return 0, false
	}
	v, err := commission.ReadOne(s.tool, int(s.id), name)
	return v, err == nil
}

// si is read in the register's unit.
func (s *ServoCheck) si(name string) (float64, bool) {
	v, ok := s.Read(name)
	if !ok {
		return math.NaN(), false
	}
	return s.model.Register(name).SI(v), true
}

// registers checks the servo's status registers.
func (s *ServoCheck) registers() error {
	s.Check("firmware")
	s.delays()
	alive, err := s.Values()
	latched := false
	if alive { // else nothing that it measures can be believed
		latched = s.alarms(s.supplies())
	}
	s.switches(latched)
	s.settings()
	if v, ok := s.Read("firmware"); ok {
		s.firmware = strconv.FormatInt(v, 10)
		if minor, ok := s.Read("firmware_minor"); ok {
			s.firmware += "." + strconv.FormatInt(minor, 10)
		}
	}
	for _, name := range []string{"homing_offset", "angle_offset"} {
		if v, ok := s.Read(name); ok {
			s.homing = v
		}
	}
	return err
}

// setFix is the command that writes a register for good. The doctor itself never writes: what it examines may be
// another program's robot.
func (s *ServoCheck) setFix(register string, v int64) string {
	return fmt.Sprintf("halyard registers write %s --id %d %s=%d", s.port(), s.id, register, v)
}

// delays checks how it answers: after how long, and to what.
func (s *ServoCheck) delays() {
	s.Check("return-delay")
	if v, ok := s.Read("return_delay"); ok {
		s.delay = time.Duration(v) * 2 * time.Microsecond
	}
	if want := s.Config.ReturnDelay; s.delay > want {
		s.warn("return-delay", fmt.Sprintf("it waits %v before each answer, want %v", s.delay, want),
			s.setFix("return_delay", int64(want/(2*time.Microsecond))))
	}
	if v, ok := s.Read("status_return"); ok && v != 2 {
		s.warn("status-return", fmt.Sprintf("its status return level is %d: writes are not acknowledged", v),
			s.setFix("status_return", 2))
	}
	if v, ok := s.Read("response_level"); ok && v != 1 {
		s.warn("status-return", fmt.Sprintf("its response level is %d: writes are not acknowledged", v),
			s.setFix("response_level", 1))
	}
	for _, c := range s.row.Checks {
		if v, ok := s.Read(c.Register); ok && v == c.Bad {
			s.warn(c.Name, c.Found, c.Fix)
		}
	}
}

// supplies checks voltage and temperature, and returns the alarms that they explain.
func (s *ServoCheck) supplies() servo.Alarm {
	s.Check("voltage")
	s.Check("temperature")
	var explained servo.Alarm
	v, ok := s.si("present_voltage")
	low, okLow := s.si("min_voltage")
	high, okHigh := s.si("max_voltage")
	switch {
	case !ok || !okLow || !okHigh:
	case v < low:
		explained |= servo.AlarmVoltage
		s.fail("voltage", hal.BusFault, fmt.Sprintf("%.1f V, want %.1f..%.1f: a brown-out", v, low, high),
			"charge the battery, or shorten and thicken the supply's cables")
	case v > high:
		explained |= servo.AlarmVoltage
		s.fail("voltage", hal.BusFault, fmt.Sprintf("%.1f V, want %.1f..%.1f", v, low, high),
			"switch off now: the supply is too high for a "+s.called())
	// its own limit is for every version of it, the strongest too
	case v > 1.25*max(s.model.Units().NominalVolts, s.supplied):
		s.warn("voltage", fmt.Sprintf("%.1f V at a %s of %.1f V", v, s.called(), s.model.Units().NominalVolts),
			"switch off and look what its label says; of a version for this voltage say so in a robot file of "+
				"yours: supply: {volts: "+fmt.Sprintf("%.0f", v)+"}")
	case s.ownSupply && math.Abs(v-s.supplied) > 0.25*s.supplied:
		s.warn("voltage", fmt.Sprintf("%.1f V, its supply in the config has %.1f V", v, s.supplied),
			"measure the supply; set supply: {volts: V} of its bus as it is")
	case v < 1.03*low: // the next acceleration pulls it below
		s.warn("voltage", fmt.Sprintf("%.1f V, close to the least of %.1f", v, low), "charge the battery")
	}
	t, ok := s.si("present_temperature")
	limit, okLimit := s.si("temperature_limit")
	const margin = 10 // °C
	switch {
	case !ok || !okLimit:
	case t >= limit:
		explained |= servo.AlarmHeat
		s.fail("temperature", hal.BusFault, fmt.Sprintf("%.0f °C, its limit is %.0f", t, limit),
			"switch off and let it cool down")
	case t >= limit-margin:
		s.warn("temperature", fmt.Sprintf("%.0f °C, its limit is %.0f", t, limit),
			"let it cool down, and take load off this joint")
	}
	return explained | s.heat()
}

// heat checks a temperature that is a plain number, the lower the hotter.
func (s *ServoCheck) heat() servo.Alarm {
	v, ok := s.Read("present_heat")
	if !ok {
		return 0
	}
	const margin = 10
	switch limit := s.model.Register("heat_limit").Default; {
	case v <= limit:
		s.fail("temperature", hal.BusFault, fmt.Sprintf("its heat reads %d, which is hotter than the limit of %d", v,
			limit), "switch off and let it cool down")
		return servo.AlarmHeat
	case v <= limit+margin:
		s.warn("temperature", fmt.Sprintf("its heat reads %d, close to the limit of %d", v, limit),
			"let it cool down, and take load off this joint")
	}
	return 0
}

// alarms reports what is latched, except what is explained already.
func (s *ServoCheck) alarms(explained servo.Alarm) (latched bool) {
	s.Check("alarm")
	var r servo.Report
	if err := servo.Retry(func() (err error) { r, err = s.tool.Faults(int(s.id)); return err }); err != nil {
		r = servo.Report{}
	}
	alarm := r.Alarm &^ explained
	if alarm == 0 {
		return explained != 0
	}
	// Only those of its shutdown register take the torque; what is not in it lets it hold and move.
	for _, name := range []string{"shutdown", "unload_condition"} {
		mask, ok := s.Read(name)
		if bits, known := s.Read("hardware_error"); ok && known && bits != 0 && bits&mask == 0 {
			s.warn("alarm", r.String()+"; it is not in "+name+": torque stays as it is",
				r.Fix+"; then halyard reset, or switch its power off and on")
			return explained != 0
		}
	}
	fix := "then switch its power off and on"
	if r.Fix != "" {
		fix = r.Fix + "; " + fix
	}
	s.fail("alarm", hal.BusFault, r.String()+", latched: the servo takes no torque", fix)
	return true
}

// switches checks what keeps the torque of a sound servo off; one whose alarm is latched is so by right.
func (s *ServoCheck) switches(latched bool) {
	s.Check("torque-limit")
	s.Check("watchdog")
	for _, name := range []string{"max_torque", "pwm_limit", "current_limit", "torque_limit"} {
		v, ok := s.Read(name)
		if !ok || v != 0 || latched {
			continue
		}
		r := s.model.Register(name)
		why, fix := "EEPROM", s.setFix(name, r.Max)
		if r.Access == servo.RAM {
			why, fix = "left by a shutdown",
				"switch its power off and on; an overload has taken its torque: look for what blocks the joint"
		}
		s.fail("torque-limit", hal.BusFault, fmt.Sprintf("%s is 0 (%s): its torque stays off", name, why), fix)
		break // the RAM limit begins as the EEPROM's
	}
	if v, ok := s.Read("bus_watchdog"); ok && v < 0 {
		s.warn("watchdog", "its bus watchdog has tripped: it takes no goals",
			"halyard serve clears it; or switch its power off and on")
	}
}

// Values checks that what the servo measures is alive and believable. It waits 5 ms on the line's clock, longer than
// the millisecond of realtime_tick and the scheduling of its emulation.
func (s *ServoCheck) Values() (alive bool, err error) {
	s.Check("values")
	first, ok := s.Read("realtime_tick")
	var positions []string
	low, high := math.Inf(1), math.Inf(-1)
	for range servo.Tries {
		if v, ok := s.Read("present_position"); ok {
			low, high = min(low, float64(v)), max(high, float64(v))
			positions = append(positions, fmt.Sprint(v))
		}
	}
	switch s.position = low; {
	case len(positions) == 0:
		s.position = math.NaN()
	case high-low > s.model.Units().TicksPerTurn/16: // in these milliseconds no servo turns so far
		s.position, s.tick = math.NaN(), -1
		s.fail("values", hal.BusFault, "its position jumps at rest: "+strings.Join(positions, ", "),
			"replace the servo: its encoder is broken")
		return false, nil
	}
	if !ok {
		return true, nil // without its own clock a frozen value looks like a servo at rest
	}
	var none [1]byte
	if _, err := s.line.Read(none[:], 5*time.Millisecond); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return true, err
	}
	if last, ok := s.Read("realtime_tick"); ok && last == first {
		s.tick = -1
		s.fail("values", hal.BusFault, "its clock has stopped: its values are frozen",
			"switch its power off and on; then replace it")
		return false, nil
	}
	return true, nil
}

const (
	tickTurn  = 32768                 // ms after which realtime_tick begins again
	tickSlack = 75 * time.Millisecond // what it may be off by
)

// glance notes the servo's own clock, where it has one, before it is examined.
func (s *ServoCheck) glance() {
	s.tick = -1
	if r := s.model.Register("realtime_tick"); r != nil {
		if v, err := s.tool.Read(int(s.id), r.Name); err == nil {
			s.tick = v
		}
	}
	s.glanced = s.line.Now()
}

// steady checks that the servo did not restart since the glance: a brown-out, whose other trace is a few lost answers.
func (s *ServoCheck) steady() {
	s.Check("power")
	last, ok := s.Read("realtime_tick")
	if !ok {
		return
	}
	passed := (s.line.Now() - s.glanced) % (tickTurn * time.Millisecond)
	switch {
	case s.tick >= 0:
		ran := time.Duration((last-s.tick+tickTurn)%tickTurn) * time.Millisecond
		ok = ran > passed-tickSlack && ran < passed+tickSlack
	case s.lossy: // silent at first: it is younger than the examination only where it was off
		ok = time.Duration(last)*time.Millisecond > passed-tickSlack
	}
	if ok {
		return
	}
	s.Found = slices.DeleteFunc(s.Found, func(f Finding) bool {
		return f.Check == "answers" && f.Bus == s.Name && f.ID != nil && *f.ID == int(s.id)
	})
	s.fail("power", hal.BusFault, "it restarted while it was examined: its supply broke down for a moment",
		"measure the supply at this servo under load; charge the battery, shorten and thicken its cables")
}
