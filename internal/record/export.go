package record

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Exported is a file that Export wrote.
type Exported struct {
	File string `json:"file"`
	Rows int    `json:"rows"`
}

// Cells implements a row of a table.
func (e Exported) Cells() [][2]any {
	return [][2]any{{"file", e.File}, {"rows", e.Rows}}
}

// Attachment is a file that is attached to a recording, or that its config names and that is not.
type Attachment struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"` // -1 where it is not attached
}

// Cells implements a row of a table.
func (a Attachment) Cells() [][2]any {
	if a.Bytes < 0 {
		return [][2]any{{"file", a.File}, {"bytes", "not attached"}}
	}
	return [][2]any{{"file", a.File}, {"bytes", a.Bytes}}
}

// Attachments lists the files of a recording.
func (d *Reader) Attachments() (list []Attachment) {
	for _, f := range d.Info.Attached {
		list = append(list, Attachment{f.Name, len(f.Data)})
	}
	for _, name := range d.Info.Absent {
		list = append(list, Attachment{name, -1})
	}
	return list
}

// Export writes every topic of a recording as a file of comma-separated values into dir, which it creates. The columns
// of a state are its values, in alphabetical order, after the rig time; lines and orders have one row for each use and
// order. Unknown values are empty.
func Export(file *Reader, dir string) ([]Exported, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	e := &export{dir: dir, tables: map[string]*table{}}
	defer e.close()
	for {
		m, err := file.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := e.message(m); err != nil {
			return nil, fmt.Errorf("export %s: %w", m.Topic, err)
		}
	}
	return e.list, e.close()
}

type export struct {
	dir    string
	tables map[string]*table
	list   []Exported
}

// table is one open file.
type table struct {
	file    *os.File
	buf     *bufio.Writer
	csv     *csv.Writer
	columns []string
	at      int // in the list
}

// table opens the file of a topic with its columns, or finds it.
func (e *export) table(topic string, columns func() []string) (*table, error) {
	if t := e.tables[topic]; t != nil {
		return t, nil
	}
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '_'
	}, strings.Trim(topic, "/")) + ".csv"
	f, err := os.OpenFile(filepath.Join(e.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	t := &table{file: f, buf: bufio.NewWriter(f), columns: columns(), at: len(e.list)}
	t.csv = csv.NewWriter(t.buf)
	e.tables[topic] = t
	e.list = append(e.list, Exported{File: name})
	return t, t.csv.Write(t.columns)
}

func (e *export) row(t *table, cells []string) error {
	e.list[t.at].Rows++
	return t.csv.Write(cells)
}

func (e *export) message(m Message) error {
	if TopicOf(m.Topic) == LineTopics {
		return e.line(m)
	}
	flat, err := flatten(m.Data)
	if err != nil {
		return err
	}
	t, err := e.table(m.Topic, func() []string {
		if TopicOf(m.Topic) == OrderTopic {
			return []string{"cycle", "kind", "agent", "name", "inputs", "seed", "value.kind", "value.bool", "value.int",
				"value.double", "value.text", "value.vector"}
		}
		columns := slices.Sorted(maps.Keys(flat))
		return append([]string{"time"}, slices.DeleteFunc(columns, func(key string) bool { return key == "time" })...)
	})
	if err != nil {
		return err
	}
	cells := make([]string, len(t.columns))
	for i, key := range t.columns {
		if cells[i] = flat[key]; cells[i] == "null" {
			cells[i] = ""
		}
	}
	return e.row(t, cells)
}

func (e *export) line(m Message) error {
	line, err := parseLine(m.Data)
	if err != nil {
		return err
	}
	t, err := e.table(m.Topic, func() []string { return []string{"cycle", "op", "at_ns", "data", "n", "error"} })
	if err != nil {
		return err
	}
	for _, o := range line.Ops {
		if err := e.row(t, []string{strconv.FormatUint(line.Cycle, 10), o.Op, strconv.FormatInt(o.AtNS, 10), o.Data,
			strconv.Itoa(o.N), o.Error}); err != nil {
			return err
		}
	}
	return nil
}

// close closes all files; a second call has no effect.
func (e *export) close() error {
	var errs []error
	for _, t := range e.tables {
		t.csv.Flush()
		errs = append(errs, t.csv.Error(), t.buf.Flush(), t.file.Close())
	}
	clear(e.tables)
	return errors.Join(errs...)
}
