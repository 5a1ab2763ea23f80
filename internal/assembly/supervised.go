package assembly

import (
	"os"

	"github.com/halyard-robotics/halyard/configs"
)

// Supervised is a real line that another process can switch off.
type Supervised struct {
	File      *os.File // the caller closes it
	TorqueOff []byte
}

// Supervised lists the real lines of servos whose descriptors another process can hold.
func (s *System) Supervised() (list []Supervised, err error) {
	for i := range s.Lines {
		c, ok := s.Lines[i].Chain.(interface {
			TorqueOffTelegram() (*os.File, []byte, error)
		})
		if !ok || s.Lines[i].kind != configs.Real {
			continue
		}
		f, telegram, err := c.TorqueOffTelegram()
		if err != nil {
			return list, err
		}
		if f != nil {
			list = append(list, Supervised{f, telegram})
		}
	}
	return list, nil
}
