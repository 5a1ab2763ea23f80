package osp

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// typeNames are the types of values in 43, as the original writes them (the document's "Integer" and "Point3D" are
// examples).
var typeNames = [...]string{hal.BoolValue: "Bool", hal.IntValue: "Int", hal.DoubleValue: "Double",
	hal.StringValue: "String",
	hal.VectorValue: "Vector3D", hal.QuaternionValue: "Quaternion", hal.InterfaceValue: "Interface"}

// appendValue appends v in the form of the original's getValueAsString.
func appendValue(b []byte, v *hal.Value) []byte {
	switch v.Kind {
	case hal.BoolValue:
		if v.Bool {
			return append(b, 'T')
		}
		return append(b, 'F')
	case hal.IntValue:
		return strconv.AppendInt(b, v.Int, 10)
	case hal.DoubleValue, hal.InterfaceValue:
		return appendNumber(b, v.Double, 15)
	case hal.VectorValue:
		return appendTuple(b, v.Vector[:3])
	case hal.QuaternionValue:
		return appendTuple(b, v.Vector[:4])
	}
	return append(b, v.Text...)
}

// appendTuple writes (a,b,c), with fewer digits than a single number has: the original's choice.
func appendTuple(b []byte, list []float64) []byte {
	for i, v := range list {
		b = append(b, "(,,,"[i])
		b = appendNumber(b, v, 8)
	}
	return append(b, ')')
}

// appendNumber is C's %.<digits>g, which Go's 'g' equals except for the names of NaN and infinities.
func appendNumber(b []byte, v float64, digits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 0):
		if v < 0 {
			b = append(b, '-')
		}
		return append(b, "inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', digits, 64)
}

// parseValue reads text as a value of kind k, as the original's setValueFromString. NaN and infinities are refused: no
// settable value has a use for them.
func parseValue(k hal.ValueKind, text string) (v hal.Value, err error) {
	v.Kind = k
	switch k {
	case hal.BoolValue:
		switch strings.ToLower(text) {
		case "1", "t", "true":
			v.Bool = true
		case "0", "f", "false":
		default:
			err = fmt.Errorf("value: got %q, want T or F", text)
		}
	case hal.IntValue:
		v.Int, err = strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	case hal.DoubleValue, hal.InterfaceValue:
		v.Double, err = parseNumber(text)
	case hal.VectorValue:
		err = parseTuple(v.Vector[:3], text)
	case hal.QuaternionValue:
		err = parseTuple(v.Vector[:4], text)
	default:
		v.Text = text
	}
	return v, err
}

func parseTuple(list []float64, text string) (err error) {
	// blanks are accepted, a missing bracket or number is not: a vector that is read in part would be another place
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "(")
	inner, closed := strings.CutSuffix(inner, ")")
	parts := strings.Split(inner, ",")
	if !ok || !closed || len(parts) != len(list) {
		return fmt.Errorf("value: got %q, want %d numbers as (a,b,c)", text, len(list))
	}
	for i, p := range parts {
		if list[i], err = parseNumber(p); err != nil {
			return err
		}
	}
	return nil
}

func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = fmt.Errorf("value: got %q, want a finite number", text)
	}
	return v, err
}
