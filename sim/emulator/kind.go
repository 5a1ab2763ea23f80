package emulator

import "time"

// Sheet holds the data of a model in addition to its table. Counts are ticks.
type Sheet struct {
	Name         string
	RAMStart     uint16 // first address that a power loss clears
	Turn, Centre float64
	Low, High    float64 // of the position mode
}

// Kind is a vendor's servo around a Servo: the effects of its registers.
type Kind interface {
	Protocol(b *Bus) Protocol
	Started()         // power has come, RAM is at its defaults
	Configured()      // EEPROM was changed from outside
	Actuate()         // pass the commands in the registers to the actuator
	Notice()          // update alarms and other time-dependent states; the actuator's alarms are up to date
	Show(r *Reading)  // fill the present registers
	Baud() int        // the rate that it is set to
	SetBaud(baud int) // set it to a rate, if its model supports it
}

// Protocol is the protocol of a line: it parses a host's bytes to instructions, and executes them.
type Protocol interface {
	Reset()                              // discard an incomplete packet
	Parse(p []byte, start time.Duration) // p begins at start
}

// Kinds are the servos of b whose vendor's type is K.
func Kinds[K Kind](b *Bus) (list []K) {
	for _, s := range b.servos {
		if k, ok := s.kind.(K); ok {
			list = append(list, k)
		}
	}
	return list
}
