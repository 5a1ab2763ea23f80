package main

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/identify"
)

func newIdentify(a *app) *cobra.Command {
	var f identifyFlags
	c := &cobra.Command{
		Use:   "identify (CONFIG --joint J --out FILE | --servo MODEL --out FILE --data FILES | --check FILE --data FILES)",
		Short: "find a servo's parameters from recordings",
		Long: "Identify finds motor and friction of a servo from recordings of a pendulum of known mass, by simulating the servo " +
			"that simulated robots have, and writes them as a file that a joint names as its model. With --check it plays " +
			"recordings through the servo of such a file and prints how far it is from each. FILES are recordings or folders " +
			"of them (BAM's raw JSON). With CONFIG and --joint it moves that joint of a robot, within the range that you agree to, and " +
			"fits to what it records. docs/identify.md says how to record, and what the numbers mean.",
		Example: "  halyard identify my-so101.yaml --joint elbow_flex --out elbow.yaml\n" +
			"  halyard identify --servo xl330-m288 --data recordings --out xl330.yaml\n" +
			"  halyard identify --check xl330.yaml --data recordings/kp200-sin_sin.json -o jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if g := &f.guide; len(g.Only) > 0 {
				if len(args) != 1 || f.out == "" {
					return f.refuse(fmt.Sprintf("%d arguments, --out %q", len(args), f.out), "CONFIG, and the servo file to write")
				}
				a.started = true
				g.Config, g.Options, g.Out, g.Now = args[0], configs.Options{Body: f.config.body, Set: f.config.set}, a.err, time.Now
				g.In, g.Open = commission.NewAsker(a.in), a.options(slog.New(slog.DiscardHandler))
				s, err := g.Identify(cmd.Context(), f.out, f.record)
				return a.noted(nil, err, func() error { return show(a, playedRuns(s.Recordings)) })
			}
			if f.convert != "" {
				return f.converted(a)
			}
			f.data = append(f.data, args...) // a shell expands --data *.json to one flag and the rest as arguments
			return f.run(a)
		},
	}
	c.Flags().StringVar(&f.servo, "servo", "", "model of the recorded servo, as xl330-m288")
	c.Flags().StringArrayVar(&f.data, "data", nil, "a recording, or a folder of recordings; may be repeated")
	c.Flags().StringVar(&f.out, "out", "", "servo file to write")
	c.Flags().StringVar(&f.check, "check", "", "servo file, or model, to compare with the recordings")
	f.config.add(c)
	c.Flags().StringVar(&f.guide.Agent, "agent", "", "agent of CONFIG, where it has several")
	c.Flags().StringArrayVar(&f.guide.Only, "joint", nil, "joint of CONFIG to move and identify")
	c.Flags().StringVar(&f.guide.Plots, "plots", "", "folder for the plots as SVG")
	c.Flags().StringVar(&f.convert, "convert", "", "parameter file of BAM (JSON) to write as servo file, or servo file to write as BAM's")
	c.Flags().StringVar(&f.record, "record", "", "folder for the recordings of --joint")
	c.RegisterFlagCompletionFunc("servo", words(actuator.Names()...))
	return c
}

type identifyFlags struct {
	servo, out, check, record, convert string
	data                               []string
	config                             configFlags
	guide                              calibrate.Guide
}

func (*identifyFlags) refuse(got, want string) error {
	return &hal.Error{Kind: hal.Invalid, Op: "identify", Err: fmt.Errorf("got %s, want %s", got, want), Try: "halyard identify --help"}
}

func (f *identifyFlags) run(a *app) error {
	refuse := f.refuse
	switch {
	case (f.servo == "") == (f.check == ""):
		return refuse("neither or both of --servo and --check", "one of them")
	case f.servo != "" && f.out == "":
		return refuse("no --out", "the servo file to write")
	case f.check != "" && f.out != "":
		return refuse("--out with --check, which writes nothing", "one of them")
	case len(f.data) == 0:
		return refuse("no --data", "recordings")
	}
	servo, err := f.known()
	if err != nil {
		return err
	}
	runs, err := identify.Load(f.data)
	if err != nil {
		return err
	}
	if f.check == "" {
		return f.fit(a, &servo.Spec, runs)
	}
	if err := servo.Matches(runs); err != nil {
		return err
	}
	return show(a, playedRuns(identify.Check(servo, runs)))
}

// converted writes a parameter file of BAM as a servo file, or a servo file as BAM's.
func (f *identifyFlags) converted(a *app) error {
	if f.out == "" {
		return f.refuse("no --out", "the file to write")
	}
	lost, err := calibrate.ConvertServo(f.convert, f.servo, f.out, time.Now())
	return a.noted(lost, err, func() error { a.note("%s", f.out); return nil })
}

// known is the servo of a file, or one of the models.
func (f *identifyFlags) known() (*identify.Servo, error) {
	name := f.servo + f.check
	if f.check != "" && identify.IsFile(name) {
		return identify.ReadServo(name)
	}
	return identify.Known(name)
}

func (f *identifyFlags) fit(a *app, spec *actuator.Spec, runs []*identify.Run) error {
	a.note("identify %s from %d recordings; this takes some minutes", spec.Name, len(runs))
	servo, err := identify.Fit(runs, spec, func(step string) { a.note("%s", step) })
	if err != nil {
		return err
	}
	servo.Date = time.Now()
	if err := servo.Save(f.out); err != nil {
		return err
	}
	a.note("%s: %s", f.out, servo.Spec.Fit)
	return show(a, playedRuns(servo.Recordings))
}

func playedRuns(all []identify.Result) (rows []playedRun) {
	for _, r := range all {
		rows = append(rows, playedRun{r.File, r.Error, r.Most})
	}
	return rows
}

// playedRun is one recording beside what the servo makes of its goals.
type playedRun struct {
	File string  `json:"file"`
	MAE  float64 `json:"mae_rad"`
	Max  float64 `json:"max_rad"`
}

func (playedRun) Header() []string { return []string{"file", "mae rad", "max rad"} }

func (r playedRun) Cells() []string {
	return []string{r.File, strconv.FormatFloat(r.MAE, 'f', 4, 64), strconv.FormatFloat(r.Max, 'f', 4, 64)}
}
