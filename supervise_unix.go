//go:build unix

package halyard

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/supervise"
	"github.com/halyard-robotics/halyard/servo"
)

// Supervise is the supervisor's process; see WithSupervisor. It returns when the process that started it has ended in order,
// or when the torque of its lines was switched off.
func Supervise() error { return supervise.Run() }

// maxSupervisedPeriod leaves a late cycle time for its beat.
const maxSupervisedPeriod = supervise.Timeout * 2 / 3

// supervise starts the supervisor of the real lines, if WithSupervisor is set and there are real lines. end ends it.
func (s *System) supervise() (end func(), err error) {
	if len(s.supervisor) == 0 {
		return func() {}, nil
	}
	b := &beats{system: s, ended: make(chan struct{})}
	without, err := b.start()
	if len(without) > 0 {
		s.sys.Log.Warn("not supervised: the process's death does not stop these", "devices", without)
	}
	if errors.Is(err, errNoLines) {
		return func() {}, nil
	} else if err != nil {
		return nil, err
	}
	if p := s.sys.Rig.Period(); p > maxSupervisedPeriod {
		b.supervisor.Close()
		return nil, &hal.Error{Kind: hal.Invalid, Op: "clock.period", Try: "halyard serve --set clock.period=20ms",
			Err: fmt.Errorf("got %v, want at most %v with real devices: a longer silence counts as a hang", p, maxSupervisedPeriod)}
	}
	s.sys.Rig.OnBeat(b.beat)
	s.sys.Rig.AddStopInput(b.input)
	return func() {
		close(b.ended)
		s.sys.Rig.OnBeat(nil)
		b.starts.Wait()
		if b.supervisor != nil {
			b.supervisor.Close()
		}
	}, nil
}

// beats reports to the supervisor that the rig does not hang. A supervisor that has ended may have taken the torque: the rig stops, and stays
// stopped until the next one holds the lines.
type beats struct {
	system     *System
	supervisor *supervise.Supervisor // nil = none holds the lines; under the rig's lock
	starts     sync.WaitGroup        // of the next one
	ended      chan struct{}
}

var errNoLines = errors.New("no line to supervise")

// start starts a supervisor of the lines that are there. without names the devices that it cannot hold.
func (b *beats) start() (without []string, err error) {
	rig := b.system.sys.Rig
	var telegrams []servo.Telegram
	rig.BetweenCycles(func() { telegrams, without, err = b.system.sys.Supervised() })
	var held []supervise.Line
	for _, t := range telegrams {
		held = append(held, supervise.Line{File: t.File, TorqueOff: t.Bytes, Piece: t.Piece})
		defer t.File.Close()
	}
	if err == nil && len(held) == 0 {
		err = errNoLines
	}
	if err != nil {
		return without, err
	}
	v, err := supervise.Start(b.system.supervisor, held)
	rig.BetweenCycles(func() { b.supervisor = v })
	return without, err
}

// beat is one.
func (b *beats) beat() {
	v := b.supervisor
	if v == nil || v.Beat() == nil {
		return
	}
	b.supervisor = nil
	b.starts.Go(func() {
		if rig := b.system.sys.Rig; !rig.Latched() {
			rig.EmergencyStop(supervise.ErrEnded.Error())
		}
		v.Close() // it repeats its telegrams for a second
		for {
			if _, err := b.start(); err == nil {
				return
			}
			select {
			case <-b.ended:
				return
			case <-time.After(time.Second):
			}
		}
	})
}

// errUnsupervised is of the kind that passes by itself.
var errUnsupervised = &hal.Error{Kind: hal.Busy, Op: "supervise", Err: errors.New("the supervisor has ended and the next one is being started")}

// input is the stop input of the supervision.
func (b *beats) input() error {
	if b.supervisor == nil {
		return errUnsupervised
	}
	return nil
}
