package assembly

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// LineState is a bus with servos and the counts of its chain.
type LineState struct {
	Name, Body string
	Joints     []string // AGENT/JOINT of its servos
	Stats      servo.Stats
}

// LineStates lists the buses with servos, at a cycle's edge.
func (s *System) LineStates() (list []LineState) {
	for _, l := range s.Lines {
		state := LineState{Name: l.Name, Body: string(l.kind), Stats: l.Chain.Stats()}
		for _, h := range s.Plan.On(l.Name, l.kind) {
			state.Joints = append(state.Joints, s.Plan.JointName(h))
		}
		list = append(list, state)
	}
	return list
}

// Tamper plants a fault in the servo of a joint, at a cycle's edge: "unplugged", "crc p=0.1 for=5s", as emulate's
// --fault without its target. "" ends all faults of the servo. Of a real servo the readings alone can be falsified.
func (s *System) Tamper(agent, joint, text string) error {
	fault := func(err error) error {
		return &hal.Error{Kind: hal.Invalid, Joint: joint, Op: "plant a fault", Err: err}
	}
	for k := range s.Lines {
		l := &s.Lines[k]
		for i, h := range s.Plan.On(l.Name, l.kind) {
			if s.Plan.JointName(h) != agent+"/"+joint {
				continue
			}
			if text == "" {
				l.heal(i)
				return nil
			}
			id := s.Plan.Joint(h).Hardware.ID
			kind, rest, _ := strings.Cut(text, " ")
			f, err := wire.Parse(fmt.Sprintf("%s servo %d %s", kind, id, rest))
			switch {
			case err != nil:
			case l.Emu == nil:
				err = s.rehearse(l, i, f)
			default:
				v, _ := l.Emu.Servos()[i].Register("id")
				f.Target = int(v)
				err = l.Emu.Fault(f)
			}
			if err != nil {
				return fault(err)
			}
			return nil
		}
	}
	return fault(errors.New("got a joint without a servo on a line"))
}

// heal ends all faults of servo i.
func (l *line) heal(i int) {
	if l.Emu == nil {
		l.drill.heal(i)
		return
	}
	l.Emu.Lock()
	defer l.Emu.Unlock()
	for _, k := range wire.Kinds() {
		l.Emu.Heal(k.Kind, i)
	}
}
