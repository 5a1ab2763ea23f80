package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/halyard-robotics/halyard/extend"
	"github.com/halyard-robotics/halyard/hal"
)

// lines is a server of a protocol of our own: a client sends a line "JOINT", the answer is the joint's position in rad.
type lines struct {
	agent    *hal.Agent
	listener net.Listener
}

// Serve answers one client after another until ctx ends.
func (s *lines) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer stop()
	for {
		conn, err := s.listener.Accept()
		if ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
		in := bufio.NewScanner(conn)
		for in.Scan() {
			l := s.agent.Layout()
			if i := l.Actuator(in.Text()); i != hal.None {
				fmt.Fprintf(conn, "%.2f\n", s.agent.Measured(nil)[l.Actuators[i].Position])
			} else {
				fmt.Fprintln(conn, "no such joint")
			}
		}
		conn.Close()
	}
}

// linesRow is the protocol's row of the catalog.
func linesRow() *extend.Protocol {
	return &extend.Protocol{Listen: func(h extend.Host, s *extend.ServerConfig, at netip.AddrPort) (extend.Server,
		netip.AddrPort, error) {
		listener, err := net.Listen("tcp", at.String())
		if err != nil {
			return nil, netip.AddrPort{}, err
		}
		return &lines{h.HostRig().Agent(s.Agent), listener}, listener.Addr().(*net.TCPAddr).AddrPort(), nil
	}}
}
