package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Catalog is the hardware and the protocols that a config may name, each by its word.
type Catalog struct {
	Buses     Buses // of servos and motor controllers
	Sensors   map[string]*SensorKind
	Outputs   map[string]*OutputKind
	Protocols map[string]*Protocol
}

// Hardware is the built-in hardware. Its maps are the caller's.
func Hardware() *Catalog {
	return &Catalog{Buses: BuiltinBuses(), Sensors: SensorKinds(), Outputs: OutputKinds(),
		Protocols: map[string]*Protocol{}}
}

// With is c with the rows of more, which win.
func (c *Catalog) With(more *Catalog) *Catalog {
	if more == nil {
		return c
	}
	buses := slices.DeleteFunc(slices.Clone(c.Buses), func(t BusType) bool { return more.Buses.Has(t.Type) })
	all := &Catalog{append(buses, more.Buses...), maps.Clone(c.Sensors), maps.Clone(c.Outputs), maps.Clone(c.Protocols)}
	maps.Copy(all.Sensors, more.Sensors)
	maps.Copy(all.Outputs, more.Outputs)
	maps.Copy(all.Protocols, more.Protocols)
	return all
}

// Likely returns the fix of a mistyped name, "" if no word in list is similar.
func Likely(name string, list []string) string { return configs.Meant(name, list) }

// LikelyOr is Likely, or otherwise if no word is similar.
func LikelyOr(name string, list []string, otherwise string) string {
	return cmp.Or(configs.Meant(name, list), otherwise)
}

// Protocol is the row of a protocol that servers speak.
type Protocol struct {
	Datagram bool // over UDP: it and a protocol over TCP may listen at one number
	All      bool // it serves all agents; otherwise the one that its server names
	Single   bool // one server an agent
	// Prepare changes the agent's own robot for its server, before its layout is made; nil: no change.
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
