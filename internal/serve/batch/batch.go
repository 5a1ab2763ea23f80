// Package batch serves copies of a system, or the system itself, to clients that learn.
package batch

import (
	"context"
	"net/netip"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/batch"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols"
	protocol "github.com/halyard-robotics/halyard/protocols/batch"
)

// Protocols is the row of the batch protocol.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{"batch": {All: true, Listen: open}}
}

// open opens a server of environments.
func open(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	srv := protocol.NewServer(ln, func(h *protocol.Hello) (protocol.Environment, *protocol.Spaces, error) {
		return environment(sys, h)
	}, protocol.Options{MaxClients: s.MaxClients, Log: sys.Log, Contain: sys.Rig.Contain})
	return srv, bound, nil
}

// environment opens the environment of a client's HELLO.
func environment(sys *assembly.System, h *protocol.Hello) (protocol.Environment, *protocol.Spaces, error) {
	o := batch.Options{Copies: h.Copies, Seed: h.Seed, Actions: h.Actions, Observations: h.Observations}
	spaces := &protocol.Spaces{Copies: h.Copies, Period: int64(sys.Rig.Period())}
	if h.Target == protocol.Itself {
		l, err := batch.OpenLive(sys.Rig, o)
		if err != nil {
			return nil, nil, err
		}
		spaces.Actions, spaces.Observations = columns(l.Actions()), columns(l.Observations())
		return l, spaces, nil
	}
	b, err := batch.Open(virtual(sys.Plan), o)
	if err != nil {
		return nil, nil, err
	}
	spaces.Actions, spaces.Observations = columns(b.Actions()), columns(b.Observations())
	return copies{b}, spaces, nil
}

// virtual returns p with simulated time: copies have no clock.
func virtual(p *plan.Plan) *plan.Plan {
	own := *p
	own.Clock = nil
	return &own
}

func columns(list []batch.Channel) (out []protocol.Column) {
	for _, c := range list {
		out = append(out, protocol.Column(c))
	}
	return out
}

// copies are a batch as an environment.
type copies struct{ *batch.Batch }

func (c copies) Step(_ context.Context, actions, observations []float64) error {
	return c.Batch.Step(actions, observations)
}

func (c copies) Reset(_ context.Context, which []bool, seeds []int64, observations []float64) error {
	return c.Batch.Reset(which, seeds, observations)
}
