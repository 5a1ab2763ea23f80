package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// ready is the line that tells a script that servers or ports are open.
type ready struct {
	Event     string        `json:"event"`
	Servers   []readyServer `json:"servers"`
	Ports     []readyPort   `json:"ports"`
	Dashboard string        `json:"dashboard"`
}

type readyServer struct {
	Protocol string `json:"protocol"`
	Agent    string `json:"agent"`
	Address  string `json:"address"`
}

type readyPort struct {
	Bus    string `json:"bus"`
	Type   string `json:"type"`
	Path   string `json:"path"`
	Baud   int    `json:"baud"`
	Reason string `json:"reason,omitempty"` // why there is no path
}

func newServe(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "serve [CONFIG]",
		Short: "run a rig: its bodies, and the servers that controllers connect to",
		Long:  "Runs the rig of CONFIG, a file or the name of an embedded config (default demo), until it is interrupted.\nSpace in its terminal is the emergency stop.",
		Example: "  halyard serve so101 --body emulated\n  halyard serve my-robot.yaml --body real\n  halyard serve a-series --set 'agents[0].parts.left_elbow=emulated'\n" +
			"  halyard serve so101 --listen osp=127.0.0.1:0 --listen odcp=127.0.0.1:0",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, p, err := f.load(a, args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), p)
		},
	}
	f.add(c)
	return c
}

// station is one open rig: its system, its servers and who listens for orders.
type station struct {
	*system
	servers *servers
	control *control
}

// openStation builds the rig of p and opens its servers; none of them answers yet. On an error nothing stays open.
func openStation(p *plan, log *slog.Logger) (st *station, err error) {
	st = &station{servers: &servers{}}
	if st.system, err = build(p, log); err != nil {
		return nil, err
	}
	if st.servers, err = openServers(st.system); err == nil {
		if st.control, err = openControl(st.rig); err == nil {
			return st, nil
		}
		st.servers.close()
	}
	return nil, errors.Join(err, st.system.close())
}

// close gives back what is open of a station that never ran.
func (st *station) close() error {
	st.servers.close()
	st.control.close()
	return st.system.close()
}

// serve builds the rigs of plans, opens their servers and runs them side by side until ctx ends or one breaks. Then the
// servers stop first, so that no command comes any more, the bodies by their policies next, and the lines last.
func (a *app) serve(ctx context.Context, plans ...*plan) error {
	var stations []*station
	var rigs []*hal.Rig
	log := a.log() // one, whose lines do not mix
	for _, p := range plans {
		st, err := openStation(p, log)
		if err != nil {
			for _, st := range stations {
				err = errors.Join(err, st.close())
			}
			return err
		}
		stations, rigs = append(stations, st), append(rigs, st.rig)
	}
	limp := func() {
		for _, r := range rigs {
			r.EmergencyStop("a second signal")
		}
	}
	a.limp.Store(&limp)
	defer a.limp.Store(nil)
	keys := watchKeys(a, rigs)
	defer keys.close()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.announce(stations)
	var all sync.WaitGroup
	errs := make([]error, len(stations))
	for i, st := range stations {
		all.Go(func() {
			errs[i] = a.operate(ctx, st)
			cancel()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// operate runs one station until ctx ends or a server of it breaks, and closes it.
func (a *app) operate(ctx context.Context, st *station) error {
	rigCtx, stopRig := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRig()
	ran := make(chan error, 1)
	go func() { ran <- st.rig.Run(rigCtx) }()
	shadows := watchResiduals(st.rig)
	served := st.servers.run(ctx)
	a.part(st)
	stopRig()
	err := errors.Join(served, <-ran, show(a, shadows.close()))
	st.control.close()
	return errors.Join(err, st.system.close())
}

// part tells what the real robots of a station do now that nobody commands them, and after the end of the program.
func (a *app) part(st *station) {
	for i := range st.plan.agents {
		c := st.plan.agents[i].config
		if !c.Has(configs.Real) {
			continue
		}
		switch c.Guard.OnTimeout {
		case "limp":
			a.note("%s goes limp.", c.Name)
		case "park":
			a.note("%s parks, then holds: smart servos keep their torque until their power goes off.", c.Name)
		default:
			a.note("%s holds: smart servos keep their torque until their power goes off.", c.Name)
		}
	}
}

// announce tells that all is open: scripts by a line, people by what to type next.
func (a *app) announce(stations []*station) {
	list := []readyServer{}
	for _, st := range stations {
		list = append(list, st.servers.ready...)
	}
	if a.format == "json" || a.format == "jsonl" { // what runs until it is interrupted tells programs one line at a time
		a.format = "jsonl"
		a.line(ready{Event: "ready", Servers: list, Ports: []readyPort{}})
		return
	}
	bodies := map[configs.BodyKind]bool{}
	for _, st := range stations {
		made := func(p *agentPlan) {
			for _, j := range p.joints {
				bodies[j.body] = true
			}
		}
		for i := range st.plan.agents {
			made(&st.plan.agents[i])
		}
		for _, c := range st.plan.classes { // a client's INIT makes them move
			made(c)
		}
	}
	switch {
	case bodies[configs.Real] && len(bodies) > 1:
		a.note("MIXED BODY: some joints are REAL. Keep clear, and a hand on the power switch.")
	case bodies[configs.Real]:
		a.note("REAL BODY: this moves hardware. Keep clear, and a hand on the power switch.")
	default:
		a.note("SIMULATED: no hardware is touched.")
	}
	for _, s := range list {
		of := ""
		if s.Agent != "" {
			of = " of " + s.Agent
		}
		fmt.Fprintf(a.out, "%s%s at %s\n", s.Protocol, of, s.Address)
	}
	name := "" // what halyard status needs to tell one rig from another
	if len(stations) > 1 {
		name = " " + stations[0].rig.Name()
	}
	a.note("Next, in another terminal:\n  %s\n  halyard status%s\n  halyard estop%s\nCtrl-C stops it.",
		nextCommand(stations[0].plan, list), name, name)
}

// nextCommand is what makes this rig move.
func nextCommand(p *plan, list []readyServer) string {
	var arm string
	for i := range p.agents {
		if !p.agents[i].config.Guard.Armed {
			arm = "halyard arm\n  "
		}
	}
	for _, s := range list {
		if s.Protocol != "odcp" {
			continue
		}
		play := arm + "halyard play wave"
		for i := range p.agents {
			a := &p.agents[i]
			if a.config.Name == s.Agent && !embeddedMotion("wave", len(a.joints)) {
				play = arm + "halyard play FILE" // halyard play --help says how one looks
			}
			if a.config.Name == s.Agent && len(robotsOf(len(a.joints))) != 1 {
				name := a.config.Model
				if _, err := model.Load(name); err != nil { // a file
					name = p.config.Resolve(name)
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
	return "halyard list " + p.config.Source
}

// servers are the open servers of a rig.
type servers struct {
	ready []readyServer
	list  []server
}

// server is one protocol's server: Serve answers until ctx ends and has nothing running when it returns.
type server interface {
	Serve(ctx context.Context) error
}

// run serves until ctx ends or one server breaks, and waits for all.
func (s *servers) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, len(s.list))
	for i, srv := range s.list {
		wg.Go(func() {
			errs[i] = srv.Serve(ctx)
			cancel()
		})
	}
	<-ctx.Done() // a rig without servers runs until it is interrupted
	wg.Wait()
	return errors.Join(errs...)
}

// close ends servers that never ran.
func (s *servers) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.run(ctx)
}

// openServers opens every server of the config before any of them answers.
func openServers(sys *system) (*servers, error) {
	c, s := sys.plan.config, &servers{ready: []readyServer{}}
	for i := range c.Servers {
		at, err := netip.ParseAddrPort(strings.Replace(c.Servers[i].Listen, "localhost:", "127.0.0.1:", 1))
		if err == nil {
			var srv server
			var bound netip.AddrPort
			if srv, bound, err = newServer(sys, &c.Servers[i], at); err == nil {
				s.list = append(s.list, srv)
				s.ready = append(s.ready, readyServer{c.Servers[i].Protocol, c.Servers[i].Agent, bound.String()})
				continue
			}
		}
		s.close()
		return nil, &hal.Error{Kind: hal.Busy, Op: fmt.Sprintf("%s: listen at %s", c.Servers[i].Protocol, c.Servers[i].Listen),
			Err: err, Try: fmt.Sprintf("halyard serve %s --listen %s=127.0.0.1:0", c.Source, c.Servers[i].Protocol)}
	}
	return s, nil
}
