package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/halyard-robotics/halyard/hal"
)

// row is one line of a command's answer: a struct whose JSON is for programs, with cells for people.
type row interface {
	header() []string
	cells() []string
}

// show prints rows as the user asked: a table, one JSON object, or a JSON line each.
func show[R row](a *app, rows []R) error {
	switch a.format {
	case "json":
		if rows == nil {
			rows = []R{}
		}
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Items []R `json:"items"`
		}{rows})
	case "jsonl":
		for _, r := range rows {
			if err := a.line(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(rows[0].header(), "\t")))
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r.cells(), "\t"))
	}
	return w.Flush()
}

// line prints v as one JSON line.
func (a *app) line(v any) error { return json.NewEncoder(a.out).Encode(v) }

// number is a float that JSON shows as null where it is not one.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// String is for tables: four significant digits.
func (n number) String() string {
	if math.IsNaN(float64(n)) {
		return "-"
	}
	return fmt.Sprintf("%.4g", float64(n))
}

// complain tells why the command ends, in the form the user asked for, with the next command to type. A joined error
// is one line each.
func (a *app) complain(err error) {
	if a.format == "json" || a.format == "jsonl" {
		var e *hal.Error
		fault := map[string]string{"kind": hal.KindOf(err).String(), "message": err.Error()}
		if errors.As(err, &e) {
			for key, text := range map[string]string{"bus": e.Bus, "joint": e.Joint, "try": e.Try} {
				if text != "" {
					fault[key] = text
				}
			}
		}
		json.NewEncoder(a.err).Encode(map[string]any{"error": fault})
		return
	}
	for _, text := range strings.Split(err.Error(), "\n") {
		fmt.Fprintln(a.err, "halyard: "+text)
	}
}
