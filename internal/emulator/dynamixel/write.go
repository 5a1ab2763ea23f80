package dynamixel

import (
	"slices"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// refusal is the reason why a servo does not execute an instruction. The values are the error numbers of 2.0.
type refusal byte

const (
	fine        refusal = 0
	resultFail  refusal = 1 // understood, and not possible now
	instruction refusal = 2 // undefined, malformed, or an action without a reg write
	dataRange   refusal = 4 // outside the register's range
	dataLength  refusal = 5 // part of a register
	dataLimit   refusal = 6 // outside a limit that is itself a register
	access      refusal = 7 // read only, locked, or no register at all
)

// bit is the refusal in the error byte of 1.0.
func (r refusal) bit() byte {
	switch r {
	case fine:
		return 0
	case dataLimit:
		return 1 << 1 // angle limit
	case instruction, resultFail:
		return 1 << 6
	}
	return 1 << 3 // range
}

// read appends n bytes from addr on, as they are now. Gaps between registers read as 0.
func (s *device) read(dst []byte, addr, n int) ([]byte, refusal) {
	switch {
	case n == 0:
		return dst, dataLength
	case addr >= len(s.Bytes) || addr+n > len(s.Bytes):
		return dst, access
	}
	// One copy, then the bytes of windows from where they point at.
	s.Measure()
	from := len(dst)
	dst = append(dst, s.Bytes[addr:addr+n]...)
	for i := range s.model.Indirect {
		t := &s.model.Indirect[i]
		for a := max(addr, int(t.Data)); a < min(addr+n, int(t.Data+t.Count)); a++ {
			dst[from+a-addr] = s.Bytes[s.pointer(t, a)]
		}
	}
	return dst, fine
}

// pointer is where the byte at a of an indirect window leads. One that leads into a window again leads no further; one
// out of the table, which the factory's never are, stays in the window.
func (s *device) pointer(t *dynamixel.Indirect, a int) int {
	at := int(t.Addr) + 2*(a-int(t.Data))
	to := int(s.Bytes[at]) | int(s.Bytes[at+1])<<8
	if to < int(t.Min) || to >= len(s.Bytes) {
		return a
	}
	return to
}

// write stores data from addr on if no rule forbids any part: all or nothing, so that a goal is never applied with only
// a part of its parameters.
func (s *device) write(addr int, data []byte) refusal {
	if r := s.eachRun(addr, data, s.check); r != fine {
		return r
	}
	return s.eachRun(addr, data, s.apply)
}

// eachRun cuts a write up where indirect pointers jump: it calls do for each run of addresses behind it, which is one
// but for indirect windows.
func (s *device) eachRun(addr int, data []byte, do func(addr int, data []byte) refusal) refusal {
	for len(data) > 0 {
		to, n := s.target(addr), 1
		for n < len(data) && s.target(addr+n) == to+n {
			n++
		}
		if r := do(to, data[:n]); r != fine {
			return r
		}
		addr, data = addr+n, data[n:]
	}
	return fine
}

// target is where a write to address a goes: through an indirect window, or nowhere else.
func (s *device) target(a int) int {
	for i := range s.model.Indirect {
		if t := &s.model.Indirect[i]; a >= int(t.Data) && a < int(t.Data+t.Count) {
			return s.pointer(t, a)
		}
	}
	return a
}

// check holds every rule against writing data at addr. A write begins and ends at a register's edge; between registers
// the real tables have holes that writes of many registers pass over.
func (s *device) check(addr int, data []byte) refusal {
	if r, _ := s.RegisterAt(addr); r == nil {
		return access
	}
	for i := 0; i < len(data); {
		r, n := s.RegisterAt(addr + i)
		switch {
		case addr+i >= len(s.Bytes):
			return access
		case r == nil:
			i++ // a gap between registers takes anything
			continue
		case int(r.Addr) != addr+i:
			return access
		case i+int(r.Size) > len(data):
			return dataLength
		}
		if why := s.checkRegister(r, n, data[i:]); why != fine {
			return why
		}
		i += int(r.Size)
	}
	return fine
}

// checkRegister holds the rules that the table itself states against the bytes of one register.
func (s *device) checkRegister(r *servo.Register, n reg.Name, data []byte) refusal {
	v := r.Decode(data)
	if s.isY() {
		if why := s.checkY(r, n, v); why != fine {
			return why
		}
	}
	switch {
	case r.Access == dynamixel.ReadOnly:
		return access
	case r.Access == dynamixel.EEPROM && s.locked():
		return access
	case s.Get(reg.Watchdog) < 0 && isGoal(n):
		return dataRange
	case v < r.Min || v > r.Max:
		return dataRange
	case r.Encoding == dynamixel.Magnitude && data[1] > 0x07: // eleven bits
		return dataRange
	}
	return s.checkValue(n, v)
}

// locked reports whether EEPROM takes no writes: by torque in 2.0, by the lock register in 1.0.
func (s *device) locked() bool {
	if s.model.Protocol == 1 {
		return s.Get(reg.Lock) == 1
	}
	return s.Get(reg.TorqueEnable) == 1
}

// checkValue holds the rules of single registers that go beyond their range.
func (s *device) checkValue(n reg.Name, v int64) refusal {
	// The limit registers are magnitudes.
	beyond := func(most reg.Name) refusal {
		if m := s.Get(most); v > m || v < -m {
			return dataLimit
		}
		return fine
	}
	switch n {
	case reg.OperatingMode:
		if !slices.Contains(s.model.OperatingModes, byte(v)) {
			return dataRange
		}
	case reg.Protocol:
		if v != 1 && v != 2 {
			return dataRange
		}
	case reg.Baud:
		if s.model.Rate(byte(v)) == 0 {
			return dataRange
		}
	case reg.Lock:
		if v == 0 && s.Get(reg.Lock) == 1 {
			return dataRange // only a power cycle unlocks
		}
	case reg.TorqueEnable:
		if v == 1 && s.shut {
			return resultFail // only a reboot does
		}
	case reg.MovingSpeed:
		if v < 0 && !s.wheel() {
			return dataRange
		}
	case reg.GoalPWM:
		return beyond(reg.PWMLimit)
	case reg.GoalCurrent:
		return beyond(reg.CurrentLimit)
	case reg.GoalVelocity:
		return beyond(reg.VelocityLimit)
	case reg.GoalPosition:
		return s.checkGoal(v)
	}
	return fine
}

// checkGoal checks a goal position against the limits of the mode. Wheel and multi-turn modes have only the register's
// range, which in 1.0 is the multi-turn one and must be narrowed for a joint.
func (s *device) checkGoal(v int64) refusal {
	// X by its own limits, the older models by the angle limits that also choose the mode.
	low, high := s.Get(reg.MinPosition), s.Get(reg.MaxPosition)
	if s.Has(reg.CWLimit) {
		if s.wheel() || s.multiTurn() {
			return fine
		}
		low, high = s.Get(reg.CWLimit), s.Get(reg.CCWLimit)
		if v < 0 || v > int64(s.model.MaxTicks) {
			return dataRange
		}
	} else if s.Get(reg.OperatingMode) != modePosition {
		return fine
	}
	if v < low || v > high {
		return dataLimit
	}
	return fine
}

// apply stores data that check has let through, register by register, with all that follows from each.
func (s *device) apply(addr int, data []byte) refusal {
	for i := 0; i < len(data); {
		r, n := s.RegisterAt(addr + i)
		if r == nil {
			i++
			continue
		}
		was := s.Get(reg.TorqueEnable)
		// One after the other, as the firmware does: torque before or behind a goal makes a difference.
		copy(s.Bytes[r.Addr:], data[i:i+int(r.Size)])
		s.follow(n, r.Access)
		if s.isY() {
			s.followY(r, n, was)
		}
		i += int(r.Size)
	}
	s.Drive()
	return fine
}

// follow applies the side effects of a write to one register.
func (s *device) follow(n reg.Name, a dynamixel.Access) {
	switch {
	case n == reg.OperatingMode:
		s.changeMode()
	case n == reg.DriveMode: // the same place has another number now
		s.oneTurn()
		s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
	case n == reg.TorqueLimit && s.Get(reg.TorqueLimit) > 0 && s.model.Protocol == 1:
		s.Act.ClearAlarm() // the way out of a shutdown
		s.Alarm = 0
	case n == reg.GoalPosition && s.model.Protocol == 1 && s.Alarm&s.Act.Shutdown == 0:
		s.Set(reg.TorqueEnable, 1)
	case isGoal(n) && s.Get(reg.DriveMode)&8 != 0 && !s.shut && !s.isY():
		s.Set(reg.TorqueEnable, 1)
	case a == dynamixel.EEPROM:
		s.Act.Shutdown = s.shutdown()
		s.capGoals()
	}
}

// capGoals clamps the goals to limits that have just been lowered, as the servo does.
func (s *device) capGoals() {
	for _, x := range [...][2]reg.Name{{reg.GoalPWM, reg.PWMLimit},
		{reg.GoalCurrent, reg.CurrentLimit}, {reg.GoalVelocity, reg.VelocityLimit}} {
		if s.Has(x[0]) {
			most := s.Get(x[1])
			s.Set(x[0], min(max(s.Get(x[0]), -most), most))
		}
	}
}

// isGoal reports whether a tripped bus watchdog locks the register.
func isGoal(n reg.Name) bool {
	return n == reg.GoalPWM || n == reg.GoalCurrent || n == reg.GoalVelocity ||
		n == reg.GoalPosition || n == reg.GoalTorque
}
