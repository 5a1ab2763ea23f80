package fields

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
)

// AppendJSON appends v, a struct of fields or the value of a field.
func AppendJSON(b []byte, v any, s Style) []byte { return appendJSON(b, reflect.ValueOf(v), s) }

func appendJSON(b []byte, v reflect.Value, s Style) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, "null"...)
	case reflect.Interface, reflect.Pointer:
		return appendJSON(b, v.Elem(), s)
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return appendFloat(b, v.Float(), v.Type().Bits())
	case reflect.String:
		text, _ := json.Marshal(v.String()) // cannot fail: invalid UTF-8 becomes U+FFFD
		return append(b, text...)
	case reflect.Slice, reflect.Array:
		if IsBytes(v.Type()) {
			b = base64.StdEncoding.AppendEncode(append(b, '"'), v.Bytes())
			return append(b, '"')
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, v.Index(i), s)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	empty := true
	eachField(v, s, func(name string, field reflect.Value) {
		if !empty {
			b = append(b, ',')
		}
		empty = false
		b = strconv.AppendQuote(b, name) // names are letters, digits and _
		b = appendJSON(append(b, ':'), field, s)
	})
	return append(b, '}')
}

// appendFloat appends v as short as it can be read back.
func appendFloat(b []byte, v float64, bits int) []byte {
	switch size := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return append(b, "null"...)
	case size != 0 && (size < 1e-6 || size >= 1e21):
		return strconv.AppendFloat(b, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(b, v, 'f', -1, bits)
}

// eachField calls f for the fields of a struct that are not omitted.
func eachField(v reflect.Value, s Style, f func(name string, field reflect.Value)) {
	if t, ok := v.Interface().(Time); ok {
		f(s.Seconds, reflect.ValueOf(t.Sec))
		f(s.Nanoseconds, reflect.ValueOf(t.Nsec))
		return
	}
	for _, field := range Of(v.Type(), s) {
		if value := v.Field(field.Index); !field.Known || !unknown(value) {
			f(field.Name, value)
		}
	}
}
