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
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

// Guide is a guided calibration of a robot: it prompts a person, or a script, for one action at a time, and reads the
// joints while their torque is off. Measurements are kept in a progress file, so that a session that ended early can be
// continued.
//
// For a simulated robot any prompt while its torque is off also accepts "hand JOINT DEGREES ...": the hand moves the
// joints, and the prompt repeats.
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
	Catalog *halyard.Catalog
	Open    []halyard.Option // with the same catalog
	Live    <-chan time.Time // draws the table of a real robot again while it is moved; nil = never

	robot     *Robot
	joints    []*Joint
	stand     *stand
	old       map[string]*calibration.Joint // in use before
	notes     progress
	announced bool                       // on which devices it works
	command   string                     // what is run on its joints instead of a calibration, which can be resumed
	alter     func(*configs.Config)      // differences between body and model, planted by tests
	strike    func(*halyard.Agent) error // likewise, as a recorded motion begins
}

const degree = math.Pi / 180

// leastTurn is how far a joint must turn to count as moved, rad at the servo.
const leastTurn = 3 * degree

// Run leads through the session and lists the calibrations that it wrote. On an error, and when ctx ends, torque is
// off, and files that were not confirmed are as they were.
func (g *Guide) Run(ctx context.Context) (rows []Row, err error) {
	if err := g.prepare(); err != nil {
		return nil, err
	}
	if _, err := g.sessionConfig(g.path); err != nil { // which tells first on which devices it works
		return nil, err
	}
	defer func() {
		if ctx.Err() != nil {
			g.printf("\nInterrupted: torque is off, and what was measured is kept. halyard calibrate %s goes on "+
				"with it.", g.Config)
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
	if err := g.ending(); err != nil {
		return nil, err
	}
	return rows, os.Remove(g.progressFile())
}

// prepare reads the config and chooses the joints.
func (g *Guide) prepare() (err error) {
	if g.robot, err = Open(g.Config, g.Agent, g.Options, g.Catalog); err != nil {
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
			g.printf("%s: a prismatic joint is calibrated only by its file (docs/calibration.md)", j.Name)
			continue
		}
		g.joints = append(g.joints, j)
		if c, err := calibration.Load(g.path(j)); err == nil && c.Servo.Model == j.Model.Units().Name &&
			c.Servo.ID == j.ID {
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

func (g *Guide) printf(format string, args ...any) { fmt.Fprintf(g.Out, format+"\n", args...) }

// ask prints a prompt and returns the answer. It executes orders to the hand of a simulated robot.
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
			g.printf("%v", err)
		} else if err != nil {
			return "", err
		}
	}
}

// hand moves the hand of a simulated robot by words: JOINT DEGREES, any number of times.
func (g *Guide) hand(ctx context.Context, words []string) error {
	if len(words) == 0 || len(words)%2 != 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "hand",
			Err: fmt.Errorf("got %d words, want JOINT DEGREES, once or more", len(words))}
	}
	for i := 0; i < len(words); i += 2 {
		v, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e4 {
			return &hal.Error{Kind: hal.Invalid, Op: "hand", Joint: words[i],
				Err: fmt.Errorf("got %q, want degrees", words[i+1])}
		}
		if err := g.stand.move(ctx, words[i], v*degree); err != nil {
			return err
		}
	}
	return nil
}

// measure reads the joints while they are moved by hand: identity, reference, direction, range and rest pose.
func (g *Guide) measure(ctx context.Context) (err error) {
	if g.stand, err = g.openRaw(ctx, g.identify); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.stand.end()); g.stand = nil }()
	if g.stand.real {
		g.printf("REAL ROBOT %s: its torque is off. Hold what could fall.", g.robot.Name)
	} else {
		g.printf("EMULATED: servos in memory. Move joints with: hand JOINT DEGREES ...")
	}
	return g.byHand(ctx)
}

// screen prints the heading of a step. One screen has the instructions, the readings and one question.
func (g *Guide) screen(n int, title string, joints []*Joint) {
	g.printf("\n== %d of 6: %s (%s)", n, title, strings.Join(namesOf(joints), ", "))
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

// well reports whether every joint of list is read now, and prints those that are not.
func (g *Guide) well(list []*Joint) bool {
	good := true
	for _, w := range g.stand.seen() {
		if !slices.Contains(list, w.Joint) {
			continue
		}
		switch {
		case w.lost != nil && hal.KindOf(w.lost) != hal.Unsafe:
			g.printf("%s: id %d on %s is not read: %v. Check its plug and supply.", w.Name, w.ID, w.Bus, w.lost)
			good = false
		case math.IsNaN(w.ticks):
			g.printf("%s: id %d on %s has sent no position. Check its plug and supply.", w.Name, w.ID, w.Bus)
			good = false
		}
	}
	return good
}

// rest stores the pose of the robot with its torque off, to which later starts are compared.
func (g *Guide) rest(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return !m.Rested })
	if len(list) == 0 {
		return nil
	}
	g.screen(4, "rest pose", list)
	g.printf("Let the robot down into the pose in which it lies while it is off. Later starts are compared with it.")
	for {
		text, err := g.ask(ctx, "Enter when it rests; n where it has no such pose")
		if err != nil {
			return err
		}
		if text != "" && text != "n" {
			g.printf("got %q, want Enter or n", text)
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
	found, _, err := examine(ctx, c, g.Catalog)
	if hal.KindOf(err) == hal.Uncalibrated {
		return nil // joints of another session
	} else if err != nil {
		return err
	}
	g.printf("\n== check of the files")
	good := true
	for _, f := range found {
		if (f.Check == "calibration" || f.Check == "drift") && f.State != doctor.StateOK &&
			slices.ContainsFunc(g.joints, func(j *Joint) bool { return j.Name == f.Joint }) {
			g.printf("  %s: %s: %s", f.Joint, f.Check, f.Found)
			good = false
		}
	}
	if good {
		g.printf("  servos and files belong together")
	}
	return nil
}

// written is the file of a joint of this session, "" for others.
func (g *Guide) written(j *Joint) string {
	if slices.Contains(g.joints, j) {
		return absolute(g.path(j))
	}
	return ""
}

// ending writes the files into the config, and prints the next commands.
func (g *Guide) ending() error {
	files := map[string]string{}
	var lines []string
	for _, j := range g.joints {
		if want := g.path(j); j.File == "" || filepath.Clean(j.File) != filepath.Clean(want) {
			lines = append(lines, fmt.Sprintf("  %s: {calibration: %s}", j.Name, want))
			if j.File == "" {
				files[j.Name] = want
			}
		}
	}
	changed, err := g.adopt(files)
	switch {
	case err != nil:
		return err
	case len(changed) > 0:
		g.printf("\nThe config names the files now:\n  %s", strings.Join(changed, "\n  "))
	case len(lines) > 0:
		g.printf("\nName the files in the config, under hardware.joints:\n%s", strings.Join(lines, "\n"))
	}
	g.printf("\nDone. Next: halyard move %s %s=10deg --relative, or halyard serve %s", g.Config, g.joints[0].Name,
		g.Config)
	return nil
}
