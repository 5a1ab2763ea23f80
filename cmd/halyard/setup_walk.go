package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// walk sets a whole bus up, one servo after the other: it asks for each joint's, looks who answers, and gives the one that
// is new its place. Those that it has set up may stay on the line.
type walk struct {
	*commission.BareLine
	app    *app
	in     *commission.Asker
	config string // as it was called, for what is typed next
	kind   string // type of the bus
	baud   int    // of the bus
	folder string // for register files; "" = none
	dry    bool

	joints []commission.WalkJoint
}

// newWalk reads what target, CONFIG:BUS, says of its servos and opens its port. Where nobody can be asked (deaf) it refuses.
func newWalk(a *app, c *cobra.Command, f *lineFlags, target string, deaf bool) (*walk, error) {
	config, name, err := commission.BusIn(target)
	switch {
	case err != nil:
	case config == nil:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup", Err: fmt.Errorf("got the port %s, want --id with it, or CONFIG:BUS for all servos of a bus", target),
			Try: "halyard setup so101:arm"}
	case catalog.BuiltinBuses().Of(config.Buses[name].Type).Duplex:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup", Err: fmt.Errorf("%s is a bus of motor controllers, want --id: they are set up one by one", name),
			Try: "halyard setup " + target + " --id OLD --new-id N"}
	case deaf:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup", Err: errors.New("got --no-input, but each servo must be asked for"),
			Try: "halyard setup " + target + " --id OLD --new-id N"}
	}
	if err != nil {
		return nil, err
	}
	bus := config.Buses[name]
	source, _, _ := strings.Cut(target, ":")
	w := &walk{app: a, in: commission.NewAsker(a.in), config: source, kind: bus.Type, baud: bus.Baud}
	if w.joints, err = commission.JointsOn(config, name); err != nil {
		return nil, err
	}
	if w.BareLine, err = f.Open(c, target); err != nil {
		return nil, err
	}
	if !c.Flags().Changed("baud") {
		w.Bauds = []int{bus.Baud}
		for _, b := range catalog.UsualBauds() {
			if b != bus.Baud && commission.Possible(w.Types[0], b) {
				w.Bauds = append(w.Bauds, b)
			}
		}
	}
	return w, nil
}

// Run asks for every joint's servo in turn. What is done when it ends early is shown as well.
func (w *walk) Run(ctx context.Context) error {
	defer w.Line.Close()
	if w.folder != "" && !w.dry {
		if err := os.MkdirAll(w.folder, 0o755); err != nil {
			return &hal.Error{Kind: hal.Invalid, Op: "--backup", Err: err, Try: "another folder"}
		}
	}
	if err := w.Unecho(w.app.note); err != nil {
		return err
	}
	if last := &w.joints[len(w.joints)-1]; last.Novice() && len(w.joints) > 1 {
		w.app.note("%s comes last: new servos have its id, %d, too", last.Name, last.ID)
	}
	for i := range w.joints {
		if w.joints[i].Row != nil { // it was seen in its place beside others
			continue
		}
		if err := w.Step(ctx, i); err != nil {
			return errors.Join(w.table(), err)
		}
	}
	count := map[string]int{}
	for i := range w.joints {
		count[w.joints[i].Row.State]++
	}
	var words []string
	for _, state := range []string{commission.WalkSet, commission.WalkUnchanged, commission.WalkDry, commission.WalkSkipped} {
		if n := count[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	next := "Connect all of them, then: halyard doctor " + w.config
	if w.dry {
		next = "Nothing was written"
	}
	w.app.note("%s: %s. %s", w.Port, strings.Join(words, ", "), next)
	return w.table()
}

// table shows what was done, where it was not shown line by line.
func (w *walk) table() error {
	rows := []commission.WalkRow{}
	for i := range w.joints {
		if r := w.joints[i].Row; r != nil {
			rows = append(rows, *r)
		}
	}
	if w.app.format == "jsonl" {
		return nil
	}
	return show(w.app, rows)
}

// finish notes what became of joint i, and tells a program at once.
func (w *walk) finish(i int, r commission.WalkRow) error {
	r.Joint, r.Port, r.Type = w.joints[i].Name, w.Port, w.kind
	w.joints[i].Row = &r
	if w.app.format == "jsonl" {
		return w.app.Line(r)
	}
	return nil
}

// Step asks for the servo of joint i until it has its place, or is skipped.
func (w *walk) Step(ctx context.Context, i int) error {
	j := &w.joints[i]
	w.app.note("%d of %d: connect only the servo of %s (%s, id %d) to the bus%s, and press Enter; s skips it, Ctrl-C stops",
		i+1, len(w.joints), j.Name, j.Model.Units().Name, j.ID, w.beside())
	for j.Row == nil {
		answer, err := w.in.Line(ctx)
		switch {
		case err != nil:
			return w.ended(err, i)
		case answer == "s":
			return w.finish(i, commission.WalkRow{State: commission.WalkSkipped, Assignment: commission.Assignment{Model: j.Model.Units().Name, ID: j.ID, Baud: w.baud}})
		case answer != "" && answer != commission.ItIsNew:
			w.app.note("  got %q: Enter when it is connected, s to skip %s", answer, j.Name)
			continue
		}
		found, err := w.Look(ctx)
		if err != nil {
			return err
		}
		fresh, why := w.pick(found, i, answer == commission.ItIsNew)
		if why != "" {
			w.app.note("  %s. Then press Enter", why)
			continue
		}
		for k, f := range fresh {
			err := w.place(ctx, k, f)
			if ctx.Err() != nil || hal.KindOf(err) == hal.Absent && err != nil {
				return err
			} else if err != nil {
				w.app.note("  ! %s is not set up: %v. Enter tries again", w.joints[k].Name, err)
			}
		}
		if j.Row == nil && fresh[i] == nil {
			w.app.note("  those were in their places. Now connect the servo of %s, and press Enter", j.Name)
		}
	}
	return nil
}

// beside tells who may stay on the line. Some must be alone: their command for an id names no servo.
func (w *walk) beside() string {
	if catalog.BuiltinBuses().Of(w.Types[0]).Alone || !slices.ContainsFunc(w.joints, func(j commission.WalkJoint) bool { return j.Done() }) {
		return ""
	}
	return ", or add it to those that are done"
}

// ended is the error of an input that ended at joint i.
func (w *walk) ended(err error, i int) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &hal.Error{Kind: hal.Invalid, Bus: w.Port, Joint: w.joints[i].Name, Op: "setup", Err: fmt.Errorf("the input ended before its servo was connected: %w", err)}
}

// Look asks who is on the line at all rates.
func (w *walk) Look(ctx context.Context) ([]commission.FoundServo, error) {
	s := commission.Survey{BareLine: w.BareLine, Note: func(string, ...any) {}}
	var total time.Duration
	for _, b := range s.Bauds {
		total += s.Estimate(b, s.Types[0])
	}
	w.app.note("  looking at %s Bd, up to %v", strings.Join(commission.Decimals(s.Bauds), ", "), total.Round(time.Second/10))
	return s.Run(ctx)
}

// place gives f the place of joint i.
func (w *walk) place(ctx context.Context, i int, f *commission.FoundServo) error {
	j := &w.joints[i]
	s := &commission.Setup{Finder: w.Finder, ID: f.ID, NewID: -1, Writes: j.Writes, Dry: w.dry, Note: func(text string, args ...any) { w.app.note("  "+text, args...) }}
	s.Bauds, s.Types = []int{f.Baud}, w.Types
	if f.ID == j.ID && f.Baud == w.baud {
		if right, err := s.Holds(ctx); err != nil {
			return err
		} else if right {
			w.app.note("  %s: id %d at %d Bd is right", j.Name, j.ID, w.baud)
			return w.finish(i, commission.WalkRow{State: commission.WalkUnchanged, Assignment: commission.Assignment{Model: j.Model.Units().Name, Type: f.Type,
				OldID: f.ID, OldBaud: f.Baud, ID: f.ID, Baud: f.Baud, Done: true}})
		}
	}
	s.NewID, s.NewBaud = j.ID, w.baud
	if w.folder != "" && !w.dry {
		s.Backup = commission.FreeName(w.folder, j.Name)
	}
	done, err := s.Start(ctx)
	if err != nil {
		return err
	}
	row := commission.WalkRow{State: commission.WalkSet, File: s.Backup, Assignment: *done}
	row.Model = j.Model.Units().Name
	verb := "is now"
	if w.dry {
		row.State, verb = commission.WalkDry, "would become"
	}
	w.app.note("  %s: id %d at %d Bd %s id %d at %d Bd%s", j.Name, f.ID, f.Baud, verb, j.ID, w.baud, commission.SettingsText(j.Writes))
	return w.finish(i, row)
}
