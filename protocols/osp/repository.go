package osp

import (
	"regexp"
	"regexp/syntax"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

const (
	maxExpression = 256  // bytes of a regular expression, and its parts once its repetitions are written out
	maxEvents     = 256  // registered by one client: as many as fit into an 85
	maxContent    = 4096 // bytes of a value's text
)

// knownValues are the values a client has been notified of. Its ids count from 1 and stay.
type knownValues struct {
	list []hal.ValueID // index = id - 1
	ids  map[hal.ValueID]int32
}

// id returns the client's id of v, a new one the first time.
func (k *knownValues) id(v hal.ValueID) int32 {
	if id, ok := k.ids[v]; ok {
		return id
	}
	if k.ids == nil {
		k.ids = map[hal.ValueID]int32{}
	}
	k.list = append(k.list, v)
	k.ids[v] = int32(len(k.list))
	return int32(len(k.list))
}

// value is the inverse of id; 0 if absent.
func (k *knownValues) value(id int32) hal.ValueID {
	if id < 1 || int(id) > len(k.list) {
		return 0
	}
	return k.list[id-1]
}

// findValues answers 40. Clients do not acknowledge the 43s, although the document has a command for it.
func (c *session) findValues() {
	c.server.names.declare()
	values := c.server.rig.Values()
	var found []hal.ValueID
	// the whole name must match, as in the original; an invalid expression finds no value
	if re := expression(c.d.Name); re != nil {
		found = values.Find(re)
	}
	// the count first, then one datagram a value, one behind another
	c.reply(&Datagram{Command: valueIDs, Count: int32(len(found))})
	for i, v := range found {
		name, kind, _ := values.Info(v)
		c.reply(&Datagram{Command: valueInfo, Index: int32(i), ID: c.values.id(v), Type: typeNames[kind], Name: name})
	}
}

// expression compiles an expression for whole names, nil if it is invalid or too large. Go's run in linear time, of the
// text and of the expression: a few bytes of nested or repeated {1000} would keep a core busy for minutes.
func expression(text string) *regexp.Regexp {
	if len(text) > maxExpression {
		return nil
	}
	whole := "^(?:" + text + ")$"
	if tree, err := syntax.Parse(whole, syntax.Perl); err != nil || pieces(tree) > maxExpression {
		return nil
	}
	re, err := regexp.Compile(whole)
	if err != nil {
		return nil
	}
	return re
}

// pieces counts the parts of an expression with all its repetitions.
func pieces(r *syntax.Regexp) int {
	n := 0
	for _, sub := range r.Sub {
		n += pieces(sub)
	}
	switch r.Op {
	case syntax.OpRepeat:
		return n * max(r.Min, r.Max, 1)
	case syntax.OpLiteral:
		return n + len(r.Rune)
	case syntax.OpConcat, syntax.OpAlternate, syntax.OpCapture:
		return n
	}
	return n + 1
}

// getValue answers 50.
func (c *session) getValue() {
	// -1 and an empty text mean an unknown value, as in the original
	d := Datagram{Command: value, ID: -1}
	if id := c.values.value(c.d.ID); id != 0 {
		if v, err := c.server.rig.Values().Get(id); err == nil {
			d.ID, d.Content = c.d.ID, clip(appendValue(nil, &v))
		}
	}
	c.reply(&d)
}

// setValue answers 52. A value that its owner refuses counts as not understood.
func (c *session) setValue() {
	d := Datagram{Command: setValueAck, ID: c.d.ID, Status: StatusUnknown}
	values := c.server.rig.Values()
	if id := c.values.value(c.d.ID); id != 0 {
		_, kind, _ := values.Info(id)
		d.Status = StatusNo
		if v, err := parseValue(kind, string(c.d.Content)); err == nil && values.Set(id, v) == nil {
			d.Status = StatusOK
		}
	}
	c.reply(&d)
}

// observed is one value that a client receives with every step.
type observed struct {
	id    int32
	value hal.ValueID
}

// observe answers 54 and 56 with the known ids, and 0 for unknown ones.
func (c *session) observe() {
	// 55 starts with the number of values, as 57 does and as the original sends it; the document's 55 omits it, so that
	// its first id could be taken for the number
	d := Datagram{Command: c.d.Command + 1, IDs: make([]int32, len(c.d.IDs))}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, id := range c.d.IDs {
		v := c.values.value(id)
		if v == 0 {
			continue
		}
		d.IDs[i] = id
		at := slices.IndexFunc(c.observed, func(o observed) bool { return o.id == id })
		switch {
		case at < 0 && c.d.Command == registerForValue:
			c.observed = append(c.observed, observed{id, v})
		case at >= 0 && c.d.Command == deregisterFromValue:
			c.observed = slices.Delete(c.observed, at, at+1)
		}
	}
	c.send(&d)
}

// addObserved appends a 51 for each observed value. Under mu, from Cycle.
func (c *session) addObserved(o *outbox) {
	// Read, not Get: this runs at the end of a cycle, and the client expects the values of that cycle
	values := c.server.rig.Values()
	for _, seen := range c.observed {
		v, _ := values.Read(seen.value)
		c.content = clip(appendValue(c.content[:0], &v))
		o.add(&Datagram{Command: value, ID: seen.id, Content: c.content})
	}
}

func clip(text []byte) []byte { return text[:min(len(text), maxContent)] }

// knownEvents are the events a client has registered for. Its ids count from 1 and stay.
type knownEvents struct {
	list []knownEvent // index = id - 1
	ids  map[hal.EventID]int32
}

type knownEvent struct{ wanted, occurred bool }

// register returns the client's id of e; 0 if it has too many.
func (k *knownEvents) register(e hal.EventID) int32 {
	id, ok := k.ids[e]
	if !ok {
		if len(k.list) >= maxEvents {
			return 0
		}
		if k.ids == nil {
			k.ids = map[hal.EventID]int32{}
		}
		k.list = append(k.list, knownEvent{})
		id = int32(len(k.list))
		k.ids[e] = id
	}
	k.list[id-1].wanted = true
	return id
}

func (k *knownEvents) deregister(id int32) {
	if id >= 1 && int(id) <= len(k.list) {
		k.list[id-1] = knownEvent{}
	}
}

// note stores events until drain; forget drops them.
func (k *knownEvents) note(list []hal.EventID) {
	for _, e := range list {
		if id, ok := k.ids[e]; ok {
			k.list[id-1].occurred = k.list[id-1].wanted
		}
	}
}

func (k *knownEvents) forget() {
	for i := range k.list {
		k.list[i].occurred = false
	}
}

// drain appends the ids of the events since the last call to dst.
func (k *knownEvents) drain(dst []int32) []int32 {
	for i := range k.list {
		if k.list[i].occurred {
			dst = append(dst, int32(i+1))
			k.list[i].occurred = false
		}
	}
	return dst
}

// event answers 20 and 30; the latter echoes any id, as the original does. The event of a state that lasts occurs in
// the next step: a client that comes later learns that a robot is disarmed.
func (c *session) event() {
	e, known := c.server.rig.Events().Lookup(c.d.Name)
	lasts := known && c.server.rig.Lasting(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := Datagram{Command: c.d.Command + 1}
	switch {
	case c.d.Command == deregisterFromEvent:
		d.ID = c.d.ID
		c.events.deregister(c.d.ID)
	case known:
		if d.ID = c.events.register(e); lasts {
			c.events.note([]hal.EventID{e})
		}
	}
	c.send(&d)
}
