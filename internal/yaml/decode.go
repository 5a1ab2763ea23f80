package yaml

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decode sets the struct that into points to from the tree. It continues after each fault; a value with a fault keeps
// its previous value. The tags of the fields are:
//
//	yaml       the key; - skips the field; ,inline adds the keys of a struct to those of the enclosing one
//	default    its value where the document has none, as YAML
//	required   "true": the key must be there; "with KEY", "without KEY": where another one is set, or is not
//	enum       the words or numbers allowed, separated by |; of a map those of its values
//	min, max   the range allowed, ends included; of an array or a list that of its items
//	above      an exclusive lower bound, in place of min
//	count      of a list: how many items it may have at most
//	unique     of a list: the key that no two items have the same value of
//	form       a pattern of texts by the name that forms knows; of a map that of its keys
//	order      of a row of numbers: "<" where each is above the one before, "<=" where none is below
//	of         the items of an array, in words
//
// A pointer to what is not in the document stays nil. A struct without keys is written as a list of its fields.
func (d *Document) Decode(into any, forms func(string) Form) {
	dec := decoder{d, withCommon(forms)}
	v := reflect.ValueOf(into).Elem()
	dec.fill(v)
	dec.value(d.Root, v, "", "")
}

type decoder struct {
	*Document
	form func(string) Form
}

func (d decoder) fill(v reflect.Value) {
	for _, f := range Fields(v.Type()) {
		at := v.FieldByIndex(f.Index)
		if text, ok := f.Tag.Lookup("default"); ok {
			n, _ := Value(text, Place{})
			d.value(n, at, "", f.Tag)
		} else if at.Kind() == reflect.Struct {
			d.fill(at)
		}
	}
}

// value sets v from n.
func (d decoder) value(n *Node, v reflect.Value, path Path, tag reflect.StructTag) {
	// A value that the reader refused has its fault: "got nothing" would be a second one for the same slip.
	if n.Kind == Null && d.bad[path] || d.Faults.full() {
		return
	}
	t := v.Type()
	wrong := func(fix string) { d.wrong(n, t, path, tag, fix) }
	switch {
	case t.Kind() == reflect.Pointer:
		if n.Kind == Null {
			return
		}
		inner := reflect.New(t.Elem())
		if t.Elem().Kind() == reflect.Struct {
			d.fill(inner.Elem())
		}
		before := len(d.Faults)
		if d.value(n, inner.Elem(), path, tag); len(d.Faults) == before || t.Elem().Kind() == reflect.Struct {
			v.Set(inner)
		}
		return
	case t == reflect.TypeFor[time.Duration]():
		d.duration(n, v, path, tag)
		return
	case t == reflect.TypeFor[time.Time]():
		for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
			if at, err := time.Parse(layout, n.Text); err == nil && n.Kind == Text && at.Year() > 0 {
				v.Set(reflect.ValueOf(at.UTC()))
				return
			}
		}
		wrong("")
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if isRow(t) {
			d.items(n, t.NumField(), v.Field, path, t, tag)
			return
		}
		d.table(n, v, path, tag)
	case reflect.Array:
		d.items(n, t.Len(), v.Index, path, t, tag)
	case reflect.Slice:
		d.list(n, v, path, tag)
	case reflect.Map:
		d.entries(n, v, path, tag)
	case reflect.String:
		d.text(n, v, path, tag)
	case reflect.Bool:
		b, err := strconv.ParseBool(n.Text)
		if n.Kind != Bool || err != nil {
			wrong("")
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		// 0x10 and 1_000_000 are clear. 010 is 8 to some readers of YAML and 10 to others: an id must not depend on
		// that.
		i, err := strconv.ParseInt(n.Text, 0, 64)
		octal := len(n.Text) > 1 && n.Text[0] == '0' && n.Text[1] >= '0' && n.Text[1] <= '9'
		if n.Kind != Number || err != nil || octal || !within(float64(i), tag) || !oneOf(n.Text, tag) ||
			v.OverflowInt(i) {
			wrong("")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		// Infinity and what is not a number are written with a point.
		x, err := strconv.ParseFloat(strings.Replace(n.Text, ".i", "i", 1), 64)
		if n.Kind != Number || err != nil || !within(x, tag) || !oneOf(n.Text, tag) {
			wrong("")
			return
		}
		v.SetFloat(x)
	default: // a field of a new type, found by the first test that reads anything
		panic("yaml: no decoding for " + t.String())
	}
}

func (d decoder) wrong(n *Node, t reflect.Type, path Path, tag reflect.StructTag, fix string) {
	d.fault(path, n.At, n.String(), Rule(t, tag, d.form), fix)
}

// table sets a struct: unknown keys are faults, and required ones that are missing.
func (d decoder) table(n *Node, v reflect.Value, path Path, tag reflect.StructTag) {
	if n.Kind != Table && n.Kind != Null {
		d.wrong(n, v.Type(), path, tag, "")
		return
	}
	known := Fields(v.Type())
	var allowed []string
	for _, f := range known {
		allowed = append(allowed, f.Name)
	}
	// A typo of a required key is one fault, the unknown key; that the right one is missing follows from it.
	mistyped := map[string]bool{}
	for _, k := range n.Keys {
		if d.Faults.full() {
			return
		}
		i := slices.Index(allowed, k.Name)
		if i < 0 {
			d.fault(path.Key(k.Name), k.At, "an unknown key", Words(allowed), Meant(k.Name, allowed))
			mistyped[Closest(k.Name, allowed)] = true
			continue
		}
		d.value(k.Value, v.FieldByIndex(known[i].Index), path.Key(k.Name), known[i].Tag)
	}
	if d.bad[path] {
		return // what was refused here may have been what is missing
	}
	for _, f := range known {
		if n.requires(f.Tag.Get("required")) && n.Key(f.Name) == nil && !mistyped[f.Name] {
			d.fault(path.Key(f.Name), n.At, "nothing", Rule(f.Type, f.Tag, d.form), "")
		}
	}
}

// requires reports whether n must have a key with this required tag.
func (n *Node) requires(tag string) bool {
	word, other, _ := strings.Cut(tag, " ")
	k := n.Key(other)
	has := k != nil && (k.Value.Kind != Text || k.Value.Text != "")
	return word == "true" || word == "with" && has || word == "without" && !has
}

// entries sets a map; the tag's form is for its keys, its enum for its values.
func (d decoder) entries(n *Node, v reflect.Value, path Path, tag reflect.StructTag) {
	if n.Kind != Table && n.Kind != Null {
		d.wrong(n, v.Type(), path, tag, "")
		return
	}
	if len(n.Keys) == 0 {
		return
	}
	// A map's items have no tag of their own.
	inner := reflect.StructTag("")
	if enum := tag.Get("enum"); enum != "" {
		inner = reflect.StructTag(`enum:"` + enum + `"`)
	}
	m := reflect.MakeMap(v.Type())
	// Each item is decoded into a fresh value with its defaults filled in; map entries cannot be set in part.
	for _, k := range n.Keys {
		p := path.Key(k.Name)
		if name := tag.Get("form"); name != "" {
			if form := d.form(name); k.Name == "" || !form.OK(k.Name) {
				d.fault(p, k.At, "the key "+Quote(k.Name), form.Rule, "")
				continue
			}
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if item.Kind() == reflect.Struct {
			d.fill(item)
		}
		d.value(k.Value, item, p, inner)
		m.SetMapIndex(reflect.ValueOf(k.Name), item)
	}
	v.Set(m)
}

// list sets a slice.
func (d decoder) list(n *Node, v reflect.Value, path Path, tag reflect.StructTag) {
	most, err := strconv.Atoi(tag.Get("count"))
	switch {
	case n.Kind == Null:
		return
	case n.Kind != List:
		d.wrong(n, v.Type(), path, tag, "")
		return
	case err == nil && len(n.Items) > most:
		d.fault(path, n.At, strconv.Itoa(len(n.Items)), fmt.Sprintf("at most %d", most), "")
		return
	}
	if len(n.Items) == 0 { // counts as none
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items)))
	d.items(n, len(n.Items), v.Index, path, v.Type(), tag)
	d.unique(n, path, tag)
}

// unique checks that no two items have the same value of a key.
func (d decoder) unique(n *Node, path Path, tag reflect.StructTag) {
	key := tag.Get("unique")
	seen := map[string]Path{}
	for i, item := range n.Items {
		k := item.Key(key)
		if key == "" || k == nil || k.Value.Text == "" {
			continue
		}
		at := path.Index(i).Key(key)
		if first, twice := seen[k.Value.Text]; twice {
			d.Taken(at, k.Value.Text, first)
			continue
		}
		seen[k.Value.Text] = at
	}
}

// items sets count values from a list of as many.
func (d decoder) items(n *Node, count int, at func(int) reflect.Value, path Path, t reflect.Type,
	tag reflect.StructTag) {
	switch {
	case n.Kind == List && len(n.Items) != count:
		d.fault(path, n.At, strconv.Itoa(len(n.Items)), Rule(t, tag, d.form), "")
		return
	case n.Kind != List:
		d.wrong(n, t, path, tag, "")
		return
	}
	before := len(d.Faults)
	for i, item := range n.Items {
		v := at(i)
		if v.Kind() == reflect.Struct && !isRow(v.Type()) {
			d.fill(v)
		}
		d.value(item, v, path.Index(i), tag)
	}
	for i := 1; i < count && tag.Get("order") != "" && len(d.Faults) == before; i++ {
		a, b := at(i-1).Float(), at(i).Float()
		if a > b || a == b && tag.Get("order") == "<" {
			var got []string
			for _, item := range n.Items {
				got = append(got, item.String())
			}
			d.fault(path, n.At, "["+strings.Join(got, ", ")+"]", "rising numbers", "")
			return
		}
	}
}

// text sets a string by its enum or form. An empty text counts as none where the key is not required.
func (d decoder) text(n *Node, v reflect.Value, path Path, tag reflect.StructTag) {
	var form Form
	if name := tag.Get("form"); name != "" {
		form = d.form(name)
	}
	among := strings.Split(tag.Get("enum"), "|")
	switch {
	case n.Kind == Number || n.Kind == Bool:
		if form.Bare == nil {
			d.wrong(n, v.Type(), path, tag, fmt.Sprintf("write it in quotes: %q", n.Text))
			return
		} else if !form.Bare(n.Text) {
			d.wrong(n, v.Type(), path, tag, "")
			return
		}
	case n.Kind == List, n.Kind == Table, n.Kind == Null:
		d.wrong(n, v.Type(), path, tag, "")
		return
	// Documents written by a program have port: "" where a person leaves the key out.
	case n.Text == "" && tag.Get("required") != "true" && tag.Get("enum") == "":
	case tag.Get("enum") != "" && !slices.Contains(among, n.Text):
		d.wrong(n, v.Type(), path, tag, Meant(n.Text, among))
		return
	case n.Text == "", form.OK != nil && !form.OK(n.Text):
		d.wrong(n, v.Type(), path, tag, "")
		return
	}
	v.SetString(n.Text)
}

// duration sets a time: "10ms", and "none" or 0 where the shortest is 0s.
func (d decoder) duration(n *Node, v reflect.Value, path Path, tag reflect.StructTag) {
	low, err1 := time.ParseDuration(tag.Get("min"))
	high, err2 := time.ParseDuration(tag.Get("max"))
	if err1 != nil || err2 != nil {
		low, high = math.MinInt64, math.MaxInt64
	}
	if n.Text == "none" && low == 0 {
		v.SetInt(0)
		return
	}
	t, err := time.ParseDuration(n.Text)
	if (n.Kind == Text || n.Kind == Number) && err == nil && t >= low && t <= high {
		v.SetInt(int64(t))
		return
	}
	// A bare number is the likeliest slip of all, and 10 s for 10 ms would be felt: the unit is never assumed.
	fix := ""
	if n.Kind == Number && err != nil {
		fix = fmt.Sprintf("write the unit: %sms or %ss", n.Text, n.Text)
	}
	d.wrong(n, v.Type(), path, tag, fix)
}

// within reports whether x is within the limits of the tag; what is not a number never is.
func within(x float64, tag reflect.StructTag) bool {
	low, high, open := limits(tag)
	return x >= low && x <= high && !(open && x == low)
}

// oneOf reports whether s is one of the words of the tag's enum, or the tag has no enum.
func oneOf(s string, tag reflect.StructTag) bool {
	enum := tag.Get("enum")
	return enum == "" || slices.Contains(strings.Split(enum, "|"), s)
}
