package commission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
)

// WalkRow is what became of one joint's servo.
type WalkRow struct {
	Joint string `json:"joint"`
	State string `json:"state"` // one of the words below
	File  string `json:"file"`  // of its registers before the change; "" = none
	Assignment
}

// The states of a WalkRow.
const (
	WalkSet       = "set up"
	WalkUnchanged = "unchanged"
	WalkSkipped   = "skipped"
	WalkDry       = "dry run"
)

func (r WalkRow) Cells() report.Cells {
	return report.Cells{{"joint", r.Joint}, {"model", r.Model}, {"id", r.ID}, {"baud", r.Baud}, {"state", r.State},
		{"registers", cmp.Or(r.File, "-")}}
}

// FreeName is the name of a register file that is not there yet.
func FreeName(folder, joint string) string {
	joint = strings.ReplaceAll(joint, "/", "-")
	for n := 1; ; n++ {
		name := joint + ".json"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.json", joint, n)
		}
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err != nil { // saving reports other errors
			return path
		}
	}
}

// Walk sets up a whole bus, one servo after the other: it prompts for the servo of each joint, searches the line, and
// assigns the new servo its id, rate and settings. Finished servos may stay connected.
type Walk struct {
	*BareLine
	In     *Asker
	Config string // as it was named, for the next command
	Kind   string // type of the bus
	Baud   int    // of the bus, bit/s
	Folder string // for register files; "" = none
	Dry    bool   // check only
	Note   func(text string, args ...any)
	Each   func(WalkRow) error // called when a joint is finished; nil = not

	Joints []WalkJoint
	seen   string // by the last glance
}

// NewWalk reads the servos that target, CONFIG:BUS, has. It opens nothing: set BareLine before Run. It is refused where
// no prompt can be answered (deaf).
func NewWalk(buses catalog.Buses, target string, deaf bool) (*Walk, error) {
	config, name, err := BusIn(buses, target)
	switch {
	case err != nil:
	case config == nil:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup",
			Err: fmt.Errorf("got the port %s, want --id with it, or CONFIG:BUS for all servos of a bus", target),
			Try: "halyard setup so101:arm"}
	case buses.Of(config.Buses[name].Type).Duplex:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup",
			Err: fmt.Errorf("%s is a bus of motor controllers, want --id: they are set up one by one", name),
			Try: "halyard setup " + target + " --id OLD --new-id N"}
	case deaf:
		err = &hal.Error{Kind: hal.Invalid, Op: "setup",
			Err: errors.New("got --no-input, but each servo must be asked for"),
			Try: "halyard setup " + target + " --id OLD --new-id N"}
	}
	if err != nil {
		return nil, err
	}
	bus := config.Buses[name]
	source, _, _ := strings.Cut(target, ":")
	w := &Walk{Config: source, Kind: bus.Type, Baud: bus.Baud}
	w.Joints, err = JointsOn(buses, config, name)
	return w, err
}

// SearchUsual makes the walk search at the usual rates too, the rate of the bus first.
func (w *Walk) SearchUsual() {
	w.Bauds = []int{w.Baud}
	for _, b := range catalog.UsualBauds() {
		if b != w.Baud && w.possible(w.Types[0], b) {
			w.Bauds = append(w.Bauds, b)
		}
	}
}

// Run prompts for every joint's servo in turn and closes the line. When it ends early, Rows has what was done until
// then.
func (w *Walk) Run(ctx context.Context) error {
	defer w.Line.Close()
	if w.Folder != "" && !w.Dry {
		if err := os.MkdirAll(w.Folder, 0o755); err != nil {
			return &hal.Error{Kind: hal.Invalid, Op: "--backup", Err: err, Try: "another folder"}
		}
	}
	if err := w.Unecho(w.Note); err != nil {
		return err
	}
	if last := &w.Joints[len(w.Joints)-1]; last.Novice() && len(w.Joints) > 1 {
		w.Note("%s comes last: new servos have its id, %d, too", last.Name, last.ID)
	}
	if w.Buses.Of(w.Kind).Roll != nil {
		w.Note("a servo that is plugged in is recognised by itself; Enter looks at once")
	}
	for i := range w.Joints {
		if w.Joints[i].Row != nil { // it was found with others on the line
			continue
		}
		if err := w.step(ctx, i); err != nil {
			return err
		}
	}
	count := map[string]int{}
	for i := range w.Joints {
		count[w.Joints[i].Row.State]++
	}
	var words []string
	for _, state := range []string{WalkSet, WalkUnchanged, WalkDry, WalkSkipped} {
		if n := count[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	next := "Connect all of them, then: halyard doctor " + w.Config
	if w.Dry {
		next = "Nothing was written"
	}
	w.Note("%s: %s. %s", w.Port, strings.Join(words, ", "), next)
	return nil
}

// Rows is what became of each joint so far.
func (w *Walk) Rows() []WalkRow {
	rows := []WalkRow{}
	for i := range w.Joints {
		if r := w.Joints[i].Row; r != nil {
			rows = append(rows, *r)
		}
	}
	return rows
}

// finish stores the result of joint i and reports it.
func (w *Walk) finish(i int, r WalkRow) error {
	r.Joint, r.Port, r.Type = w.Joints[i].Name, w.Port, w.Kind
	w.Joints[i].Row = &r
	if w.Each == nil {
		return nil
	}
	return w.Each(r)
}

// step asks for the servo of joint i until it has its place, or is skipped.
func (w *Walk) step(ctx context.Context, i int) error {
	j := &w.Joints[i]
	w.seen = w.glance(j) // before the person reads that the next one may come
	w.Note("%d of %d: connect only the servo of %s (%s, id %d) to the bus%s, and press Enter; s skips it, Ctrl-C stops",
		i+1, len(w.Joints), j.Name, j.Model.Units().Name, j.ID, w.othersNote())
	for j.Row == nil {
		answer, err := w.answer(ctx, j)
		switch {
		case err != nil:
			return w.ended(err, i)
		case answer == "s":
			return w.finish(i, WalkRow{State: WalkSkipped, Assignment: Assignment{Model: j.Model.Units().Name, ID: j.ID,
				Baud: w.Baud}})
		case answer != "" && answer != ItIsNew:
			w.Note("  got %q: Enter when it is connected, s to skip %s", answer, j.Name)
			continue
		}
		found, err := w.look(ctx)
		if err != nil {
			return err
		}
		fresh, why := w.pick(found, i, answer == ItIsNew)
		if why != "" {
			w.Note("  %s. Then press Enter", why)
			continue
		}
		for k, f := range fresh {
			err := w.place(ctx, k, f)
			if ctx.Err() != nil || hal.KindOf(err) == hal.Absent && err != nil {
				return err
			} else if err != nil {
				w.Note("  ! %s is not set up: %v. Enter tries again", w.Joints[k].Name, err)
			}
		}
		if j.Row == nil && fresh[i] == nil {
			w.Note("  those were in their places. Now connect the servo of %s, and press Enter", j.Name)
		}
	}
	return nil
}

// glanceEvery is how long an answer is waited for before the line is looked at again.
const glanceEvery = 400 * time.Millisecond

// answer is what the person types, or "" once another servo is plugged in for j.
func (w *Walk) answer(ctx context.Context, j *WalkJoint) (string, error) {
	before := w.seen
	for {
		wait, cancel := context.WithTimeout(ctx, glanceEvery)
		text, err := w.In.Line(wait)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return text, err
		}
		now := w.glance(j)
		switch {
		case now == "" || now == w.seen:
			w.seen, before = now, now
		case now == before: // twice the same: it is plugged in firmly
			w.Note("  plugged in: %s", now)
			w.seen = now
			return "", nil
		default:
			before = now
		}
	}
}

// glance is what replies to a packet to all at the rates of the bus and of new servos: "" if nothing does. Where
// replies collide, it says whether a servo like that of j has the factory's id.
func (w *Walk) glance(j *WalkJoint) string {
	t := w.Buses.Of(w.Kind)
	if t.Roll == nil {
		return ""
	}
	s := Survey{BareLine: w.BareLine, ear: &countingLine{Line: w.Line}}
	var texts []string
	for _, b := range slices.Compact(append([]int{w.Baud}, t.Bauds[:min(1, len(t.Bauds))]...)) {
		if w.Line.SetBaud(b) != nil {
			continue
		}
		got, err := s.replies(&t, firstIDs)
		if ids, sound := t.RollIDs(got); err == nil && len(got) > 0 {
			text := fmt.Sprintf("ids %s at %d Bd", Spans(ids), b)
			if !sound {
				text = fmt.Sprintf("several at %d Bd", b)
				if id, ok := w.newcomer(&s, j); ok {
					text += fmt.Sprintf(", one with the factory's id %d", id)
				}
			}
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ", ")
}

// newcomer is the id that servos of j's model come with, if one replies at it that is not in its place.
func (w *Walk) newcomer(s *Survey, j *WalkJoint) (id int, ok bool) {
	r := j.Model.Register("id")
	if r == nil {
		return 0, false
	}
	id = int(r.Default)
	if slices.ContainsFunc(w.Joints, func(o WalkJoint) bool { return o.Done() && o.ID == id }) {
		return 0, false
	}
	tool, err := s.toolOn(s.ear, w.Kind)
	if err != nil {
		return 0, false
	}
	s.settle(s.ear) // the replies to all may still come
	_, err = tool.Identify(id)
	return id, err == nil
}

// othersNote is the prompt's note on servos that may stay connected. Some types allow only one servo: their command for
// an id addresses all.
func (w *Walk) othersNote() string {
	if w.Buses.Of(w.Types[0]).Alone ||
		!slices.ContainsFunc(w.Joints, func(j WalkJoint) bool { return j.Done() }) {
		return ""
	}
	return ", or add it to those that are done"
}

// ended is the error of an input that ended at joint i.
func (w *Walk) ended(err error, i int) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &hal.Error{Kind: hal.Invalid, Bus: w.Port, Joint: w.Joints[i].Name, Op: "setup",
		Err: fmt.Errorf("the input ended before its servo was connected: %w", err)}
}

// look searches the line at all rates.
func (w *Walk) look(ctx context.Context) ([]FoundServo, error) {
	s := Survey{BareLine: w.BareLine, Note: func(string, ...any) {}}
	var total time.Duration
	for _, b := range s.Bauds {
		total += s.Estimate(b, s.Types[0])
	}
	if found, err := s.Quick(ctx); err != nil || len(found) > 0 {
		return found, err
	}
	w.Note("  no reply to a packet to all: looking at %s Bd, each id, up to %v", listed(s.Bauds),
		total.Round(time.Second/10))
	return s.Run(ctx)
}

// place gives f the place of joint i.
func (w *Walk) place(ctx context.Context, i int, f *FoundServo) error {
	j := &w.Joints[i]
	s := &Setup{Finder: w.Finder, ID: f.ID, NewID: -1, Writes: j.Writes, Dry: w.Dry,
		Note: func(text string, args ...any) { w.Note("  "+text, args...) }}
	s.Bauds, s.Types = []int{f.Baud}, w.Types
	if f.ID == j.ID && f.Baud == w.Baud {
		if right, err := s.Holds(ctx); err != nil {
			return err
		} else if right {
			w.Note("  %s: id %d at %d Bd is right", j.Name, j.ID, w.Baud)
			return w.finish(i, WalkRow{State: WalkUnchanged,
				Assignment: Assignment{Model: j.Model.Units().Name, Type: f.Type,
					OldID: f.ID, OldBaud: f.Baud, ID: f.ID, Baud: f.Baud, Done: true}})
		}
	}
	s.NewID, s.NewBaud = j.ID, w.Baud
	if w.Folder != "" && !w.Dry {
		s.Backup = FreeName(w.Folder, j.Name)
	}
	done, err := s.Start(ctx)
	if err != nil {
		return err
	}
	row := WalkRow{State: WalkSet, File: s.Backup, Assignment: *done}
	row.Model = j.Model.Units().Name
	verb := "is now"
	if w.Dry {
		row.State, verb = WalkDry, "would become"
	}
	w.Note("  %s: id %d at %d Bd %s id %d at %d Bd%s", j.Name, f.ID, f.Baud, verb, j.ID, w.Baud, SettingsText(j.Writes))
	return w.finish(i, row)
}
