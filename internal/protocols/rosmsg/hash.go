package rosmsg

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/protocols/cdr"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
)

// FullName is the name of a type as ROS 2 has it: std_msgs/msg/Header.
func FullName(m fields.Named) string {
	name := m.TypeName()
	if pkg, bare, _ := strings.Cut(name, "/"); !strings.Contains(bare, "/") {
		return pkg + "/msg/" + bare
	}
	return name
}

// DDSName is the name of a type on the network: std_msgs::msg::dds_::Header_.
func DDSName(m fields.Named) string {
	parts := strings.Split(FullName(m), "/")
	return parts[0] + "::" + parts[1] + "::dds_::" + parts[2] + "_"
}

// typeIDs are the numbers of plain types in type descriptions..
var typeIDs = map[reflect.Kind]int{reflect.Struct: 1, reflect.Int8: 2, reflect.Uint8: 3, reflect.Int16: 4,
	reflect.Uint16: 5, reflect.Int32: 6, reflect.Uint32: 7, reflect.Int64: 8, reflect.Uint64: 9, reflect.Float32: 10,
	reflect.Float64: 11, reflect.Bool: 15, reflect.String: 17}

const (
	byteID          = 16
	boundedStringID = 21
	arrayID         = 48 // added
	boundedID       = 96
	sequenceID      = 144
)

// timeName is the type of fields.Time.
const timeName = "builtin_interfaces/msg/Time"

// Hash is the type's hash, RIHS01_ and 64 hexadecimal digits: SHA-256 of its description and of all that it nests
// (rosidl_generator_type_description, REP 2011).
func Hash(m fields.Named) string {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	nested := map[string]string{}
	own := describe(FullName(m), t, nested)
	var others []string
	for _, name := range slices.Sorted(maps.Keys(nested)) {
		others = append(others, nested[name])
	}
	sum := sha256.Sum256([]byte(`{"type_description": ` + own + `, "referenced_type_descriptions": [` +
		strings.Join(others, ", ") + `]}`))
	return "RIHS01_" + hex.EncodeToString(sum[:])
}

// describe is the description of one type; it adds those of what it nests.
func describe(name string, t reflect.Type, nested map[string]string) string {
	var all []string
	if t == reflect.TypeFor[fields.Time]() {
		all = []string{describeField("sec", 6, 0, 0, ""), describeField("nanosec", 7, 0, 0, "")}
	} else {
		for _, f := range fields.Of(t, fields.ROS2) {
			all = append(all, describeOf(f.Name, t.Field(f.Index), nested))
		}
	}
	if len(all) == 0 { // as rosidl does
		all = []string{describeField("structure_needs_at_least_one_member", 3, 0, 0, "")}
	}
	return fmt.Sprintf(`{"type_name": "%s", "fields": [%s]}`, name, strings.Join(all, ", "))
}

func describeField(name string, id, capacity, text int, nested string) string {
	return fmt.Sprintf(`{"name": "%s", "type": {"type_id": %d, "capacity": %d, "string_capacity": %d, `+
		`"nested_type_name": "%s"}}`, name, id, capacity, text, nested)
}

func describeOf(name string, f reflect.StructField, nested map[string]string) string {
	t, plus, capacity, text := f.Type, 0, 0, 0
	bound := cdr.Bound(f)
	switch t.Kind() {
	case reflect.Array:
		plus, capacity, t = arrayID, t.Len(), t.Elem()
	case reflect.Slice:
		if plus, t = sequenceID, t.Elem(); bound > 0 {
			plus, capacity = boundedID, bound
		}
	}
	id, of := typeIDs[t.Kind()], ""
	switch {
	case f.Tag.Get("ros") == "byte":
		id = byteID
	case t.Kind() == reflect.String && bound > 0 && plus == 0:
		id, text = boundedStringID, bound
	case t.Kind() == reflect.Struct:
		if of = timeName; t != reflect.TypeFor[fields.Time]() {
			of = FullName(reflect.Zero(t).Interface().(fields.Named))
		}
		if _, have := nested[of]; !have {
			nested[of] = "" // its own recursion
			nested[of] = describe(of, t, nested)
		}
	}
	return describeField(name, id+plus, capacity, text, of)
}
