package halyard

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Expose serves the lines of emulated servos on pseudo-terminals, with a link DIR/BUS to each, while the system's own
// drivers use them. So tools can read and write registers while a rig runs. A tool's transfer waits for the end of a
// cycle and takes the line's time; many transfers make the rig miss periods, as on a real line. halyard hand DIR works
// too. Call it once, before Run; it lasts until Close. The error is hal.Busy if another process uses the folder, and
// hal.Invalid for a config without emulated servos on a line. Linux only.
func (s *System) Expose(dir string) (ports []Port, err error) {
	const flag = "--expose"
	if s.exposed != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: flag, Err: errors.New("the lines are exposed already")}
	}
	w := s.sys.Exposed()
	if w == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: flag,
			Err: errors.New("got a config without emulated servos on a line"), Try: "--body emulated"}
	}
	ctx, cancel := context.WithCancel(context.Background())
	hand, err := serveHand(flag, dir, func(order string) (answer any) {
		s.sys.Rig.BetweenCycles(func() { answer = w.Hand(order) })
		return answer
	})
	if err != nil {
		cancel()
		return nil, err
	}
	ends := []func() error{hand}
	s.exposed = func() (fault error) {
		cancel()
		for _, end := range ends {
			fault = errors.Join(fault, end())
		}
		return fault
	}
	c := s.Config()
	terminals := w.SharedTerminals(s.sys.Rig.BetweenCycles)
	for _, t := range terminals {
		path, wait, err := t.Serve(ctx, filepath.Join(dir, t.Name))
		if err != nil {
			return nil, &hal.Error{Kind: hal.Busy, Bus: t.Name, Op: flag, Err: err}
		}
		ends = append(ends, wait)
		ports = append(ports, Port{Bus: t.Name, Type: c.Buses[t.Name].Type, Path: path, Baud: c.Buses[t.Name].Baud,
			Servos: true})
	}
	for _, name := range report.SortedKeys(c.Buses) {
		if !slices.ContainsFunc(ports, func(p Port) bool { return p.Bus == name }) {
			bus := c.Buses[name]
			ports = append(ports, Port{Bus: name, Type: bus.Type, Reason: s.sys.Unexposed(name)})
		}
	}
	return ports, nil
}
