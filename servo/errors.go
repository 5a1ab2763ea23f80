package servo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// ErrDisconnected reports that the adapter itself has vanished: unplugged, or its other end closed.
var ErrDisconnected = errors.New("adapter gone")

var (
	alarmNames = [...]string{"voltage", "heat", "overload", "electrical", "encoder", "range"}
	alarmFixes = [...]string{"check its supply", "let it cool down, and take load off the joint",
		"take the load away and look for what blocks the joint", "switch off and check its cables and its supply",
		"check its encoder, magnet and their cable", "keep goals within its limits"}
)

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

// faultBit is one fault of a vendor's fault word.
type faultBit struct {
	Bits  uint64
	Name  string // the vendor's own, as its documents have it
	Alarm Alarm  // our class of it
	Fix   string // what its maker says to do; "" = what the class calls for
}

// Bit returns a row of a FaultTable.
func Bit(bits uint64, name string, a Alarm, fix string) faultBit { return faultBit{bits, name, a, fix} }

// FaultTable lists the faults of a vendor's fault word.
type FaultTable []faultBit

// Alarm is the classes of the bits that are set and in the table.
func (t FaultTable) Alarm(bits uint64) (a Alarm) {
	for i := range t {
		if bits&t[i].Bits != 0 {
			a |= t[i].Alarm
		}
	}
	return a
}

// Bits are those of the first fault of each class in a.
func (t FaultTable) Bits(a Alarm) (bits uint64) {
	for i := range t {
		if t[i].Alarm&a != 0 {
			bits |= t[i].Bits
			a &^= t[i].Alarm
		}
	}
	return bits
}

// Report is the faults whose bits are set; a bit that is not in the table is of class electrical. prefix is the part of
// the device that they are of; "" = the device.
func (t FaultTable) Report(prefix string, bits uint64) (r Report) {
	var names, fixes []string
	left := bits
	for i := range t {
		if left&t[i].Bits == 0 {
			continue
		}
		left &^= t[i].Bits
		r.Alarm |= t[i].Alarm
		names = append(names, t[i].Name)
		if fix := cmp.Or(t[i].Fix, t[i].Alarm.Fix()); !slices.Contains(fixes, fix) && fix != "" {
			fixes = append(fixes, fix)
		}
	}
	if left != 0 {
		names, r.Alarm = append(names, "a fault that its maker's list does not have"), r.Alarm|AlarmShock
	}
	if bits != 0 {
		r.Fault = fmt.Sprintf("%s%s (%#x)", prefix, strings.Join(names, ", "), bits)
	}
	r.Fix = strings.Join(fixes, "; ")
	return r
}

// Report is what a device reports of its faults: the vendor's names, what its maker says to do, and our classes. The
// zero Report is no fault. It changes only with the faults, so that its texts are made once.
type Report struct {
	Alarm Alarm  // classes of the faults
	Fault string // "" = what Alarm says is all that is known
	Fix   string
	// Spares: none of them takes the torque, by the device's own settings.
	Spares bool
	code   uint64
}

// Set makes r the report of bits by t, and does nothing where it is already.
func (r *Report) Set(t FaultTable, bits uint64) {
	if r.code != bits || bits != 0 && r.Alarm == 0 && r.Fault == "" {
		*r = t.Report("", bits)
		r.code = bits
	}
}

// Join adds the faults of more to r.
func (r *Report) Join(more Report) {
	r.Alarm |= more.Alarm
	r.Fault, r.Fix = joined(r.Fault, more.Fault, ", "), joined(r.Fix, more.Fix, "; ")
}

func joined(a, b, between string) string {
	if a == "" || b == "" || a == b {
		return a + strings.TrimPrefix(b, a)
	}
	return a + between + b
}

// String is the vendor's names with our classes behind them, "none" where there is no fault.
func (r Report) String() string {
	if r.Fault == "" {
		return r.Alarm.String()
	}
	if r.Alarm == 0 {
		return r.Fault
	}
	return r.Fault + ": " + r.Alarm.String()
}

// Left is the error of a device that was asked to clear its faults and still has r; nil where r is no fault.
func (r Report) Left() error {
	if r.Alarm == 0 && r.Fault == "" {
		return nil
	}
	return &hal.Error{Kind: hal.BusFault, Op: "clear", Err: fmt.Errorf("still there: %v", r), Try: r.Fix}
}

// Fix is what the classes of a call for.
func (a Alarm) Fix() string {
	var list []string
	for i, fix := range alarmFixes {
		if a&(1<<i) != 0 {
			list = append(list, fix)
		}
	}
	return strings.Join(list, "; ")
}

// ErrNoRegister reports that a device has no such register, by its firmware or on this line.
var ErrNoRegister = errors.New("it has no such register here")

// ErrNoValue reports that a register holds no finite number.
var ErrNoValue = errors.New("no number")

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
