package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Row is one line of a command's answer: a struct whose JSON is for programs, with cells for people.
type Row interface{ Cells() Cells }

// Cells are a row of a table: the heading of each column, and what it has in this row.
type Cells = [][2]any

// Header returns the headings.
func Header(c Cells) []string { return texts(c, 0, SI) }

// Texts returns what the columns have, as fmt.Sprint prints it.
func Texts(c Cells) []string { return texts(c, 1, SI) }

// Texts is report.Texts with angles and lengths in units u.
func (u Units) Texts(c Cells) []string { return texts(c, 1, u) }

func texts(c Cells, which int, u Units) (list []string) {
	for _, cell := range c {
		if v, ok := cell[which].(interface{ in(Units) string }); ok {
			list = append(list, v.in(u))
			continue
		}
		list = append(list, fmt.Sprint(cell[which]))
	}
	return list
}

// Number is a float that JSON shows as null where it is not one.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON implements json.Unmarshaler: null is NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// String is for tables: four significant digits.
func (n Number) String() string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return fmt.Sprintf("%.4g", float64(n))
}

// SortedKeys are the keys of m in order.
func SortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
