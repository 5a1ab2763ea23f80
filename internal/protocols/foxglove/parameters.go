package foxglove

import (
	"math"
	"regexp"

	"github.com/halyard-robotics/halyard/hal"
)

// maxParameters bounds those of one message.
const maxParameters = 1024

// parameter is one of the rig's values.
type parameter struct {
	Name  string
	Value any    `field:",known"`
	Type  string `field:",known"`
}

var everything = regexp.MustCompile(".*")

// find is the id of a value.
func find(v *hal.Values, name string) (hal.ValueID, bool) {
	ids := v.Find(regexp.MustCompile(regexp.QuoteMeta(name)))
	if len(ids) == 0 {
		return 0, false
	}
	return ids[0], true
}

func vectorLength(k hal.ValueKind) int {
	if k == hal.VectorValue {
		return 3
	}
	return 4
}

// parameters returns the values of names, or all values for an empty list; unknown names are omitted.
func parameters(v *hal.Values, names []string) []parameter {
	var ids []hal.ValueID
	if len(names) == 0 {
		ids = v.Find(everything)
	}
	for _, name := range names {
		if id, ok := find(v, name); ok {
			ids = append(ids, id)
		}
	}
	all := []parameter{}
	for _, id := range ids[:min(len(ids), maxParameters)] {
		name, _, ok := v.Info(id)
		value, err := v.Get(id)
		if !ok || err != nil {
			continue
		}
		p := parameter{Name: name}
		switch value.Kind {
		case hal.BoolValue:
			p.Value = value.Bool
		case hal.IntValue:
			p.Value = value.Int
		case hal.DoubleValue:
			p.Value, p.Type = value.Double, "float64"
		case hal.StringValue:
			p.Value = value.Text
		case hal.VectorValue, hal.QuaternionValue:
			p.Value, p.Type = value.Vector[:vectorLength(value.Kind)], "float64_array"
		default:
			continue // a channel of an agent, which is in a topic
		}
		all = append(all, p)
	}
	return all
}

// setParameter sets one value, whose kind does not change.
func setParameter(v *hal.Values, name string, given any) error {
	id, ok := find(v, name)
	if !ok {
		return wrong("parameter %.100q: got no such name", name)
	}
	_, kind, _ := v.Info(id)
	value := hal.Value{Kind: kind}
	number, isNumber := given.(float64)
	switch kind {
	case hal.BoolValue:
		value.Bool, ok = given.(bool)
	case hal.IntValue:
		value.Int, ok = int64(number), isNumber && number == math.Trunc(number) && math.Abs(number) < 1<<53
	case hal.DoubleValue:
		value.Double, ok = number, isNumber
	case hal.StringValue:
		value.Text, ok = given.(string)
	case hal.VectorValue, hal.QuaternionValue:
		list, _ := given.([]any)
		ok = len(list) == vectorLength(kind)
		for i := range list {
			if ok {
				value.Vector[i], ok = list[i].(float64)
			}
		}
	default:
		return wrong("parameter %s: got a channel of an agent, want a parameter (try: /joint_commands)", name)
	}
	if !ok {
		return wrong("parameter %s: got %.100v, want a value of its kind", name, given)
	}
	if err := v.Set(id, value); err != nil {
		return wrong("parameter %w", err)
	}
	return nil
}
