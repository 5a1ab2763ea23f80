package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// number is a float of a message; null is NaN.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = number(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // 1e999 is infinite
		return err
	}
	*n = number(v)
	return nil
}

// orderMessage is the JSON of an order. Fields that an order does not use are omitted.
type orderMessage struct {
	Cycle  uint64   `json:"cycle"`
	Kind   string   `json:"kind"`
	Agent  string   `json:"agent"`
	Name   string   `json:"name"`
	Inputs []number `json:"inputs"`
	Seed   int64    `json:"seed"`
	Value  *struct {
		Kind   hal.ValueKind `json:"kind"`
		Bool   bool          `json:"bool"`
		Int    int64         `json:"int"`
		Double number        `json:"double"`
		Text   string        `json:"text"`
		Vector [4]number     `json:"vector"`
	} `json:"value"`
}

// appendOrder writes o as JSON.
func appendOrder(dst []byte, o *hal.Order) []byte {
	dst = strconv.AppendUint(append(dst, `{"cycle":`...), o.Cycle, 10)
	dst = append(dst, `,"kind":"`...)
	dst = append(dst, o.Kind.String()...)
	dst = append(dst, '"')
	if o.Agent != "" {
		dst = appendText(append(dst, `,"agent":`...), o.Agent)
	}
	if o.Name != "" {
		dst = appendText(append(dst, `,"name":`...), o.Name)
	}
	if o.Inputs != nil {
		dst = appendFloats(append(dst, `,"inputs":`...), o.Inputs)
	}
	if o.Seed != 0 {
		dst = strconv.AppendInt(append(dst, `,"seed":`...), o.Seed, 10)
	}
	if o.Kind == hal.SetOrder {
		v := &o.Value
		dst = strconv.AppendInt(append(dst, `,"value":{"kind":`...), int64(v.Kind), 10)
		dst = strconv.AppendBool(append(dst, `,"bool":`...), v.Bool)
		dst = strconv.AppendInt(append(dst, `,"int":`...), v.Int, 10)
		dst = appendFloat(append(dst, `,"double":`...), v.Double)
		dst = appendText(append(dst, `,"text":`...), v.Text)
		dst = appendFloats(append(dst, `,"vector":`...), v.Vector[:])
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendFloats(dst []byte, list []float64) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendFloat(dst, v)
	}
	return append(dst, ']')
}

// ParseOrder reads an order that a recording has.
func ParseOrder(text []byte) (o hal.Order, err error) {
	var m orderMessage
	if err := json.Unmarshal(text, &m); err != nil {
		return o, fmt.Errorf("order: %w", err)
	}
	kind, ok := hal.OrderNamed(m.Kind)
	if !ok {
		return o, fmt.Errorf("order of cycle %d: got kind %q, want one of this version of Halyard", m.Cycle, m.Kind)
	}
	o = hal.Order{Kind: kind, Cycle: m.Cycle, Agent: m.Agent, Name: m.Name, Seed: m.Seed}
	if m.Inputs != nil {
		o.Inputs = floats(m.Inputs)
	}
	if v := m.Value; v != nil {
		o.Value = hal.Value{Kind: v.Kind, Bool: v.Bool, Int: v.Int, Double: float64(v.Double), Text: v.Text}
		copy(o.Value.Vector[:], floats(v.Vector[:]))
	}
	return o, nil
}

func floats(list []number) []float64 {
	v := make([]float64, len(list))
	for i := range list {
		v[i] = float64(list[i])
	}
	return v
}

// CycleMessage is the JSON of the end of a cycle, its last message.
type CycleMessage struct {
	Number     uint64   `json:"number"`
	Time       float64  `json:"time"`      // rig time, s
	MissedNS   int64    `json:"missed_ns"` // since the start
	Events     []string `json:"events"`
	Dropped    uint64   `json:"dropped_cycles"` // not written since the start, since the file was too slow
	LostOrders uint64   `json:"lost_orders"`    // likewise
}

// op is one use of a line.
type op struct {
	kind opKind
	at   time.Duration // on the line's clock, at its end
	n    int           // bytes in the recorder's store; the argument of a setting
	err  error
}

type opKind uint8

const (
	opWrite opKind = iota
	opRead
	opDiscard
	opNow
	opBaud
	opSet // even parity, DTR
	opOpen
	opClose
	numOps
)

var opNames = [numOps]string{"write", "read", "discard", "now", "baud", "set", "open", "close"}

// lineMessage is the JSON of the uses of a line in a cycle.
type lineMessage struct {
	Cycle uint64      `json:"cycle"`
	Ops   []opMessage `json:"ops"`
}

// opMessage is the JSON of an op.
type opMessage struct {
	Op    string `json:"op"`
	AtNS  int64  `json:"at_ns"`
	Data  string `json:"data"` // hexadecimal
	N     int    `json:"n"`
	Error string `json:"error"`
}

// parseLine reads the uses of a line in a cycle.
func parseLine(text []byte) (m lineMessage, err error) {
	if n := bytes.Count(text, []byte("{")); n > maxOps { // each would take 80 bytes
		return m, fmt.Errorf("line: got %d uses, want at most %d", n, maxOps)
	}
	return m, json.Unmarshal(text, &m)
}

func appendOp(dst []byte, o *op, data []byte) []byte {
	dst = append(dst, `{"op":"`...)
	dst = append(dst, opNames[o.kind]...)
	dst = strconv.AppendInt(append(dst, `","at_ns":`...), int64(o.at), 10)
	switch o.kind {
	case opWrite, opRead:
		dst = hex.AppendEncode(append(dst, `,"data":"`...), data)
		dst = append(dst, '"')
	case opBaud, opSet:
		dst = strconv.AppendInt(append(dst, `,"n":`...), int64(o.n), 10)
	}
	if o.err != nil {
		dst = appendText(append(dst, `,"error":`...), errorName(o.err))
	}
	return append(dst, '}')
}

// ParseCycle reads the end of a cycle.
func ParseCycle(text []byte) (m CycleMessage, err error) {
	if err = json.Unmarshal(text, &m); err != nil {
		err = fmt.Errorf("cycle: %w", err)
	}
	return m, err
}
