package cli

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/teleop"
)

const teleopKeys = "Keys: e engages, x disengages, a arms, d shows the differences; n starts an episode, s ends it " +
	"as a " +
	"success, f as a failure,\nr discards it and starts again, q ends the program. Space is the emergency stop."

// newTeleop makes the sub-command that serves a config with leaders and followers.
func newTeleop(a *app) *cobra.Command {
	var f configFlags
	var t teleopSession
	var out string
	c := &cobra.Command{
		Use:   "teleop [CONFIG]",
		Short: "move followers where their leader is; record episodes",
		Long: "Runs CONFIG (default teleop), as serve does: its followers go where their leader is once the operator " +
			"engages.\nWith --task or --episodes it records, with marks; halyard episodes makes a data set of that.\n" +
			teleopKeys,
		Example: "  halyard teleop teleop --expose d\n  halyard teleop mine.yaml --set 'agents[0].body=sim'\n" +
			"  halyard teleop mine.yaml --task \"pick up the cube\" --episodes 20\n" +
			"  halyard set /teleop/engaged true          from another terminal, as a script",
		Args:              arguments("[CONFIG]", "halyard teleop teleop"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.brief = true
			if len(args) == 0 {
				args = []string{"teleop"}
			}
			if t.task != "" || t.episodes > 0 || out != "" {
				if out == "" {
					out = time.Now().Format("episodes-20060102-150405.mcap")
				}
				path, err := filepath.Abs(out)
				if err != nil {
					return err
				}
				f.set = append([]string{"record.file=" + path, "record.pictures=true", "record.picture_rate=30"},
					f.set...)
			}
			c, err := f.load(a, args)
			if err != nil {
				return err
			}
			if len(c.Teleop) == 0 {
				return &hal.Error{Kind: hal.Invalid, Op: "teleop " + c.Source,
					Err: fmt.Errorf("got a config without leaders, want teleop: [{leader: AGENT, follower: AGENT}]"),
					Try: "halyard configs teleop"}
			}
			a.teleop = &t
			return a.serve(cmd.Context(), c)
		},
	}
	c.Flags().StringVar(&t.task, "task", "", "what the episodes show, in words")
	c.Flags().IntVar(&t.episodes, "episodes", 0, "end after so many episodes; 0 = at q or Ctrl-C")
	c.Flags().StringVar(&out, "out", "", "the recording (default episodes-TIME.mcap where episodes are recorded)")
	c.Flags().StringVar(&a.expose, "expose", "", "folder for halyard hand, which moves emulated leaders")
	f.add(c)
	f.addListen(c)
	a.addDashboard(c)
	return c
}

// teleopSession is what an operator does at the terminal of halyard teleop; nil does nothing.
type teleopSession struct {
	task     string
	episodes int

	app   *app
	of    *teleop.Teleop
	rig   *hal.Rig
	keys  chan byte
	ready chan context.CancelFunc // that ends the program, once all is open
	end   context.CancelFunc      // the same
}

// begin returns what each key does, and the end of it.
func (t *teleopSession) begin(a *app, s *halyard.System) (typed func(key byte), end func()) {
	if t == nil {
		return func(byte) {}, func() {}
	}
	t.app, t.of, t.rig, t.keys = a, s.Teleop(), s.Rig(), make(chan byte, 8)
	t.ready = make(chan context.CancelFunc, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { t.run(ctx) })
	return func(key byte) {
		select {
		case t.keys <- key:
		default:
		}
	}, func() { cancel(); all.Wait() }
}

// done sets what ends the program.
func (t *teleopSession) done(cancel context.CancelFunc) {
	if t != nil {
		t.app.note("%s", teleopKeys)
		t.ready <- cancel
	}
}

// run executes keys, and reports what changes, until ctx ends.
func (t *teleopSession) run(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	select { // the rig's own messages first
	case t.end = <-t.ready:
	case <-ctx.Done():
		return
	}
	said, shown := "", time.Time{}
	for {
		select {
		case key := <-t.keys:
			if err := t.press(key); err != nil {
				t.app.complain(err)
			}
			continue
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s := t.of.Status()
		text := string(s.State)
		if s.Reason != "" {
			text += ": " + s.Reason
		}
		if s.Task != "" {
			text += fmt.Sprintf("; episode %d runs: %s", s.Episodes+1, s.Task)
		} else if s.Episodes > 0 {
			text += fmt.Sprintf("; %d episodes", s.Episodes)
		}
		if text != said {
			said = text
			t.app.note("%s", text)
		}
		if s.State == teleop.Engaging && time.Since(shown) > time.Second {
			shown = time.Now()
			t.app.note("%s", farthest(s))
		}
		if t.episodes > 0 && s.Episodes >= t.episodes && s.Task == "" {
			t.end()
			return
		}
	}
}

// farthest names the joint that is the farthest from its leader.
func farthest(s teleop.Status) string {
	far := s.Joints[0]
	for _, j := range s.Joints {
		if math.Abs(float64(j.Difference)) > math.Abs(float64(far.Difference)) {
			far = j
		}
	}
	return fmt.Sprintf("%s is %+.3f from its leader", far.Follower, float64(far.Difference))
}

func (t *teleopSession) press(key byte) error {
	start := func() error { return t.of.Mark(teleop.MarkStart + " " + t.task) }
	switch key {
	case 'e':
		return t.of.Engage()
	case 'x':
		return t.of.Disengage()
	case 'a':
		return t.rig.Arm()
	case 'd':
		return show(t.app, t.of.Status().Joints)
	case 'n':
		return start()
	case 's':
		return t.of.Mark(teleop.MarkSuccess)
	case 'f':
		return t.of.Mark(teleop.MarkFailure)
	case 'r':
		if err := t.of.Mark(teleop.MarkDiscard); err != nil {
			return err
		}
		return start()
	case 'q':
		t.end()
	}
	return nil
}
