//go:build unix

package halyard

import (
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/supervise"
)

// Supervise is the supervisor's process; see WithSupervisor. It returns when the process that started it has ended in order,
// or when the torque of its lines was switched off.
func Supervise() error { return supervise.Run() }

// supervise starts the supervisor of the real lines, if WithSupervisor is set and there are real lines. end ends it.
func (s *System) supervise() (end func(), err error) {
	if len(s.supervisor) == 0 {
		return func() {}, nil
	}
	telegrams, without, err := s.sys.Supervised()
	var held []supervise.Line
	for _, t := range telegrams {
		held = append(held, supervise.Line{File: t.File, TorqueOff: t.Bytes, Piece: t.Piece})
		defer t.File.Close()
	}
	if len(without) > 0 {
		s.sys.Log.Warn("not supervised: the process's death does not stop these", "devices", without)
	}
	if err != nil || len(held) == 0 {
		return func() {}, err
	}
	v, err := supervise.Start(s.supervisor, held)
	if err != nil {
		return nil, err
	}
	b := &beats{supervisor: v, rig: s.sys.Rig}
	session := s.sys.Rig.NewSession("supervisor", b)
	return func() {
		session.Close()
		v.Close()
		b.stops.Wait()
	}, nil
}

// beats reports each cycle to the supervisor. A supervisor that has ended may have taken the torque: the rig stops.
type beats struct {
	supervisor *supervise.Supervisor
	rig        *hal.Rig
	ended      bool
	stops      sync.WaitGroup
}

// Cycle implements hal.Observer.
func (b *beats) Cycle(*hal.Cycle) {
	if err := b.supervisor.Beat(); err != nil && !b.ended {
		b.ended = true
		b.stops.Go(func() { b.rig.EmergencyStop(err.Error()) })
	}
}
