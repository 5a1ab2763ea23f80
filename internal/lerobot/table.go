package lerobot

import (
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// kind is the type of a column.
type kind int

const (
	integer kind = iota // int64
	number              // float
	double
	boolean
	text
	picture // struct of bytes and path, as a JPEG
)

// column is a column of a Parquet file. Lists is how many lists are in each other in it: all but the outermost have one
// element.
type column struct {
	name  string
	kind  kind
	lists int
}

func (c column) node() parquet.Node {
	var n parquet.Node
	switch c.kind {
	case integer:
		n = parquet.Int(64)
	case number:
		n = parquet.Leaf(parquet.FloatType)
	case double:
		n = parquet.Leaf(parquet.DoubleType)
	case boolean:
		n = parquet.Leaf(parquet.BooleanType)
	case text:
		n = parquet.String()
	case picture:
		n = parquet.Group{"bytes": parquet.Leaf(parquet.ByteArrayType), "path": parquet.Optional(parquet.String())}
	}
	if c.kind != picture {
		n = parquet.Compressed(n, &parquet.Snappy)
	}
	for range c.lists {
		n = parquet.List(n)
	}
	return n
}

// table writes a Parquet file of some columns.
type table struct {
	columns []column
	out     *parquet.GenericWriter[any]
	leaves  []leaf
	row     parquet.Row
}

// leaf is a column of values in the file.
type leaf struct {
	of   int // columns
	path bool
}

func newTable(w io.Writer, columns []column) *table {
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = c.node()
	}
	schema := parquet.NewSchema("schema", group)
	t := &table{columns: columns, out: parquet.NewGenericWriter[any](w, schema, parquet.CreatedBy("halyard", "", ""))}
	for _, path := range schema.Columns() {
		for i, c := range columns {
			if path[0] == c.name {
				t.leaves = append(t.leaves, leaf{i, c.kind == picture && path[1] == "path"})
			}
		}
	}
	return t
}

// add adds a row: one value a column, of int, float64, bool, string, []byte, or a list of these.
func (t *table) add(values ...any) error {
	t.row = t.row[:0]
	for at, l := range t.leaves {
		c := t.columns[l.of]
		put := func(v parquet.Value, k, depth int) { t.row = append(t.row, v.Level(min(k, 1), depth, at)) }
		switch v := values[l.of].(type) {
		case int:
			put(parquet.Int64Value(int64(v)), 0, 0)
		case bool:
			put(parquet.BooleanValue(v), 0, 0)
		case string:
			put(parquet.ByteArrayValue([]byte(v)), 0, 0)
		case []byte:
			if l.path {
				put(parquet.NullValue(), 0, 0)
			} else {
				put(parquet.ByteArrayValue(v), 0, 0)
			}
		case float64:
			put(c.value(v), 0, 0)
		case []float64:
			for k, x := range v {
				put(c.value(x), k, c.lists)
			}
		case []string:
			for k, x := range v {
				put(parquet.ByteArrayValue([]byte(x)), k, c.lists)
			}
		case []int:
			for k, x := range v {
				put(parquet.Int64Value(int64(x)), k, c.lists)
			}
		default:
			return fmt.Errorf("column %s: got %T", c.name, v)
		}
	}
	_, err := t.out.WriteRows([]parquet.Row{t.row})
	return err
}

func (c column) value(v float64) parquet.Value {
	if c.kind == number {
		return parquet.FloatValue(float32(v))
	}
	return parquet.DoubleValue(v)
}

// pandas is the metadata that makes a text column the index of a table in pandas.
func (t *table) pandas(index string) {
	var columns []string
	for _, c := range t.columns {
		kind, numpy := "int64", "int64"
		if c.kind == text {
			kind, numpy = "unicode", "object"
		}
		columns = append(columns, fmt.Sprintf(`{"name":%q,"field_name":%q,"pandas_type":%q,"numpy_type":%q,`+
			`"metadata":null}`, c.name, c.name, kind, numpy))
	}
	t.out.SetKeyValueMetadata("pandas", fmt.Sprintf(`{"index_columns":[%q],"column_indexes":[{"name":null,`+
		`"field_name":null,"pandas_type":"unicode","numpy_type":"object","metadata":{"encoding":"UTF-8"}}],`+
		`"columns":[%s],"creator":{"library":"halyard","version":"1"},"pandas_version":"2.0.0"}`, index,
		strings.Join(columns, ",")))
}
