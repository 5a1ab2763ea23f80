package foxglove

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
)

// Schema is the JSON schema of a message.
func Schema(m fields.Named) string {
	return string(appendSchema(nil, reflect.Indirect(reflect.ValueOf(m)).Type(), m.TypeName()))
}

const timeSchema = `{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},` +
	`"nsec":{"type":"integer","minimum":0,"maximum":999999999}}}`

func appendSchema(b []byte, t reflect.Type, title string) []byte {
	switch {
	case fields.IsTime(t):
		return append(b, timeSchema...)
	case fields.IsBytes(t):
		return append(b, `{"type":"string","contentEncoding":"base64"}`...)
	}
	switch t.Kind() {
	case reflect.Bool:
		return append(b, `{"type":"boolean"}`...)
	case reflect.String:
		return append(b, `{"type":"string"}`...)
	case reflect.Float32, reflect.Float64:
		return append(b, `{"type":"number"}`...)
	case reflect.Slice, reflect.Array:
		return append(appendSchema(append(b, `{"type":"array","items":`...), t.Elem(), ""), '}')
	case reflect.Struct:
	default:
		return append(b, `{"type":"integer"}`...)
	}
	if n, ok := reflect.Zero(t).Interface().(fields.Named); ok {
		title = n.TypeName()
	}
	name, _ := json.Marshal(title)
	b = fmt.Appendf(b, `{"type":"object","title":%s,"properties":{`, name)
	var required bytes.Buffer
	for i, f := range fields.Of(t, fields.Foxglove) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendSchema(fmt.Appendf(b, "%q:", f.Name), f.Type, f.Name)
		if !f.Known {
			if required.Len() > 0 {
				required.WriteByte(',')
			}
			fmt.Fprintf(&required, "%q", f.Name)
		}
	}
	return fmt.Appendf(b, `},"required":[%s]}`, required.Bytes())
}
