package drivers

import (
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// output is a Joint on a PWM channel, with its state between cycles. It measures nothing. If the layout has a position
// for it, that is the last commanded one, at first the default, marked as an estimate.
type output struct {
	Joint
	name     string
	cal      calibration.Pulse
	mode     hal.Mode      // NoMode: stay where it is
	value    float64       // of mode
	limit    float64       // N·m or N, as commanded last
	position float64       // rad, where it should be
	begun    uint64        // the writer's count that since belongs to
	since    time.Duration // when its pulses began; < 0 = they have not
	halted   bool          // until it is enabled again: an ESC at neutral still has pulses
	regained bool          // its device was away: no pulses until it has not been enabled once
	last     lastFault
	forgot   uint64 // the writer's count that position belongs to
	arms     bool   // its pulses are neutral until its device is armed
}

func newOutput(j Joint, a *hal.Actuator) *output {
	return &output{Joint: j, name: a.Name, cal: *j.Pulse, mode: hal.NoMode, limit: a.Limits.MaxTorque,
		position: a.Default, since: -1}
}

func (o *output) write(f *hal.Frame, a *hal.Actuator, enable bool) {
	if limit := input(f, a.TorqueLimit); !math.IsNaN(limit) {
		o.limit = limit
	}
	if !enable {
		o.mode, o.regained = hal.NoMode, false // regardless of earlier commands, it starts from where it is
	} else {
		o.halted = false
	}
	// The guard sets at most one goal; without one the last stays.
	for m := range hal.NumModes {
		if v := input(f, a.Goal[m]); !math.IsNaN(v) && enable {
			o.mode, o.value = m, v
		}
	}
	o.Writer.Stage(o.Channel, o.pulse(f.Time, a, enable))
}

// pulse is the pulse width of the channel in the cycle at now.
func (o *output) pulse(now time.Duration, a *hal.Actuator, enable bool) time.Duration {
	// A device that came back has lost its channels' pulses: the output must not move because of that.
	_, begun, _ := o.Writer.State()
	if begun != o.begun {
		o.regained = o.regained || o.since >= 0 && enable
		o.begun, o.since = begun, -1
	}
	idle := !enable || o.regained || o.limit <= 0
	o.arms = false
	if o.halted || idle && o.cal.IdleOutput == calibration.IdleNone {
		o.since = -1
		return 0
	}
	if o.since < 0 { // an ESC arms again
		o.since = now
	}
	neutral := o.cal.Width(hal.DutyMode, 0)
	if o.arms = !idle && now-o.since < o.cal.Arming; idle || o.arms {
		return neutral
	}
	width := neutral
	switch o.mode {
	case hal.NoMode:
		if o.cal.Mode == hal.PositionMode {
			width = o.cal.Width(hal.PositionMode, o.position)
		}
	case hal.TorqueMode:
		width = o.cal.Width(o.mode, clamp(o.value, -o.limit, o.limit))
	case hal.DutyMode:
		share := o.limit / a.Limits.MaxTorque
		width = o.cal.Width(o.mode, clamp(o.value, -share, share))
	default:
		width = o.cal.Width(o.mode, o.value)
	}
	if o.cal.Mode == hal.PositionMode {
		o.position = o.cal.Value(width)
	}
	return width
}

func (o *output) read(f *hal.Frame, a *hal.Actuator) hal.Status {
	if n := o.Writer.forgotten(); n != o.forgot {
		o.forgot, o.position, o.mode = n, a.Default, hal.NoMode
	}
	measure(f, a.Position, o.position)
	age, _, err := o.Writer.State()
	op, try := "write", "halyard doctor"
	if err == nil && o.regained {
		op, try, err = "torque", "halyard reset", servo.ErrRegained
	}
	if !o.last.is(err) {
		o.last = lastFault{err, o.describe(op, err, try)}
	}
	s := hal.Status{Time: since(f.Time, age), Err: o.last.fault}
	if o.arms {
		s.Drive = hal.Switching
	}
	return s
}

// since is the time at which a value of this age at now was made; < 0 without a value.
func since(now, age time.Duration) time.Duration {
	if age < 0 {
		return -1
	}
	return max(0, now-age)
}

// describe names the output in err; see joint.describe.
func (o *output) describe(op string, err error, try string) error {
	return (&joint{Joint: o.Joint, name: o.name}).describe(op, err, try)
}

func (o *output) alarm() servo.Alarm      { return 0 }
func (o *output) holding() bool           { return false }
func (o *output) line() (halter, int)     { return o.Writer, o.Channel }
func (o *output) release()                { o.halted, o.mode = true, hal.NoMode }
func (o *output) refused(err error) error { return o.describe("halt", err, "cut its power") }

// lastFault keeps the explanation of the error that was explained last, so that a fault that lasts allocates once.
type lastFault struct{ err, fault error }

// is reports whether err is the error that l explains; false for a nil err.
func (l *lastFault) is(err error) bool {
	if err == nil {
		*l = lastFault{}
	}
	return err == nil || same(l.err, err)
}

// checkPulse reports faults of j as the output of a, given the joints before it.
func (j *Joint) checkPulse(a *hal.Actuator, l *hal.Layout, before []Joint,
	fault func(hal.Kind, string, string, ...any)) {
	for k := range before {
		if before[k].Writer == j.Writer && before[k].Channel == j.Channel {
			fault(hal.Invalid, "", "channel %d: got the one of %q, want its own", j.Channel, l.Actuators[k].Name)
		}
	}
	if n := j.Writer.config.Channels; j.Channel < 0 || j.Channel >= n {
		fault(hal.Invalid, "", "channel: got %d, want 0..%d", j.Channel, n-1)
	}
	p := j.Pulse
	if p == nil {
		fault(hal.Uncalibrated, "halyard doctor", "a real output needs a calibration, got none")
		return
	}
	if err := p.Validate(); err != nil {
		fault(hal.Invalid, "", "calibration: %w", err)
		return
	}
	if p.Device.Channel != j.Channel {
		fault(hal.Uncalibrated, "halyard doctor", "calibration: got one of channel %d, want of %d", p.Device.Channel,
			j.Channel)
	}
	for m, in := range a.Goal {
		if in != hal.None && !p.Takes(hal.Mode(m)) {
			fault(hal.Invalid, "", "mode %v: the calibration maps no pulses to it", hal.Mode(m))
		}
	}
}

// nominalPulse is the calibration of an output without measured values, for actuator a: a servo over its limits, or an
// ESC with force linear in the pulse width.
func nominalPulse(a *hal.Actuator, j *Joint) *calibration.Pulse {
	c := calibration.Channel{Model: "output", Channel: j.Channel}
	if a.Goal[hal.PositionMode] != hal.None {
		return calibration.NominalServo(a.Name, c, a.Limits.MinPosition, a.Limits.MaxPosition)
	}
	force := a.Limits.MaxTorque
	return calibration.NominalThruster(a.Name, c, []calibration.Width{
		{Micros: 1100, Value: -force}, {Micros: 1472}, {Micros: 1528}, {Micros: 1900, Value: force}})
}

// estimated is l with the positions of outputs marked as estimates. It does not change l.
func estimated(l *hal.Layout, joints []Joint) *hal.Layout {
	if !slices.ContainsFunc(joints, func(j Joint) bool { return j.Writer != nil }) {
		return l
	}
	whole := *l
	whole.Outputs, whole.Infos = slices.Clone(l.Outputs), slices.Clone(l.Infos)
	for i := range joints {
		if at := l.Actuators[i].Position; joints[i].Writer != nil && at != hal.None {
			whole.Measured(at).Estimate = true
		}
	}
	return &whole
}

// TorqueOffTelegrams returns the bytes that end all pulses of the output, for a process that supervises this one; empty
// if the output has none or is lost.
func (f *OutputWriter) TorqueOffTelegrams() ([]servo.Telegram, error) {
	o, ok := f.output.(interface {
		TorqueOffTelegrams() ([]servo.Telegram, error)
	})
	if !ok {
		return nil, nil
	}
	f.io <- struct{}{}
	defer func() { <-f.io }()
	return o.TorqueOffTelegrams()
}
