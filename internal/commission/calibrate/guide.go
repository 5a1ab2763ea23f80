package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

// Guide is a guided calibration of a robot: it asks a person, or a script, for one thing at a time, and watches the joints while
// their torque is off. What is measured is kept in a progress file, so that a session that ended early goes on where it was.
//
// Any prompt takes "hand JOINT DEGREES ..." as well, where the robot is simulated: the hand moves the joints, and the prompt waits on.
type Guide struct {
	Config  string
	Agent   string // "" where the config has one robot
	Options configs.Options
	Only    []string // joints; empty = all
	Dir     string   // of the files; "" = those that the config names, else calibration/ next to it
	Plots   string   // folder for plots as SVG; "" = they are only printed
	In      *commission.Asker
	Out     io.Writer
	Now     func() time.Time
	Open    []halyard.Option
	Live    <-chan time.Time // draws the table of a real robot again while it is moved; nil = never

	robot  *Robot
	joints []*Joint
	stand  *stand
	old    map[string]*calibration.Joint // in use before
	notes  progress
	alter  func(*configs.Config) // what tests plant in a body, of which its model knows nothing
}

const degree = math.Pi / 180

// leastTurn is how far a joint must turn to count as moved, rad at the servo.
const leastTurn = 3 * degree

// Run leads through the session and lists the calibrations that it wrote. On an error, and when ctx ends, torque is off, and files
// that were not confirmed are as they were.
func (g *Guide) Run(ctx context.Context) (rows []Row, err error) {
	if err := g.prepare(); err != nil {
		return nil, err
	}
	defer func() {
		if ctx.Err() != nil {
			g.say("\nInterrupted: torque is off, and what was measured is kept. halyard calibrate %s goes on with it.", g.Config)
		}
	}()
	if err := g.resume(ctx); err != nil {
		return nil, err
	}
	if err := g.measure(ctx); err != nil {
		return nil, err
	}
	if err := g.motion(ctx); err != nil {
		return nil, err
	}
	for _, j := range g.joints {
		c, err := calibration.Load(g.path(j))
		if err != nil {
			return nil, err
		}
		rows = append(rows, rowOf(g.path(j), c))
	}
	if err := g.proven(ctx); err != nil {
		return nil, err
	}
	g.ending()
	return rows, os.Remove(g.progressFile())
}

// prepare reads the config and chooses the joints.
func (g *Guide) prepare() (err error) {
	if g.robot, err = Open(g.Config, g.Agent, g.Options); err != nil {
		return err
	}
	for _, name := range g.Only {
		if g.robot.Joint(name) == nil {
			return g.robot.noJoint(name)
		}
	}
	g.joints, g.old = nil, map[string]*calibration.Joint{}
	for i := range g.robot.Joints {
		j := &g.robot.Joints[i]
		if len(g.Only) > 0 && !slices.Contains(g.Only, j.Name) {
			continue
		}
		if j.Kind == hal.Slide {
			g.say("%s: a prismatic joint is calibrated only by its file (docs/calibration.md)", j.Name)
			continue
		}
		g.joints = append(g.joints, j)
		if c, err := calibration.Load(g.path(j)); err == nil && c.Servo.Model == j.Model.Units().Name && c.Servo.ID == j.ID {
			g.old[j.Name] = c
		} else {
			g.old[j.Name] = cmp.Or(j.old(""), j.nominal())
		}
	}
	if len(g.joints) == 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "calibrate " + g.Config, Err: errors.New("got no joint that turns")}
	}
	return os.MkdirAll(filepath.Dir(g.progressFile()), 0o755)
}

// path is the file of j's calibration.
func (g *Guide) path(j *Joint) string {
	switch {
	case g.Dir != "":
		return filepath.Join(g.Dir, j.Name+".yaml")
	case j.File != "":
		return j.File
	}
	return g.robot.Config.Resolve(filepath.Join("calibration", j.Name+".yaml"))
}

func (g *Guide) say(format string, args ...any) { fmt.Fprintf(g.Out, format+"\n", args...) }

// ask prints a prompt and returns the answer. It moves the hand of a simulated robot where that is asked for.
func (g *Guide) ask(ctx context.Context, format string, args ...any) (string, error) {
	for {
		fmt.Fprintf(g.Out, format+" > ", args...)
		text, err := g.In.Line(ctx)
		if errors.Is(err, io.EOF) {
			return "", g.ended()
		} else if err != nil {
			return "", err
		}
		words := strings.Fields(text)
		if len(words) == 0 || words[0] != "hand" || g.stand == nil {
			return text, nil
		}
		if err := g.hand(ctx, words[1:]); hal.KindOf(err) == hal.Invalid || hal.KindOf(err) == hal.Absent {
			g.say("%v", err)
		} else if err != nil {
			return "", err
		}
	}
}

// hand moves the hand of a simulated robot as words say: JOINT DEGREES, any number of times.
func (g *Guide) hand(ctx context.Context, words []string) error {
	if len(words) == 0 || len(words)%2 != 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "hand", Err: fmt.Errorf("got %d words, want JOINT DEGREES, once or more", len(words))}
	}
	for i := 0; i < len(words); i += 2 {
		v, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e4 {
			return &hal.Error{Kind: hal.Invalid, Op: "hand", Joint: words[i], Err: fmt.Errorf("got %q, want degrees", words[i+1])}
		}
		if err := g.stand.move(ctx, words[i], v*degree); err != nil {
			return err
		}
	}
	return nil
}

// measure watches the joints while they are moved by hand: identity, reference, direction, range, and where the robot rests.
func (g *Guide) measure(ctx context.Context) (err error) {
	dir, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	raw, err := g.rawConfig(dir)
	if err != nil {
		return err
	}
	if err := g.identify(ctx, raw); err != nil {
		return err
	}
	if g.stand, err = g.open(ctx, raw, (*Joint).nominal); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.stand.end()); g.stand = nil }()
	if g.stand.real {
		g.say("REAL ROBOT %s: its torque is off. Hold what could fall.", g.robot.Name)
	} else {
		g.say("SIMULATED: emulated servos in memory. Move joints with: hand JOINT DEGREES ...")
	}
	for _, step := range []func(context.Context) error{g.reference, g.direction, g.sweep, g.rest, g.confirm} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// screen is the heading of a step. One screen is what is to be done, what is seen, and one question.
func (g *Guide) screen(n int, title string, joints []*Joint) {
	g.say("\n== %d of 6: %s (%s)", n, title, strings.Join(namesOf(joints), ", "))
}

func namesOf(joints []*Joint) (names []string) {
	for _, j := range joints {
		names = append(names, j.Name)
	}
	return names
}

// missing are the joints of which a step has not been done.
func (g *Guide) missing(is func(*measured) bool) (list []*Joint) {
	for _, j := range g.joints {
		if is(g.notes.of(j.Name)) {
			list = append(list, j)
		}
	}
	return list
}

// well reports whether every joint of list is read now, and reports which is not.
func (g *Guide) well(list []*Joint) bool {
	good := true
	for _, w := range g.stand.seen() {
		if !slices.Contains(list, w.Joint) {
			continue
		}
		switch {
		case w.lost != nil && hal.KindOf(w.lost) != hal.Unsafe:
			g.say("%s: id %d on %s is not read: %v. Check its plug and supply.", w.Name, w.ID, w.Bus, w.lost)
			good = false
		case math.IsNaN(w.ticks):
			g.say("%s: id %d on %s has sent no position. Check its plug and supply.", w.Name, w.ID, w.Bus)
			good = false
		}
	}
	return good
}

// reference takes the ticks of a pose whose angles are known.
func (g *Guide) reference(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return m.Reference == nil })
	if len(list) == 0 {
		return nil
	}
	g.screen(1, "reference pose", list)
	g.say("Move these joints to 0 degrees, as the robot's model has them. A joint that you hold at another angle: type JOINT=DEGREES.")
	for _, j := range list {
		if j.Drawn != "" {
			g.say("  %-16s %s", j.Name, j.Drawn)
		}
	}
	angles := map[string]float64{}
	for {
		text, err := g.ask(ctx, "Enter when they are there")
		if err != nil {
			return err
		}
		if text == "" {
			if g.well(list) {
				break
			}
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if j := g.robot.Joint(strings.TrimSpace(name)); j == nil || !slices.Contains(list, j) || err != nil || !(math.Abs(v) <= 360) {
			g.say("got %q, want Enter, or JOINT=DEGREES of one of these joints", text)
			continue
		}
		angles[strings.TrimSpace(name)] = v * degree
	}
	for _, w := range g.stand.seen() {
		if slices.Contains(list, w.Joint) {
			m := g.notes.of(w.Name)
			m.Reference, m.Angle = &w.ticks, angles[w.Name]
			g.say("  %s: tick %.0f is %.1f degrees", w.Name, w.ticks, m.Angle/degree)
		}
	}
	return g.keep()
}

// direction sees which way each joint's ticks count.
func (g *Guide) direction(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return m.Direction == 0 })
	if len(list) == 0 {
		return nil
	}
	g.screen(2, "direction", list)
	g.say("Turn each joint a little, by some 20 degrees, in its positive direction:")
	for _, j := range list {
		g.say("  %-16s %s", j.Name, j.Positive)
	}
	for len(list) > 0 {
		if text, err := g.ask(ctx, "Enter when all are turned"); err != nil {
			return err
		} else if text != "" {
			g.say("got %q, want Enter", text)
			continue
		}
		g.well(list)
		for _, w := range g.stand.seen() {
			m := g.notes.of(w.Name)
			if !slices.Contains(list, w.Joint) {
				continue
			}
			turn := (w.ticks - *m.Reference) / w.by.TicksPerTurn * 2 * math.Pi
			if !(math.Abs(turn) >= leastTurn) {
				g.say("  %s did not turn: at tick %.0f still", w.Name, w.ticks)
				continue
			}
			m.Direction = 1
			if turn < 0 {
				m.Direction = -1
			}
			g.say("  %s: ticks %s", w.Name, map[int]string{1: "rise", -1: "fall"}[m.Direction])
		}
		if err := g.keep(); err != nil {
			return err
		}
		list = g.missing(func(m *measured) bool { return m.Direction == 0 })
	}
	return nil
}

// sweep takes the ends of each joint's travel.
func (g *Guide) sweep(ctx context.Context) error {
	none := func(m *measured) bool { return m.Low == nil }
	list := g.missing(none)
	if len(list) == 0 {
		return nil
	}
	g.screen(3, "range", list)
	g.say("Move each joint through its whole travel, from end to end, as slowly as you like; or let the servos find the stops of some: stops JOINT ...")
	g.stand.forget()
	for len(list) > 0 {
		text, err := g.watch(ctx, list, "Enter when all have been at both ends; t shows the table")
		if err != nil {
			return err
		}
		if words := strings.Fields(text); len(words) > 0 && words[0] == "stops" {
			if err := g.stops(ctx, list, words[1:]); err != nil {
				return err
			}
			list = g.missing(none)
			g.stand.forget()
			continue
		}
		g.table(list)
		if text != "" {
			continue
		}
		g.well(list)
		for _, w := range g.stand.seen() {
			switch m := g.notes.of(w.Name); {
			case !slices.Contains(list, w.Joint):
			case !((w.high-w.low)/w.by.TicksPerTurn*2*math.Pi >= leastTurn):
				g.say("  %s did not move", w.Name)
			default:
				low, high := w.low, w.high
				m.Low, m.High = &low, &high
			}
		}
		if err := g.keep(); err != nil {
			return err
		}
		list = g.missing(none)
	}
	return nil
}

// watch asks, and draws the table again and again until the answer comes, where the robot is real and Live.
func (g *Guide) watch(ctx context.Context, list []*Joint, prompt string) (string, error) {
	if g.Live == nil || !g.stand.real {
		return g.ask(ctx, "%s", prompt)
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	g.say("%s", prompt)
	go func() {
		text, err := g.In.Line(ctx)
		got <- answer{text, err}
	}()
	for drawn := false; ; drawn = true {
		if drawn {
			fmt.Fprintf(g.Out, "\x1b[%dA", len(list)+1) // over the last one
		}
		g.table(list)
		select {
		case a := <-got:
			if errors.Is(a.err, io.EOF) {
				return "", g.ended()
			}
			return a.text, a.err
		case <-g.Live:
		}
	}
}

// ended is the error of an input that has no more answers.
func (g *Guide) ended() error {
	return &hal.Error{Kind: hal.Unexpected, Op: "calibrate", Err: errors.New("the input ended: what was measured is kept"), Try: "halyard calibrate " + g.Config}
}

// table shows where the joints are and were.
func (g *Guide) table(list []*Joint) {
	out := tabwriter.NewWriter(g.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "  JOINT\tMIN\tNOW\tMAX\tTURNED deg")
	for _, w := range g.stand.seen() {
		if slices.Contains(list, w.Joint) {
			fmt.Fprintf(out, "  %s\t%.0f\t%.0f\t%.0f\t%.1f\n", w.Name, w.low, w.ticks, w.high, (w.high-w.low)*360/w.by.TicksPerTurn)
		}
	}
	out.Flush()
}

// The share by which the travel of a joint may differ from its model's without a gear being suspected.
const gearDoubt = 0.08

// confirm makes the calibrations, asks about those that contradict the robot's model, and writes them.
func (g *Guide) confirm(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return !m.Saved })
	if len(list) == 0 {
		return nil
	}
	g.screen(5, "check", list)
	var made []*calibration.Joint
	for _, j := range list {
		m := g.notes.of(j.Name)
		if err := g.gear(ctx, j, m); err != nil {
			return err
		}
		c := g.made(j, m)
		for _, doubt := range j.Doubts(c) {
			g.say("  %s", doubt)
			for {
				text, err := g.ask(ctx, "Enter measures %s again, y writes it as it is", j.Name)
				if err != nil {
					return err
				}
				if text == "" {
					*m = measured{Firmware: m.Firmware, Homing: m.Homing}
					if err := g.again(ctx); err != nil {
						return err
					}
					return g.confirm(ctx)
				}
				if text == "y" {
					break
				}
				g.say("got %q, want y or Enter", text)
			}
		}
		g.compare(j, c, *m.Reference, m.Angle)
		made = append(made, c)
	}
	if _, err := g.choose(ctx, "Enter writes these calibrations; the files before are kept as versions", ""); err != nil {
		return err
	}
	for i, j := range list {
		if err := os.MkdirAll(filepath.Dir(g.path(j)), 0o755); err != nil {
			return err
		}
		if _, err := calibration.Save(g.path(j), made[i]); err != nil {
			return err
		}
		g.notes.of(j.Name).Saved = true
	}
	return g.keep()
}

// again measures what was forgotten.
func (g *Guide) again(ctx context.Context) error {
	for _, step := range []func(context.Context) error{g.reference, g.direction, g.sweep, g.rest} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gear asks for the gear of a joint whose servo turned by another angle than the model's joint can.
func (g *Guide) gear(ctx context.Context, j *Joint, m *measured) error {
	if m.Gear != 0 {
		return nil
	}
	m.Gear = 1
	want := j.Limits.MaxPosition - j.Limits.MinPosition
	turned := (*m.High - *m.Low) / j.Model.Units().TicksPerTurn * 2 * math.Pi
	ratio := turned / want
	if !(want > 0) || want >= 2*math.Pi || math.Abs(ratio-1) <= gearDoubt {
		return nil
	}
	guess := likelyGear(ratio)
	g.say("  %s: its servo turned %.1f degrees, the model's joint %.1f: either a gear of about %.3f, or it was not at both ends.", j.Name, turned/degree, want/degree, ratio)
	for {
		text, err := g.ask(ctx, "Enter for 1 (no gear), or turns of the servo a turn of the joint, as %g", guess)
		if err != nil {
			return err
		}
		if text == "" {
			return g.keep()
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0.01 && v <= 1000 {
			m.Gear = v
			return g.keep()
		}
		g.say("got %q, want Enter or a number above 0.01", text)
	}
}

// likelyGear is the ratio of two numbers of up to 24 that is nearest to v, where one is within 0.3 %; else v.
func likelyGear(v float64) float64 {
	best := v
	off := 0.003 * v
	for b := 1.0; b <= 24; b++ {
		if a := math.Round(v * b); math.Abs(a/b-v) < off {
			best, off = a/b, math.Abs(a/b-v)/2 // a simpler one wins over one that is little better
		}
	}
	return best
}

// made is the calibration by what was measured.
func (g *Guide) made(j *Joint, m *measured) *calibration.Joint {
	c := j.nominal()
	old := g.old[j.Name]
	c.Method, c.Date, c.Direction, c.Gear = calibration.ByManual, g.Now(), m.Direction, m.Gear
	if m.Stops {
		c.Method = calibration.ByEndstops
	}
	c.ZeroTicks = *m.Reference - float64(m.Direction)*m.Angle*c.TicksPerTurn*m.Gear/(2*math.Pi)
	c.RangeTicks = [2]float64{*m.Low, *m.High}
	c.Servo.Firmware, c.Servo.HomingOffset = m.Firmware, m.Homing
	if m.Rest != nil {
		at := c.Unwrap(*m.Rest)
		c.RestTicks = &at
	}
	c.Torque.Constant *= m.Gear
	if old.Method != calibration.ByNominal && old.Torque.Constant != 0 {
		c.Torque = old.Torque
	}
	return c
}

// compare describes what the calibration before makes of the reference pose, and the new one.
func (g *Guide) compare(j *Joint, c *calibration.Joint, ticks, angle float64) {
	g.say("  %s: the reference pose of %.1f degrees reads %.1f by the file before (%s), %.1f now; travel %.1f..%.1f degrees", j.Name, angle/degree,
		g.old[j.Name].Radians(ticks)/degree, g.old[j.Name].Method, c.Radians(ticks)/degree,
		math.Min(c.Radians(*g.notes.of(j.Name).Low), c.Radians(*g.notes.of(j.Name).High))/degree,
		math.Max(c.Radians(*g.notes.of(j.Name).Low), c.Radians(*g.notes.of(j.Name).High))/degree)
	if c.RangeTicks[1]-c.RangeTicks[0] >= c.TicksPerTurn {
		g.say("  %s: its servo turns more than once over this travel: after power-on it cannot tell in which turn it is", j.Name)
	}
}

// rest takes the pose in which the robot lies with its torque off: what later starts are compared with.
func (g *Guide) rest(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return !m.Rested })
	if len(list) == 0 {
		return nil
	}
	g.screen(4, "rest pose", list)
	g.say("Let the robot down into the pose in which it lies while it is off. Later starts are compared with it.")
	for {
		text, err := g.ask(ctx, "Enter when it rests; n where it has no such pose")
		if err != nil {
			return err
		}
		if text != "" && text != "n" {
			g.say("got %q, want Enter or n", text)
			continue
		}
		if text == "" && !g.well(list) {
			continue
		}
		for _, w := range g.stand.seen() {
			if !slices.Contains(list, w.Joint) {
				continue
			}
			if text == "" {
				g.notes.of(w.Name).Rest = &w.ticks
			}
			g.notes.of(w.Name).Rested = true
		}
		return g.keep()
	}
}

// proven examines the servos once more, with the files that were written.
func (g *Guide) proven(ctx context.Context) error {
	c, err := g.sessionConfig(g.written)
	if err != nil {
		return err
	}
	found, _, err := examine(ctx, c)
	if hal.KindOf(err) == hal.Uncalibrated {
		return nil // joints of another session
	} else if err != nil {
		return err
	}
	g.say("\n== check of the files")
	good := true
	for _, f := range found {
		if (f.Check == "calibration" || f.Check == "drift") && f.State != doctor.StateOK && slices.ContainsFunc(g.joints, func(j *Joint) bool { return j.Name == f.Joint }) {
			g.say("  %s: %s: %s", f.Joint, f.Check, f.Found)
			good = false
		}
	}
	if good {
		g.say("  servos and files belong together")
	}
	return nil
}

// written is the file of a joint of this session, "" for others.
func (g *Guide) written(j *Joint) string {
	for _, mine := range g.joints {
		if mine == j {
			return absolute(g.path(j))
		}
	}
	return ""
}

// ending reports what comes next.
func (g *Guide) ending() {
	var lines []string
	for _, j := range g.joints {
		if want := g.path(j); j.File == "" || filepath.Clean(j.File) != filepath.Clean(want) {
			lines = append(lines, fmt.Sprintf("  %s: {calibration: %s}", j.Name, want))
		}
	}
	if len(lines) > 0 {
		g.say("\nName the files in the config, under hardware.joints:\n%s", strings.Join(lines, "\n"))
	}
	g.say("\nDone. Next: halyard doctor %s", g.Config)
}
