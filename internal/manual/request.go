package manual

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Op is the kind of a request.
type Op string

const (
	Move  Op = "move"  // joints to Goals, smoothly and all at the same time
	Play  Op = "play"  // joints along Motion, after they have moved to its start
	Watch Op = "watch" // report positions; nothing is commanded
	Guide Op = "guide" // report positions while joints with a low torque follow a hand
	Hold  Op = "hold"  // all joints where they are
)

// Request is what an operator asks of a rig.
type Request struct {
	Op       Op                `json:"op"`
	Goals    map[string]string `json:"goals,omitempty"` // of Move: JOINT or AGENT/JOINT, "30deg", "0.5", "40mm"
	Relative bool              `json:"relative,omitempty"`
	Units    report.Units      `json:"units,omitempty"` // of numbers without a unit
	Speed    string            `json:"speed,omitempty"` // at most; "20deg/s", "50mm/s" or both with a comma; "" = slow
	Pace     float64           `json:"pace,omitempty"`  // of Play: times the recorded pace; 0 = 1
	Motion   *Motion           `json:"motion,omitempty"`
}

// The speeds of a request without one, and how far a goal may be ahead of a joint before the path waits for it.
const (
	hingeSpeed = 0.5  // rad/s
	slideSpeed = 0.05 // m/s
	hingeLead  = 0.35 // rad
	slideLead  = 0.03 // m
	hingeNear  = 0.09 // rad; a loaded servo rests a few degrees from its goal
	slideNear  = 0.005
	maxPace    = 10
)

// Joint is a joint of a request and how it does.
type Joint struct {
	Agent    string        `json:"agent"`
	Joint    string        `json:"joint"`
	Body     string        `json:"body"`
	From     report.Number `json:"from"`
	Goal     report.Number `json:"goal"`
	Position report.Number `json:"position"`
	Unit     string        `json:"unit"` // rad or m
}

// Cells implements report.Row.
func (j Joint) Cells() report.Cells {
	value := func(n report.Number) report.Value { return report.Value{Number: n, Unit: j.Unit} }
	return report.Cells{{"agent", j.Agent}, {"joint", j.Joint}, {"from", value(j.From)}, {"goal", value(j.Goal)},
		{"position", value(j.Position)}, {"error", value(j.Goal - j.Position)}}
}

// Update is a report during a request; the last one has Done, or the error that ended it.
type Update struct {
	Time   float64  `json:"t_s"` // since the request
	Joints []Joint  `json:"joints"`
	Done   bool     `json:"done,omitempty"`
	Error  string   `json:"error,omitempty"`
	Kind   hal.Kind `json:"kind,omitempty"`
}

// axis is a joint of a rig.
type axis struct {
	agent    *hal.Agent
	index    int
	act      *hal.Actuator
	from, to float64
}

func (x *axis) unit() string { return hal.Position.UnitOf(x.act.Kind == hal.Slide) }

// of is the value for a hinge, or for a slide.
func (x *axis) of(hinge, slide float64) float64 {
	if x.act.Kind == hal.Slide {
		return slide
	}
	return hinge
}

// at is the measured position; NaN if unknown.
func (x *axis) at() float64 {
	if status := x.agent.Status(nil); status[x.index].Err != nil && !status[x.index].Warns {
		return math.NaN()
	}
	return x.agent.Measured(nil)[x.act.Position]
}

// start is where a path of the joint begins, and what a pose saves: its goal, since a loaded joint rests below it, or
// its position without one.
func (x *axis) start() float64 {
	at := x.at()
	if had := x.agent.Goals(nil)[x.index]; had.Mode == hal.PositionMode &&
		math.Abs(x.off(had.Value, at)) < x.of(hingeNear, slideNear) {
		return had.Value
	}
	return at
}

// off is how far goal is ahead of at.
func (x *axis) off(goal, at float64) float64 {
	if x.act.Wraps {
		return math.Remainder(goal-at, 2*math.Pi)
	}
	return goal - at
}

func (x *axis) report() Joint {
	return Joint{Agent: x.agent.Name(), Joint: x.act.Name, Body: x.agent.BodyKind().String(),
		From: report.Number(x.from), Goal: report.Number(x.to), Position: report.Number(x.at()), Unit: x.unit()}
}

// blocked is why commands would not move the joint; nil if they would.
func (x *axis) blocked() error {
	why := x.agent.JointFault(x.index)
	if status := x.agent.Status(nil)[x.index]; why == nil && !status.Warns {
		why = status.Err
	}
	e := &hal.Error{Kind: hal.Unsafe, Op: "move " + x.act.Name, Err: why}
	switch state := x.agent.JointState(x.index); {
	case state == hal.Stopped:
		e.Err, e.Try = errors.New("the emergency stop is latched"), "halyard reset, then halyard arm"
	case why != nil:
		e.Kind = cmp.Or(hal.KindOf(why), hal.Unsafe)
	case state == hal.Disarmed:
		e.Err, e.Try = errors.New("disarmed"), "halyard arm"
	case math.IsNaN(x.at()):
		e.Kind, e.Err, e.Try = hal.Timeout, errors.New("its position is not known"), "halyard status"
	default:
		return nil
	}
	return e
}

// axes finds joints by name, JOINT or AGENT/JOINT; without names all joints that have a position.
func axes(rig *hal.Rig, names []string) ([]*axis, error) {
	var all, list []*axis
	var known []string
	agents := rig.Agents()
	for _, a := range agents {
		for i := range a.Layout().Actuators {
			act := &a.Layout().Actuators[i]
			if act.Position == hal.None || act.Goal[hal.PositionMode] == hal.None {
				continue
			}
			name := act.Name
			if len(agents) > 1 {
				name = a.Name() + "/" + name
			}
			all, known = append(all, &axis{agent: a, index: i, act: act}), append(known, name)
		}
	}
	if names == nil {
		return all, nil
	}
	for _, name := range names {
		var found []*axis
		for _, x := range all {
			if name == x.act.Name || name == x.agent.Name()+"/"+x.act.Name {
				found = append(found, x)
			}
		}
		switch {
		case len(all) == 0:
			return nil, invalid(name, "got a rig without joints, want one with joints that take goals")
		case len(found) == 0:
			return nil, invalid(name, "got no joint of this name, want %s", strings.Join(known, ", "))
		case len(found) > 1:
			return nil, invalid(name, "%d robots have this joint, want AGENT/JOINT: %s", len(found),
				strings.Join(known, ", "))
		case slices.Contains(list, found[0]):
			return nil, invalid(name, "got the joint twice")
		}
		list = append(list, found[0])
	}
	return list, nil
}

func invalid(joint, format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: "move " + joint, Err: fmt.Errorf(format, args...)}
}

// goals finds the joints of q.Goals and their goals.
func (q *Request) goals(rig *hal.Rig) ([]*axis, error) {
	list, err := axes(rig, slices.Sorted(maps.Keys(q.Goals)))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, invalid("joints", "got no goal, want JOINT=POSITION")
	}
	for i, name := range slices.Sorted(maps.Keys(q.Goals)) {
		x := list[i]
		if x.to, err = q.Units.ParseValue(q.Goals[name], x.unit()); err != nil {
			return nil, invalid(name, "%w", err)
		}
		if err := x.blocked(); err != nil {
			return nil, err
		}
		x.from = x.start()
		if q.Relative {
			x.to += x.from
		}
		if x.act.Wraps {
			x.to = x.from + x.off(x.to, x.from)
		}
		if err := x.within(x.to, q.Units); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// within refuses a goal outside the soft limits.
func (x *axis) within(goal float64, u report.Units) error {
	low, high := x.act.Limits.MinPosition, x.act.Limits.MaxPosition
	const rounding = 1e-6
	if x.act.Wraps || goal >= low-rounding && goal <= high+rounding {
		return nil
	}
	unit, size := u.Of(x.unit())
	return invalid(x.act.Name, "got %s %s, want %s..%s %s (its soft limits)", report.Number(goal/size), unit,
		report.Number(low/size), report.Number(high/size), unit)
}

// speeds are the greatest speeds of q, rad/s and m/s.
func (q *Request) speeds() (hinge, slide float64, err error) {
	hinge, slide = hingeSpeed, slideSpeed
	if q.Speed == "" {
		return hinge, slide, nil
	}
	for _, text := range strings.Split(q.Speed, ",") {
		v, err := q.Units.ParseValue(text, "rad/s")
		if err == nil {
			hinge = v
		} else if v, err = q.Units.ParseValue(text, "m/s"); err == nil {
			slide = v
		}
		if err != nil || !(v > 0) {
			return 0, 0, &hal.Error{Kind: hal.Invalid, Op: "--speed",
				Err: fmt.Errorf("got %q, want above 0, such as 20deg/s or 50mm/s", text)}
		}
	}
	return hinge, slide, nil
}
