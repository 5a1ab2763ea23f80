package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

// walkRow is what became of one joint's servo.
type walkRow struct {
	Joint string `json:"joint"`
	State string `json:"state"` // one of the words below
	File  string `json:"file"`  // of its registers before the change; "" = none
	assignment
}

// The states of a walkRow.
const (
	walkSet     = "set up"
	walkRight   = "was right"
	walkSkipped = "skipped"
	walkDry     = "dry run"
)

func (walkRow) header() []string {
	return []string{"joint", "model", "id", "baud", "state", "registers"}
}

func (r walkRow) cells() []string {
	file := r.File
	if file == "" {
		file = "-"
	}
	return []string{r.Joint, r.Model, strconv.Itoa(r.ID), strconv.Itoa(r.Baud), r.State, file}
}

// walk sets a whole bus up, one servo after the other: it asks for each joint's, looks who answers, and gives the one that
// is new its place. Those that it has set up may stay on the line.
type walk struct {
	*bareLine
	app    *app
	in     *asker
	config string // as it was called, for what is typed next
	kind   string // type of the bus
	baud   int    // of the bus
	folder string // for register files; "" = none
	dry    bool

	joints []walkJoint
}

// newWalk reads what target, CONFIG:BUS, says of its servos and opens its port. Where nobody can be asked (deaf) it refuses.
func newWalk(a *app, c *cobra.Command, f *lineFlags, target string, deaf bool) (*walk, error) {
	config, name, err := busIn(target)
	switch {
	case err != nil:
	case config == nil:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup", Err: fmt.Errorf("got the port %s, want --id with it, or CONFIG:BUS for all servos of a bus", target),
			Try: "halyard setup so101:arm"}
	case busTypes[config.Buses[name].Type].duplex:
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
	w := &walk{app: a, in: newAsker(a.in), config: source, kind: bus.Type, baud: bus.Baud}
	if w.joints, err = jointsOn(config, name); err != nil {
		return nil, err
	}
	if w.bareLine, err = f.open(c, target); err != nil {
		return nil, err
	}
	if !c.Flags().Changed("baud") {
		w.bauds = []int{bus.Baud}
		for _, b := range usualBauds() {
			if b != bus.Baud && possible(w.protocols[0], b) {
				w.bauds = append(w.bauds, b)
			}
		}
	}
	return w, nil
}

// run asks for every joint's servo in turn. What is done when it ends early is shown as well.
func (w *walk) run(ctx context.Context) error {
	defer w.line.Close()
	if w.folder != "" && !w.dry {
		if err := os.MkdirAll(w.folder, 0o755); err != nil {
			return &hal.Error{Kind: hal.Invalid, Op: "--backup", Err: err, Try: "another folder"}
		}
	}
	if err := w.unecho(w.app.note); err != nil {
		return err
	}
	if last := &w.joints[len(w.joints)-1]; last.novice() && len(w.joints) > 1 {
		w.app.note("%s comes last: new servos have its id, %d, too", last.name, last.id)
	}
	for i := range w.joints {
		if w.joints[i].row != nil { // it was seen in its place beside others
			continue
		}
		if err := w.step(ctx, i); err != nil {
			return errors.Join(w.table(), err)
		}
	}
	count := map[string]int{}
	for i := range w.joints {
		count[w.joints[i].row.State]++
	}
	var words []string
	for _, state := range []string{walkSet, walkRight, walkDry, walkSkipped} {
		if n := count[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	next := "Connect all of them, then: halyard doctor " + w.config
	if w.dry {
		next = "Nothing was written"
	}
	w.app.note("%s: %s. %s", w.port, strings.Join(words, ", "), next)
	return w.table()
}

// table shows what was done, where it was not shown line by line.
func (w *walk) table() error {
	rows := []walkRow{}
	for i := range w.joints {
		if r := w.joints[i].row; r != nil {
			rows = append(rows, *r)
		}
	}
	if w.app.format == "jsonl" {
		return nil
	}
	return show(w.app, rows)
}

// finish notes what became of joint i, and tells a program at once.
func (w *walk) finish(i int, r walkRow) error {
	r.Joint, r.Port, r.Type = w.joints[i].name, w.port, w.kind
	w.joints[i].row = &r
	if w.app.format == "jsonl" {
		return w.app.line(r)
	}
	return nil
}

// step asks for the servo of joint i until it has its place, or is skipped.
func (w *walk) step(ctx context.Context, i int) error {
	j := &w.joints[i]
	w.app.note("%d of %d: connect the servo of %s (%s, id %d) alone to the bus%s, and press Enter; s skips it, Ctrl-C stops",
		i+1, len(w.joints), j.name, j.model.Units().Name, j.id, w.beside())
	for j.row == nil {
		answer, err := w.in.line(ctx)
		switch {
		case err != nil:
			return w.ended(err, i)
		case answer == "s":
			return w.finish(i, walkRow{State: walkSkipped, assignment: assignment{Model: j.model.Units().Name, ID: j.id, Baud: w.baud}})
		case answer != "" && answer != itIsNew:
			w.app.note("  got %q: Enter when it is connected, s to skip %s", answer, j.name)
			continue
		}
		found, err := w.look(ctx)
		if err != nil {
			return err
		}
		fresh, why := w.pick(found, i, answer == itIsNew)
		if why != "" {
			w.app.note("  %s. Then press Enter", why)
			continue
		}
		for k, f := range fresh {
			err := w.place(ctx, k, f)
			if ctx.Err() != nil || hal.KindOf(err) == hal.Absent && err != nil {
				return err
			} else if err != nil {
				w.app.note("  ! %s is not set up: %v. Enter tries again", w.joints[k].name, err)
			}
		}
		if j.row == nil && fresh[i] == nil {
			w.app.note("  those were in their places. Now connect the servo of %s, and press Enter", j.name)
		}
	}
	return nil
}

// beside tells who may stay on the line. Kondo's command for an id names nobody: its servos must be alone.
func (w *walk) beside() string {
	if w.protocols[0] == asKondo || !slices.ContainsFunc(w.joints, func(j walkJoint) bool { return j.done() }) {
		return ""
	}
	return ", or beside those that are done"
}

// ended is the error of an input that ended at joint i.
func (w *walk) ended(err error, i int) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &hal.Error{Kind: hal.Invalid, Bus: w.port, Joint: w.joints[i].name, Op: "setup", Err: fmt.Errorf("the input ended before its servo was connected: %w", err)}
}

// look asks who is on the line at all rates.
func (w *walk) look(ctx context.Context) ([]foundServo, error) {
	s := survey{bareLine: w.bareLine, note: func(string, ...any) {}}
	var total time.Duration
	for _, b := range s.bauds {
		total += s.estimate(b, s.protocols[0])
	}
	w.app.note("  looking at %s Bd, up to %v", strings.Join(decimals(s.bauds), ", "), total.Round(time.Second/10))
	return s.run(ctx)
}

// place gives f the place of joint i.
func (w *walk) place(ctx context.Context, i int, f *foundServo) error {
	j := &w.joints[i]
	s := &setup{finder: w.finder, id: f.ID, newID: -1, writes: j.writes, dry: w.dry, note: func(text string, args ...any) { w.app.note("  "+text, args...) }}
	s.bauds, s.protocols = []int{f.Baud}, w.protocols
	if f.ID == j.id && f.Baud == w.baud {
		if right, err := s.holds(ctx); err != nil {
			return err
		} else if right {
			w.app.note("  %s: id %d at %d Bd is right", j.name, j.id, w.baud)
			return w.finish(i, walkRow{State: walkRight, assignment: assignment{Model: j.model.Units().Name, Protocol: f.Protocol,
				OldID: f.ID, OldBaud: f.Baud, ID: f.ID, Baud: f.Baud, Done: true}})
		}
	}
	s.newID, s.newBaud = j.id, w.baud
	if w.folder != "" && !w.dry {
		s.backup = freeName(w.folder, j.name)
	}
	done, err := s.start(ctx)
	if err != nil {
		return err
	}
	row := walkRow{State: walkSet, File: s.backup, assignment: *done}
	row.Model = j.model.Units().Name
	verb := "is now"
	if w.dry {
		row.State, verb = walkDry, "would become"
	}
	w.app.note("  %s: id %d at %d Bd %s id %d at %d Bd%s", j.name, f.ID, f.Baud, verb, j.id, w.baud, settingsText(j.writes))
	return w.finish(i, row)
}

// freeName is the name of a register file that is not there yet.
func freeName(folder, joint string) string {
	joint = strings.ReplaceAll(joint, "/", "-")
	for n := 1; ; n++ {
		name := joint + ".json"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.json", joint, n)
		}
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err != nil { // what else is wrong with it, saving tells
			return path
		}
	}
}
