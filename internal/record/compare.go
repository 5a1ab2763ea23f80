package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Divergence is one value that a replay has otherwise than its recording.
type Divergence struct {
	Agent    string  `json:"agent"` // "" of a line
	What     string  `json:"what"`  // "measured.elbow_flex.position"; the bus of a line
	Cycle    uint64  `json:"first_cycle"`
	Recorded string  `json:"recorded"`
	Replayed string  `json:"replayed"`
	Cycles   uint64  `json:"cycles"`  // in which it differed
	Largest  float64 `json:"largest"` // difference; 0 for a value that is not a number
	squares  float64
}

// Comparison collects divergences, cycle by cycle.
type Comparison struct {
	Cycles    uint64 // that were compared
	Different uint64 // of these
	found     map[string]*Divergence
	slow      []string                   // buses whose exchanges span cycles
	pending   map[string]*[2][]opMessage // of a slow bus: uses that were recorded, and that were replayed
}

// Slow notes that exchanges of a bus span cycles from now on: its uses have their order, and in a replay other cycles.
func (c *Comparison) Slow(bus string) {
	if !slices.Contains(c.slow, bus) {
		c.slow = append(c.slow, bus)
	}
}

// isSlow reports whether a line is of a slow bus; the second line of a bus has a number.
func (c *Comparison) isSlow(line string) bool {
	return slices.ContainsFunc(c.slow, func(bus string) bool {
		return line == bus || strings.HasPrefix(line, bus+"_")
	})
}

// slowBus reports whether the uses of a slow bus differ, and notes how.
func (c *Comparison) slowBus(topic string, cycle uint64, recorded, replayed []byte) bool {
	bus := strings.TrimPrefix(topic, busPrefix)
	if !c.isSlow(bus) {
		return false
	}
	was, is := c.slowLine(topic, recorded, replayed)
	if was != is {
		c.add(Divergence{What: "bus " + bus, Cycle: cycle, Recorded: was, Replayed: is}, 0)
	}
	return was != is
}

// slowLine compares the uses of a line so far. It reports the first that differ.
func (c *Comparison) slowLine(topic string, recorded, replayed []byte) (was, is string) {
	if c.pending == nil {
		c.pending = map[string]*[2][]opMessage{}
	}
	p := c.pending[topic]
	if p == nil {
		p = &[2][]opMessage{}
		c.pending[topic] = p
	}
	for k, text := range [2][]byte{recorded, replayed} {
		m, _ := parseLine(text) // empty for a line without uses
		p[k] = append(p[k], m.Ops...)
	}
	n := 0
	for n < min(len(p[0]), len(p[1])) && p[0][n] == p[1][n] {
		n++
	}
	if n < min(len(p[0]), len(p[1])) || max(len(p[0]), len(p[1])) > maxOps {
		was, is = opText(p[0], n), opText(p[1], n)
		p[0], p[1] = nil, nil
		return was, is
	}
	p[0], p[1] = p[0][n:], p[1][n:]
	return "", ""
}

// Compare compares a recorded cycle, by topic, with the replayed one.
func (c *Comparison) Compare(cycle uint64, recorded map[string][]byte, now *Capture) error {
	if c.found == nil {
		c.found = map[string]*Divergence{}
	}
	c.Cycles++
	differs := false
	for _, topic := range slices.Sorted(maps.Keys(recorded)) {
		data := recorded[topic]
		if bus, ok := strings.CutPrefix(topic, busPrefix); ok && c.isSlow(bus) {
			differs = c.slowBus(topic, cycle, data, now.Lines[topic]) || differs
			continue
		} else if ok {
			if !sameLine(data, now.Lines[topic], c.Cycles == 1) {
				was, is := firstOps(data, now.Lines[topic])
				c.add(Divergence{What: "bus " + bus, Cycle: cycle, Recorded: was, Replayed: is}, 0)
				differs = true
			}
			continue
		}
		agent := agentOf(topic)
		state, ok := now.States[topic]
		if !ok {
			c.add(Divergence{Agent: agent, What: "agent", Cycle: cycle, Recorded: "there", Replayed: "not there"}, 0)
			differs = true
			continue
		}
		if sameState(data, state) {
			continue
		}
		different, err := c.states(cycle, agent, data, state)
		if err != nil {
			return err
		}
		differs = differs || different
	}
	for _, topic := range slices.Sorted(maps.Keys(now.Lines)) {
		if _, ok := recorded[topic]; !ok {
			differs = c.slowBus(topic, cycle, nil, now.Lines[topic]) || differs
		}
	}
	if differs {
		c.Different++
	}
	return nil
}

// sameLine reports whether the uses of a line in a replay equal the recorded ones. Before the first cycle there may be
// more: the line was opened before the recording began.
func sameLine(recorded, replayed []byte, first bool) bool {
	if !first || bytes.Equal(recorded, replayed) {
		return bytes.Equal(recorded, replayed)
	}
	_, ops, _ := bytes.Cut(recorded, []byte("["))
	return bytes.HasSuffix(replayed, ops)
}

func (c *Comparison) states(cycle uint64, agent string, recorded, replayed []byte) (differs bool, err error) {
	was, err := flatten(recorded)
	if err != nil {
		return false, err
	}
	is, err := flatten(replayed)
	if err != nil {
		return false, err
	}
	for key, a := range was {
		b, ok := is[key]
		if a == b && ok || key == "holder" {
			continue
		}
		if !ok {
			b = "-"
		}
		differs = true
		c.add(Divergence{Agent: agent, What: key, Cycle: cycle, Recorded: a, Replayed: b}, difference(a, b))
	}
	for key, b := range is {
		if _, ok := was[key]; !ok {
			differs = true
			c.add(Divergence{Agent: agent, What: key, Cycle: cycle, Recorded: "-", Replayed: b}, 0)
		}
	}
	return differs, nil
}

func (c *Comparison) add(d Divergence, by float64) {
	key := d.Agent + "\x00" + d.What
	have := c.found[key]
	if have == nil {
		have = &d
		c.found[key] = have
	}
	have.Cycles++
	have.Largest = max(have.Largest, by)
	have.squares += by * by
}

// Divergences are all that differed, the first first.
func (c *Comparison) Divergences() []Divergence {
	list := make([]Divergence, 0, len(c.found))
	for _, d := range c.found {
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b Divergence) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), strings.Compare(a.Agent+"\x00"+a.What, b.Agent+"\x00"+b.What))
	})
	return list
}

// RMS returns the root mean square of a divergence over the compared cycles.
func (c *Comparison) RMS(d *Divergence) float64 {
	return math.Sqrt(d.squares / float64(max(c.Cycles, 1)))
}

// difference returns the absolute difference of two numbers; 0 if one is malformed.
func difference(a, b string) float64 {
	x, e1 := strconv.ParseFloat(a, 64)
	y, e2 := strconv.ParseFloat(b, 64)
	if e1 != nil || e2 != nil || math.IsInf(x-y, 0) || math.IsNaN(x-y) {
		return 0
	}
	return math.Abs(x - y)
}

// flatten is every value of a JSON object by its path, as text.
func flatten(text []byte) (map[string]string, error) {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	flat := map[string]string{}
	return flat, flattenInto(flat, "", tree, 0)
}

func flattenInto(flat map[string]string, prefix string, tree map[string]json.RawMessage, depth int) error {
	if depth > 8 {
		return fmt.Errorf("state: got %q nested too deeply", prefix)
	}
	for key, raw := range tree {
		if len(prefix)+len(key) > maxTopic {
			return fmt.Errorf("state: got a name of %d bytes, want at most %d", len(prefix)+len(key), maxTopic)
		}
		if len(raw) > 0 && raw[0] == '{' {
			var inner map[string]json.RawMessage
			if err := json.Unmarshal(raw, &inner); err != nil {
				return err
			}
			if err := flattenInto(flat, prefix+key+".", inner, depth+1); err != nil {
				return err
			}
			continue
		}
		flat[prefix+key] = strings.Trim(string(raw), `"`)
	}
	return nil
}

// firstOps are the first uses of a line that differ, in words.
func firstOps(recorded, replayed []byte) (was, is string) {
	a, _ := parseLine(recorded) // empty for a line without uses
	b, _ := parseLine(replayed)
	for i := range max(len(a.Ops), len(b.Ops)) {
		if i >= len(a.Ops) || i >= len(b.Ops) || a.Ops[i] != b.Ops[i] {
			return opText(a.Ops, i), opText(b.Ops, i)
		}
	}
	return "", ""
}

func opText(ops []opMessage, i int) string {
	if i >= len(ops) {
		return "nothing"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s%s", ops[i].Op, ops[i].Data, ops[i].Error))
}
