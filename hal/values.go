package hal

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ValueKind is the type of a named value.
type ValueKind uint8

// The kinds of value, and the field of Value that holds them.
const (
	BoolValue       ValueKind = iota // Bool
	IntValue                         // Int
	DoubleValue                      // Double
	StringValue                      // Text
	VectorValue                      // Vector[0..2]: x, y, z
	QuaternionValue                  // Vector: w, x, y, z
	InterfaceValue                   // Double: a channel of an agent
)

// Value is one typed value; Kind selects the field.
type Value struct {
	Kind   ValueKind
	Bool   bool
	Int    int64
	Double float64
	Text   string
	Vector [4]float64
}

// ValueID names a value of one rig; 0 is invalid. Ids count up and are never given to another name.
type ValueID uint32

// ErrNoValue means that an id or name is unknown, ErrReadOnly that a value cannot be set.
var (
	ErrNoValue  = errors.New("no such value")
	ErrReadOnly = errors.New("value is read-only")
)

// Values is the repository of a rig's named values. Its owners declare how to read and set each; both run under the
// rig's lock, at a cycle's edge. All methods may be called from any goroutine that does not hold the rig's lock, but
// for Read, which is for observers.
type Values struct {
	edge    func(func()) // runs a function at a cycle's edge, under the rig's lock
	enter   func(Order)  // into the rig's journal, likewise
	mu      leafLock
	entries []valueEntry // index = ValueID - 1
	byName  map[string]ValueID
}

type valueEntry struct {
	name string
	kind ValueKind
	get  func() Value
	set  func(Value) error // nil = read-only
}

func newValues(edge func(func()), enter func(Order)) *Values {
	return &Values{edge: edge, enter: enter, byName: map[string]ValueID{}}
}

// Declare adds a value. Declaring a name again replaces how it is read and set and keeps its id.
func (v *Values) Declare(name string, kind ValueKind, get func() Value, set func(Value) error) ValueID {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, ok := v.byName[name]
	if !ok {
		v.entries = append(v.entries, valueEntry{})
		id = ValueID(len(v.entries))
		v.byName[name] = id
	}
	v.entries[id-1] = valueEntry{name, kind, get, set}
	return id
}

// Find returns the ids of all names that match the whole of re, sorted by name.
func (v *Values) Find(re *regexp.Regexp) []ValueID {
	v.mu.Lock()
	entries := slices.Clone(v.entries) // an expression may take long, and a cycle reads values meanwhile
	v.mu.Unlock()
	longest := *re
	longest.Longest() // "a|ab" matches the whole of "ab", but its first match is "a"
	var ids []ValueID
	for i := range entries {
		name := entries[i].name
		if at := longest.FindStringIndex(name); at != nil && at[0] == 0 && at[1] == len(name) {
			ids = append(ids, ValueID(i+1))
		}
	}
	slices.SortFunc(ids, func(a, b ValueID) int { return strings.Compare(entries[a-1].name, entries[b-1].name) })
	return ids
}

// Lookup finds a declared value.
func (v *Values) Lookup(name string) (ValueID, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id, ok := v.byName[name]
	return id, ok
}

// Info is the name and kind of id.
func (v *Values) Info(id ValueID) (name string, kind ValueKind, ok bool) {
	e, ok := v.entry(id)
	return e.name, e.kind, ok
}

// Get reads id at the cycle's edge.
func (v *Values) Get(id ValueID) (val Value, err error) {
	e, ok := v.entry(id)
	if !ok {
		return Value{}, ErrNoValue
	}
	v.edge(func() { val = e.get() })
	return val, nil
}

// Read is Get for an observer, which runs at the cycle's edge already.
func (v *Values) Read(id ValueID) (Value, error) {
	e, ok := v.entry(id)
	if !ok {
		return Value{}, ErrNoValue
	}
	return e.get(), nil
}

// Set sets id at the cycle's edge. On an error it keeps its value: ErrNoValue, ErrReadOnly, or its owner's error.
func (v *Values) Set(id ValueID, val Value) (err error) {
	e, ok := v.entry(id)
	switch {
	case !ok:
		return ErrNoValue
	case e.set == nil:
		return fmt.Errorf("%s: %w", e.name, ErrReadOnly)
	case val.Kind != e.kind:
		return fmt.Errorf("%s: kind: got %d, want %d", e.name, val.Kind, e.kind)
	}
	v.edge(func() {
		v.enter(Order{Kind: SetOrder, Name: e.name, Value: val})
		err = e.set(val)
	})
	return err
}

func (v *Values) entry(id ValueID) (valueEntry, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if id == 0 || int(id) > len(v.entries) {
		return valueEntry{}, false
	}
	return v.entries[id-1], true
}
