// Package cdr writes and reads messages of ROS 2 as they travel: XCDR version 1, OMG DDS-XTypes 1.3 part 7.4.1.
//
// A message is a Go struct whose fields are in the order of its .msg file; those of ROS 1 alone (package fields) are
// left out. Compile makes a Codec of it once. Append then allocates nothing but what the buffer lacks.
//
//	00 01 00 00               little endian (00 00: big), two option bytes; alignment counts from here
//	07 00 00 00               uint32, at a multiple of its own size
//	03 00 00 00 61 62 00      string: its length with the zero byte
//	02 00 00 00 ...           sequence: its length, then its elements; an array has no length
//
// A struct without fields is one byte, as rosidl makes it.
package cdr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// headerSize is the encapsulation: the representation and its options.
const headerSize = 4

// maxDepth bounds how deep types nest.
const maxDepth = 16

var errShort = errors.New("the message ends too early")

// Codec is the plan of one type.
type Codec struct {
	root plan
	kind reflect.Type
}

// plan is how one type travels. size is that of a number, 0 of all else; min the fewest bytes of a value.
type plan struct {
	kind   reflect.Kind
	size   int
	min    int
	elem   *plan
	count  int // of an array
	bound  int // of a sequence or a text; 0: none
	fields []field
}

type field struct {
	index int
	plan  plan
}

// Bound returns the limit of a field's tag, ros:"<=256", of a sequence or a text; 0 if it has none.
func Bound(f reflect.StructField) (n int) {
	fmt.Sscanf(f.Tag.Get("ros"), "<=%d", &n)
	return n
}

// Compile returns the codec of message's type, a struct or a pointer to one. It fails for types that ROS does not have.
func Compile(message any) (*Codec, error) {
	t := reflect.TypeOf(message)
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("cdr: got %v, want a struct", t)
	}
	p, err := planOf(t, 0)
	if err != nil {
		return nil, fmt.Errorf("cdr: %v: %w", t, err)
	}
	return &Codec{p, t}, nil
}

func planOf(t reflect.Type, depth int) (p plan, err error) {
	p.kind = t.Kind()
	if depth > maxDepth {
		return p, errors.New("nests too deep")
	}
	switch p.kind {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		p.size = 1
	case reflect.Int16, reflect.Uint16:
		p.size = 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		p.size = 4
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		p.size = 8
	case reflect.String:
		p.min = 4
		return p, nil
	case reflect.Slice, reflect.Array:
		elem, err := planOf(t.Elem(), depth+1)
		if p.elem, p.min = &elem, 4; p.kind == reflect.Array {
			p.count = t.Len()
			p.min = p.count * elem.min
		}
		return p, err
	case reflect.Struct:
		return planOfStruct(t, p, depth)
	default:
		return p, fmt.Errorf("got a %v, want a type of ROS", t)
	}
	p.min = p.size
	return p, nil
}

func planOfStruct(t reflect.Type, p plan, depth int) (plan, error) {
	for i := range t.NumField() {
		f := t.Field(i)
		if _, option, _ := strings.Cut(f.Tag.Get("field"), ","); option == "ros1" {
			continue
		}
		at, err := planOf(f.Type, depth+1)
		if err != nil {
			return p, fmt.Errorf("%s: %w", f.Name, err)
		}
		at.bound = Bound(f)
		p.fields = append(p.fields, field{i, at})
		p.min += at.min
	}
	p.min = max(p.min, 1)
	return p, nil
}

// Append appends message, a pointer to the codec's struct, in little endian with its header.
func (c *Codec) Append(b []byte, message any) []byte {
	w := writer{b: append(b, 0, 1, 0, 0), base: len(b) + headerSize, order: binary.LittleEndian}
	w.append(&c.root, reflect.ValueOf(message).Elem())
	return w.b
}

// AppendBig is Append in big endian.
func (c *Codec) AppendBig(b []byte, message any) []byte {
	w := writer{b: append(b, 0, 0, 0, 0), base: len(b) + headerSize, order: binary.BigEndian}
	w.append(&c.root, reflect.ValueOf(message).Elem())
	return w.b
}

type writer struct {
	b     []byte
	base  int
	order binary.AppendByteOrder
}

func (w *writer) align(n int) {
	for (len(w.b)-w.base)%n != 0 {
		w.b = append(w.b, 0)
	}
}

func (w *writer) uint32(v uint32) {
	w.align(4)
	w.b = w.order.AppendUint32(w.b, v)
}

func (w *writer) append(p *plan, v reflect.Value) {
	switch p.kind {
	case reflect.String:
		s := v.String()
		w.uint32(uint32(len(s) + 1))
		w.b = append(append(w.b, s...), 0)
	case reflect.Slice:
		w.uint32(uint32(v.Len()))
		w.elements(p.elem, v)
	case reflect.Array:
		w.elements(p.elem, v)
	case reflect.Struct:
		for i := range p.fields {
			w.append(&p.fields[i].plan, v.Field(p.fields[i].index))
		}
		if len(p.fields) == 0 {
			w.b = append(w.b, 0)
		}
	default:
		w.number(p, bitsOf(v))
	}
}

func (w *writer) elements(p *plan, v reflect.Value) {
	if p.kind == reflect.Uint8 {
		w.b = append(w.b, v.Bytes()...)
		return
	}
	for i := range v.Len() {
		w.append(p, v.Index(i))
	}
}

func (w *writer) number(p *plan, bits uint64) {
	w.align(p.size)
	switch p.size {
	case 1:
		w.b = append(w.b, byte(bits))
	case 2:
		w.b = w.order.AppendUint16(w.b, uint16(bits))
	case 4:
		w.b = w.order.AppendUint32(w.b, uint32(bits))
	case 8:
		w.b = w.order.AppendUint64(w.b, bits)
	}
}

// bitsOf is a number's bits as they travel.
func bitsOf(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	case reflect.Float32:
		return uint64(math.Float32bits(float32(v.Float())))
	case reflect.Float64:
		return math.Float64bits(v.Float())
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return uint64(v.Int())
	}
	return v.Uint()
}

// Decode reads b into message, a pointer to the codec's struct, and replaces all of it. Bytes that follow are padding.
// Memory is bounded by a small multiple of b. message keeps nothing of b.
func (c *Codec) Decode(b []byte, message any) error {
	v := reflect.ValueOf(message).Elem()
	if v.Type() != c.kind {
		return fmt.Errorf("cdr: got a %v, want a %v", v.Type(), c.kind)
	}
	v.SetZero()
	if len(b) < headerSize {
		return fmt.Errorf("cdr: %v: %w", c.kind, errShort)
	}
	r := reader{all: b[headerSize:], order: binary.LittleEndian}
	switch {
	case b[0] != 0 || b[1] > 1:
		return fmt.Errorf("cdr: %v: got representation %02x%02x, want 0000 or 0001 (XCDR1)", c.kind, b[0], b[1])
	case b[1] == 0:
		r.order = binary.BigEndian
	}
	if err := r.read(&c.root, v); err != nil {
		return fmt.Errorf("cdr: %v: %w", c.kind, err)
	}
	return nil
}

type reader struct {
	all   []byte
	at    int
	order binary.ByteOrder
}

// next returns n bytes at a multiple of align.
func (r *reader) next(n, align int) ([]byte, error) {
	at := (r.at + align - 1) / align * align
	if n < 0 || at > len(r.all) || n > len(r.all)-at {
		return nil, errShort
	}
	r.at = at + n
	return r.all[at:r.at], nil
}

func (r *reader) number(size int) (uint64, error) {
	b, err := r.next(size, size)
	if err != nil {
		return 0, err
	}
	switch size {
	case 1:
		return uint64(b[0]), nil
	case 2:
		return uint64(r.order.Uint16(b)), nil
	case 4:
		return uint64(r.order.Uint32(b)), nil
	}
	return r.order.Uint64(b), nil
}

// length reads a length of elements of at least min bytes.
func (r *reader) length(min, bound int) (int, error) {
	n, err := r.number(4)
	switch {
	case err != nil:
		return 0, err
	case n > uint64((len(r.all)-r.at)/min):
		return 0, fmt.Errorf("got %d elements, want at most the message's size", n)
	case bound > 0 && n > uint64(bound):
		return 0, fmt.Errorf("got %d elements, want at most %d", n, bound)
	}
	return int(n), nil
}

func (r *reader) read(p *plan, v reflect.Value) error {
	switch p.kind {
	case reflect.String:
		return r.text(p, v)
	case reflect.Slice:
		n, err := r.length(p.elem.min, p.bound)
		if err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		return r.elements(p.elem, v)
	case reflect.Array:
		return r.elements(p.elem, v)
	case reflect.Struct:
		for i := range p.fields {
			if err := r.read(&p.fields[i].plan, v.Field(p.fields[i].index)); err != nil {
				return err
			}
		}
		if len(p.fields) == 0 {
			_, err := r.next(1, 1)
			return err
		}
		return nil
	}
	bits, err := r.number(p.size)
	if err == nil {
		setBits(v, bits)
	}
	return err
}

func (r *reader) elements(p *plan, v reflect.Value) error {
	if p.kind == reflect.Uint8 {
		b, err := r.next(v.Len(), 1)
		reflect.Copy(v, reflect.ValueOf(b))
		return err
	}
	for i := range v.Len() {
		if err := r.read(p, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// text reads a string. Some writers give an empty one no zero byte.
func (r *reader) text(p *plan, v reflect.Value) error {
	n, err := r.length(1, 0)
	if err != nil || n == 0 {
		return err
	}
	b, err := r.next(n, 1)
	switch {
	case err != nil:
		return err
	case b[n-1] != 0:
		return errors.New("got a string without its zero byte")
	case p.bound > 0 && n-1 > p.bound:
		return fmt.Errorf("got a string of %d bytes, want at most %d", n-1, p.bound)
	}
	v.SetString(string(b[:n-1]))
	return nil
}

func setBits(v reflect.Value, bits uint64) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(bits != 0)
	case reflect.Float32:
		v.SetFloat(float64(math.Float32frombits(uint32(bits))))
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(bits))
	case reflect.Int8:
		v.SetInt(int64(int8(bits)))
	case reflect.Int16:
		v.SetInt(int64(int16(bits)))
	case reflect.Int32:
		v.SetInt(int64(int32(bits)))
	case reflect.Int64:
		v.SetInt(int64(bits))
	default:
		v.SetUint(bits)
	}
}
