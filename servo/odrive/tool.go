package odrive

import (
	"fmt"
	"strconv"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// tool is the servo.ToolSpec of axes on a serial line.
type tool struct {
	*link
	dialect odrivewire.Dialect
}

func newTool(line servo.Line, cfg servo.ToolConfig) servo.Tool {
	t := &tool{newLink(servo.NewExchange(line, bitsPerByte, odrivewire.MaxLine, 2*odrivewire.MaxLine)), odrivewire.V05}
	return servo.NewTool(cfg, servo.ToolSpec{Exchange: t.Exchange, Identify: t.identify, Read: t.read, Write: t.write,
		Save: t.save, Faults: t.faults})
}

// refusal is an error of kind hal.Invalid; the tool adds bus and id.
func refusal(err error) error { return &hal.Error{Kind: hal.Invalid, Op: "identify", Err: err} }

// failed is err, or servo.ErrNoRegister where the controller replied that it has no such property.
func (t *tool) failed(err error) error {
	if err != nil && t.none {
		return servo.ErrNoRegister
	}
	return err
}

// identify asks for the controller's firmware and hardware, and whether it has the axis. Firmware before 0.5 counts
// encoder steps and is refused.
func (t *tool) identify(axis int) (found servo.Found, err error) {
	var v [3]float64
	for i, p := range [...]odrivewire.Property{odrivewire.FirmwareMajor, odrivewire.FirmwareMinor,
		odrivewire.HardwareMajor} {
		if v[i], err = t.number(p, odrivewire.V05, 0); err != nil && (p != odrivewire.HardwareMajor || !t.none) {
			return found, t.failed(err)
		}
	}
	if v[0] != 0 || v[1] < float64(odrivewire.V05) {
		return found, oldFirmware(refusal(fmt.Errorf("firmware: got %g.%g, want 0.5 or 0.6", v[0], v[1])))
	}
	t.dialect = odrivewire.Dialect(min(v[1], float64(odrivewire.V06)))
	if _, err := t.number(odrivewire.CurrentState, t.dialect, axis); err != nil {
		if t.none {
			err = servo.ErrNoReply // there is a controller, but not this axis of it
		}
		return found, err
	}
	found, err = driver{}.hardware(v[2], "3, 4 or 5")
	found.Firmware = fmt.Sprintf("%g.%g", v[0], v[1])
	return found, err
}

func (t *tool) read(axis int, _ servo.Model, r *servo.Register) (int64, error) {
	path, factor := Path(r, t.dialect, axis)
	if path == "" {
		return 0, servo.ErrNoRegister
	}
	t.Out = odrivewire.AppendLine(t.Out, "r "+path)
	var v [1]float64
	if err := t.numbers(v[:]); err != nil {
		return 0, t.failed(err)
	}
	if !finite(v[0]) {
		return 0, fmt.Errorf("%w: it is %g", servo.ErrNoValue, v[0])
	}
	if r.Name == torqueEnable {
		if v[0] == float64(odrivewire.ClosedLoop) {
			return 1, nil
		}
		return 0, nil
	}
	return r.Round(v[0] * factor), nil
}

// faults reads the error words of an axis and its parts.
func (t *tool) faults(axis int, _ servo.Model) (servo.Report, error) {
	var w odrivewire.ErrorWords
	for _, p := range append([]odrivewire.Part{odrivewire.AxisPart}, odrivewire.Parts(t.dialect)...) {
		v, err := t.number(odrivewire.PartTables[p].Property, t.dialect, axis)
		switch {
		case err == nil && v > 0:
			w[p] = uint64(v)
		case err != nil && !t.none:
			return servo.Report{}, err
		}
	}
	return w.Report(t.dialect), nil
}

const torqueEnable = "torque_enable"

// write writes a property and reads it back. The controller stores it at the next save. It is written only at rest. Of
// torque_enable only 0 may be written.
func (t *tool) write(axis int, m servo.Model, r *servo.Register, v int64) error {
	path, factor := Path(r, t.dialect, axis)
	value := r.SI(v) / factor
	switch {
	case path == "":
		return servo.ErrNoRegister
	case r.Name == torqueEnable && v != 0:
		return servo.ErrNoRegister
	case r.Name == torqueEnable:
		path, value = string(odrivewire.RequestedState.Append(nil, t.dialect, axis)), float64(odrivewire.Idle)
	case r.Access == servo.EEPROM:
		if err := t.resting("write " + r.Name); err != nil {
			return err
		}
	}
	t.Out = odrivewire.AppendLine(t.Out, "w "+path+" "+strconv.FormatFloat(value, 'f', 9, 64))
	if err := t.Exchange.Write(); err != nil {
		return err
	}
	got, err := t.read(axis, m, r)
	if err != nil {
		return err
	}
	return servo.Unequal(got, v)
}

// resting checks that no axis of the controller has torque: with torque it would ignore a save without an error.
func (t *tool) resting(op string) error {
	for axis := range 2 {
		switch state, err := t.number(odrivewire.CurrentState, t.dialect, axis); {
		case err != nil && t.none: // only one axis
		case err != nil:
			return err
		case state != float64(odrivewire.Idle):
			return &hal.Error{Kind: hal.Unsafe, ID: axis, Op: op,
				Err: fmt.Errorf("torque is on at axis %d: saved parameters are writable only with torque off", axis)}
		}
	}
	return nil
}

// save makes the controller store the written values of all its axes. Firmware 0.6 restarts then, which on USB closes
// the port; there is no reply. All axes must be idle.
func (t *tool) save() (restarts bool, err error) {
	t.Out = odrivewire.AppendLine(t.Out, "ss")
	return t.dialect == odrivewire.V06, t.Exchange.Write()
}
