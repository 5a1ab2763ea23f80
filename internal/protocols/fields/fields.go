// Package fields writes and reads messages of named fields, Go structs with tags, as JSON and CBOR (RFC 8949), for
// protocols whose messages are types of ROS or of Foxglove.
//
//	type Header struct {
//		Seq     uint32 `field:",ros1"` // only in ROS 1
//		Stamp   Time                   // stamp
//		FrameID string                 // frame_id
//		Kind    string `field:"type"`
//		More    uint32 `field:",ros2"` // not in ROS 1
//	}
//
// A field without a name in its tag has that of Go in lower case, its words joined by _. A field with ",known" is
// omitted if it is NaN, nil or empty. JSON has neither NaN nor infinities: they become null. In JSON []byte is base64;
// in CBOR it is a byte string, and arrays of numbers are typed arrays, little endian (RFC 8746).
package fields

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Style is the differences between users of the same messages.
type Style struct {
	Seconds, Nanoseconds string // names of the fields of a time
	ROS1                 bool   // include the fields of ROS 1
}

// ROS1, ROS2 and Foxglove are the styles.
var (
	ROS1     = Style{"secs", "nsecs", true}
	ROS2     = Style{"sec", "nanosec", false}
	Foxglove = Style{"sec", "nsec", false}
)

// Time is a time in seconds and nanoseconds.
type Time struct {
	Sec  int32
	Nsec uint32
}

// At is d since the beginning of time, at least 0.
func At(d time.Duration) Time {
	d = max(d, 0)
	return Time{int32(d / time.Second), uint32(d % time.Second)}
}

// Named is a message type with a name, "std_msgs/Header".
type Named interface{ TypeName() string }

// Field is one field of a message type.
type Field struct {
	Name  string
	Type  reflect.Type
	Index int
	Known bool // left out where it is not known
}

// Of are the fields of a struct type in a style.
func Of(t reflect.Type, s Style) (all []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("field"), ",")
		if option == "ros1" && !s.ROS1 || option == "ros2" && s.ROS1 {
			continue
		}
		if name == "" {
			name = wireName(f.Name)
		}
		all = append(all, Field{name, f.Type, i, option == "known"})
	}
	return all
}

// wireName returns a Go name in lower case, its words joined by _: frame_id of FrameID.
func wireName(name string) string {
	var buffer [64]byte
	out := buffer[:0]
	upper := func(i int) bool { return name[i] >= 'A' && name[i] <= 'Z' }
	for i := range len(name) {
		if !upper(i) {
			out = append(out, name[i])
			continue
		}
		if i > 0 && (!upper(i-1) || i+1 < len(name) && !upper(i+1)) {
			out = append(out, '_')
		}
		out = append(out, name[i]|0x20)
	}
	return string(out)
}

var (
	timeType  = reflect.TypeFor[Time]()
	bytesType = reflect.TypeFor[[]byte]()
)

// IsTime and IsBytes report whether a type is a time, or binary data.
func IsTime(t reflect.Type) bool  { return t == timeType }
func IsBytes(t reflect.Type) bool { return t == bytesType }

// Name returns a type's ROS name, "float64", "string[]" or "std_msgs/Header", and the array length: -1 for a type that
// is not an array, 0 for a slice.
func Name(t reflect.Type, s Style) (name string, length int) {
	switch t.Kind() {
	case reflect.Slice:
		name, _ = Name(t.Elem(), s)
		return name, 0
	case reflect.Array:
		name, _ = Name(t.Elem(), s)
		return name, t.Len()
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64, reflect.Int8, reflect.Int16, reflect.Int32,
		reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return t.Kind().String(), -1
	}
	if IsTime(t) {
		if s.ROS1 {
			return "time", -1
		}
		return "builtin_interfaces/Time", -1
	}
	if n, ok := reflect.Zero(t).Interface().(Named); ok {
		return n.TypeName(), -1
	}
	return t.String(), -1
}

// unknown reports whether v is left out where its field is one that may be.
func unknown(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.IsNaN(v.Float())
	case reflect.Interface:
		return v.IsNil()
	case reflect.Slice, reflect.String:
		return v.Len() == 0
	}
	return false
}

func fullName(t reflect.Type, s Style) string {
	name, length := Name(t, s)
	switch {
	case length == 0:
		return name + "[]"
	case length > 0:
		return fmt.Sprintf("%s[%d]", name, length)
	}
	return name
}
