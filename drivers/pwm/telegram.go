package pwm

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
	"github.com/halyard-robotics/halyard/servo"
)

// TorqueOffTelegrams returns the bytes that end the pulses of every channel, for a process that supervises this one.
func (d *Maestro) TorqueOffTelegrams() ([]servo.Telegram, error) {
	if d.port.Line == nil {
		return nil, nil
	}
	d.off()
	return servo.Telegrams(d.port.Line, append([]byte(nil), d.send...))
}

// TorqueOffTelegrams returns the bytes that end the pulses of every channel: one write to the chip.
func (d *PCA9685) TorqueOffTelegrams() ([]servo.Telegram, error) {
	file, err := d.chip.File()
	if err != nil || file == nil {
		return nil, err
	}
	return []servo.Telegram{{File: file, Bytes: []byte{pwmreg.PCA9685All + 3, pwmreg.PCA9685Full}}}, nil
}

// TorqueOffTelegrams returns the bytes that switch every channel off: a write to each channel's file.
func (k *Kernel) TorqueOffTelegrams() (list []servo.Telegram, err error) {
	for i := range k.outs {
		file, e := os.OpenFile(filepath.Join(k.outs[i].dir, "enable"), os.O_WRONLY, 0)
		if e != nil {
			err = errors.Join(err, k.fault(hal.BusFault, i, e))
			continue
		}
		list = append(list, servo.Telegram{File: file, Bytes: []byte("0")})
	}
	return list, err
}
