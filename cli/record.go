package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/record"
)

func newRecord(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "record [RIG] --out FILE",
		Short: "save a recording of a running rig until interrupted",
		Long: "Records every cycle of a running rig into an MCAP file: commands, measurements, states, orders, " +
			"and the bytes of every line.\nOnly a recording from the rig's start can be replayed: halyard serve " +
			"--set record.file=FILE.",
		Example: "  halyard record --out run.mcap",
		Args:    arguments("[RIG]", "halyard record --out run.mcap"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return &hal.Error{Kind: hal.Invalid, Op: "record",
					Err: errors.New("got no --out, want the file to write"), Try: "halyard record --out run.mcap"}
			}
			rig := strings.Join(args, "")
			answer, err := control.Send(cmd.Context(), rig, control.OrderFiles)
			if err != nil {
				return err
			}
			a.note("attached: %s", strings.Join(answer.Files, ", "))
			f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err != nil {
				return &hal.Error{Kind: hal.Busy, Op: "record", Err: err}
			}
			a.note("recording into %s; Ctrl-C ends it", out)
			ran := control.Record(cmd.Context(), rig, f)
			info, err := f.Stat()
			if err = errors.Join(ran, err, f.Close()); err == nil {
				a.note("%s: %d bytes", out, info.Size())
			} else if info != nil && info.Size() == 0 {
				os.Remove(out)
			}
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "MCAP file to write; it must not exist")
	return c
}

// opened calls f with the recording called name.
func opened(name string, f func(*os.File) error) error {
	file, err := os.Open(name)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "recording", Err: err}
	}
	defer file.Close()
	return f(file)
}

func newExport(a *app) *cobra.Command {
	var dir string
	var files bool
	c := &cobra.Command{
		Use:   "export FILE [--csv DIR | --files]",
		Short: "write the channels of a recording as CSV files",
		Long: "Writes the channels of a recording as CSV files. Without an option it lists the topics of the file, " +
			"which " +
			"may be\nan MCAP of another program.",
		Example: "  halyard export run.mcap --csv run\n  halyard export run.mcap --files\n  halyard export bag.mcap",
		Args:    arguments("FILE", "halyard export run.mcap --csv run"),
		RunE: func(_ *cobra.Command, args []string) error {
			if dir != "" && files {
				return &hal.Error{Kind: hal.Invalid, Op: "export",
					Err: errors.New("got --csv and --files, want --csv or --files"), Try: "halyard export " + args[0] +
						" --csv DIR"}
			}
			return opened(args[0], func(f *os.File) error {
				if dir == "" && !files {
					list, cut, err := record.Topics(f)
					if cut != nil {
						a.note("%v", cut)
					}
					return errors.Join(err, show(a, list))
				}
				in, err := record.NewReader(f)
				if err != nil {
					return err
				}
				defer in.Close()
				if files {
					return show(a, in.Attachments())
				}
				list, err := record.Export(in, dir)
				if err != nil {
					return err
				}
				if in.Cut != nil {
					a.note("%v", in.Cut)
				}
				return show(a, list)
			})
		},
	}
	c.Flags().StringVar(&dir, "csv", "", "folder to write into; its files must not exist")
	c.Flags().BoolVar(&files, "files", false, "list the attached files instead")
	return c
}

func newReplay(a *app) *cobra.Command {
	var o halyard.ReplayOptions
	var files []string
	var asBody bool
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "run a recording again and compare every cycle",
		Long: "Runs the drivers, guards and bodies of a recording again on the recorded commands and the recorded " +
			"bytes of real lines, and\n" +
			"compares every cycle. It opens no hardware. The exit code is 0 if all cycles are identical, 8 if they " +
			"differ.\n" +
			"With --set, --file or --as-body it shows what would have been different, from the first difference on.",
		Example: "  halyard replay run.mcap\n  halyard replay run.mcap --file elbow.yaml=mended.yaml\n  halyard " +
			"replay run.mcap --as-body",
		Args: arguments("FILE", "halyard replay run.mcap"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asBody {
				o.Body = "sim"
			}
			o.Files = map[string][]byte{}
			for _, f := range files {
				name, with, ok := strings.Cut(f, "=")
				data, err := os.ReadFile(with)
				if !ok || err != nil {
					return &hal.Error{Kind: hal.Invalid, Op: "replay --file " + f,
						Err: errors.Join(errors.New("want ATTACHED=FILE"), err)}
				}
				o.Files[name] = data
			}
			return opened(args[0], func(f *os.File) error { return a.replay(f, o) })
		},
	}
	c.Flags().StringArrayVar(&o.Set, "set", nil, "change a key of the recorded config, as serve's --set")
	c.Flags().StringArrayVar(&files, "file", nil, "ATTACHED=FILE: replace an attached file")
	c.Flags().BoolVar(&asBody, "as-body", false, "send the commands to simulated robots")
	return c
}

func (a *app) replay(f *os.File, o halyard.ReplayOptions) error {
	r, err := halyard.Replay(f, o, halyard.WithCatalog(a.more))
	if err != nil {
		return err
	}
	if err := a.showReplay(r); err != nil {
		return err
	}
	if r.Different > 0 {
		return &hal.Error{Kind: hal.Differs, Op: "replay",
			Err: fmt.Errorf("%d of %d cycles differ, first %s", r.Different, r.Cycles, r.First())}
	}
	return nil
}

// replayed is the summary of a replay: its last line, the head of its object.
type replayed struct {
	Cycles    uint64 `json:"cycles"` // compared
	Different uint64 `json:"different"`
	Missing   uint64 `json:"not_in_file"`
	Cut       string `json:"cut"` // why the file ends early; "" of a whole one
}

func (a *app) showReplay(r *halyard.ReplayResult) error {
	all := replayed{r.Cycles, r.Different, r.Dropped, r.Cut}
	if a.format == "json" {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			replayed
			Items any `json:"items"`
		}{all, r.Rows()})
	}
	if err := show(a, r.Rows()); err != nil {
		return err
	}
	if a.format == "jsonl" {
		return a.Line(all)
	}
	text := fmt.Sprintf("%d cycles compared, %d different, %d not in the file", all.Cycles, all.Different, all.Missing)
	if all.Cut != "" {
		text += "; " + all.Cut
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}
