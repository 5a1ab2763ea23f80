package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/motion"
	"github.com/halyard-robotics/halyard/sim/model"
)

func newServe(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "serve [CONFIG]",
		Short: "run a rig and its protocol servers",
		Long: "Runs the rig of CONFIG, a file or the name of an embedded config (default demo), until it is " +
			"interrupted.\nSpace in its terminal is the emergency stop.",
		Example: "  halyard serve so101 --body emulated\n  halyard serve my-robot.yaml --body real\n  halyard serve " +
			"a-series --set 'agents[0].parts.left_elbow=emulated'\n" +
			"  halyard serve so101 --listen osp=127.0.0.1:0 --listen odcp=127.0.0.1:0",
		Args:              arguments("[CONFIG]", "halyard serve so101"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.brief = true
			c, err := f.load(a, args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), c)
		},
	}
	c.Flags().StringVar(&a.expose, "expose", "", "folder for links to terminals on the lines of emulated servos, "+
		"shared with the rig's drivers; also for halyard hand")
	c.Flags().StringArrayVar(&a.faults, "fault", nil, `rehearse a fault of an emulated or a real servo, as of halyard `+
		`emulate; of a real one its readings: "stale servo 3 by=40ms", "drop servo 3 p=0.2 from=5s", "offset servo 3"`)
	f.add(c)
	f.addListen(c)
	a.addDashboard(c)
	return c
}

// addDashboard adds the flags of commands that serve.
func (a *app) addDashboard(c *cobra.Command) {
	c.Flags().StringVar(&a.dashboard.Address, "dashboard", "",
		"HOST:PORT of the dashboard, or off (127.0.0.1:8642 or the next free port)")
	a.token.Add(c, "the dashboard")
}

// ready is the line that reports to a script that servers or ports are open.
type ready struct {
	Event     string           `json:"event"`
	Servers   []halyard.Server `json:"servers"`
	Ports     []halyard.Port   `json:"ports"`
	Dashboard string           `json:"dashboard"`
}

// serve opens configs and runs them side by side until ctx ends or one fails.
func (a *app) serve(ctx context.Context, list ...*halyard.Config) error {
	var systems []*halyard.System
	var rigs []*hal.Rig
	servers, ports := []halyard.Server{}, []halyard.Port{}
	closeAll := func() (err error) {
		for _, s := range systems {
			err = errors.Join(err, s.Close())
		}
		return err
	}
	token, err := a.token.Read(func(format string, args ...any) {
		a.note(format, args...)
		a.sink.Flush(flushTime)
	})
	if err != nil {
		return err
	}
	log := a.log() // a single one, so that lines do not mix
	var dashboard *halyard.Dashboard
	url := ""
	if a.dashboard.Address != "off" {
		a.dashboard.Log, a.dashboard.Token = log, token
		if dashboard, err = halyard.OpenDashboard(a.dashboard); err != nil {
			return err
		}
		defer dashboard.Close()
	}
	for _, c := range list {
		s, err := halyard.Open(c, a.options(log)...)
		if err != nil {
			return errors.Join(err, closeAll())
		}
		systems, rigs = append(systems, s), append(rigs, s.Rig())
		for _, text := range a.faults {
			if err := s.Fault(text); err != nil {
				return errors.Join(err, closeAll())
			}
		}
		if a.expose != "" {
			if ports, err = s.Expose(a.expose); err != nil {
				return errors.Join(err, closeAll())
			}
		}
		open, err := s.Listen()
		if err != nil {
			return errors.Join(err, closeAll())
		}
		servers = append(servers, open...)
	}
	if dashboard != nil {
		dashboard.Show(systems...)
		url = dashboard.URL()
	}
	torqueOff := func() { stopRigs(rigs, "a second signal") }
	a.torqueOff.Store(&torqueOff)
	defer a.torqueOff.Store(nil)
	out := a.out // a stdout that is not read keeps no key waiting
	a.out = a.sink.Writer(out)
	defer func() { a.sink.Flush(flushTime); a.out = out }()
	typed, endSession := a.teleop.begin(a, systems[0])
	defer endSession()
	defer watchKeys(a, rigs, typed)()

	// a page's stop works until the last joint is inert
	watching, endPages := context.WithCancel(context.WithoutCancel(ctx))
	defer endPages()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.announce(list, jointsOf(systems[0]), servers, ports, url)
	a.teleop.done(cancel)
	var all, pages sync.WaitGroup
	errs := make([]error, len(systems))
	if dashboard != nil {
		pages.Go(func() {
			if err := dashboard.Run(watching); err != nil { // the robots go on
				log.Error("dashboard ended", "fault", err)
			}
		})
	}
	for i, s := range systems {
		all.Go(func() {
			if errs[i] = a.operate(ctx, s, log); errs[i] != nil {
				cancel() // one that fails ends all
			}
		})
	}
	all.Wait()
	endPages()
	pages.Wait()
	return errors.Join(append(errs, closeAll())...)
}

// options are those of a robot that is served: its log, and this very program as the supervisor of its real lines.
func (a *app) options(log *slog.Logger) []halyard.Option {
	list := []halyard.Option{halyard.WithLogger(log), halyard.WithCatalog(a.more)}
	if program, err := os.Executable(); err == nil && a.supervised {
		list = append(list, halyard.WithSupervisor(program, "supervise"))
	}
	return list
}

// newSupervise makes the sub-command of the supervising process, which serve starts.
func newSupervise() *cobra.Command {
	return &cobra.Command{Use: "supervise", Short: "switch torque off when the process of a rig dies or hangs",
		Hidden: true, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return halyard.Supervise() }}
}

// stopRigs stops rigs side by side and lists their joints.
func stopRigs(rigs []*hal.Rig, reason string) (joints []control.JointStatus) {
	stops := make([][]hal.JointStop, len(rigs))
	var all sync.WaitGroup
	for i, r := range rigs {
		all.Go(func() { stops[i] = r.EmergencyStop(reason) })
	}
	all.Wait()
	for i, r := range rigs {
		joints = append(joints, control.JointsOf(r, stops[i])...)
	}
	return joints
}

// operate runs one system until ctx ends or a server of it fails.
func (a *app) operate(ctx context.Context, s *halyard.System, log *slog.Logger) error {
	shadows := calibrate.WatchResiduals(s.Rig(), s.Config(), a.catalog(), log)
	s.AnswerTwin(shadows.Answer)
	ran := s.Run(ctx)
	s.AnswerTwin(nil)
	a.part(s.Config())
	return errors.Join(ran, show(a, shadows.Close()))
}

// part reports the stop policy of a config's real robots at the end of the program.
func (a *app) part(c *halyard.Config) {
	for i := range c.Agents {
		agent := &c.Agents[i]
		if !agent.Has(configs.Real) {
			continue
		}
		keeps := "smart servos keep their torque until their power goes off."
		if lets := lettingGo(a.catalog().Buses, c, agent); lets != "" {
			keeps = lets
		}
		switch agent.Guard.OnTimeout {
		case "torque_off":
			a.note("%s: torque off.", agent.Name)
		case "park":
			a.note("%s parks, then holds: %s", agent.Name, keeps)
		default:
			a.note("%s holds: %s", agent.Name, keeps)
		}
	}
}

// lettingGo tells which real joints of an agent lose their torque once the program has ended, because their motor
// controllers release a motor whose host is silent; "" where none does.
func lettingGo(buses catalog.Buses, c *halyard.Config, agent *configs.Agent) string {
	var loose, kept []string
	for name, j := range agent.Hardware.Joints {
		if agent.BodyOf(name) != configs.Real || j.Bus == "" {
			continue
		}
		if t := buses.Of(c.Buses[j.Bus].Type); t.Driver != nil && t.Releases != "" {
			loose = append(loose, name+" ("+t.Releases+")")
		} else {
			kept = append(kept, name)
		}
	}
	slices.Sort(loose)
	if len(loose) == 0 {
		return ""
	}
	text := "its motor controllers let go: " + strings.Join(loose, ", ")
	if len(kept) > 0 {
		return text + "; its smart servos keep their torque until their power goes off."
	}
	return text + "."
}

// announce reports that all is open: to scripts by a line, to people with the command to type next.
func (a *app) announce(configured []*halyard.Config, joints map[string]int, list []halyard.Server, ports []halyard.Port,
	dashboard string) {
	// a command that runs until it is interrupted prints JSON lines to programs
	if a.format == "json" || a.format == "jsonl" {
		a.format = "jsonl"
		a.Line(ready{Event: "ready", Servers: list, Ports: ports, Dashboard: dashboard})
		return
	}
	a.note("%s", bodyLine(configured...))
	for _, s := range list {
		of := ""
		if s.Agent != "" {
			of = " of " + s.Agent
		}
		fmt.Fprintf(a.out, "%s%s at %s\n", s.Protocol, of, s.Address)
	}
	if dashboard != "" {
		fmt.Fprintf(a.out, "dashboard at %s\n", dashboard)
	}
	for _, p := range ports {
		if p.Path != "" {
			fmt.Fprintf(a.out, "bus %s at %s, %d Bd\n", p.Bus, filepath.Join(a.expose, p.Bus), p.Baud)
		} else {
			a.note("bus %s has no terminal: %s", p.Bus, p.Reason)
		}
	}
	name := "" // the argument of halyard status, if several rigs run
	if len(configured) > 1 {
		name = " " + configured[0].Name
	}
	next := nextCommand(configured[0], joints, list)
	if next != "" {
		next = "\n  " + next
	}
	a.note("Next, in another terminal:%s\n  halyard status%s\n  halyard estop%s\nCtrl-C stops it.", next, name, name)
}

// jointsOf counts the joints of each agent.
func jointsOf(s *halyard.System) map[string]int {
	joints := map[string]int{}
	for _, a := range s.Agents() {
		joints[a.Name()] = len(a.Layout().Actuators)
	}
	return joints
}

// nextCommand returns a command that moves or lists this rig, whose agents have so many joints. It is empty if no file
// has the config.
func nextCommand(c *halyard.Config, joints map[string]int, list []halyard.Server) string {
	var arm string
	for i := range c.Agents {
		if !c.Agents[i].Guard.Armed {
			arm = "halyard arm\n  "
		}
	}
	for _, s := range list {
		if s.Protocol != "odcp" {
			continue
		}
		play := arm + "halyard play wave"
		for i := range c.Agents {
			a := &c.Agents[i]
			if a.Name != s.Agent {
				continue
			}
			if !motion.EmbeddedMotion("wave", joints[a.Name]) {
				play = arm + "halyard play FILE" // halyard play --help shows the format
			}
			if len(motion.RobotsOf(joints[a.Name])) != 1 {
				name := a.Model
				if _, err := model.Load(name); err != nil { // a file
					name = c.Resolve(name)
				}
				play += " --model " + name
			}
		}
		if s.Address != "127.0.0.1:45453" {
			play += " --address " + s.Address
		}
		return play
	}
	for _, s := range list {
		if host, port, err := net.SplitHostPort(s.Address); err == nil && s.Protocol == "simloid" {
			return arm + "nc " + host + " " + port + "    # ACK, then for each step commands (UA 0.5) and DONE"
		}
	}
	if strings.HasPrefix(c.Source, "halyard ") { // made by that command
		return ""
	}
	return "halyard list " + c.Source
}
