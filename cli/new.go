package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/commission/host"
	"github.com/halyard-robotics/halyard/internal/report"
)

func newNew(a *app) *cobra.Command {
	n := newcomer{app: a}
	c := &cobra.Command{
		Use:   "new [PORT...]",
		Short: "set up a robot: find it, write its config, check it",
		Long: "Finds the adapters, scans them, recognises the robot, and asks three questions: which robot, its " +
			"name, and " +
			"whether its\nservos need their ids. Then it writes the config with stable port names, checks the " +
			"robot, and " +
			"offers the calibration.\nNothing moves before the calibration, and there only what you agree to.",
		Example: "  halyard new\n  halyard new /dev/ttyUSB0 --out my-arm.yaml\n  halyard new d/arm --robot so101 " +
			"--no-input",
		Args: arguments("[PORT...]", "halyard new"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n.in = commission.NewAsker(a.in)
			return n.run(cmd.Context(), args)
		},
	}
	c.Flags().StringVar(&n.robot, "robot", "", "the kind of robot, instead of the first question")
	c.Flags().StringVar(&n.name, "name", "", "its name, instead of the second question")
	c.Flags().StringVar(&n.out, "out", ownConfig, "the config to write; it must not exist")
	c.Flags().BoolVar(&n.deaf, "no-input", false, "ask nothing: take what is recognised, set no ids, do not calibrate")
	var names []string
	for _, k := range commission.KnownRobots(catalog.BuiltinBuses()) {
		names = append(names, k.Name)
	}
	c.RegisterFlagCompletionFunc("robot", words(names...))
	return c
}

// newcomer is one run of halyard new.
type newcomer struct {
	app              *app
	in               *commission.Asker
	robot, name, out string
	deaf             bool
}

// createdRow is the config that was written.
type createdRow struct {
	Config string `json:"config"`
	Robot  string `json:"robot"`
	Name   string `json:"name"`
	Port   string `json:"port"`
	Servos int    `json:"servos"` // that replied
}

// Cells implements report.Row.
func (r createdRow) Cells() report.Cells {
	return report.Cells{{"config", r.Config}, {"robot", r.Robot}, {"name", r.Name}, {"port", r.Port},
		{"servos", r.Servos}}
}

func (n *newcomer) run(ctx context.Context, ports []string) error {
	found, err := n.find(ctx, ports)
	if err != nil {
		return err
	}
	robots := commission.KnownRobots(catalog.BuiltinBuses())
	k, whole, err := n.which(ctx, robots, found)
	if err != nil {
		return err
	}
	name, err := n.ask(ctx, 2, n.name, k.Name, "its name?", commission.CheckRobotName)
	if err != nil {
		return err
	}
	at := k.Ports(found)
	if err := k.Write(n.out, name, at); err != nil {
		return err
	}
	row := createdRow{Config: n.out, Robot: k.Name, Name: name}
	var texts []string
	for _, p := range at {
		texts = append(texts, p.Port)
		row.Servos += len(found[p.Port])
	}
	row.Port = strings.Join(texts, ", ")
	n.app.note("%s is written.", n.out)
	if err := show(n.app, []createdRow{row}); err != nil {
		return err
	}
	if err := n.ids(ctx, k, whole); err != nil {
		return err
	}
	return n.examine(ctx)
}

// find scans ports, without any the adapters of this computer.
func (n *newcomer) find(ctx context.Context, ports []string) (map[string][]commission.FoundServo, error) {
	rows, err := host.ListPorts(assembly.MachineRoot)
	if err != nil {
		return nil, err
	}
	names := map[string]string{} // the stable name by any
	for _, r := range rows {
		if r.Type != "serial" {
			continue
		}
		names[r.Device], names[r.Port] = r.Port, r.Port
		for _, note := range r.Notes {
			n.app.note("! %s: %s.  Fix: %s", r.Device, note.Found, note.Fix)
		}
		if len(ports) == 0 && r.Access == "ok" && r.Held == "" {
			ports = append(ports, r.Port)
		}
	}
	if len(ports) == 0 {
		return nil, &hal.Error{Kind: hal.Absent, Op: "new",
			Err: errors.New("no serial adapter is plugged in, or none may be opened"),
			Try: "halyard ports; without hardware: halyard emulate so101 --dir d, then halyard new d/arm"}
	}
	found := map[string][]commission.FoundServo{}
	for _, port := range ports {
		stable := names[port]
		if stable == "" {
			if stable, err = filepath.Abs(port); err != nil {
				return nil, err
			}
		}
		f := lineFlags{buses: n.app.catalog().Buses, protocol: "all", bauds: catalog.UsualBauds(), opener: serial.Bugst}
		b, err := f.Open(&cobra.Command{}, port)
		if err != nil {
			return nil, err
		}
		s := commission.Survey{BareLine: b, Note: n.app.note}
		n.app.note("%s: scanning", port)
		servos, err := s.Quick(ctx)
		b.Line.Close()
		if err != nil {
			return nil, err
		}
		if found[stable] = servos; len(servos) == 0 {
			n.app.note("%s: no servo replies; new ones reply once they have power and are connected one by one", port)
		}
	}
	return found, nil
}

// which asks for the kind of robot. whole: all its servos replied.
func (n *newcomer) which(ctx context.Context, robots []commission.KnownRobot,
	found map[string][]commission.FoundServo) (*commission.KnownRobot, bool, error) {
	best, share := commission.Recognise(robots, found)
	likely := ""
	if best != nil {
		likely = best.Name
		n.app.note("It looks like %s: %s", best.Name, titleOf(embedded(best.Name)))
	}
	var names []string
	for i := range robots {
		names = append(names, robots[i].Name)
	}
	known := func(name string) error {
		if slices.Contains(names, name) {
			return nil
		}
		return &hal.Error{Kind: hal.Invalid, Op: "robot", Err: fmt.Errorf("got %.60q%s, want a known robot: %s", name,
			commission.Meant(name, names), strings.Join(names, ", ")),
			Try: "halyard robot FILE --config for a robot of your own"}
	}
	if likely == "" && n.robot == "" && n.deaf {
		return nil, false, &hal.Error{Kind: hal.Invalid, Op: "new", Err: errors.New("no known robot is recognised"),
			Try: "halyard new --robot so101"}
	}
	name, err := n.ask(ctx, 1, n.robot, likely, "which robot ("+strings.Join(names, ", ")+")?", known)
	if err != nil {
		return nil, false, err
	}
	return &robots[slices.Index(names, name)], best != nil && best.Name == name && share == 1, nil
}

func embedded(name string) []byte {
	data, _ := configs.Embedded(name)
	return data
}

// ask is given, else the answer to question i, which is usual where only Enter is typed. It is asked again while check
// refuses it.
func (n *newcomer) ask(ctx context.Context, i int, given, usual, question string, check func(string) error) (string,
	error) {
	if given != "" || n.deaf {
		text := cmp.Or(given, usual)
		return text, check(text)
	}
	for {
		if usual != "" {
			n.app.note("%d of 3: %s Enter is %s", i, question, usual)
		} else {
			n.app.note("%d of 3: %s", i, question)
		}
		text, err := n.in.Line(ctx)
		if errors.Is(err, io.EOF) {
			return "", &hal.Error{Kind: hal.Invalid, Op: "new", Err: errors.New("the input ended"), Try: "--no-input"}
		} else if err != nil {
			return "", err
		}
		if text = cmp.Or(text, usual); check(text) == nil {
			return text, nil
		}
		n.app.note("%v", check(text))
	}
}

// yes asks for y or n.
func (n *newcomer) yes(ctx context.Context, i int, usual, question string) (bool, error) {
	text, err := n.ask(ctx, i, "", usual, question, func(text string) error {
		if text == "y" || text == "n" {
			return nil
		}
		return fmt.Errorf("got %.20q, want y or n", text)
	})
	return text == "y", err
}

// ids gives the servos their ids, where that is wanted.
func (n *newcomer) ids(ctx context.Context, k *commission.KnownRobot, whole bool) error {
	if n.deaf {
		return nil
	}
	usual := map[bool]string{true: "n", false: "y"}[whole]
	if yes, err := n.yes(ctx, 3, usual, "give its servos their ids and rates now, one by one (y, n)?"); err != nil ||
		!yes {
		return err
	}
	for _, bus := range k.Lines() {
		target := n.out + ":" + bus
		w, err := commission.NewWalk(n.app.catalog().Buses, target, false)
		if err != nil {
			return err
		}
		f := lineFlags{buses: n.app.catalog().Buses, protocol: "all", bauds: catalog.UsualBauds(), opener: serial.Bugst}
		if w.BareLine, err = f.Open(&cobra.Command{}, target); err != nil {
			return err
		}
		w.SearchUsual()
		w.In, w.Note = n.in, n.app.note
		if err := w.Run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// examine runs the doctor, and offers the calibration.
func (n *newcomer) examine(ctx context.Context) error {
	d, err := doctor.Load(n.out, configs.Options{}, n.app.catalog(), nil)
	if err != nil {
		return err
	}
	d.Note = func(string, ...any) {}
	if err := d.Run(ctx); err != nil {
		return err
	}
	bad := map[string]doctor.Finding{}
	for _, f := range d.Found {
		if f.State == doctor.StateFail && f.Kind != hal.Uncalibrated {
			bad[f.Joint+f.Check] = f
		}
	}
	for _, key := range slices.Sorted(maps.Keys(bad)) {
		f := bad[key]
		n.app.note("! %s %s: %s.  Fix: %s", f.Joint, f.Check, f.Found, f.Fix)
	}
	if len(bad) > 0 || n.deaf {
		n.app.note("Next: halyard doctor %s, then halyard calibrate %s", n.out, n.out)
		return nil
	}
	n.app.note("doctor: %d checks; what is left is the calibration. It takes ten minutes: halyard calibrate %s does it "+
		"later.", len(d.Found), n.out)
	n.app.note("Calibrate it now (y, n)? Enter is y")
	if text, err := n.in.Line(ctx); err != nil || text != "" && text != "y" {
		if errors.Is(err, context.Canceled) {
			return err
		}
		n.app.note("Next: halyard calibrate %s", n.out)
		return nil
	}
	g := calibrate.Guide{Config: n.out, Catalog: n.app.catalog(), Now: time.Now, Out: n.app.err, In: n.in,
		Open: n.app.guideOptions()}
	if terminalOf(n.app.in) != nil {
		live := time.NewTicker(200 * time.Millisecond)
		defer live.Stop()
		g.Live = live.C
	}
	rows, err := g.Run(ctx)
	return shown(n.app, rows, err)
}
