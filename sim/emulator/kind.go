package emulator

import "time"

// Sheet is what the emulator must know of a model beside its table. Counts are ticks.
type Sheet struct {
	Name         string
	RAMStart     uint16 // first address that a power loss clears
	Turn, Centre float64
	Low, High    float64 // of the position mode
}

// Kind is a vendor's servo around a Servo: what its registers bring about.
type Kind interface {
	Protocol(b *Bus) Protocol
	Started()         // power has come, RAM is at its defaults
	Configured()      // EEPROM was changed from outside
	Actuate()         // hand what the registers command to the actuator
	Notice()          // update alarms and other time-dependent states; the actuator's alarms are up to date
	Show(r *Reading)  // fill what is measured
	Baud() int        // the rate that it is set to
	SetBaud(baud int) // set it to a rate, if it knows it
}

// Protocol is what is spoken on a line: it turns a host's bytes into instructions, and executes them.
type Protocol interface {
	Reset()                              // what was half received is forgotten
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
