package commission

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
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// WalkJoint is one servo of a bus as the config wants it.
type WalkJoint struct {
	Name   string // with its agent's where there are several
	ID     int
	Model  servo.Model
	Writes []servo.Setting // what the config sets and the servo keeps
	Row    *WalkRow        // what became of it; nil = not yet
	line   int             // in the config
}

// Done reports whether its servo is in its place.
func (j *WalkJoint) Done() bool { return j.Row != nil && j.Row.State != WalkSkipped }

// Novice reports whether servos come from the factory with the id that it must have.
func (j *WalkJoint) Novice() bool {
	r := j.Model.Register("id")
	return r != nil && int64(j.ID) == r.Default
}

// JointsOn are the servos of a config's bus, in the order of the file, but for the one whose id all servos come with:
// that is the last, so that those before it can stay on the line when a new one joins them.
func JointsOn(buses catalog.Buses, c *configs.Config, bus string) ([]WalkJoint, error) {
	var list []WalkJoint
	var faults configs.Faults
	line := buses.Of(c.Buses[bus].Type)
	for _, r := range c.Robots() {
		if r.Hardware == nil {
			continue
		}
		at, prefix := r.Path.Key("hardware").Key("joints"), ""
		if r.Class || len(c.Agents) > 1 {
			prefix = r.Name + "/"
		}
		for _, name := range report.SortedKeys(r.Hardware.Joints) {
			joint := r.Hardware.Joints[name]
			if joint.Bus != bus || joint.Device != "" {
				continue
			}
			// a bad file is a model that no bus carries
			model, _, _ := plan.ServoOf(c, buses, joint.Model)
			j := WalkJoint{Name: prefix + name, ID: joint.ID, Model: line.Lookup(model)}
			j.line = c.Fault(at.Key(name), "", "", "").Line
			if j.Model == nil {
				faults.Add(c.Fault(at.Key(name).Key("model"), joint.Model, "a servo that speaks "+c.Buses[bus].Type,
					"halyard validate "+c.Source))
				continue
			}
			if _, ok := j.Model.BaudCode(c.Buses[bus].Baud); !ok {
				faults.Add(c.Fault(configs.Path("buses").Key(bus).Key("baud"), strconv.Itoa(c.Buses[bus].Baud),
					"a rate of the "+joint.Model+": "+ratesOf(j.Model), ""))
			}
			for _, register := range report.SortedKeys(joint.Registers) {
				// What is lost with the power is written at every start.
				if r := j.Model.Register(register); r == nil || r.Access == servo.EEPROM {
					j.Writes = append(j.Writes, servo.Setting{Register: register,
						Value: int64(joint.Registers[register])})
				}
			}
			list = append(list, j)
		}
	}
	if len(list) == 0 && len(faults) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Bus: bus, Op: "setup",
			Err: errors.New("no joint of the config is connected to it"), Try: "halyard configs " + c.Source}
	}
	order := func(j *WalkJoint) int {
		if j.Novice() {
			return math.MaxInt
		}
		return j.line
	}
	slices.SortStableFunc(list, func(a, b WalkJoint) int { return cmp.Compare(order(&a), order(&b)) })
	return list, faults.Err()
}

// Holds reports whether the servo has all settings already.
func (s *Setup) Holds(ctx context.Context) (bool, error) {
	if len(s.Writes) == 0 {
		return true, nil
	}
	spots, err := s.Find(ctx, s.ID, false)
	if err != nil || len(spots) == 0 || spots[0].Model == nil {
		return false, err
	}
	for _, w := range s.Writes {
		if spots[0].Model.Register(w.Register) == nil {
			return false, nil // start reports it
		}
		if v, err := ReadOne(&spots[0], s.ID, w.Register); err != nil || v != w.Value {
			return false, err
		}
	}
	return true, nil
}

// SettingsText is ", max_voltage=84" of settings, for a person.
func SettingsText(list []servo.Setting) string {
	var b strings.Builder
	for _, w := range list {
		fmt.Fprintf(&b, ", %s=%d", w.Register, w.Value)
	}
	return b.String()
}

// Named is the model of f as a person reads it.
func (f *FoundServo) Named() string {
	switch {
	case f.Model != "":
		return f.Model
	case f.Type != "" && f.Number == 0:
		return "a " + f.Type + " servo"
	}
	return fmt.Sprintf("model %d", f.Number)
}

func (f *FoundServo) Article() string {
	if f.Model == "" {
		return f.Named() + ", which is not known here"
	}
	return Article(f.Model)
}

// Article is a name with its article. Models are spelt, letter by letter.
func Article(name string) string {
	if name != "" && strings.ContainsRune("aefhilmnorsx", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// longestInput bounds a line that a person types.
const longestInput = 1024

// Asker reads lines of an input, one at a time.
type Asker struct {
	lines   *bufio.Scanner
	pending chan answer // of a read that outlived its Line; nil = none
}

type answer struct {
	text string
	err  error
}

func NewAsker(in io.Reader) *Asker {
	a := &Asker{lines: bufio.NewScanner(in)}
	a.lines.Buffer(make([]byte, 0, longestInput), longestInput)
	return a
}

// Line waits for the next line and returns it without spaces around it. A read of a terminal cannot be called off:
// where ctx ends first, the next Line gets its answer.
func (a *Asker) Line(ctx context.Context) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if a.pending == nil {
		got := make(chan answer, 1)
		a.pending = got
		go func() {
			if a.lines.Scan() {
				got <- answer{text: strings.TrimSpace(a.lines.Text())}
				return
			}
			got <- answer{err: cmp.Or(a.lines.Err(), io.EOF)}
		}()
	}
	select {
	case x := <-a.pending:
		a.pending = nil
		if err := ctx.Err(); errors.Is(err, context.Canceled) { // Ctrl-C may end the input too
			return "", err
		}
		return x.text, x.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
