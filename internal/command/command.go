// Package command has what the programs below cmd share: arguments, tables and JSON, errors and exit codes.
package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/console"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Host is where a command reads and prints, and the form that the user selected.
type Host struct {
	In       io.Reader
	Out, Err io.Writer
	Format   *string                                        // table, json or jsonl
	Units    *report.Units                                  // of tables; nil = SI
	Note     func(format string, args ...any)               // prints a message for people on stderr
	Progress func(what string, total int) *console.Progress // shows the completed share of total, only on a terminal
	Config   string                                         // which the command is about; "" = none
}

// Show prints rows in the selected form: a table, one JSON object, or a JSON line each.
func Show[R report.Row](h *Host, rows []R) error {
	switch *h.Format {
	case "json":
		if rows == nil {
			rows = []R{}
		}
		e := json.NewEncoder(h.Out)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Items []R `json:"items"`
		}{rows})
	case "jsonl":
		for _, r := range rows {
			if err := h.Line(r); err != nil {
				return err
			}
		}
		return nil
	}
	if len(rows) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ToUpper(strings.Join(report.Header(rows[0].Cells()), "\t")))
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(h.units().Texts(r.Cells()), "\t"))
	}
	return w.Flush()
}

func (h *Host) units() report.Units {
	if h.Units == nil {
		return report.SI
	}
	return *h.Units
}

// Line prints v as one JSON line.
func (h *Host) Line(v any) error { return json.NewEncoder(h.Out).Encode(v) }

// Complain reports the error that ends the program, in the selected form, with the next command. Each joined error is a
// line of its own.
func (h *Host) Complain(program string, err error) {
	if *h.Format == "json" || *h.Format == "jsonl" {
		var e *hal.Error
		fault := map[string]string{"kind": hal.KindOf(err).String(), "message": h.typed(err.Error())}
		if errors.As(err, &e) {
			for key, text := range map[string]string{"bus": e.Bus, "joint": e.Joint, "try": e.Try} {
				if text != "" {
					fault[key] = h.typed(text)
				}
			}
		}
		json.NewEncoder(h.Err).Encode(map[string]any{"error": fault})
		return
	}
	for _, text := range strings.Split(h.typed(err.Error()), "\n") {
		fmt.Fprintln(h.Err, program+": "+text)
	}
}

// typed is text with the doctor's command as it is to be typed: a driver does not know its config.
func (h *Host) typed(text string) string {
	const bare = "halyard doctor"
	of := cmp.Or(h.Config, "CONFIG")
	text = strings.ReplaceAll(text, bare+")", bare+" "+of+")")
	if strings.HasSuffix(text, bare) {
		text += " " + of
	}
	return text
}

// Arguments accepts the arguments in want: one word each, in brackets if optional, with ... if it may be repeated. Any
// other number is an error of kind hal.Invalid that shows want and example, a command line.
func Arguments(want, example string) cobra.PositionalArgs {
	words := strings.Fields(want)
	least, most := 0, len(words)
	for _, w := range words {
		if !strings.HasPrefix(w, "[") {
			least++
		}
		if strings.Contains(w, "...") {
			most = -1
		}
	}
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		plural := "s"
		if len(args) == 1 {
			plural = ""
		}
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		wanted := want
		if most == 0 {
			wanted = "none"
		}
		return &hal.Error{Kind: hal.Invalid, Op: name, Err: fmt.Errorf("got %d argument%s, want %s", len(args), plural,
			wanted), Try: example}
	}
}

// Words is the completion of a flag that is one of them.
func Words(list ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteConfigs offers the embedded configs.
func CompleteConfigs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return configs.Names(), cobra.ShellCompDirectiveDefault
}

// AddFormat adds the flags of all programs, and checks them.
func AddFormat(root *cobra.Command, format *string, quiet *bool) {
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		switch *format {
		case "table", "json", "jsonl":
			return nil
		}
		return fmt.Errorf("--output: got %q, want table, json or jsonl", *format)
	}
	root.PersistentFlags().StringVarP(format, "output", "o", "table",
		"format of tables and errors: table, json or jsonl")
	root.RegisterFlagCompletionFunc("output", Words("table", "json", "jsonl"))
	root.PersistentFlags().BoolVarP(quiet, "quiet", "q", false, "print no progress and no notes on stderr")
}

// Interrupted is the cause of a run that a signal ended.
type Interrupted struct{ os.Signal }

func (i Interrupted) Error() string { return "interrupted by " + i.String() }

// ExitOfSignal is 128 + the signal's number, as shells have it.
func ExitOfSignal(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 130
}
