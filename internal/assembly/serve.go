package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Ready is the line that tells a script that servers or ports are open.
type Ready struct {
	Event     string        `json:"event"`
	Servers   []ReadyServer `json:"servers"`
	Ports     []ReadyPort   `json:"ports"`
	Dashboard string        `json:"dashboard"`
}

type ReadyServer struct {
	Protocol string `json:"protocol"`
	Agent    string `json:"agent"`
	Address  string `json:"address"`
}

type ReadyPort struct {
	Bus    string `json:"bus"`
	Type   string `json:"type"`
	Path   string `json:"path"`
	Baud   int    `json:"baud"`
	Reason string `json:"reason,omitempty"` // why there is no path
}

// Station is one open rig: its system, its servers and who listens for orders.
type Station struct {
	*System
	Servers *Servers
	Control *control.Control
}

// OpenStation builds the rig of p and opens its servers; none of them answers yet. On an error nothing stays open.
func OpenStation(p *plan.Plan, log *slog.Logger) (st *Station, err error) {
	st = &Station{Servers: &Servers{}}
	if st.System, err = Build(p, log); err != nil {
		return nil, err
	}
	if st.Servers, err = OpenServers(st.System); err == nil {
		if st.Control, err = control.OpenControl(st.Rig); err == nil {
			return st, nil
		}
		st.Servers.Close()
	}
	return nil, errors.Join(err, st.System.Close())
}

// Close gives back what is open of a station that never ran.
func (st *Station) Close() error {
	st.Servers.Close()
	st.Control.Close()
	return st.System.Close()
}

// Servers are the open servers of a rig.
type Servers struct {
	Ready []ReadyServer
	list  []catalog.Server
}

// Run serves until ctx ends or one server breaks, and waits for all.
func (s *Servers) Run(ctx context.Context) error {
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

// Close ends servers that never ran.
func (s *Servers) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Run(ctx)
}

// OpenServers opens every server of the config before any of them answers.
func OpenServers(sys *System) (*Servers, error) {
	c, s := sys.Plan.Config, &Servers{Ready: []ReadyServer{}}
	for i := range c.Servers {
		at, err := netip.ParseAddrPort(strings.Replace(c.Servers[i].Listen, "localhost:", "127.0.0.1:", 1))
		if err == nil {
			var srv catalog.Server
			var bound netip.AddrPort
			if srv, bound, err = sys.Plan.Catalog.Listen(sys, sys.Rig, &c.Servers[i], at); err == nil {
				s.list = append(s.list, srv)
				s.Ready = append(s.Ready, ReadyServer{c.Servers[i].Protocol, c.Servers[i].Agent, bound.String()})
				continue
			}
		}
		s.Close()
		return nil, &hal.Error{Kind: hal.Busy, Op: fmt.Sprintf("%s: listen at %s", c.Servers[i].Protocol, c.Servers[i].Listen),
			Err: err, Try: fmt.Sprintf("halyard serve %s --listen %s=127.0.0.1:0", c.Source, c.Servers[i].Protocol)}
	}
	return s, nil
}
