package dynamixel

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// deviceRegisters are the registers of the cycle, looked up once; nil if the model lacks the register.
type deviceRegisters struct {
	torque, hardware, watchdog                          *Register
	position, velocity, effort, voltage, temperature    *Register
	goalPosition, goalVelocity, goalCurrent, goalPWM    *Register
	movingSpeed, torqueLimit                            *Register
	profileVelocity, profileAcceleration, operatingMode *Register
}

// resolve looks up d's registers and the spans that it is read by.
func (d *device) resolve() {
	m := d.m
	d.reg = deviceRegisters{
		torque: m.Register("torque_enable"), hardware: m.Register("hardware_error"),
		watchdog: m.Register("bus_watchdog"), position: m.Register("present_position"),
		velocity: m.Register("present_velocity"), effort: m.Register("present_load"),
		voltage: m.Register("present_voltage"), temperature: m.Register("present_temperature"),
		goalPosition: m.Register("goal_position"), goalVelocity: m.Register("goal_velocity"),
		goalCurrent: m.Register("goal_current"), goalPWM: m.Register("goal_pwm"),
		movingSpeed: m.Register("moving_speed"), torqueLimit: m.Register("torque_limit"),
		profileVelocity: m.Register("profile_velocity"), profileAcceleration: m.Register("profile_acceleration"),
		operatingMode: m.Register("operating_mode"),
	}
	// A table has either load or current. Only MX-64 and MX-106 in 1.0 have both, and their current is not next to the
	// other registers.
	if m.CurrentControl {
		d.reg.effort = m.Register("present_current")
	}
	// Both spans are computed from the model's table.
	d.short = spanOf(d.reg.position, d.reg.velocity, d.reg.effort)
	d.long = spanOf(d.reg.torque, d.reg.position, d.reg.voltage, d.reg.temperature, d.reg.hardware)
	d.minTicks, d.maxTicks = m.MinTicks, m.MaxTicks
	if r := m.Register("shutdown"); r != nil {
		d.fatal = m.Alarms(byte(r.Default))
	}
	// Until the servo has been asked, its table's limits hold.
	for i, r := range []*Register{d.outputLimit(), d.reg.goalCurrent, d.reg.goalVelocity} {
		if r != nil {
			d.maxLimit[i] = r.Max
		}
	}
	if m.ErrorCodes != nil {
		d.resolveY()
	}
}

// outputLimit is the register that bounds the motor's duty.
func (d *device) outputLimit() *Register {
	if d.reg.torqueLimit != nil {
		return d.reg.torqueLimit
	}
	return d.reg.goalPWM
}

// spanOf is the least span that holds all of regs; nil ones do not count.
func spanOf(regs ...*Register) span {
	first, end := uint16(math.MaxUint16), uint16(0)
	for _, r := range regs {
		if r != nil {
			first, end = min(first, r.Addr), max(end, r.Addr+r.Size)
		}
	}
	return span{first, end - first}
}

// within returns r's raw value in data read from s, false when r is nil or outside.
func (s span) within(r *Register, data []byte) (int64, bool) {
	// A short read has fewer registers than a long one: absent is normal.
	if r == nil || r.Addr < s.addr || int(r.Addr-s.addr+r.Size) > len(data) {
		return 0, false
	}
	return r.Decode(data[r.Addr-s.addr:]), true
}

// parseState fills d's state, all but its position, from a reply to a read of s.
func (d *device) parseState(s span, st *Status) {
	state := &d.State
	if v, ok := s.within(d.reg.velocity, st.Data); ok {
		state.Velocity = d.reg.velocity.SI(v)
	}
	if v, ok := s.within(d.reg.effort, st.Data); ok {
		state.Effort = d.reg.effort.SI(v)
	}
	// Only long reads have these; they keep their last values in between.
	if v, ok := s.within(d.reg.voltage, st.Data); ok {
		state.Voltage = d.reg.voltage.SI(v)
	}
	if v, ok := s.within(d.reg.temperature, st.Data); ok {
		state.Temperature = d.reg.temperature.SI(v)
	}
	d.parseAlarm(s, st)
	if v, ok := s.within(d.reg.torque, st.Data); ok {
		d.parseTorque(servo.SwitchOf(v != 0), s, st.Data)
	}
	state.Torque = d.Torque == servo.On
}

// parseAlarm reads d's alarms from st. Protocol 1.0 has the bits in every reply; 2.0 has one alert bit for
// hardware_error. A new alarm requests a long read, which reports whether torque is still on.
func (d *device) parseAlarm(s span, st *Status) {
	// Without the alert bit hardware_error is zero; with it, a long read is needed to know the error.
	alert := st.Error&alertBit != 0
	if d.m.Protocol == 1 {
		d.note(st.Error)
		alert = d.State.Alarm&^servo.AlarmRange != 0
	} else if v, ok := s.within(d.reg.hardware, st.Data); ok {
		d.note(byte(v))
	} else if !alert && !d.isY() {
		d.State.Report = servo.Report{}
	}
	// A Y servo's alarm is never in st, and a warning may be without an alert.
	if alert && !d.alert || alert != d.alert && d.isY() {
		d.Verify = true
	}
	d.alert = alert
}

// note notes the faults of an error byte or hardware_error.
func (d *device) note(bits byte) {
	d.m.report(&d.State.Report, bits)
	d.State.Spares = d.State.Alarm != 0 && d.State.Alarm&d.fatal == 0
}

// parseTorque compares the torque switch and the registers read with it to the commanded values.
func (d *device) parseTorque(k servo.Switch, s span, data []byte) {
	// The registers read with the switch show why it is off.
	limit, limitRead := s.within(d.limitRegister(), data)
	dog, dogRead := s.within(d.reg.watchdog, data)
	// An alarm of a 1.0 servo sets its torque limit to zero, which stays when torque is switched on again.
	robbed := d.m.Protocol == 1 && limitRead && limit == 0 && d.limit > 0
	switch {
	case !d.SawTorque(k, k == servo.Off && d.State.Alarm&d.fatal != 0 || robbed):
	// Torque is on, but goals are locked; it holds where it stopped.
	case dogRead && dog < 0:
		d.hold(errTripped)
	// Its RAM is gone, and its torque came back by itself, by the startup register.
	case dogRead && dog == 0 && d.guarded:
		d.hold(servo.ErrPowerLost)
	// A limit packet was lost, or another program wrote.
	case limitRead && d.limit >= 0 && limit != d.limit:
		d.limit = -1 // written again with the next goal
	}
	if d.Stage == servo.Inhibited {
		d.limit = -1
	}
	if dogRead {
		d.guarded, d.bare = dog > 0, dog == 0
	}
}

// hold is DeviceState.Hold; the limit in the servo is unknown afterwards.
func (d *device) hold(why error) {
	d.Hold(why)
	d.limit = -1
}

// wantedMode is the operating mode that d's goal needs, and the mode of ours it means. A mode the model does not
// have, like no mode at all, is to hold the position.
func (d *device) wantedMode() (int, hal.Mode) {
	// Modes index the table, NoMode does not.
	if g := d.Goal.Mode; g < hal.NoMode && d.m.Modes[g] >= 0 {
		return d.m.Modes[g], g
	}
	return d.m.Modes[hal.PositionMode], hal.PositionMode
}

// limitRegister is where d's effort limit goes in its present mode, nil where the goal itself is bounded instead.
func (d *device) limitRegister() *Register {
	if d.reg.torqueLimit != nil {
		return d.reg.torqueLimit
	}
	_, mode := d.wantedMode()
	switch {
	case mode == hal.PositionMode && d.reg.goalCurrent != nil, mode == hal.VelocityMode && d.isY():
		return d.reg.goalCurrent
	case mode == hal.PositionMode || mode == hal.VelocityMode:
		return d.reg.goalPWM
	}
	return nil
}

// limitRaw is the effort limit of d's goal as a raw value.
func (d *device) limitRaw() int64 {
	if r := d.limitRegister(); r != nil && r == d.reg.goalCurrent {
		if v := d.shareOf(r, limitCurrent); v > 0 || !d.isY() {
			return v
		}
		return 1 // 0 may mean no limit there
	}
	return d.shareOf(d.outputLimit(), limitOutput)
}

// shareOf is the goal's limit as a raw value of r: a share of the model's maximum, within the limit in EEPROM.
func (d *device) shareOf(r *Register, i int) int64 {
	return min(int64(math.Round(d.Share()*float64(r.Max))), d.maxLimit[i])
}
