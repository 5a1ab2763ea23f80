package usarini

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// decoder decodes the values of one section, and collects their faults.
type decoder struct {
	file, section string
	line          int // of the entry at work
	faults        *yaml.Faults
}

// fault notes a fault of the entry at work. key is its path in the section: Sensors.Position.X.
func (d *decoder) fault(key, got, want string) {
	d.faults.Add(fault(d.file, d.line, where(d.section, key), got, want))
}

// slot is the target of a key's value: *float64, *int, *bool, *string, *[3]float64, *direction or *[]Point. Numbers are
// within low..high.
type slot struct {
	key       string
	to        any
	low, high float64
}

// wide bounds a number that has no bounds of its own.
const wide = 1e9

// find is the index of the slot of that key, in any case, or -1.
func find(slots []slot, key string) int {
	return slices.IndexFunc(slots, func(s slot) bool { return strings.EqualFold(s.key, key) })
}

// put puts v into the slot; path is its key, as faults name it.
func (d *decoder) put(s slot, path string, v value) {
	switch to := s.to.(type) {
	case *[]Point:
		d.curve(to, path, v)
		return
	case *[3]float64:
		d.vector(to, path, v)
		return
	case *direction:
		d.direction(to, path, v)
		return
	}
	if v.list {
		d.fault(path, "fields in parentheses", "one value")
		return
	}
	switch to := s.to.(type) {
	case *string:
		*to = v.text
	case *bool:
		var ok bool
		if *to, ok = truth(v.text); !ok {
			d.fault(path, yaml.Quote(v.text), "True or False")
		}
	case *float64:
		*to = d.number(path, v.text, s.low, s.high)
	case *int:
		n := d.number(path, v.text, s.low, s.high)
		if n != math.Trunc(n) {
			d.fault(path, yaml.Quote(v.text), "a whole number")
		}
		*to = int(n)
	}
}

// number is text as a number within low..high, 0 if it is invalid.
func (d *decoder) number(path, text string, low, high float64) float64 {
	n, ok := number(text)
	switch {
	case !ok:
		d.fault(path, yaml.Quote(text), "a number")
	case n < low || n > high:
		d.fault(path, text, fmt.Sprintf("%g..%g", low, high))
	default:
		return n
	}
	return 0
}

// names puts the fields of a value in parentheses into slots. Unknown ones are faults: these structures are all known.
func (d *decoder) names(path string, v value, slots []slot) {
	if !v.list {
		d.fault(path, yaml.Quote(v.text), "fields in parentheses")
		return
	}
	seen := make([]bool, len(slots))
	for _, f := range v.fields {
		i := find(slots, f.name)
		at := path + "." + f.name
		switch {
		case f.name == "":
			d.fault(path, yaml.Quote(f.value.text), "name=value")
		case i < 0:
			d.fault(at, "a field of that name", "one of "+known(slots))
		case seen[i]:
			d.fault(at, "a second one", "it once")
		default:
			seen[i] = true
			d.put(slots[i], at, f.value)
		}
	}
}

// known lists the keys of slots, for a fault's list of valid keys.
func known(slots []slot) string {
	names := make([]string, len(slots))
	for i := range slots {
		names[i] = slots[i].key
	}
	return strings.Join(names, ", ")
}

// vector decodes (X=1,Y=2,Z=3); an omitted component is 0.
func (d *decoder) vector(to *[3]float64, path string, v value) {
	d.names(path, v, []slot{{"X", &to[0], -wide, wide}, {"Y", &to[1], -wide, wide}, {"Z", &to[2], -wide, wide}})
}

// direction decodes a vector of rotations, or (Pitch=1,Yaw=2,Roll=3).
func (d *decoder) direction(to *direction, path string, v value) {
	t := &to.turns
	d.names(path, v, []slot{{"X", &t[0], -wide, wide}, {"Y", &t[1], -wide, wide}, {"Z", &t[2], -wide, wide},
		{"Roll", &t[0], -wide, wide}, {"Pitch", &t[1], -wide, wide}, {"Yaw", &t[2], -wide, wide}})
	for _, f := range v.fields {
		to.rotator = to.rotator || len(f.name) > 1
	}
}

// curve decodes (Points=((InVal=0,OutVal=0),...)), rising in InVal.
func (d *decoder) curve(to *[]Point, path string, v value) {
	if !v.list || len(v.fields) != 1 || !strings.EqualFold(v.fields[0].name, "Points") || !v.fields[0].value.list {
		d.fault(path, "something else", "(Points=((InVal=0,OutVal=0),...))")
		return
	}
	*to = nil
	for i, f := range v.fields[0].value.fields {
		var p Point
		at := fmt.Sprintf("%s.Points[%d]", path, i)
		d.names(at, f.value, []slot{{"InVal", &p.In, -wide, wide}, {"OutVal", &p.Out, -wide, wide}})
		if n := len(*to); n > 0 && !(p.In > (*to)[n-1].In) {
			d.fault(at+".InVal", fmt.Sprintf("%g", p.In),
				fmt.Sprintf("above %g, that of the point before", (*to)[n-1].In))
		}
		*to = append(*to, p)
	}
}

// scalars decodes the entries of a section with a key in slots, each once, and returns the others.
func (d *decoder) scalars(entries []entry, slots []slot) (rest []entry) {
	seen := make([]int, len(slots))
	for _, e := range entries {
		i := find(slots, e.key)
		if i < 0 {
			rest = append(rest, e)
			continue
		}
		d.line = e.line
		if seen[i] != 0 {
			d.fault(e.key, "a second one", fmt.Sprintf("it once: line %d has it", seen[i]))
			continue
		}
		seen[i] = e.line
		if v, ok := d.parse(e); ok {
			d.put(slots[i], e.key, v)
		}
	}
	return rest
}

// parse parses an entry's value; later faults have its line.
func (d *decoder) parse(e entry) (value, bool) {
	d.line = e.line
	v, err := parse(e.text)
	if err != nil {
		d.fault(e.key, err.Error(), "a value")
	}
	return v, err == nil
}

// ignore reports entries with unknown keys in to, up to yaml.MaxFaults.
func (d *decoder) ignore(to *yaml.Faults, entries []entry) {
	for _, e := range entries {
		if len(*to) < yaml.MaxFaults {
			*to = append(*to, fault(d.file, e.line, where(d.section, e.key), "a key that is unknown here",
				"nothing: it is ignored"))
		}
	}
}
