package halyard

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/serve/dashboard"
)

// Dashboard is web pages on which a person sees, stops, resets, arms and jogs the robots of systems.
type Dashboard struct{ server *dashboard.Server }

// DashboardOptions are the settings of a dashboard.
type DashboardOptions struct {
	Address string       // HOST:PORT; "" = port 8642 of loopback, or the next free port
	Token   string       // which every request must bring; beyond loopback there must be one
	Log     *slog.Logger // nil = silent
}

// OpenDashboard opens the address of a dashboard; Show sets its systems. The error is hal.Unsafe for an address beyond
// loopback without a token, and hal.Busy if the address is in use.
func OpenDashboard(o DashboardOptions) (*Dashboard, error) {
	ln, err := dashboard.Listen(o.Address)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "dashboard", Err: err, Try: "--dashboard 127.0.0.1:0"}
	}
	host, _, _ := net.SplitHostPort(o.Address)
	if _, err := netip.ParseAddr(host); err == nil {
		host = ""
	}
	server, err := dashboard.Open(ln, dashboard.Options{Host: host, Token: o.Token, Log: o.Log})
	if err != nil {
		ln.Close()
		return nil, &hal.Error{Kind: hal.Unsafe, Op: "dashboard", Err: err, Try: "--token TOKEN"}
	}
	return &Dashboard{server}, nil
}

// Show sets the systems that it shows, once, before Run.
func (d *Dashboard) Show(systems ...*System) {
	var sources []dashboard.Source
	for _, s := range systems {
		sources = append(sources, dashboard.Source{Rig: s.sys.Rig, System: s.sys, Journal: s.journal, Taps: s.taps})
	}
	d.server.Show(sources)
}

// URL is where a browser on this computer finds it.
func (d *Dashboard) URL() string { return d.server.URL() }

// Run serves until ctx ends. A robot that a page was moving then holds still.
func (d *Dashboard) Run(ctx context.Context) error {
	err := d.server.Serve(ctx)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close closes a dashboard that never ran.
func (d *Dashboard) Close() error { return d.server.Close() }
