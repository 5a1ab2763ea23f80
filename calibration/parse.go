package calibration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile is more than the largest table takes.
const maxFile = 1 << 20

// Parse reads one YAML file. Every fault is reported at once, joined, each a *Fault with its line and path: unknown
// and repeated keys, missing ones, wrong types, and all that Validate finds. Of bad syntax only the first is known.
func Parse(data []byte) (*Joint, error) {
	r := &reader{faults{lines: map[string]int{}}}
	body, err := document(data)
	if err != nil {
		return nil, &Fault{Text: err.Error()}
	}
	// goccy's own decoder stops at its first error, so the tree is walked here. Defaults first; what is faulty keeps
	// its zero and is not reported twice.
	j := &Joint{Version: 1, Gear: 1}
	top := r.object("", body, "joint", "servo", "method", "date", "version", "direction", "zero_ticks",
		"ticks_per_turn", "gear", "range_ticks", "table", "torque")
	top.require("joint", "servo", "method", "date", "direction", "zero_ticks", "ticks_per_turn", "range_ticks")
	top.text("joint", &j.Joint)
	top.text("method", (*string)(&j.Method))
	top.date("date", &j.Date)
	top.whole("version", &j.Version)
	top.whole("direction", &j.Direction)
	top.number("zero_ticks", &j.ZeroTicks)
	top.number("ticks_per_turn", &j.TicksPerTurn)
	top.number("gear", &j.Gear)
	if row := top.row("range_ticks"); row != nil {
		j.RangeTicks = *row
	}
	for i, n := range top.list("table") {
		if row := r.pair(fmt.Sprintf("table[%d]", i), n); row != nil {
			j.Table = append(j.Table, Point{row[0], row[1]})
		}
	}
	if servo, ok := top.nodes["servo"]; ok {
		o := r.object("servo", servo, "model", "id", "firmware", "adapter", "homing_offset")
		o.require("model", "id")
		o.text("model", &j.Servo.Model)
		o.whole("id", &j.Servo.ID)
		o.text("firmware", &j.Servo.Firmware)
		o.text("adapter", &j.Servo.Adapter)
		o.whole("homing_offset", &j.Servo.HomingOffset)
	}
	if torque, ok := top.nodes["torque"]; ok {
		o := r.object("torque", torque, "constant", "offset")
		o.require("constant")
		o.number("constant", &j.Torque.Constant)
		o.number("offset", &j.Torque.Offset)
	}
	r.merge(func(f *faults) { f.check(j) })
	if len(r.list) > 0 {
		return nil, r.join()
	}
	return j, nil
}

// merge adds what check finds at paths that are not faulty already: a value that was not read is no news.
func (r *reader) merge(check func(*faults)) {
	v := &faults{lines: r.lines, partial: len(r.list) > 0}
	check(v)
	known := func(path string) bool {
		return slices.ContainsFunc(r.list, func(err error) bool {
			p := err.(*Fault).Path
			return p == "" || p == path || strings.HasPrefix(path, p+".") || strings.HasPrefix(path, p+"[")
		})
	}
	for _, err := range v.list {
		if !known(err.(*Fault).Path) {
			r.list = append(r.list, err)
		}
	}
}

// document parses data to the body of its only document. The library's panics end here: a file is hostile input.
func document(data []byte) (body ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("syntax: the parser gave up: %v", p)
		}
	}()
	if len(data) > maxFile {
		return nil, fmt.Errorf("file: got %d bytes, want at most %d", len(data), maxFile)
	}
	// A repeated key is a fault like others, with the rest beside it, not the end of the parsing.
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, fmt.Errorf("syntax: %w", err)
	}
	// Comments and empty documents around the only one are no harm.
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			docs = append(docs, d.Body)
		}
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("file: got %d documents, want 1", len(docs))
	}
	return docs[0], nil
}
