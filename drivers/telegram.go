package drivers

import "github.com/halyard-robotics/halyard/servo"

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
