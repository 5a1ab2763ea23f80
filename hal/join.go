package hal

import (
	"errors"
	"fmt"
)

// Join makes one body of base, which has every joint, and parts, each a body with some of them under the same names.
// A part's joints and sensors take the place of the base's. Twin lets the base's own joints follow theirs, so that the
// simulated rest feels the real arm move.
func Join(base Body, parts ...Body) (Body, error) {
	j := &joined{base: base, layout: base.Layout()}
	owner := make([]bool, len(j.layout.Actuators))
	for _, b := range parts {
		p, err := newPart(j.layout, b)
		if err != nil {
			return nil, err
		}
		for _, a := range p.actuators {
			if owner[a.outer] {
				return nil, fmt.Errorf("join: joint %q: in two parts, want one part", j.layout.Actuators[a.outer].Name)
			}
			owner[a.outer] = true
		}
		j.parts = append(j.parts, p)
	}
	return j, nil
}

type joined struct {
	layout *Layout
	base   Body
	parts  []part
}

type part struct {
	body      Body
	frame     *Frame
	inputs    []pair
	measured  []pair
	actuators []pair
	status    []pair
}

// pair is the index of one thing in the whole body and in the part.
type pair struct{ outer, inner int }

// newPart finds everything of b by name in the layout of the whole.
func newPart(whole *Layout, b Body) (part, error) {
	l := b.Layout()
	p := part{body: b, frame: NewFrame(l)}
	channels := func(inner, outer int, name func(*Layout, int) string) (pairs []pair, err error) {
		for i := range inner {
			k := 0
			for k < outer && name(whole, k) != name(l, i) {
				k++
			}
			if k == outer {
				return nil, fmt.Errorf("join: %q: not in the whole body", name(l, i))
			}
			pairs = append(pairs, pair{k, i})
		}
		return pairs, nil
	}
	var errs [3]error
	p.inputs, errs[0] = channels(len(l.Inputs), len(whole.Inputs),
		func(l *Layout, i int) string { return l.Inputs[i].Name })
	p.measured, errs[1] = channels(len(p.frame.Measured), len(whole.Outputs)+len(whole.Infos),
		func(l *Layout, i int) string { return l.Measured(i).Name })
	p.actuators, errs[2] = channels(len(l.Actuators), len(whole.Actuators),
		func(l *Layout, i int) string { return l.Actuators[i].Name })
	p.status = append(p.status, p.actuators...)
	for i := range l.Sensors {
		for k := range whole.Sensors {
			if whole.Sensors[k].Name == l.Sensors[i].Name {
				p.status = append(p.status, pair{len(whole.Actuators) + k, len(l.Actuators) + i})
			}
		}
	}
	return p, errors.Join(errs[:]...)
}

func (j *joined) Layout() *Layout { return j.layout }

func (j *joined) Write(f *Frame) error {
	err := j.base.Write(f)
	for i := range j.parts {
		p := &j.parts[i]
		p.frame.Time = f.Time
		for _, x := range p.inputs {
			p.frame.Inputs[x.inner] = f.Inputs[x.outer]
		}
		for _, x := range p.actuators {
			p.frame.Enable[x.inner] = f.Enable[x.outer]
		}
		err = join2(err, p.body.Write(p.frame))
	}
	return err
}

func (j *joined) Read(f *Frame) error {
	err := j.base.Read(f)
	for i := range j.parts {
		p := &j.parts[i]
		p.frame.Time = f.Time
		err = join2(err, p.body.Read(p.frame))
		for _, x := range p.measured {
			f.Measured[x.outer] = p.frame.Measured[x.inner]
		}
		for _, x := range p.status {
			f.Status[x.outer] = p.frame.Status[x.inner]
		}
	}
	return err
}

func (j *joined) Halt() error {
	errs := []error{j.base.Halt()}
	for i := range j.parts {
		errs = append(errs, j.parts[i].body.Halt())
	}
	return errors.Join(errs...)
}

// Holding implements TorqueReporter for the parts.
func (j *joined) Holding(actuator int) bool {
	for i := range j.parts {
		for _, x := range j.parts[i].actuators {
			if h, ok := j.parts[i].body.(TorqueReporter); ok && x.outer == actuator {
				return h.Holding(x.inner)
			}
		}
	}
	return false
}
