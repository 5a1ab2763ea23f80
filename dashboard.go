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

// Dashboard is an open dashboard: web pages on which a person sees, stops, resets, arms and jogs the robots of systems.
type Dashboard struct{ server *dashboard.Server }

// DashboardOptions are what a user may set of a dashboard.
type DashboardOptions struct {
	Address string       // HOST:PORT; "" = port 8642 of loopback, or the next that is free
	Token   string       // which every request must bring; beyond loopback there must be one
	Log     *slog.Logger // nil = silent
}

// OpenDashboard opens a dashboard of systems; it answers from Run on. The error is hal.Unsafe where the address is not
// loopback and there is no token, and hal.Busy where the address cannot be had.
func OpenDashboard(o DashboardOptions, systems ...*System) (*Dashboard, error) {
	ln, err := dashboard.Listen(o.Address)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: "dashboard", Err: err, Try: "--dashboard 127.0.0.1:0"}
	}
	var sources []dashboard.Source
	for _, s := range systems {
		sources = append(sources, dashboard.Source{Rig: s.sys.Rig, System: s.sys, Journal: s.journal})
	}
	host, _, _ := net.SplitHostPort(o.Address)
	if _, err := netip.ParseAddr(host); err == nil {
		host = ""
	}
	server, err := dashboard.New(ln, sources, dashboard.Options{Host: host, Token: o.Token, Log: o.Log})
	if err != nil {
		ln.Close()
		return nil, &hal.Error{Kind: hal.Unsafe, Op: "dashboard", Err: err, Try: "--token TOKEN"}
	}
	return &Dashboard{server}, nil
}

// URL is where a browser on this computer finds it.
func (d *Dashboard) URL() string { return d.server.URL() }

// Run serves until ctx ends. What a page moved holds still then.
func (d *Dashboard) Run(ctx context.Context) error {
	err := d.server.Serve(ctx)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close closes a dashboard that never ran.
func (d *Dashboard) Close() error { return d.server.Close() }
