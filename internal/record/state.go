package record

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// form is the JSON structure of an agent's state: an object in which the channels of one device are an object too
// ("elbow/position" is elbow.position), so that viewers can name each number.
type form struct {
	topic                            string
	inputs, measured, joints, status object
}

// object writes values in an order of its own: each leaf's text, then its value.
type object struct {
	names  []string
	leaves []leaf
	end    string
}

type leaf struct {
	before string // key and braces
	at     int    // index of the value
}

// forms are the forms of agents, made when they are first seen.
type forms map[*hal.Agent]*form

func (f forms) of(a *hal.Agent) *form {
	if f[a] == nil {
		f[a] = newForm(a)
	}
	return f[a]
}

func newForm(a *hal.Agent) *form {
	l := a.Layout()
	f := &form{topic: "/" + a.Name() + "/state"}
	f.inputs = objectOf(len(l.Inputs), func(i int) string { return l.Inputs[i].Name })
	f.measured = objectOf(len(l.Outputs)+len(l.Infos), func(i int) string { return l.Measured(i).Name })
	f.joints = objectOf(len(l.Actuators), func(i int) string { return l.Actuators[i].Name })
	f.status = objectOf(l.Devices(), func(i int) string {
		if n := len(l.Actuators); i >= n {
			return l.Sensors[i-n].Name
		}
		return l.Actuators[i].Name
	})
	return f
}

func objectOf(n int, name func(int) string) object {
	o := object{names: make([]string, n)}
	for i := range n {
		o.names[i] = name(i)
	}
	o.leaves, o.end = nest(o.names, "{", "}")
	return o
}

// nest groups values by what is before the slash of their names, each group where its first value is, between open and
// end; so is the whole.
func nest(names []string, open, end string) (leaves []leaf, tail string) {
	var groups []string
	members := map[string][]int{}
	for i, name := range names {
		group, _, nested := strings.Cut(name, "/")
		if !nested {
			group = ""
		}
		if members[group] == nil {
			groups = append(groups, group)
		}
		members[group] = append(members[group], i)
	}
	quote := func(s string) string { return string(appendText(nil, s)) + ":" }
	tail = open
	for _, group := range groups {
		if group != "" {
			tail += quote(group) + open
		}
		for _, i := range members[group] {
			key := names[i]
			if group != "" {
				key = key[len(group)+1:]
			}
			leaves = append(leaves, leaf{tail + quote(key), i})
			tail = ","
		}
		if tail = ","; group != "" {
			tail = end + ","
		}
	}
	if len(names) == 0 {
		return nil, open + end
	}
	return leaves, strings.TrimSuffix(tail, ",") + end
}

func (o *object) append(dst []byte, value func(dst []byte, at int) []byte) []byte {
	for _, l := range o.leaves {
		dst = value(append(dst, l.before...), l.at)
	}
	return append(dst, o.end...)
}

// append writes s, at rig time now, as JSON. The holder of the lease is left out of a comparable text: a replay has
// none.
func (f *form) append(dst []byte, s *hal.AgentRecord, now time.Duration, holder bool) []byte {
	dst = appendSeconds(append(dst, `{"time":`...), now)
	dst = append(dst, `,"guard":"`...)
	dst = append(dst, s.State.String()...)
	dst = strconv.AppendUint(append(dst, `","counts":{"refused":`...), s.Counts.Refused, 10)
	dst = strconv.AppendUint(append(dst, `,"clamped":`...), s.Counts.Clamped, 10)
	dst = strconv.AppendUint(append(dst, `,"expired":`...), s.Counts.Expired, 10)
	dst = strconv.AppendUint(append(dst, `,"locked":`...), s.Counts.Locked, 10)
	dst = strconv.AppendUint(append(dst, `,"jumped":`...), s.Counts.Jumped, 10)
	dst = strconv.AppendUint(append(dst, `,"stops":`...), s.Counts.Stops, 10)
	dst = f.inputs.append(append(dst, `},"inputs":`...),
		func(dst []byte, at int) []byte { return appendFloat(dst, s.Inputs[at]) })
	dst = f.measured.append(append(dst, `,"measured":`...),
		func(dst []byte, at int) []byte { return appendFloat(dst, s.Measured[at]) })
	dst = f.joints.append(append(dst, `,"enabled":`...),
		func(dst []byte, at int) []byte { return strconv.AppendBool(dst, s.Enable[at]) })
	dst = append(dst, `,"joints":`...)
	dst = f.joints.append(dst, func(dst []byte, at int) []byte {
		return append(append(append(dst, '"'), s.Joints[at].String()...), '"')
	})
	dst = append(dst, `,"devices":`...)
	dst = f.status.append(dst, func(dst []byte, at int) []byte {
		st := &s.Status[at]
		dst = appendSeconds(append(dst, `{"time":`...), st.Time)
		dst = strconv.AppendInt(append(dst, `,"drive":`...), int64(st.Drive), 10)
		if st.Err != nil {
			dst = appendText(append(dst, `,"error":`...), st.Err.Error())
		}
		return append(dst, '}')
	})
	if holder {
		dst = appendText(append(dst, `,"holder":`...), s.Holder)
	}
	return append(dst, '}')
}

// appendFloat writes v so that it reads back exactly; null is NaN, and a number too large is infinite.
func appendFloat(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "null"...)
	case math.IsInf(v, 1):
		return append(dst, "1e999"...)
	case math.IsInf(v, -1):
		return append(dst, "-1e999"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// appendSeconds writes d in seconds, exactly.
func appendSeconds(dst []byte, d time.Duration) []byte {
	if d < 0 {
		dst, d = append(dst, '-'), -d
	}
	dst = strconv.AppendInt(dst, int64(d/time.Second), 10)
	rest := int64(d % time.Second)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := int64(time.Second / 10); rest > 0; unit /= 10 {
		dst = append(dst, byte('0'+rest/unit))
		rest %= unit
	}
	return dst
}

// appendText writes s as a JSON string; what is no UTF-8 in it is replaced.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < ' ':
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			dst = append(dst, string(c)...)
		}
	}
	return append(dst, '"')
}
