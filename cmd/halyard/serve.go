package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
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
		Use:               "serve [CONFIG]",
		Short:             "run a rig: its bodies, and the servers that controllers connect to",
		Long:              "Runs the rig of CONFIG, a file or the name of an embedded config (default demo), until it is interrupted.\nSpace in its terminal is the emergency stop.",
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

// serve builds the rig of p, opens its servers and runs it until ctx ends. Then the servers stop first, so that no
// command comes any more, the bodies by their policies next, and the lines last.
func (a *app) serve(ctx context.Context, p *plan) (err error) {
	sys, err := build(p, a.log())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.close()) }()
	servers, err := openServers(sys.rig, p.config)
	if err != nil {
		return err
	}
	ctl, err := openControl(sys.rig)
	if err != nil {
		servers.close()
		return err
	}
	defer ctl.close()
	limp := func() { sys.rig.EmergencyStop("a second signal") }
	a.limp.Store(&limp)
	defer a.limp.Store(nil)
	rigCtx, stopRig := context.WithCancel(context.WithoutCancel(ctx))
	defer stopRig()
	ran := make(chan error, 1)
	go func() { ran <- sys.rig.Run(rigCtx) }()
	keys := watchKeys(a, sys.rig)
	defer keys.close()
	shadows := watchResiduals(sys.rig)

	a.announce(p, servers.ready)
	served := servers.run(ctx)
	stopRig()
	return errors.Join(served, <-ran, show(a, shadows.close()))
}

// announce tells that all is open: scripts by a line, people by what to type next.
func (a *app) announce(p *plan, list []readyServer) {
	if a.format == "jsonl" {
		a.line(ready{Event: "ready", Servers: list, Ports: []readyPort{}})
		return
	}
	bodies := map[configs.BodyKind]bool{}
	for i := range p.agents {
		for _, j := range p.agents[i].joints {
			bodies[j.body] = true
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
	a.note("Next, in another terminal:\n  %s\n  halyard status\n  halyard estop\nCtrl-C stops it.", nextCommand(p, list))
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
		if s.Protocol == "odcp" {
			if s.Address == "127.0.0.1:45453" {
				return arm + "halyard play wave"
			}
			return arm + "halyard play wave --address " + s.Address
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
func openServers(r *hal.Rig, c *configs.Config) (*servers, error) {
	s := &servers{ready: []readyServer{}}
	for i := range c.Servers {
		at, err := netip.ParseAddrPort(strings.Replace(c.Servers[i].Listen, "localhost:", "127.0.0.1:", 1))
		if err == nil {
			var srv server
			var bound netip.AddrPort
			if srv, bound, err = newServer(r, &c.Servers[i], at); err == nil {
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
