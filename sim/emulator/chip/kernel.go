package chip

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pwm"
)

// kernelPWM is the kernel's PWM as a folder of plain files, for the driver's Root. Unlike the kernel's, its files
// accept any text; it is parsed when a pulse is read.
type kernelPWM struct{ dirs []string }

// NewKernelPWM makes the files of channels, exported and switched off, under root.
func NewKernelPWM(root string, channels ...pwm.KernelChannel) (*kernelPWM, error) {
	k := &kernelPWM{}
	var faults []error
	for _, c := range channels {
		dir := filepath.Join(root, "pwmchip"+strconv.Itoa(c.Chip), "pwm"+strconv.Itoa(c.Output))
		k.dirs = append(k.dirs, dir)
		faults = append(faults, os.MkdirAll(dir, 0o755))
		for _, name := range [...]string{"enable", "duty_cycle", "period"} {
			faults = append(faults, os.WriteFile(filepath.Join(dir, name), []byte("0\n"), 0o644))
		}
	}
	return k, errors.Join(faults...)
}

// Pulse is the pulse width of channel i, 0 without pulses.
func (k *kernelPWM) Pulse(i int) time.Duration {
	if i < 0 || i >= len(k.dirs) || k.number(i, "enable") != 1 || k.number(i, "period") <= 0 {
		return 0
	}
	return time.Duration(min(k.number(i, "duty_cycle"), k.number(i, "period")))
}

// number is the value in a file; only the first line counts, since a shorter text may have been written over a longer
// one.
func (k *kernelPWM) number(i int, name string) int64 {
	text, err := os.ReadFile(filepath.Join(k.dirs[i], name))
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	n, err := strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
