package fields

import (
	"encoding/binary"
	"math"
	"reflect"
)

// The major types of CBOR, and its float.
const (
	cborUint   = 0 << 5
	cborNegint = 1 << 5
	cborBytes  = 2 << 5
	cborText   = 3 << 5
	cborArray  = 4 << 5
	cborMap    = 5 << 5
	cborTag    = 6 << 5
	cborFalse  = 0xf4
	cborTrue   = 0xf5
	cborNull   = 0xf6
	cborFloat  = 0xfb
)

// typedArrays are the tags of arrays of numbers, little endian.
var typedArrays = map[reflect.Kind]uint64{
	reflect.Uint16: 69, reflect.Uint32: 70, reflect.Uint64: 71, reflect.Int8: 72, reflect.Int16: 77, reflect.Int32: 78,
	reflect.Int64: 79, reflect.Float32: 85, reflect.Float64: 86,
}

// AppendCBOR appends v, a struct of fields or the value of a field.
func AppendCBOR(b []byte, v any, s Style) []byte { return appendCBOR(b, reflect.ValueOf(v), s) }

// head appends a major type and its number.
func head(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}

func appendCBOR(b []byte, v reflect.Value, s Style) []byte {
	switch v.Kind() {
	case reflect.Invalid:
		return append(b, cborNull)
	case reflect.Interface, reflect.Pointer:
		return appendCBOR(b, v.Elem(), s)
	case reflect.Bool:
		if v.Bool() {
			return append(b, cborTrue)
		}
		return append(b, cborFalse)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := v.Int(); n < 0 {
			return head(b, cborNegint, uint64(-1-n))
		}
		return head(b, cborUint, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return head(b, cborUint, v.Uint())
	case reflect.Float32, reflect.Float64:
		return binary.BigEndian.AppendUint64(append(b, cborFloat), math.Float64bits(v.Float()))
	case reflect.String:
		return append(head(b, cborText, uint64(v.Len())), v.String()...)
	case reflect.Slice, reflect.Array:
		if IsBytes(v.Type()) {
			return append(head(b, cborBytes, uint64(v.Len())), v.Bytes()...)
		}
		elem := v.Type().Elem()
		tag, typed := typedArrays[elem.Kind()]
		if !typed {
			b = head(b, cborArray, uint64(v.Len()))
			for i := range v.Len() {
				b = appendCBOR(b, v.Index(i), s)
			}
			return b
		}
		b = head(head(b, cborTag, tag), cborBytes, uint64(v.Len()*int(elem.Size())))
		for i := range v.Len() {
			b, _ = binary.Append(b, binary.LittleEndian, v.Index(i).Interface()) // cannot fail: its size is fixed
		}
		return b
	}
	n := 0
	eachField(v, s, func(string, reflect.Value) { n++ })
	b = head(b, cborMap, uint64(n))
	eachField(v, s, func(name string, field reflect.Value) {
		b = append(head(b, cborText, uint64(len(name))), name...)
		b = appendCBOR(b, field, s)
	})
	return b
}
