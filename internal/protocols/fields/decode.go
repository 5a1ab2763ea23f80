package fields

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep a client's JSON nests.
const maxDepth = 32

// Parse reads one JSON object, of bounded depth, into Go's map[string]any, []any, string, float64, bool and nil.
func Parse(b []byte) (map[string]any, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("got bytes that are no UTF-8, want a JSON object")
	}
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return nil, fmt.Errorf("got JSON that nests deeper than %d", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("got no JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("got more than one JSON value, want an object")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("got a JSON %s, want an object", kindOf(v))
	}
	return m, nil
}

// Decode reads parsed JSON into a message, whose fields it sets to zero first. missing are the fields that in does not
// have, except those of a time and a Header. Arrays of floats may hold null, which is NaN. now is the value of the time
// "now".
func Decode(in any, message Named, s Style, now Time) (missing []string, err error) {
	return DecodeAs(in, message, message.TypeName(), s, now)
}

// DecodeAs is Decode of a message, a pointer to a struct of fields, that errors call name.
func DecodeAs(in, message any, name string, s Style, now Time) (missing []string, err error) {
	v := reflect.ValueOf(message).Elem()
	v.SetZero()
	d := decoder{root: name, style: s, now: now}
	err = d.decode(in, v, nil)
	return d.missing, err
}

type decoder struct {
	root    string
	style   Style
	now     Time
	missing []string
}

// mistake is an error in rosbridge's words, which begin with a capital letter.
func mistake(format string, args ...any) error { return wrong(fmt.Sprintf(format, args...)) }

type wrong string

func (w wrong) Error() string { return string(w) }

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

func (d *decoder) mismatch(in any, t reflect.Type, path []string) error {
	return fmt.Errorf("%s message requires a %s for field %s, but got a %s", d.root, fullName(t, d.style),
		strings.Join(path, "."), kindOf(in))
}

func (d *decoder) decode(in any, v reflect.Value, path []string) error {
	t := v.Type()
	switch t.Kind() {
	case reflect.Bool:
		if b, ok := in.(bool); ok {
			v.SetBool(b)
			return nil
		}
	case reflect.String:
		if text, ok := in.(string); ok {
			v.SetString(text)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if f, ok := in.(float64); ok && !v.OverflowFloat(f) {
			v.SetFloat(f)
			return nil
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if f, ok := in.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 && !v.OverflowInt(int64(f)) {
			v.SetInt(int64(f))
			return nil
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if f, ok := in.(float64); ok && f == math.Trunc(f) && f >= 0 && f < 1<<53 && !v.OverflowUint(uint64(f)) {
			v.SetUint(uint64(f))
			return nil
		}
	case reflect.Slice, reflect.Array:
		return d.decodeArray(in, v, path)
	case reflect.Struct:
		return d.decodeStruct(in, v, path)
	}
	return d.mismatch(in, t, path)
}

func (d *decoder) decodeArray(in any, v reflect.Value, path []string) error {
	t := v.Type()
	if text, ok := in.(string); ok && IsBytes(t) {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return d.mismatch(in, t, path)
		}
		v.SetBytes(b)
		return nil
	}
	list, ok := in.([]any)
	if !ok || t.Kind() == reflect.Array && len(list) != t.Len() {
		return d.mismatch(in, t, path)
	}
	if t.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(t, len(list), len(list)))
	}
	for i, item := range list {
		at := v.Index(i)
		if item == nil && at.CanFloat() {
			at.SetFloat(math.NaN())
			continue
		}
		if err := d.decode(item, at, path); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) decodeStruct(in any, v reflect.Value, path []string) error {
	if IsTime(v.Type()) && in == "now" {
		v.Set(reflect.ValueOf(d.now))
		return nil
	}
	object, ok := in.(map[string]any)
	if !ok {
		if len(path) == 0 {
			return mistake("Expected a JSON object for type %s but received a %s", d.root, kindOf(in))
		}
		return d.mismatch(in, v.Type(), path)
	}
	all := Of(v.Type(), d.style)
	if IsTime(v.Type()) {
		all = timeFields
	}
	// in the order of names, so that of several mistakes it is always the same one that is reported
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := append(path[:len(path):len(path)], name)
		i := slices.IndexFunc(all, func(f Field) bool { return f.Name == name })
		if i < 0 {
			return d.nonexistent(at)
		}
		if err := d.decode(object[name], v.Field(all[i].Index), at); err != nil {
			return err
		}
	}
	for _, f := range all {
		if _, given := object[f.Name]; !given && f.Name != "header" && !slices.Contains(path, "header") && !f.Known {
			d.missing = append(d.missing, strings.Join(append(path[:len(path):len(path)], f.Name), "."))
		}
	}
	return nil
}

// timeFields are the fields of a time in all styles, of which a client may omit any.
var timeFields = []Field{{Name: "sec", Known: true}, {Name: "secs", Known: true},
	{Name: "nanosec", Index: 1, Known: true}, {Name: "nsecs", Index: 1, Known: true},
	{Name: "nsec", Index: 1, Known: true}}

func (d *decoder) nonexistent(path []string) error {
	return mistake("Message type %s does not have a field %s", d.root, strings.Join(path, "."))
}
