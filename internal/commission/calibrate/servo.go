package calibrate

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// ConvertServo writes the servo file from as a parameter file of BAM, or such a file as a servo file. name is the
// servo's name if BAM's file lacks it. lost describes the data that the written file cannot hold.
func ConvertServo(from, name, to string, now time.Time) (lost []string, err error) {
	data, err := yaml.ReadFile(from)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "convert " + from, Err: err}
	}
	if !identify.IsFile(from) {
		s, err := identify.ParseBAM(data, from, name)
		if err != nil {
			return nil, err
		}
		s.Date = now
		return nil, s.Save(to)
	}
	s, err := identify.ParseServo(data, from)
	if err != nil {
		return nil, err
	}
	out, without, err := s.EncodeBAM()
	if err != nil {
		return nil, err
	}
	for _, l := range without {
		lost = append(lost, l+": BAM's models do not have it")
	}
	return lost, yaml.WriteFile(to, out)
}
