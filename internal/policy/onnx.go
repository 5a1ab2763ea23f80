package policy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of a file.
const (
	MaxFile   = 64 << 20 // bytes
	maxNodes  = 4096
	maxRank   = 8
	maxValues = 1 << 23 // of one tensor, and maxTotal of all
	maxTotal  = 1 << 24
	maxWork   = 1 << 28 // products of one step
)

// kind is what the numbers of a tensor are: all are held as float32, which is exact for the indexes in use.
type kind uint8

const (
	floats kind = iota
	ints
	bools
)

// tensor is a value of the graph.
type tensor struct {
	name  string
	kind  kind
	shape []int
	v     []float32
	fixed bool // known when the file was read
}

// node is an operator as the file has it.
type node struct {
	name, op, domain string
	in, out          []string
	attr             map[string]attribute
}

// attribute is one of a node: the field that is set in the file.
type attribute struct {
	f      float32
	i      int64
	s      string
	t      *tensor
	floats []float32
	ints   []int64
	words  []string
	other  bool // a graph, or a type that no known operator has
}

// file is what a model's bytes hold.
type file struct {
	opset   int64
	meta    map[string]string
	nodes   []node
	weights map[string]*tensor
	inputs  []*tensor // with shape, without values
	outputs []string
	total   int
}

// fields calls f for each field of a message; b holds bytes, n the number of a varint or fixed field.
func fields(data []byte, f func(num protowire.Number, b []byte, n uint64) error) error {
	for len(data) > 0 {
		num, typ, used := protowire.ConsumeTag(data)
		if used < 0 {
			return protowire.ParseError(used)
		}
		data = data[used:]
		var b []byte
		var n uint64
		switch typ {
		case protowire.BytesType:
			b, used = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			n, used = protowire.ConsumeVarint(data)
		case protowire.Fixed32Type:
			var v uint32
			v, used = protowire.ConsumeFixed32(data)
			n = uint64(v)
		case protowire.Fixed64Type:
			n, used = protowire.ConsumeFixed64(data)
		default:
			used = protowire.ConsumeFieldValue(num, typ, data)
		}
		if used < 0 {
			return protowire.ParseError(used)
		}
		data = data[used:]
		if err := f(num, b, n); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the bytes of a ModelProto.
func parse(data []byte) (*file, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("got %d bytes, want at most %d", len(data), MaxFile)
	}
	m := &file{meta: map[string]string{}, weights: map[string]*tensor{}}
	graphs := 0
	err := fields(data, func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 7:
			graphs++
			return m.graph(b)
		case 8:
			return m.operators(b)
		case 14:
			k, v, err := entry(b)
			m.meta[k] = v
			return err
		}
		return nil
	})
	if err == nil && graphs != 1 {
		err = fmt.Errorf("got %d graphs, want one: no ONNX model", graphs)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// operators reads an OperatorSetIdProto.
func (m *file) operators(data []byte) error {
	domain, version := "", int64(0)
	err := fields(data, func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 1:
			domain = string(b)
		case 2:
			version = int64(n)
		}
		return nil
	})
	if domain == "" || domain == "ai.onnx" {
		m.opset = version
	}
	return err
}

// entry reads a StringStringEntryProto.
func entry(data []byte) (key, value string, err error) {
	err = fields(data, func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 1:
			key = string(b)
		case 2:
			value = string(b)
		}
		return nil
	})
	return key, value, err
}

func (m *file) graph(data []byte) error {
	return fields(data, func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 1:
			n, err := m.node(b)
			if m.nodes = append(m.nodes, n); len(m.nodes) > maxNodes {
				return fmt.Errorf("got more than %d nodes", maxNodes)
			}
			return err
		case 5:
			t, err := m.tensor(b)
			if err != nil {
				return fmt.Errorf("initializer %.80q: %w", t.name, err)
			}
			m.weights[t.name] = t
		case 15:
			return errors.New("got a sparse initializer, want dense ones")
		case 11:
			t, err := valueInfo(b)
			if err != nil {
				return fmt.Errorf("input %.80q: %w", t.name, err)
			}
			m.inputs = append(m.inputs, t)
		case 12:
			t, err := valueInfo(b)
			if err != nil && !errors.Is(err, errShape) { // the graph gives it
				return fmt.Errorf("output %.80q: %w", t.name, err)
			}
			m.outputs = append(m.outputs, t.name)
		}
		return nil
	})
}

var errShape = errors.New("want a tensor of float with a shape")

// valueInfo reads name and shape of a ValueInfoProto; what is no number is 1.
func valueInfo(data []byte) (*tensor, error) {
	t := &tensor{}
	known := false
	dim := func(num protowire.Number, b []byte, n uint64) error {
		if num != 1 {
			return nil
		}
		size := 1
		err := fields(b, func(num protowire.Number, _ []byte, n uint64) error {
			if num == 1 && n > 0 && n <= maxValues {
				size = int(n)
			} else if num == 1 && n > maxValues && int64(n) > 0 {
				return fmt.Errorf("got a dimension of %d, want at most %d", n, maxValues)
			}
			return nil
		})
		if t.shape = append(t.shape, size); len(t.shape) > maxRank {
			return fmt.Errorf("got more than %d dimensions", maxRank)
		}
		return err
	}
	tensorType := func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 1:
			var err error
			t.kind, _, err = kindOf(n)
			return err
		case 2:
			known = true
			return fields(b, dim)
		}
		return nil
	}
	err := fields(data, func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 1:
			t.name = string(b)
		case 2:
			return fields(b, func(num protowire.Number, b []byte, n uint64) error {
				if num == 1 {
					return fields(b, tensorType)
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && !known {
		err = errShape
	}
	if err == nil {
		_, err = volume(t.shape)
	}
	return t, err
}

// kindOf is the kind of a TensorProto.DataType, and its bytes a value.
func kindOf(n uint64) (kind, int, error) {
	switch n {
	case 1:
		return floats, 4, nil
	case 11:
		return floats, 8, nil
	case 6:
		return ints, 4, nil
	case 7:
		return ints, 8, nil
	case 9:
		return bools, 1, nil
	}
	names := map[uint64]string{2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 8: "string", 10: "float16",
		16: "bfloat16"}
	name := names[n]
	if name == "" {
		name = fmt.Sprintf("type %d", n)
	}
	return 0, 0, fmt.Errorf("got values of %s, want float, double, int32, int64 or bool", name)
}

// volume is the number of values of a shape.
func volume(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 || d > maxValues || d == 0 && len(shape) > 1 || d > 0 && n > maxValues/d {
			return 0, fmt.Errorf("got a tensor of %v, want 1 to %d values", shape, maxValues)
		}
		n *= d
	}
	return n, nil
}

// tensor reads a TensorProto.
func (m *file) tensor(data []byte) (*tensor, error) {
	t := &tensor{fixed: true}
	var raw []byte
	var typ uint64
	var listed []float32
	add := func(v float32) error {
		if listed = append(listed, v); len(listed) > maxValues {
			return fmt.Errorf("got more than %d values", maxValues)
		}
		return nil
	}
	err := fields(data, func(num protowire.Number, b []byte, n uint64) error {
		switch num {
		case 1:
			return packed(b, n, false, func(v uint64) error {
				if v > maxValues || len(t.shape) == maxRank {
					return fmt.Errorf("got dimension %d, want at most %d of %d", v, maxRank, maxValues)
				}
				t.shape = append(t.shape, int(v))
				return nil
			})
		case 2:
			typ = n
		case 4:
			return packed(b, n, true, func(v uint64) error { return add(math.Float32frombits(uint32(v))) })
		case 5, 7:
			return packed(b, n, false, func(v uint64) error { return add(float32(int64(v))) })
		case 10:
			for ; len(b) >= 8; b = b[8:] {
				if err := add(float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))); err != nil {
					return err
				}
			}
		case 8:
			t.name = string(b)
		case 9:
			raw = b
		case 13, 14:
			if num == 13 || n != 0 {
				return errors.New("its values are in another file: export the model as one file")
			}
		}
		return nil
	})
	if err != nil {
		return t, err
	}
	return t, m.values(t, typ, listed, raw)
}

// values gives t its numbers: those that are listed, or raw bytes.
func (m *file) values(t *tensor, typ uint64, listed []float32, raw []byte) error {
	k, size, err := kindOf(typ)
	if err != nil {
		return err
	}
	n, err := volume(t.shape)
	if err != nil {
		return err
	}
	if m.total += n; m.total > maxTotal {
		return fmt.Errorf("got more than %d values in all", maxTotal)
	}
	t.kind, t.v = k, listed
	if raw != nil {
		if len(raw) != n*size {
			return fmt.Errorf("got %d bytes, want %d of %v", len(raw), n*size, t.shape)
		}
		t.v = make([]float32, n)
		for i := range t.v {
			t.v[i] = rawValue(raw[i*size:], typ)
		}
	}
	if len(t.v) != n {
		return fmt.Errorf("got %d values, want %d of %v", len(t.v), n, t.shape)
	}
	return nil
}

// rawValue is the first value of b, of a DataType that kindOf knows.
func rawValue(b []byte, typ uint64) float32 {
	switch typ {
	case 1:
		return math.Float32frombits(binary.LittleEndian.Uint32(b))
	case 11:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case 6:
		return float32(int32(binary.LittleEndian.Uint32(b)))
	case 7:
		return float32(int64(binary.LittleEndian.Uint64(b)))
	}
	return float32(min(b[0], 1))
}

// packed calls f for the numbers of a repeated field, which are packed in b, or n alone.
func packed(b []byte, n uint64, fixed bool, f func(uint64) error) error {
	if b == nil {
		return f(n)
	}
	for len(b) > 0 {
		var v uint64
		var used int
		if fixed {
			var short uint32
			short, used = protowire.ConsumeFixed32(b)
			v = uint64(short)
		} else {
			v, used = protowire.ConsumeVarint(b)
		}
		if used < 0 {
			return protowire.ParseError(used)
		}
		b = b[used:]
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// node reads a NodeProto.
func (m *file) node(data []byte) (node, error) {
	n := node{attr: map[string]attribute{}}
	err := fields(data, func(num protowire.Number, b []byte, _ uint64) error {
		switch num {
		case 1:
			n.in = append(n.in, string(b))
		case 2:
			n.out = append(n.out, string(b))
		case 3:
			n.name = string(b)
		case 4:
			n.op = string(b)
		case 5:
			name, a, err := m.attribute(b)
			if err != nil {
				return fmt.Errorf("attribute %.40q: %w", name, err)
			}
			n.attr[name] = a
		case 7:
			n.domain = string(b)
		}
		return nil
	})
	if err != nil {
		err = n.fault("%w", err)
	}
	return n, err
}

// fault is an error of a node.
func (n *node) fault(format string, args ...any) error {
	name := n.name
	if name == "" && len(n.out) > 0 {
		name = n.out[0]
	}
	return fmt.Errorf("node %.80q: %.40s: %w", name, n.op, fmt.Errorf(format, args...))
}

// attribute reads an AttributeProto.
func (m *file) attribute(data []byte) (name string, a attribute, err error) {
	err = fields(data, func(num protowire.Number, b []byte, n uint64) (err error) {
		switch num {
		case 1:
			name = string(b)
		case 2:
			a.f = math.Float32frombits(uint32(n))
		case 3:
			a.i = int64(n)
		case 4:
			a.s = string(b)
		case 5:
			a.t, err = m.tensor(b)
		case 7:
			err = packed(b, n, true, func(v uint64) error {
				a.floats = append(a.floats, math.Float32frombits(uint32(v)))
				return nil
			})
		case 8:
			err = packed(b, n, false, func(v uint64) error { a.ints = append(a.ints, int64(v)); return nil })
		case 9:
			a.words = append(a.words, string(b))
		case 6, 10, 11, 14, 15, 22, 23:
			a.other = true
		}
		return err
	})
	return name, a, err
}
