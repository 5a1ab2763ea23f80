package assembly

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// Listening is an open server and its address.
type Listening struct{ Protocol, Agent, Address string }

// Servers are the open servers of a rig.
type Servers struct {
	Ready []Listening
	list  []catalog.Server
}

// Run serves until ctx ends, and waits for all. broke is called when a server ends by itself: the others serve on,
// since a stop may come through each of them.
func (s *Servers) Run(ctx context.Context, broke func()) error {
	var wg sync.WaitGroup
	errs := make([]error, len(s.list))
	for i, srv := range s.list {
		wg.Go(func() {
			errs[i] = srv.Serve(ctx)
			broke()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close ends servers that never ran.
func (s *Servers) Close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Run(ctx, func() {})
}

// OpenServers opens every server of the config before any of them answers.
func OpenServers(sys *System) (*Servers, error) {
	c, s := sys.Plan.Config, &Servers{Ready: []Listening{}}
	for i := range c.Servers {
		at, err := netip.ParseAddrPort(strings.Replace(c.Servers[i].Listen, "localhost:", "127.0.0.1:", 1))
		if err == nil {
			var srv catalog.Server
			var bound netip.AddrPort
			if srv, bound, err = sys.Plan.Catalog.Listen(sys, sys.Rig, &c.Servers[i], at); err == nil {
				s.list = append(s.list, srv)
				s.Ready = append(s.Ready, Listening{c.Servers[i].Protocol, c.Servers[i].Agent, bound.String()})
				continue
			}
		}
		s.Close()
		return nil, &hal.Error{Kind: hal.Busy, Op: fmt.Sprintf("%s: listen at %s", c.Servers[i].Protocol,
			c.Servers[i].Listen),
			Err: err, Try: fmt.Sprintf("halyard serve %s --listen %s=127.0.0.1:0", c.Source, c.Servers[i].Protocol)}
	}
	return s, nil
}
