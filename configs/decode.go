package configs

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unset marks a time that complete has to work out. No document can say it: every time has a least value of its own.
const unset time.Duration = math.MinInt64

// Default returns the config that an empty document would give, were it allowed: every default of the tags.
func Default() *Config {
	c := &Config{}
	fill(reflect.ValueOf(c).Elem())
	return c
}

// fill sets v, a struct, to the defaults of its tags. They are ours: one that does not decode is a fault of Halyard,
// and a test decodes them all.
func fill(v reflect.Value) {
	for _, f := range fields(v.Type()) {
		at := v.FieldByIndex(f.index)
		_, fixed := f.tag.Lookup("default")
		switch {
		case fixed:
			d := decoder{faults: &Faults{}}
			d.value(optionValue(f.tag.Get("default"), place{}, d.faults), at, "", f.tag)
		case at.Kind() == reflect.Struct:
			fill(at)
		case at.Type() == reflect.TypeFor[time.Duration]():
			at.SetInt(int64(unset))
		}
	}
}

// decoder sets Go values from nodes by reflection, going on after each fault.
type decoder struct {
	faults *Faults
	places map[Path]place
	bad    map[Path]bool // what has a fault already; nothing is concluded from its value
}

func (d *decoder) fault(path Path, at place, got, rule, fix string) {
	if d.bad != nil {
		d.bad[path] = true
	}
	d.faults.Add(faultAt(path, at, got, rule, fix))
}

// value sets v from n. A value with a fault leaves v as it is.
func (d *decoder) value(n *node, v reflect.Value, path Path, tag reflect.StructTag) {
	if d.places != nil {
		d.places[path] = n.at
	}
	// The tree refused what stood here and said so; "got nothing" would be a second fault for the same slip.
	if n.kind == null && d.bad[path] {
		return
	}
	t := v.Type()
	wrong := func(fix string) { d.fault(path, n.at, n.String(), rule(t, tag), fix) }
	switch {
	case t.Kind() == reflect.Pointer:
		if n.kind == null {
			return
		}
		inner := reflect.New(t.Elem())
		if t.Elem().Kind() == reflect.Struct {
			fill(inner.Elem())
		}
		d.value(n, inner.Elem(), path, tag)
		v.Set(inner)
		return
	case t == reflect.TypeFor[time.Duration]():
		d.duration(n, v, path, tag)
		return
	case t == reflect.TypeFor[Line]():
		if n.kind != number && n.kind != text || !isLine(n.text, n.kind == text) {
			wrong("")
			return
		}
		v.SetString(n.text)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		d.table(n, v, path, tag)
	case reflect.Map:
		d.entries(n, v, path, tag)
	case reflect.Slice, reflect.Array:
		d.list(n, v, path, tag)
	case reflect.String:
		switch {
		case n.kind == number || n.kind == boolean:
			wrong(fmt.Sprintf("write it in quotes: %q", n.text))
		case n.kind != text:
			wrong("")
		default:
			d.text(n, v, path, tag)
		}
	case reflect.Bool:
		b, err := strconv.ParseBool(n.text)
		if n.kind != boolean || err != nil {
			wrong("")
			return
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int64:
		// 0x10 and 1_000_000 are clear. 010 is 8 to some readers of YAML and 10 to others: an id must not hang on that.
		i, err := strconv.ParseInt(n.text, 0, 64)
		octal := len(n.text) > 1 && n.text[0] == '0' && n.text[1] >= '0' && n.text[1] <= '9'
		if n.kind != number || err != nil || octal || !within(float64(i), tag) || !oneOf(n.text, tag) {
			wrong("")
			return
		}
		v.SetInt(i)
	case reflect.Float64:
		x, err := strconv.ParseFloat(n.text, 64)
		if n.kind != number || err != nil || math.IsInf(x, 0) || math.IsNaN(x) || !within(x, tag) {
			wrong("")
			return
		}
		v.SetFloat(x)
	default: // a field of a new type in config.go, found by the first test that loads anything
		panic("configs: no decoding for " + t.String())
	}
}

// table sets a struct: unknown keys are faults, and required ones that are missing.
func (d *decoder) table(n *node, v reflect.Value, path Path, tag reflect.StructTag) {
	if n.kind != table && n.kind != null {
		d.fault(path, n.at, n.String(), rule(v.Type(), tag), "")
		return
	}
	known := fields(v.Type())
	var allowed []string
	for _, f := range known {
		allowed = append(allowed, f.name)
	}
	// A typo of a required key is one fault, the unknown key; that the right one is missing follows from it.
	mistyped := map[string]bool{}
	for _, k := range n.keys {
		i := slices.Index(allowed, k.name)
		if i < 0 {
			d.fault(path.Key(k.name), k.at, "an unknown key", words(allowed), meant(k.name, allowed))
			mistyped[Closest(k.name, allowed)] = true
			continue
		}
		d.value(k.value, v.FieldByIndex(known[i].index), path.Key(k.name), known[i].tag)
	}
	if d.bad[path] {
		return // what the tree refused here may have been what is missing
	}
	for _, f := range known {
		if n.requires(f.tag.Get("required")) && n.key(f.name) == nil && !mistyped[f.name] {
			d.fault(path.Key(f.name), n.at, "nothing", rule(f.typ, f.tag), "")
		}
	}
}

// requires tells whether n must have a key whose tag says: "true", or "with KEY" or "without KEY" of another one.
func (n *node) requires(tag string) bool {
	word, other, _ := strings.Cut(tag, " ")
	k := n.key(other)
	has := k != nil && (k.value.kind != text || k.value.text != "")
	return word == "true" || word == "with" && has || word == "without" && !has
}

// entries sets a map; the tag's form is for its keys, its enum for its values.
func (d *decoder) entries(n *node, v reflect.Value, path Path, tag reflect.StructTag) {
	if n.kind != table && n.kind != null {
		d.fault(path, n.at, n.String(), rule(v.Type(), tag), "")
		return
	}
	if len(n.keys) == 0 {
		return
	}
	// A map's items have no tag of their own.
	inner := reflect.StructTag("")
	if enum := tag.Get("enum"); enum != "" {
		inner = reflect.StructTag(`enum:"` + enum + `"`)
	}
	name := forms(tag.Get("form"))
	m := reflect.MakeMap(v.Type())
	// Each item is decoded into a fresh value with its defaults filled in; map entries cannot be set in part.
	for _, k := range n.keys {
		p := path.Key(k.name)
		if k.name == "" || !name.ok(k.name) {
			d.fault(p, k.at, "the key "+quote(k.name), name.rule, "")
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if item.Kind() == reflect.Struct {
			fill(item)
		}
		d.value(k.value, item, p, inner)
		m.SetMapIndex(reflect.ValueOf(k.name), item)
	}
	v.Set(m)
}

// list sets a slice, or an array of exactly its length.
func (d *decoder) list(n *node, v reflect.Value, path Path, tag reflect.StructTag) {
	array := v.Kind() == reflect.Array
	switch {
	case n.kind == null && !array:
		return
	case n.kind != list:
		d.fault(path, n.at, n.String(), rule(v.Type(), tag), "")
		return
	case array && len(n.items) != v.Len():
		d.fault(path, n.at, fmt.Sprintf("%d", len(n.items)), rule(v.Type(), tag), "")
		return
	case !array && len(n.items) == 0: // as good as none
		return
	case !array:
		v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	}
	for i, item := range n.items {
		if v.Index(i).Kind() == reflect.Struct {
			fill(v.Index(i))
		}
		d.value(item, v.Index(i), path.Index(i), "")
	}
}

// text sets a string by its enum or form. An empty text is as good as none where the key is not required.
func (d *decoder) text(n *node, v reflect.Value, path Path, tag reflect.StructTag) {
	// Documents written by a program have port: "" where a person leaves the key out.
	fix, ok := "", forms(tag.Get("form")).ok
	if enum := tag.Get("enum"); enum != "" {
		among := strings.Split(enum, "|")
		ok, fix = func(s string) bool { return slices.Contains(among, s) }, meant(n.text, among)
	} else if n.text == "" && tag.Get("required") != "true" {
		v.SetString("")
		return
	}
	if n.text == "" || !ok(n.text) {
		d.fault(path, n.at, quote(n.text), rule(v.Type(), tag), fix)
		return
	}
	v.SetString(n.text)
}

// duration sets a time: "10ms", and "none" or 0 where the shortest is 0s.
func (d *decoder) duration(n *node, v reflect.Value, path Path, tag reflect.StructTag) {
	least, greatest := parseTime(tag.Get("min")), parseTime(tag.Get("max"))
	if n.text == "none" && least == 0 {
		v.SetInt(0)
		return
	}
	t, err := time.ParseDuration(n.text)
	if (n.kind == text || n.kind == number) && err == nil && t >= least && t <= greatest {
		v.SetInt(int64(t))
		return
	}
	// A bare number is the likeliest slip of all, and 10 s for 10 ms would be felt: the unit is never assumed.
	fix := ""
	if n.kind == number && err != nil {
		fix = fmt.Sprintf("write the unit: %sms or %ss", n.text, n.text)
	}
	d.fault(path, n.at, n.String(), rule(v.Type(), tag), fix)
}

// parseTime reads a bound of a tag; a tag without one gives unset, which bounds nothing from below.
func parseTime(s string) time.Duration {
	t, err := time.ParseDuration(s)
	if err != nil {
		return unset
	}
	return t
}

// within reports whether x keeps the tag's min and max.
func within(x float64, tag reflect.StructTag) bool {
	if tag.Get("min") == "" {
		return true
	}
	least, err1 := strconv.ParseFloat(tag.Get("min"), 64)
	greatest, err2 := strconv.ParseFloat(tag.Get("max"), 64)
	return err1 == nil && err2 == nil && x >= least && x <= greatest
}

// oneOf reports whether s is among the words of the tag's enum, or there is none.
func oneOf(s string, tag reflect.StructTag) bool {
	enum := tag.Get("enum")
	return enum == "" || slices.Contains(strings.Split(enum, "|"), s)
}
