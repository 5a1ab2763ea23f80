package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// walkJoint is one servo of a bus as the config wants it.
type walkJoint struct {
	name   string // with its agent's where there are several
	id     int
	model  servoModel
	writes []servo.Setting // what the config sets and the servo keeps
	row    *walkRow        // what became of it; nil = not yet
	line   int             // in the config
}

// done tells whether its servo is in its place.
func (j *walkJoint) done() bool { return j.row != nil && j.row.State != walkSkipped }

// novice tells whether servos come from the factory with the id that it shall have.
func (j *walkJoint) novice() bool {
	r := j.model.Register("id")
	return r != nil && int64(j.id) == r.Default
}

// jointsOn are the servos of a config's bus, in the order of the file, but for the one whose id all servos come with: that
// is the last, so that those before it can stay on the line when a new one joins them.
func jointsOn(c *configs.Config, bus string) ([]walkJoint, error) {
	var list []walkJoint
	var faults configs.Faults
	for _, r := range c.Robots() {
		if r.Hardware == nil {
			continue
		}
		at, prefix := r.Path.Key("hardware").Key("joints"), ""
		if r.Class || len(c.Agents) > 1 {
			prefix = r.Name + "/"
		}
		for _, name := range sortedKeys(r.Hardware.Joints) {
			joint := r.Hardware.Joints[name]
			if joint.Bus != bus || joint.Device != "" {
				continue
			}
			j := walkJoint{name: prefix + name, id: joint.ID, model: busTypes[c.Buses[bus].Type].lookup(joint.Model)}
			j.line = c.Fault(at.Key(name), "", "", "").Line
			if j.model == nil {
				faults.Add(c.Fault(at.Key(name).Key("model"), joint.Model, "a servo that speaks "+c.Buses[bus].Type, "halyard validate "+c.Source))
				continue
			}
			if _, ok := j.model.BaudCode(c.Buses[bus].Baud); !ok {
				faults.Add(c.Fault(configs.Path("buses").Key(bus).Key("baud"), strconv.Itoa(c.Buses[bus].Baud), "a rate of the "+joint.Model+": "+ratesOf(j.model), ""))
			}
			for _, register := range sortedKeys(joint.Registers) {
				// What is lost with the power is written at every start.
				if r := j.model.Register(register); r == nil || r.Access == servo.EEPROM {
					j.writes = append(j.writes, servo.Setting{Register: register, Value: int64(joint.Registers[register])})
				}
			}
			list = append(list, j)
		}
	}
	if len(list) == 0 && len(faults) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Bus: bus, Op: "setup", Err: errors.New("no joint of the config hangs on it"), Try: "halyard configs " + c.Source}
	}
	order := func(j *walkJoint) int {
		if j.novice() {
			return math.MaxInt
		}
		return j.line
	}
	slices.SortStableFunc(list, func(a, b walkJoint) int { return cmp.Compare(order(&a), order(&b)) })
	return list, faults.Err()
}

// holds tells whether the servo has all settings already.
func (s *setup) holds(ctx context.Context) (bool, error) {
	if len(s.writes) == 0 {
		return true, nil
	}
	spots, err := s.find(ctx, s.id, false)
	if err != nil || len(spots) == 0 || spots[0].model == nil {
		return false, err
	}
	for _, w := range s.writes {
		if spots[0].model.Register(w.Register) == nil {
			return false, nil // start says so
		}
		if v, err := readOne(&spots[0], s.id, w.Register); err != nil || v != w.Value {
			return false, err
		}
	}
	return true, nil
}

// settingsText is ", max_voltage=84" of settings, for a person.
func settingsText(list []servo.Setting) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, ", %s=%d", w.Register, w.Value)
	}
	return b.String()
}

// named is the model of f as a person reads it.
func (f *foundServo) named() string {
	switch {
	case f.Model != "":
		return f.Model
	case f.Type != "" && f.Number == 0:
		return "a " + f.Type + " servo"
	}
	return fmt.Sprintf("model %d", f.Number)
}

func (f *foundServo) article() string {
	if f.Model == "" {
		return f.named() + ", which is not known here"
	}
	return article(f.Model)
}

// article is a name with its article: models are spelt, "an xm430", "an lx-16a".
func article(name string) string {
	if name != "" && strings.ContainsRune("aefhilmnorsx", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// longestInput bounds a line that a person types.
const longestInput = 1024

// asker reads lines of somebody's input, one at a time.
type asker struct{ lines *bufio.Scanner }

func newAsker(in io.Reader) *asker {
	a := &asker{bufio.NewScanner(in)}
	a.lines.Buffer(make([]byte, 0, longestInput), longestInput)
	return a
}

// line waits for the next line and returns it without spaces around it. A read of a terminal cannot be called off: where
// ctx ends first, it is left behind, and ends with the process; nothing may be asked then any more.
func (a *asker) line(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	got := make(chan answer, 1)
	go func() {
		if a.lines.Scan() {
			got <- answer{text: strings.TrimSpace(a.lines.Text())}
			return
		}
		got <- answer{err: cmp.Or(a.lines.Err(), io.EOF)}
	}()
	select {
	case x := <-got:
		return x.text, x.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
