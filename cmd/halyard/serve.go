package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/halyard-robotics/halyard/internal/plan"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/sim/model"
)

func newServe(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "serve [CONFIG]",
		Short: "run a rig and its protocol servers",
		Long:  "Runs the rig of CONFIG, a file or the name of an embedded config (default demo), until it is interrupted.\nSpace in its terminal is the emergency stop.",
		Example: "  halyard serve so101 --body emulated\n  halyard serve my-robot.yaml --body real\n  halyard serve a-series --set 'agents[0].parts.left_elbow=emulated'\n" +
			"  halyard serve so101 --listen osp=127.0.0.1:0 --listen odcp=127.0.0.1:0",
		Args:              arguments("[CONFIG]", "halyard serve so101"),
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
	f.addListen(c)
	return c
}

// serve builds the rigs of plans, opens their servers and runs them side by side until ctx ends or one breaks. Then the
// servers stop first, so that no command comes any more, the bodies by their policies next, and the lines last.
func (a *app) serve(ctx context.Context, plans ...*plan.Plan) error {
	var stations []*assembly.Station
	var rigs []*hal.Rig
	log := a.log() // one, whose lines do not mix
	for _, p := range plans {
		st, err := assembly.OpenStation(p, log)
		if err != nil {
			for _, st := range stations {
				err = errors.Join(err, st.Close())
			}
			return err
		}
		stations, rigs = append(stations, st), append(rigs, st.Rig)
	}
	limp := func() {
		for _, r := range rigs {
			r.EmergencyStop("a second signal")
		}
	}
	a.torqueOff.Store(&limp)
	defer a.torqueOff.Store(nil)
	keys := watchKeys(a, rigs)
	defer keys.Close()

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
func (a *app) operate(ctx context.Context, st *assembly.Station) error {
	rigCtx, stopRig := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRig()
	ran := make(chan error, 1)
	go func() { ran <- st.Rig.Run(rigCtx) }()
	shadows := assembly.WatchResiduals(st.Rig)
	served := st.Servers.Run(ctx)
	a.part(st)
	stopRig()
	err := errors.Join(served, <-ran, show(a, shadows.Close()))
	st.Control.Close()
	return errors.Join(err, st.System.Close())
}

// part tells what the real robots of a station do now that nobody commands them, and after the end of the program.
func (a *app) part(st *assembly.Station) {
	for i := range st.Plan.Agents {
		c := st.Plan.Agents[i].Config
		if !c.Has(configs.Real) {
			continue
		}
		switch c.Guard.OnTimeout {
		case "torque_off":
			a.note("%s: torque off.", c.Name)
		case "park":
			a.note("%s parks, then holds: smart servos keep their torque until their power goes off.", c.Name)
		default:
			a.note("%s holds: smart servos keep their torque until their power goes off.", c.Name)
		}
	}
}

// announce tells that all is open: scripts by a line, people by what to type next.
func (a *app) announce(stations []*assembly.Station) {
	list := []assembly.ReadyServer{}
	for _, st := range stations {
		list = append(list, st.Servers.Ready...)
	}
	if a.format == "json" || a.format == "jsonl" { // what runs until it is interrupted tells programs one line at a time
		a.format = "jsonl"
		a.Line(assembly.Ready{Event: "ready", Servers: list, Ports: []assembly.ReadyPort{}})
		return
	}
	bodies := map[configs.BodyKind]bool{}
	for _, st := range stations {
		made := func(p *plan.AgentPlan) {
			for _, j := range p.Joints {
				bodies[j.Body] = true
			}
		}
		for i := range st.Plan.Agents {
			made(&st.Plan.Agents[i])
		}
		for _, c := range st.Plan.Classes { // a client's INIT makes them move
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
		name = " " + stations[0].Rig.Name()
	}
	a.note("Next, in another terminal:\n  %s\n  halyard status%s\n  halyard estop%s\nCtrl-C stops it.",
		nextCommand(stations[0].Plan, list), name, name)
}

// nextCommand is what makes this rig move.
func nextCommand(p *plan.Plan, list []assembly.ReadyServer) string {
	var arm string
	for i := range p.Agents {
		if !p.Agents[i].Config.Guard.Armed {
			arm = "halyard arm\n  "
		}
	}
	for _, s := range list {
		if s.Protocol != "odcp" {
			continue
		}
		play := arm + "halyard play wave"
		for i := range p.Agents {
			a := &p.Agents[i]
			if a.Config.Name == s.Agent && !embeddedMotion("wave", len(a.Joints)) {
				play = arm + "halyard play FILE" // halyard play --help says how one looks
			}
			if a.Config.Name == s.Agent && len(plan.RobotsOf(len(a.Joints))) != 1 {
				name := a.Config.Model
				if _, err := model.Load(name); err != nil { // a file
					name = p.Config.Resolve(name)
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
	return "halyard list " + p.Config.Source
}
