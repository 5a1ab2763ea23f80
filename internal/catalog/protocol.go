package catalog

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Protocol is the row of a protocol that servers speak.
type Protocol struct {
	Datagram bool // over UDP: it and a protocol over TCP may listen at one number
	All      bool // it serves all agents; otherwise the one that its server names
	Single   bool // one server an agent
	// Prepare changes the agent's own robot for its server; nil: no change.
	Prepare func(s *configs.Server, robot *model.Robot)
	// Check reports faults of a server of this protocol for its agent; nil: no check.
	Check func(s *ServedAgent)
	// Listen opens the server of s, and returns its address. It does not answer before Serve.
	Listen func(h Host, s *configs.Server, at netip.AddrPort) (Server, netip.AddrPort, error)
}

// Server is one protocol's server: Serve answers until ctx ends, and returns when all its goroutines have ended.
type Server interface {
	Serve(ctx context.Context) error
}

// Host is the open system of a server. A protocol of another program uses its rig; the built-in ones convert it to
// *assembly.System.
type Host interface{ HostRig() *hal.Rig }

// ServedAgent is a server of a config and the agent that it names, for Protocol.Check.
type ServedAgent struct {
	Agent, Model string
	Layout       *hal.Layout
	Robot        *model.Robot                // nil of a vehicle
	Fault        func(key, got, rule string) // of the server
}

// Listen opens the server that s describes.
func (c *Catalog) Listen(h Host, rig *hal.Rig, s *configs.Server, at netip.AddrPort) (Server, netip.AddrPort, error) {
	p, ok := c.Protocols[s.Protocol]
	if !ok {
		return nil, netip.AddrPort{}, fmt.Errorf("no protocol %q", s.Protocol)
	}
	if !p.All && rig.Agent(s.Agent) == nil {
		return nil, netip.AddrPort{}, fmt.Errorf("no agent %q", s.Agent)
	}
	return p.Listen(h, s, at)
}
