package dynamixel

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// The rules of servos with the Y table, whose state is in three places: torque and limits at 512, the controller's
// state and its error code at 152, the watchdog at 8. The state read in every cycle shows none of them, so ReadHealth
// follows each long read.

// yRegisters are the registers of the Y table that the chain needs, all nil for other tables.
type yRegisters struct {
	state, code                              *Register
	pwmOffset, currentOffset, velocityOffset *Register

	status, armed, commands span // state and code; offsets and goals; torque switch and those
}

func (d *device) resolveY() {
	m := d.m
	d.y = yRegisters{
		state: m.Register("controller_state"), code: m.Register("error_code"), pwmOffset: m.Register("pwm_offset"),
		currentOffset: m.Register("current_offset"), velocityOffset: m.Register("velocity_offset"),
	}
	d.y.status = spanOf(d.y.state, d.y.code)
	d.y.armed = spanOf(d.y.pwmOffset, d.reg.goalPosition)
	d.y.commands = spanOf(d.reg.torque, d.reg.goalPosition)
	d.long = spanOf(d.reg.position, d.reg.velocity, d.reg.effort, d.reg.voltage, d.reg.temperature)
	for i := range m.ErrorCodes {
		if e := &m.ErrorCodes[i]; !e.Torque {
			d.fatal |= e.Alarm
		}
	}
}

func (d *device) isY() bool { return d.y.state != nil }

// inspectY refuses a servo whose limits let nothing move, and one whose electronic gear is not the real one: its
// positions would be in other units.
func (d *device) inspectY(numerator, denominator int64) error {
	var why error
	switch {
	case numerator != d.m.Gear*denominator:
		why = fmt.Errorf("gear_numerator and gear_denominator: got %d and %d, want %d and 1: positions would be in "+
			"other units", numerator, denominator, d.m.Gear)
	case d.maxLimit[limitOutput] == 0:
		why = errors.New("pwm_limit: got 0, want above 0: nothing could move or hold")
	case d.maxLimit[limitCurrent] == 0:
		why = errors.New("current_limit: got 0, want above 0: nothing could move or hold")
	case d.maxLimit[limitVelocity] == 0:
		why = errors.New("velocity_limit: got 0, want above 0: nothing could move")
	case d.minTicks >= d.maxTicks:
		why = fmt.Errorf("min_position and max_position: got %.0f and %.0f, want them to rise", d.minTicks, d.maxTicks)
	default:
		return nil
	}
	return d.Error(hal.Unsafe, "open", why)
}

// readStatus reads the controller's state and the error code of d.
func (c *protocol) readStatus(d *device) (state int64, fault *ErrorCode, err error) {
	st, err := c.fetchSpan(d, d.y.status)
	if err != nil {
		return 0, nil, err
	}
	state, _ = d.y.status.within(d.y.state, st)
	code, _ := d.y.status.within(d.y.code, st)
	fault = d.m.ErrorCode(byte(code))
	d.m.report(&d.State.Report, byte(code))
	return state, fault, nil
}

// readyY reports whether d takes torque or a mode now: not while it starts, or closes its brake after torque off. With
// an error that takes the torque it waits to be cleared.
//
// Torque off must be off. With the factory's safe_stop_time the motor would brake for 0.2 s more: it is set to 0, in
// EEPROM, the first time that torque is off.
func (c *protocol) readyY(i int, d *device) (bool, error) {
	state, fault, err := c.readStatus(d)
	switch {
	case err != nil:
		return false, err
	case fault != nil && !fault.Torque || state == stateDetectedFault || state == StateFault:
		d.latch(fault, servo.ErrLatched)
		return false, nil
	}
	if off := state == StateOff || state == StateDynamicBrake; !off || d.safeStop == 0 || !c.chain.Resting(i) {
		return off && d.safeStop == 0 || state == StateRunning, nil
	}
	if err := c.store(d, d.m.Register("safe_stop_time"), 0); err != nil {
		return false, err
	}
	d.safeStop = 0
	return false, nil
}

// latch holds d until its error has been cleared.
func (d *device) latch(fault *ErrorCode, why error) {
	if fault != nil {
		why = fmt.Errorf("error code %d, %s: %w", fault.Code, fault.Name, why)
	}
	d.Latched = true
	d.hold(why)
}

// putSafeY stages what must be right before d's torque: nothing is added to the goals, and the limits that are not the
// goal of its mode are those of its EEPROM. After power-on they are 0; no source documents whether 0 means no output or
// no limit.
func (c *protocol) putSafeY(d *device) {
	for _, r := range [...]*Register{d.y.pwmOffset, d.y.currentOffset, d.y.velocityOffset} {
		c.put(d, r, 0)
	}
	c.put(d, d.reg.goalPWM, d.maxLimit[limitOutput])
	if _, mode := d.wantedMode(); mode == hal.PositionMode {
		c.put(d, d.reg.goalVelocity, d.maxLimit[limitVelocity])
	}
	d.bounded = true
}

// boundsY compares the registers that putSafeY and limits write, as read from s, with what they must be.
func (d *device) boundsY(s span, data []byte) error {
	check := func(r *Register, want int64) error {
		if got, ok := s.within(r, data); ok && got != want {
			return fmt.Errorf("%s: %w", r.Name, servo.Unequal(got, want))
		}
		return nil
	}
	err := check(d.reg.goalPWM, d.maxLimit[limitOutput])
	if _, mode := d.wantedMode(); mode == hal.PositionMode {
		err = errors.Join(err, check(d.reg.goalVelocity, d.maxLimit[limitVelocity]))
	}
	if r := d.limitRegister(); r != nil && d.limit >= 0 {
		err = errors.Join(err, check(r, d.limit))
	}
	return err
}

// tookGoalY is TookGoal: offsets, limits and goal lie together.
func (c *protocol) tookGoalY(d *device, goal *Register) error {
	s := d.y.armed
	data, err := c.fetchSpan(d, s)
	if err != nil {
		return err
	}
	for _, r := range [...]*Register{d.y.pwmOffset, d.y.currentOffset, d.y.velocityOffset} {
		if got, _ := s.within(r, data); got != 0 {
			return fmt.Errorf("%s: %w", r.Name, servo.Unequal(got, 0))
		}
	}
	if err := d.boundsY(s, data); err != nil {
		return err
	}
	got, _ := s.within(goal, data)
	return d.sameGoal(goal, got)
}

// readHealthY is ReadHealth.
func (c *protocol) readHealthY(d *device) error {
	state, fault, err := c.readStatus(d)
	if err != nil {
		return err
	}
	data, err := c.fetchSpan(d, d.y.commands)
	if err != nil {
		return err
	}
	torque, _ := d.y.commands.within(d.reg.torque, data)
	k := servo.SwitchOf(torque != 0)
	switch {
	case d.Stage == servo.TorqueOn && fault != nil && fault.Code == codeWatchdog:
		d.Torque = k
		d.hold(errTripped)
		return nil
	case d.Stage == servo.TorqueOn && fault != nil && (!fault.Torque || fault.Hold):
		d.Torque = k
		d.latch(fault, servo.ErrLatched)
		return nil
	// Not before its brake is open does it follow goals.
	case k == servo.On && d.Stage == servo.TorqueOn && state == StateProcessOn:
		d.Torque, d.Verify = servo.Unknown, true
		return nil
	// It refuses torque off until then. A restart ends it too, where it does not bring torque.
	case k == servo.On && state == StateProcessOn && !d.startsOn &&
		(!d.Goal.Enable || errors.Is(d.State.Inhibit, servo.ErrHalted)):
		if err := c.client().Reboot(d.cfg.ID); err != nil {
			return err
		}
		c.chain.Pause(d.index, rebootPause)
		k = servo.Off
	}
	d.Opening = false
	d.parseTorque(k, span{}, nil)
	if d.Stage != servo.TorqueOn || d.Torque != servo.On {
		return nil
	}
	if d.boundsY(d.y.commands, data) != nil { // a packet was lost, or another program wrote
		d.limit, d.bounded = -1, false
	}
	dog, err := c.fetch(d, d.reg.watchdog)
	switch {
	case err != nil:
		return err
	case dog < 0:
		d.hold(errTripped)
	case dog == 0 && d.guarded:
		d.hold(servo.ErrPowerLost)
	}
	d.guarded, d.bare = dog > 0, dog == 0
	return nil
}

const codeWatchdog = 18

// clearY clears d's error, with torque off: it may be held at a place that is not its goal.
func (c *protocol) clearY(i int, d *device) error {
	if err := c.store(d, d.reg.torque, 0); err != nil {
		return err
	}
	if err := c.client().ClearError(d.cfg.ID); err != nil {
		return err
	}
	d.Torque, d.State.Torque, d.Verify = servo.Unknown, false, true
	_, fault, err := c.readStatus(d)
	if err == nil && fault != nil && !fault.Torque {
		err = d.Error(hal.BusFault, "clear alarm", fmt.Errorf("error code %d, %s: still there", fault.Code, fault.Name))
	}
	return err
}
