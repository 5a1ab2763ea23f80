//go:build unix

package halyard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/supervise"
	"github.com/halyard-robotics/halyard/servo"
)

// Supervise is the supervisor's process; see WithSupervisor. It returns when the process that started it has ended in
// order, or when the torque of its lines was switched off.
func Supervise() error { return supervise.Run() }

// supervise starts the supervisor of the real lines, if WithSupervisor is set and there are real lines. end ends it.
func (s *System) supervise() (end func(), err error) {
	if len(s.supervisor) == 0 {
		return func() {}, nil
	}
	b := &beats{system: s}
	b.ctx, b.cancel = context.WithCancel(s.ending)
	without, err := b.start()
	if len(without) > 0 {
		s.sys.Log.Warn("not supervised: the process's death does not stop these", "devices", without)
	}
	if err != nil {
		b.cancel()
		if errors.Is(err, errNoLines) {
			err = nil
		}
		return func() {}, err
	}
	s.sys.Rig.OnBeat(b.beat)
	s.sys.Rig.AddStopInput(b.input)
	return b.end, nil
}

// beats reports to the supervisor that the rig does not hang. A supervisor that has ended may have taken the torque,
// and one that is silent guards nothing: the rig stops, and stays stopped until the next one holds the lines.
type beats struct {
	system  *System
	timeout time.Duration   // the silence that counts as a hang
	starts  sync.WaitGroup  // of the next supervisor
	ctx     context.Context // ends with the supervision
	cancel  context.CancelFunc

	// Under the rig's lock:
	supervisor *supervise.Supervisor // nil = none holds the lines
	cause      error                 // why
	over       bool
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
	if err == nil && b.timeout == 0 {
		err = b.plan()
	}
	if err != nil {
		return without, err
	}
	v, err := supervise.Start(b.ctx, b.system.supervisor, b.timeout, held)
	rig.BetweenCycles(func() { b.supervisor = v })
	return without, err
}

// plan computes the timeout. A plan that does not keep the guards' deadlines is refused.
func (b *beats) plan() error {
	p, err := plan.Resolve(b.system.sys.Plan.Config, b.system.sys.Plan.Catalog)
	if err == nil {
		b.timeout, err = budget.Hang(p)
	}
	return err
}

// beat is one.
func (b *beats) beat() {
	if v := b.supervisor; v != nil && !b.over {
		b.lost(v, v.Beat())
	}
}

// input is the stop input of the supervision. It is checked before a cycle commands anything.
func (b *beats) input() error {
	if v := b.supervisor; v != nil && !b.over {
		b.lost(v, v.Check())
	}
	if b.supervisor == nil && !b.over {
		return b.cause
	}
	return nil
}

// lost stops the rig where err ends the supervision by v, and starts the next one. Under the rig's lock.
func (b *beats) lost(v *supervise.Supervisor, err error) {
	if err == nil {
		return
	}
	// Busy: it passes by itself.
	b.supervisor, b.cause = nil, &hal.Error{Kind: hal.Busy, Op: "supervise",
		Err: fmt.Errorf("%w: the next supervisor is being started", err)}
	b.starts.Go(func() {
		if rig := b.system.sys.Rig; !rig.Latched() {
			rig.EmergencyStop(err.Error())
		}
		if errors.Is(err, supervise.ErrSilent) {
			v.Kill()
		} else {
			v.Close() // one that took the torque repeats its telegrams for a second
		}
		b.next()
	})
}

// next starts the next supervisor.
func (b *beats) next() {
	log, failed := b.system.sys.Log, false
	for {
		_, err := b.start()
		switch {
		case err == nil:
			log.Info("supervised again")
			return
		case !failed && b.ctx.Err() == nil:
			failed = true
			log.Error("not supervised: no robot moves", "fault", err)
		}
		select {
		case <-b.ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// end ends the supervision in order.
func (b *beats) end() {
	rig := b.system.sys.Rig
	rig.OnBeat(nil)
	rig.BetweenCycles(func() { b.over = true })
	b.cancel()
	b.starts.Wait()
	if b.supervisor != nil {
		b.supervisor.Close()
	}
}
