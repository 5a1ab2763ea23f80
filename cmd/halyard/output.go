package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// show prints rows in the selected form: a table, one JSON object, or a JSON line each.
func show[R report.Row](a *app, rows []R) error {
	if a.bar != nil {
		a.bar.Clear()
		a.sink.Flush(flushTime) // before the output to stdout
	}
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
			if err := a.Line(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(report.Header(rows[0].Cells()), "\t")))
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(report.Texts(r.Cells()), "\t"))
	}
	return w.Flush()
}

// shown is show, unless rows failed with err.
func shown[R report.Row](a *app, rows []R, err error) error {
	if err != nil {
		return err
	}
	return show(a, rows)
}

// Line prints v as one JSON line.
func (a *app) Line(v any) error { return json.NewEncoder(a.out).Encode(v) }

// complain reports the error that ends the command, in the selected form, with the next command. Each joined error is a line
// of its own.
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
