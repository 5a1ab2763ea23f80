package assembly

import (
	"errors"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// stopper is a device that another process can stop by what it writes to a descriptor.
type stopper interface {
	TorqueOffTelegrams() ([]servo.Telegram, error)
}

// Supervised lists what another process writes to stop the real servos, bases and boards, those of real classes
// included: they are open before a client binds them. without names those that have no descriptor. The caller closes
// the files.
func (s *System) Supervised() (list []servo.Telegram, without []string, err error) {
	ask := func(name string, device any) {
		d, ok := device.(stopper)
		if !ok {
			without = append(without, name)
			return
		}
		telegrams, e := d.TorqueOffTelegrams()
		if list, err = append(list, telegrams...), errors.Join(err, e); len(telegrams) == 0 && e == nil {
			without = append(without, name)
		}
	}
	for i := range s.Lines {
		if l := &s.Lines[i]; l.kind == configs.Real {
			ask(l.Name, l.Chain)
		}
	}
	for _, p := range s.Plan.Bases {
		if b := s.bases[p]; b != nil && p.Body == configs.Real {
			ask(p.Config.Bus, b)
		}
	}
	for _, p := range s.Plan.Boards {
		if f := s.feeders[p]; f != nil && p.Body == configs.Real {
			ask(p.Device, f)
		}
	}
	for _, name := range report.SortedKeys(s.outfits) {
		own, lacking, e := s.outfits[name].Supervised()
		list, without, err = append(list, own...), append(without, lacking...), errors.Join(err, e)
	}
	return list, without, err
}
