package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// execute executes one instruction, of a kind that one servo answers, and makes its reply. It reports whether the servo
// sends the reply. unsound means that the instruction's parameters are malformed.
// Effects after the reply (a reboot, a reset) wait for finish.
func (s *device) execute(in *dynamixel.Instruction, unsound bool) (st dynamixel.Status, answers bool) {
	broadcast := in.ID == dynamixel.Broadcast
	s.Reply = s.Reply[:0]
	why := instruction // unknown instruction, or malformed parameters
	least := int64(2)  // the status return level from which on this is answered
	if !unsound {
		switch in.Op {
		case dynamixel.Ping:
			least, why = 0, fine
			// 2.0 returns model and firmware; 1.0 nothing.
			if s.version() == 2 {
				s.Reply = append(s.Reply, s.Bytes[0], s.Bytes[1], byte(s.Get(reg.Firmware)))
			}
			broadcast = false // the one that all answer
		case dynamixel.Read:
			least = 1
			s.Reply, why = s.read(s.Reply, int(in.Addr), int(in.Size))
		case dynamixel.Write:
			why = s.write(int(in.Addr), in.Data)
		case dynamixel.RegWrite:
			why = s.regWrite(in)
		case dynamixel.Action:
			why = s.action()
		case dynamixel.FactoryReset:
			why = s.checkReset(in)
		case dynamixel.Reboot:
			why = fine
			if s.version() == 1 && !s.Has(reg.Divider) {
				why = instruction // only MX in 1.0
			}
		case dynamixel.Clear:
			why = s.clear(string(in.Data))
		case dynamixel.Backup:
			why = s.backUp(string(in.Data))
		}
	}
	// A broadcast is executed by all servos, and answered by none.
	return s.status(why), !broadcast && s.Get(reg.StatusReturn) >= least
}

// status is s's reply with its data. Protocol 1.0 has one bit for each error, of the packet or of the servo. 2.0 has a
// number for the error of the packet, and one alert bit for errors of the servo.
func (s *device) status(why refusal) dynamixel.Status {
	st := dynamixel.Status{ID: byte(s.Get(reg.ID)), Data: s.Reply}
	if s.version() == 1 {
		st.Error = why.bit()
		if s.model.Protocol == 1 { // an X that is set to 1.0 keeps its alarms in hardware_error
			st.Error |= s.alarmBits()
		}
	} else if st.Error = byte(why); s.alarmBits() != 0 {
		st.Error |= 0x80 // alert: hardware_error is not zero
	}
	return st
}

// readFor is s's part in a sync or bulk read. Its data are s's until the next instruction.
func (s *device) readFor(addr, size int) (dynamixel.Status, bool) {
	var why refusal
	s.Reply, why = s.read(s.Reply[:0], addr, size)
	return s.status(why), s.Get(reg.StatusReturn) >= 1
}

// finish applies the effects of an instruction after its reply was sent at now: the reply to a reboot is sent before
// the reboot.
func (s *device) finish(in *dynamixel.Instruction, now time.Duration) {
	switch in.Op {
	case dynamixel.Reboot:
		if s.version() == 2 || s.Has(reg.Divider) {
			s.PowerOn(now)
		}
	case dynamixel.Clear:
		if s.y.restart {
			s.y.restart = false
			s.PowerOn(now)
		}
	case dynamixel.FactoryReset:
		switch {
		case s.checkReset(in) != fine: // answered with the reason and not done
		case s.version() == 1 || in.Data[0] == dynamixel.ResetAll:
			s.factoryReset(now)
		case in.Data[0] == dynamixel.ResetKeepID:
			s.factoryReset(now, reg.ID)
		default:
			s.factoryReset(now, reg.ID, reg.Baud)
		}
	}
}

// checkReset holds the rules of a factory reset. Everything at once, IDs too, is not taken from a broadcast in 2.0.
func (s *device) checkReset(in *dynamixel.Instruction) refusal {
	if s.version() == 1 {
		return fine
	}
	switch {
	case len(in.Data) != 1:
		return instruction
	case in.Data[0] == dynamixel.ResetAll && in.ID == dynamixel.Broadcast:
		return resultFail
	case in.Data[0] == dynamixel.ResetAll, in.Data[0] == dynamixel.ResetKeepID, in.Data[0] == dynamixel.ResetKeepIDBps:
		return fine
	}
	return dataRange
}

// regWrite keeps a write until the action; one that no rule would let through is refused at once.
func (s *device) regWrite(in *dynamixel.Instruction) refusal {
	// Nothing longer than the table could ever be written.
	if len(in.Data) > cap(s.registered) {
		return dataLength
	}
	if why := s.eachRun(int(in.Addr), in.Data, s.check); why != fine {
		return why
	}
	s.registerAt = in.Addr
	s.registered = append(s.registered[:0], in.Data...)
	s.Set(reg.Registered, 1)
	return fine
}

// action executes the registered write; the rules are checked again, since they may have changed.
func (s *device) action() refusal {
	if s.Get(reg.Registered) == 0 {
		return instruction
	}
	s.Set(reg.Registered, 0)
	return s.write(int(s.registerAt), s.registered)
}

// clear forgets the turns made; not while moving. The goal becomes the present position, as it would otherwise be
// turns away.
func (s *device) clear(option string) refusal {
	if s.isY() {
		return s.clearY(option)
	}
	switch {
	case s.xl320() || option != dynamixel.ClearMultiTurn: // the XL-320 has no turns to clear
		return instruction
	case s.moving():
		return resultFail
	}
	s.oneTurn()
	s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
	s.Drive()
	return fine
}

// moving is the register of that name, measured now.
func (s *device) moving() bool {
	s.Measure()
	return s.Get(reg.Moving) == 1
}

// backUp stores the control table or brings it back, which torque forbids.
func (s *device) backUp(option string) refusal {
	switch {
	case !s.Has(reg.BackupReady):
		return instruction
	case option == dynamixel.BackupStore:
		s.save()
	case option != dynamixel.BackupRestore:
		return instruction
	case s.Get(reg.TorqueEnable) == 1 || s.backup == nil: // a joint that holds does not change its settings
		return resultFail
	default:
		// Offsets and modes may be others now.
		s.restore(dynamixel.EEPROM)
		s.restore(dynamixel.RAM)
		s.oneTurn()
		s.Drive()
	}
	return fine
}
