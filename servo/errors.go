package servo

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// ErrDisconnected reports that the adapter itself has vanished: unplugged, or its other end closed.
var ErrDisconnected = errors.New("adapter gone")

var alarmNames = [...]string{"voltage", "heat", "overload", "shock", "encoder", "range"}

// String names every alarm in a, "none" for no alarm.
func (a Alarm) String() string {
	var names []string
	for i, n := range alarmNames {
		if a&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// AlarmBits are the alarms that the bits of a vendor's error byte report; 0 = no alarm.
type AlarmBits [8]Alarm

// Alarms are those of the bits that are set.
func (t *AlarmBits) Alarms(bits byte) (a Alarm) {
	for i, alarm := range t {
		if bits>>i&1 != 0 {
			a |= alarm
		}
	}
	return a
}

// Byte has a bit set for each alarm in a.
func (t *AlarmBits) Byte(a Alarm) (bits byte) {
	for i, alarm := range t {
		if alarm&a != 0 {
			bits |= 1 << i
		}
	}
	return bits
}

// ErrNoRegister reports that a device has no such register, by its firmware or on this line.
var ErrNoRegister = errors.New("it has no such register here")

// ErrUnknownModel reports that a device is of a model that its driver does not know.
var ErrUnknownModel = errors.New("a model that is not known here")

// Fault wraps an error of one servo of a bus with its kind; nil stays nil.
func Fault(bus string, id int, op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrDisconnected): // the adapter is a matter of this machine, not of the bus
		return Error(hal.Absent, bus, id, op, err)
	case errors.Is(err, ErrNoReply):
		return Error(hal.Timeout, bus, id, op, err)
	}
	return Error(hal.BusFault, bus, id, op, err)
}

// Error is an error of one servo of a bus. Its text names id 0 too, which hal.Error leaves out.
func Error(kind hal.Kind, bus string, id int, op string, err error) error {
	if id == 0 {
		op = "id 0: " + op
	}
	return &hal.Error{Kind: kind, Bus: bus, ID: id, Op: op, Err: err}
}

// Unequal is ErrDiffers where a register reads back got and want was written; nil where they are equal.
func Unequal(got, want int64) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%w: got %d, want %d", ErrDiffers, got, want)
}
