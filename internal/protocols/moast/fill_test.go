package moast

import (
	"fmt"
	"reflect"

	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// types are all message types.
func types() []int32 {
	var all []int32
	for _, d := range dataTypes {
		all = append(all, d.id)
	}
	for _, m := range modules {
		for r := Cmd; r <= Set; r++ {
			for i := range m.names(r) {
				all = append(all, m.Base+int32(r)*perRole+int32(i)+1)
			}
		}
	}
	return all
}

// filled is a message of a type in which every field has a value of its own and arrays have two elements.
func filled(id int32) nml.Message {
	m := New(id)
	n := 0
	fill(reflect.ValueOf(m).Elem(), &n)
	return m
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).Name != "Kind" || f.Int() == 0 { // Kind of a message is its type
				fill(f, n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Bool:
		v.SetBool(*n%2 == 0)
	case reflect.Int32:
		v.SetInt(int64(1000 + *n))
	case reflect.Uint8:
		v.SetUint(uint64('A' + *n%26))
	case reflect.Uint32:
		v.SetUint(uint64(3_000_000_000 + *n))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	default:
		panic(v.Kind())
	}
}
