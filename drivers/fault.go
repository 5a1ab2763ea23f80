package drivers

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// cache keeps the errors that a joint had last, so that a fault that lasts or flickers allocates once. An error that
// was handed out never changes: an observer may still read it.
type cache struct {
	entries [4]struct {
		err    error
		report servo.Report
		fault  error
	}
	next int
}

// fault is the error in the joint's Status for its servo's state; nil without a fault. A goal beyond a limit is only in
// Alarms: it is an error of the command, and ends with the next one.
func (j *joint) fault(err error, report servo.Report) error {
	report.Alarm &^= servo.AlarmRange
	if err == nil && report.Alarm == 0 {
		return nil
	}
	for i := range j.cache.entries {
		e := &j.cache.entries[i]
		if e.fault != nil && e.report == report && (err == nil && e.err == nil || same(e.err, err)) {
			return e.fault
		}
	}
	// A servo has few ways to fail at a time; the oldest makes room.
	e := &j.cache.entries[j.cache.next%len(j.cache.entries)]
	j.cache.next++
	e.err, e.report, e.fault = err, report, j.explain(err, report)
	return e.fault
}

// explain is the error of the joint with its place and a command to try.
func (j *joint) explain(err error, report servo.Report) error {
	switch {
	case err == nil:
		try := "halyard reset" // only a command clears a latched alarm
		if report.Alarm == servo.AlarmVoltage {
			try = "halyard doctor" // a reset does not mend the supply
		}
		return j.describe("alarm", errors.New(report.String()), try)
	case report.Alarm != 0:
		err = fmt.Errorf("%w; alarm before: %v", err, report)
	case err == j.Chain.State(j.Index).Inhibit:
		return j.describe("torque", err, "halyard reset") // disarms; then it may be armed
	}
	// Without the adapter a scan is impossible.
	try := "halyard ports"
	if j.Port != "" && !errors.Is(err, servo.ErrDisconnected) {
		try = "halyard scan " + j.Port
	}
	return j.describe("read", err, try)
}

// describe names the joint in err. An error that the chain has explained keeps its own words.
func (j *joint) describe(op string, err error, try string) error {
	e := hal.Error{Kind: hal.BusFault, Op: op, Err: err}
	if known, ok := err.(*hal.Error); ok {
		e = *known
	} else if kind := hal.KindOf(err); kind != hal.Unexpected {
		e.Kind = kind
	}
	e.Joint = j.name
	e.Bus = cmp.Or(e.Bus, j.Bus)
	if e.ID <= 0 {
		e.ID = j.ID
	}
	e.Try = cmp.Or(e.Try, try)
	return &e
}
