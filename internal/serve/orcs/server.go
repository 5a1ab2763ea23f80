// Package orcs serves OSP and ODCP for the agents of a system.
package orcs

import (
	"net/netip"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/odcp"
	"github.com/halyard-robotics/halyard/protocols/osp"
)

// Protocols are the rows of OSP and ODCP.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{
		"osp":  {Datagram: true, All: true, Listen: openOSP},
		"odcp": {Datagram: true, Listen: openODCP},
	}
}

func openOSP(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	conn, err := protocols.ListenUDP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	srv := osp.NewServer(h.(*assembly.System).Rig, conn,
		osp.Options{Physical: s.Outputs == configs.Physical, AckTimeout: s.AckTimeout, ClientTimeout: s.ClientTimeout})
	return srv, srv.Address(), nil
}

func openODCP(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	conn, err := protocols.ListenUDP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	sys := h.(*assembly.System)
	srv := odcp.NewServer(sys.Rig, sys.Rig.Agent(s.Agent), conn, sys.Log)
	return srv, srv.Address(), nil
}
