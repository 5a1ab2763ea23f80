package yaml

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Form is a pattern of texts, named by the form tag of a field.
type Form struct {
	Rule string            // in words, as it is after "want"
	OK   func(string) bool // nil: any text
	// of plain numbers and booleans, which are texts too: a firmware of 48 needs no quotes; nil: they are not
	Bare func(string) bool
}

// withCommon adds the forms that files of several kinds have.
func withCommon(own func(string) Form) func(string) Form {
	return func(name string) Form {
		switch name {
		case "lower": // names of joints, bodies, robots: they become channel names, config keys and file names
			return Form{"lower-case letters, digits, - and _", lower, nil}
		case "bare":
			return Form{"text", nil, func(string) bool { return true }}
		}
		return own(name)
	}
}

func lower(s string) bool {
	return s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// Field is one key of a struct.
type Field struct {
	Name  string
	Index []int
	Type  reflect.Type
	Tag   reflect.StructTag
}

// Fields lists the keys of t in order; embedded structs and those marked inline are part of t.
func Fields(t reflect.Type) []Field {
	var list []Field
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := f.Tag.Get("yaml"); {
		case f.Anonymous || name == ",inline":
			for _, inner := range Fields(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				list = append(list, inner)
			}
		case f.IsExported() && name != "-" && name != "":
			list = append(list, Field{name, f.Index, f.Type, f.Tag})
		}
	}
	return list
}

// limits are the least and the greatest number that a tag allows, and whether the least is excluded. Without tags every
// finite number is allowed; max:"+Inf" allows infinity.
func limits(tag reflect.StructTag) (low, high float64, open bool) {
	low, high = -math.MaxFloat64, math.MaxFloat64
	for _, b := range [...]struct {
		key string
		to  *float64
	}{{"min", &low}, {"above", &low}, {"max", &high}} {
		if s, ok := tag.Lookup(b.key); ok {
			if *b.to, _ = strconv.ParseFloat(s, 64); b.key == "above" {
				open = true
			}
		}
	}
	return low, high, open
}

// Rule describes what a value of type t may be: "0..253", "a time 100us..1s". Faults and references share it, so that
// what is documented is what is checked.
func Rule(t reflect.Type, tag reflect.StructTag, forms func(string) Form) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	between := ""
	if above := tag.Get("above"); above != "" {
		between = "above " + above + ", at most " + tag.Get("max")
	} else if tag.Get("min") != "" {
		between = tag.Get("min") + ".." + tag.Get("max")
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return strings.TrimSpace("a time " + between)
	case t == reflect.TypeFor[time.Time]():
		return "a date like 2026-11-21 or 2026-11-21T14:03:00Z"
	case tag.Get("enum") != "" && t.Kind() != reflect.Map && t.Kind() != reflect.Array && t.Kind() != reflect.Slice:
		return Words(strings.Split(tag.Get("enum"), "|"))
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		if between != "" {
			return between
		}
		return "a whole number"
	case reflect.Float64:
		if between != "" {
			return between
		}
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Array:
		return counted(t.Len(), t.Elem(), tag)
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		if isRow(t) {
			return counted(t.NumField(), t.Field(0).Type, tag)
		}
		return "a table"
	case reflect.Map:
		return "a table"
	}
	if name := tag.Get("form"); name != "" {
		return forms(name).Rule
	}
	return "text"
}

// counted is the rule of n items of type t.
func counted(n int, t reflect.Type, tag reflect.StructTag) string {
	text := "a list of " + strconv.Itoa(n)
	if doc := tag.Get("of"); doc != "" {
		return text + " " + doc
	} else if t.Kind() == reflect.String {
		return text + " texts"
	}
	return text + " numbers"
}

// isRow reports whether t, a struct without keys, is written as a list of its fields.
func isRow(t reflect.Type) bool { return t.NumField() > 0 && len(Fields(t)) == 0 }

// Words joins words as a sentence does: a, b or c.
func Words(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " or " + list[n-1]
	}
	return strings.Join(list, "")
}
