package pwm

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
)

// KernelRoot is where the kernel shows its PWM (Documentation/driver-api/pwm.rst).
const KernelRoot = "/sys/class/pwm"

// KernelChannel names one channel: number of the chip and of its output.
type KernelChannel struct{ Chip, Output int }

// KernelConfig reports which channels there are and how they pulse.
type KernelConfig struct {
	Root     string // "" = KernelRoot
	Channels []KernelChannel
	Period   time.Duration // of the pulses; 0 = 20 ms
	Clock    hal.Clock     // for the wait of Open; nil = the wall's
}

// Kernel is channels of the kernel's PWM. It is a drivers.Output. The widths are as exact as the hardware behind it,
// nanoseconds where it is a timer. Its files stay open between two writes.
type Kernel struct {
	config KernelConfig
	outs   []kernelOut
	text   []byte
	write  func(path, text string) error // writeFile; tests put the kernel's rules here
}

// kernelOut is one channel's open files; nil where they are not.
type kernelOut struct {
	dir          string
	duty, enable *os.File
	on           bool
	wrote        time.Duration
}

// Timeout after an export until a user may write to the channel: udev sets its group.
const (
	exportTimeout = 500 * time.Millisecond
	exportStep    = 10 * time.Millisecond
)

// NewKernel returns the channels. It does no I/O. The error is hal.Invalid.
func NewKernel(c KernelConfig) (*Kernel, error) {
	c.Root = cmp.Or(c.Root, KernelRoot)
	c.Period = cmp.Or(c.Period, 20*time.Millisecond)
	c.Clock = cmp.Or(c.Clock, i2c.Clock())
	k := &Kernel{config: c, outs: make([]kernelOut, len(c.Channels)), write: writeFile}
	for i, ch := range c.Channels {
		if ch.Chip < 0 || ch.Output < 0 {
			return nil, k.fault(hal.Invalid, i, errors.New("got a number below 0"))
		}
		k.outs[i].dir = filepath.Join(c.Root, "pwmchip"+strconv.Itoa(ch.Chip), "pwm"+strconv.Itoa(ch.Output))
	}
	if c.Period < 2*time.Millisecond || c.Period > time.Second || len(c.Channels) == 0 {
		return nil, k.fault(hal.Invalid, -1, fmt.Errorf("got %d channels of period %v, want 1 or more of 2ms..1s",
			len(c.Channels), c.Period))
	}
	return k, nil
}

func (k *Kernel) fault(kind hal.Kind, channel int, err error) error {
	e := &hal.Error{Kind: kind, Bus: k.config.Root, Op: "pwm", Err: err}
	if channel >= 0 {
		c := k.config.Channels[channel]
		e.Op = fmt.Sprintf("pwm: chip %d output %d", c.Chip, c.Output)
	}
	switch {
	case kind != hal.BusFault:
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Try = hal.Absent, "ls "+k.config.Root
	case errors.Is(err, fs.ErrPermission):
		e.Kind, e.Try = hal.Busy, "halyard ports --udev"
	}
	return e
}

// Open exports the channels that are not yet, waits up to half a second for their files, and sets the period, without
// pulses.
func (k *Kernel) Open() error {
	if err := k.Close(); err != nil {
		return err
	}
	var first error
	for i := range k.outs { // also behind one that is gone: no channel may keep its pulses
		if err := k.openOut(i, first == nil); err != nil && first == nil {
			first = k.fault(hal.BusFault, i, err)
		}
	}
	return first
}

// openOut opens channel i. wait: its files may come yet.
func (k *Kernel) openOut(i int, wait bool) error {
	o := &k.outs[i]
	// A channel that is exported already may be another program's work of before; exporting it twice is an error.
	if _, err := os.Stat(o.dir); errors.Is(err, fs.ErrNotExist) {
		export := filepath.Join(filepath.Dir(o.dir), "export")
		if err := k.write(export, strconv.Itoa(k.config.Channels[i].Output)); err != nil {
			return err
		}
	}
	// No channel runs while it is set up, and the old duty must not be longer than the new period. The kernel refuses
	// both (EINVAL) while a channel has no period, as after its export; it then has neither pulses nor a duty.
	steps := [...]struct {
		file, value string
		fresh       bool // refused by a channel without a period
	}{{"enable", "0", true}, {"duty_cycle", "0", true},
		{"period", strconv.FormatInt(int64(k.config.Period), 10), false},
		{"duty_cycle", "0", false}, {"enable", "0", false}}
	until := k.config.Clock.Now() + exportTimeout
	for s := 0; s < len(steps); {
		err := k.write(filepath.Join(o.dir, steps[s].file), steps[s].value)
		switch {
		case err == nil, steps[s].fresh && errors.Is(err, syscall.EINVAL):
			s++
		case !wait || k.config.Clock.Now() >= until || !errors.Is(err, fs.ErrPermission) &&
			!errors.Is(err, fs.ErrNotExist):
			return err
		default:
			i2c.Sleep(k.config.Clock, exportStep)
		}
	}
	// Another program may have left it inverted, which makes 18.5 ms of 1.5. Not every chip can be.
	polarity := filepath.Join(o.dir, "polarity")
	if was, err := os.ReadFile(polarity); err == nil && !bytes.HasPrefix(was, []byte("normal")) {
		if err := k.write(polarity, "normal"); err != nil {
			return err
		}
	}
	var err error
	if o.duty, err = os.OpenFile(filepath.Join(o.dir, "duty_cycle"), os.O_WRONLY, 0); err != nil {
		return err
	}
	o.enable, err = os.OpenFile(filepath.Join(o.dir, "enable"), os.O_RDWR, 0)
	o.on, o.wrote = false, 0
	return err
}

// Probe checks that every channel exists and may be used. It writes nothing, so pulses do not change.
func (k *Kernel) Probe() error {
	for i := range k.outs {
		if err := k.probeOut(i); err != nil {
			return k.fault(hal.BusFault, i, err)
		}
	}
	return nil
}

func (k *Kernel) probeOut(i int) error {
	dir, output := k.outs[i].dir, k.config.Channels[i].Output
	chip := filepath.Dir(dir)
	if _, err := os.Stat(chip); err != nil {
		return err
	}
	if text, err := os.ReadFile(filepath.Join(chip, "npwm")); err == nil {
		if n, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil && output >= n {
			return fmt.Errorf("got output %d, want 0..%d: %w", output, n-1, fs.ErrNotExist)
		}
	}
	path := filepath.Join(dir, "enable")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		path = filepath.Join(chip, "export")
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// writeFile writes to what is there; it makes no file.
func writeFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Write sets each channel's pulse; a channel without one is switched off. Unchanged values are not written. A channel
// that fails does not keep the others from theirs; the error is the first one's.
func (k *Kernel) Write(pulses []time.Duration) error {
	var first error
	for i := range k.outs {
		// The channels' files are written one after the other, about 20 µs apart; a PCA9685 changes all channels at
		// once.
		pulse := time.Duration(0)
		if i < len(pulses) {
			pulse = pulses[i]
		}
		if err := k.writeOut(i, pulse); first == nil {
			first = err
		}
	}
	return first
}

func (k *Kernel) writeOut(i int, pulse time.Duration) error {
	o := &k.outs[i]
	if o.duty == nil || o.enable == nil {
		return k.fault(hal.Absent, i, os.ErrClosed)
	}
	if pulse < 0 || pulse >= k.config.Period {
		return k.fault(hal.Invalid, i, fmt.Errorf("pulse: got %v, want less than %v", pulse, k.config.Period))
	}
	// The width first: a channel that is switched on begins with the right one.
	if pulse != o.wrote {
		if err := k.put(o.duty, int64(pulse)); err != nil {
			return k.fault(hal.BusFault, i, err)
		}
		o.wrote = pulse
	}
	if on := pulse > 0; on != o.on {
		if err := k.put(o.enable, flag(on)); err != nil {
			return k.fault(hal.BusFault, i, err)
		}
		o.on = on
	}
	return nil
}

func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// put writes v at the beginning of f, as the kernel wants it.
func (k *Kernel) put(f *os.File, v int64) error {
	k.text = append(strconv.AppendInt(k.text[:0], v, 10), '\n')
	_, err := f.WriteAt(k.text, 0)
	return err
}

// Off switches every channel off and reads back whether it is.
func (k *Kernel) Off() []error {
	errs := make([]error, len(k.outs))
	for i := range k.outs {
		if err := k.off(&k.outs[i]); err != nil {
			errs[i] = k.fault(hal.BusFault, i, err)
		}
	}
	return errs
}

func (k *Kernel) off(o *kernelOut) error {
	o.on, o.wrote = false, -1 // even after an error, the next Write writes everything
	// By a file of its own: the open ones may be those of a device that is gone and has come back.
	path := filepath.Join(o.dir, "enable")
	if _, err := os.Stat(o.dir); errors.Is(err, fs.ErrNotExist) && o.enable == nil {
		return nil // a channel that is not exported has no pulses of ours
	}
	if err := k.write(path, "0"); err != nil {
		return err
	}
	state, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if got := string(bytes.TrimSpace(state)); got != "0" {
		return fmt.Errorf("enable: got %q, want 0", got)
	}
	return nil
}

// Close gives the files back and leaves the channels as they are.
func (k *Kernel) Close() error {
	var faults []error
	for i := range k.outs {
		o := &k.outs[i]
		for _, f := range [...]**os.File{&o.duty, &o.enable} {
			if *f != nil {
				faults = append(faults, (*f).Close())
				*f = nil
			}
		}
	}
	return errors.Join(faults...)
}
