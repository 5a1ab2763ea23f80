package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/commission/bundle"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/report"
)

func newReport(a *app) *cobra.Command {
	var f configFlags
	var faults []string
	var out, logFile string
	c := &cobra.Command{
		Use:   "report CONFIG [--out FILE.zip]",
		Short: "save all that a fault report needs in one file",
		Long: "Examines the robot of CONFIG as halyard doctor does, and saves in one zip file: version, config, " +
			"findings, registers of servos,\nlog, and the bytes on every line. Nothing moves and no register is " +
			"written. A silent robot gives a report too.\n" +
			"Tokens, passwords, the environment, names of people and machines are left out; serial numbers are " +
			"hashes.\nThe contents are listed before the file is written. halyard report replay FILE runs it again.",
		Example: "  halyard report my-robot.yaml\n  halyard report my-robot.yaml --log serve.log --out fault.zip\n" +
			"  halyard report replay fault.zip",
		Args:              arguments("CONFIG", "halyard report my-robot.yaml"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				base := filepath.Base(args[0])
				out = strings.TrimSuffix(base, filepath.Ext(base)) + "-report.zip"
			}
			if _, err := os.Lstat(out); err == nil {
				return &hal.Error{Kind: hal.Invalid, Op: "report",
					Err: fmt.Errorf("got the existing file %s, want a new one", out),
					Try: "halyard report " + args[0] + " --out FILE.zip"}
			}
			o := bundle.Options{Config: configs.Options{Body: f.body, Set: f.set, Listen: f.listen}, Faults: faults,
				Catalog: a.catalog(),
				Version: versionText(), Machine: bundle.ThisMachine(assembly.MachineRoot), Note: a.note}
			var err error
			if o.Log, err = logged(logFile); err != nil {
				return err
			}
			o.Status = a.statusOf(cmd.Context(), args[0], &f)
			r, err := bundle.Make(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			return a.writeReport(r, out)
		},
	}
	f.add(c)
	c.Flags().StringVar(&out, "out", "", "zip file to write; it must not exist (CONFIG-report.zip)")
	c.Flags().StringVar(&logFile, "log", "", "file with the output of halyard serve, to be added")
	c.Flags().StringArrayVar(&faults, "fault", nil, "inject a fault into the emulated servos, as halyard doctor")
	c.AddCommand(newReportReplay(a))
	return c
}

// versionText is the version in one line.
func versionText() string {
	v := versionOf()
	return strings.TrimSpace(v.Version + " " + v.Revision)
}

// logged reads a log, "" = none.
func logged(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	const most = 64 << 20
	in, err := os.Open(name)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "report --log", Err: err}
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, most))
}

// statusOf is that of the rig of a config, nil where it does not run. The ports of one that runs are its own.
func (a *app) statusOf(ctx context.Context, config string, f *configFlags) []byte {
	c, err := configs.Draft(config, configs.Options{Body: f.body, Set: f.set})
	if c == nil || err != nil || !control.Runs(c.Name) {
		return nil
	}
	answer, err := control.Send(ctx, c.Name, control.OrderStatus)
	if err != nil {
		return nil
	}
	a.note("! rig %s runs and holds its ports: end it for a report with the traffic of its lines", c.Name)
	data, _ := json.MarshalIndent(answer, "", "  ")
	return data
}

// writeReport lists a report and writes it. It asks only on a terminal.
func (a *app) writeReport(r *bundle.Report, out string) error {
	list, err := r.Entries()
	if err != nil {
		return err
	}
	if err := show(a, list); err != nil {
		return err
	}
	for _, kind := range report.SortedKeys(r.Masked) {
		a.note("left out: %d × %s", r.Masked[kind], kind)
	}
	a.note("bytes on the wire are as they were sent: a device's own serial number may be among them")
	if terminalOf(a.in) != nil && terminalOf(a.err) != nil {
		fmt.Fprintf(a.err, "Write %s? [Y/n] ", out)
		a.sink.Flush(flushTime)
		answer, _ := bufio.NewReader(a.in).ReadString('\n')
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "n") {
			a.note("nothing was written")
			return nil
		}
	}
	var file bytes.Buffer
	if err := bundle.Write(&file, list); err != nil {
		return err
	}
	f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &hal.Error{Kind: hal.Busy, Op: "report", Err: err}
	}
	if _, err = f.Write(file.Bytes()); errors.Join(err, f.Close()) != nil {
		os.Remove(out)
		return &hal.Error{Kind: hal.Busy, Op: "report", Err: err}
	}
	a.note("%s: %d bytes. Look through it, then attach it. Again: halyard report replay %s", out, file.Len(), out)
	return nil
}

func newReportReplay(a *app) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "replay FILE [doctor|serve]",
		Short: "run doctor and serve on the traffic of a report",
		Long: "Unpacks the config of a report and runs the doctor on emulated devices that answer as those of the " +
			"report did, then\nopens the robot as halyard serve does. It opens no device of this machine.\n" +
			"doctor: exit code 0 if all findings are those of the report, 8 if they differ.\n" +
			"serve: the exit code of halyard serve. What its drivers ask beyond the traffic is answered from the " +
			"registers of the report.\nWithout either, both run, and the findings decide.",
		Example: "  halyard report replay fault.zip\n  halyard report replay fault.zip serve --dir fault",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && args[1] != "doctor" && args[1] != "serve" {
				return fmt.Errorf("got %q, want doctor or serve", args[1])
			}
			return arguments("FILE [doctor|serve]", "halyard report replay fault.zip")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return opened(args[0], func(f *os.File) error {
				info, err := f.Stat()
				if err != nil {
					return err
				}
				r, err := bundle.Read(f, info.Size())
				if err != nil {
					return err
				}
				if dir == "" {
					if dir, err = os.MkdirTemp("", "halyard-report-"); err != nil {
						return err
					}
					defer os.RemoveAll(dir)
				} else if err := os.Mkdir(dir, 0o700); err != nil {
					return &hal.Error{Kind: hal.Invalid, Op: "--dir", Err: err,
						Try: "--dir with the name of a new folder"}
				}
				return a.replayReport(cmd.Context(), r, dir, strings.Join(args[1:], ""))
			})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "new folder for the report's config, which is kept (a temporary one)")
	return c
}

// replayReport runs a report again; mode is doctor, serve or "" for both.
func (a *app) replayReport(ctx context.Context, r *bundle.Report, dir, mode string) error {
	a.note("EMULATED from the report of %s, version %s", r.Source, r.Version)
	var differs error
	if mode != "serve" {
		x, counts, err := r.Doctor(ctx, dir)
		if err != nil {
			return err
		}
		if err := show(a, x.Found); err != nil {
			return err
		}
		list := bundle.Differences(r.Findings, x.Found)
		for _, d := range list {
			a.note("%s", d)
		}
		a.note("doctor: %d findings, %d differ from the report; %d requests answered, %d unknown", len(x.Found),
			len(list), counts.Matched, counts.Unknown)
		if len(list) > 0 {
			differs = &hal.Error{Kind: hal.Differs, Op: "report replay",
				Err: fmt.Errorf("%d findings differ from the report's", len(list))}
		}
		if mode == "doctor" {
			return differs
		}
	}
	counts, err := r.Serve(dir, a.log())
	a.note("serve: %d requests answered as in the traffic, %d from the registers, %d unknown", counts.Matched,
		counts.Instead, counts.Unknown)
	if mode == "serve" {
		return err
	}
	if err != nil {
		a.note("serve: exit %d: %v", int(hal.KindOf(err))+1, err)
	} else {
		a.note("serve: opened")
	}
	return differs
}
