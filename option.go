package halyard

import (
	"log/slog"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Option changes a default of Open.
type Option func(*options)

type options struct {
	catalog *catalog.Catalog
	log     *slog.Logger
	clock   hal.Clock
	body    configs.BodyKind

	supervisor []string
}

func newOptions(with []Option) options {
	o := options{catalog: builtin.Catalog(), log: slog.New(slog.DiscardHandler)}
	for _, w := range with {
		w(&o)
	}
	return o
}

// WithLogger sends faults and transitions to log; without it they are dropped.
func WithLogger(log *slog.Logger) Option { return func(o *options) { o.log = log } }

// WithClock replaces the wall clock of the rig, for tests of programs that run in real time.
func WithClock(clock hal.Clock) Option { return func(o *options) { o.clock = clock } }

// WithBody replaces the body of every agent and class, parts included, as --body does: "sim", "emulated" or "real".
func WithBody(kind string) Option { return func(o *options) { o.body = configs.BodyKind(kind) } }

// WithSupervisor makes Run start command, a program that calls Supervise. It holds the serial lines of real bodies and
// switches their torque off when this process dies or hangs. Without it no program does.
func WithSupervisor(command ...string) Option { return func(o *options) { o.supervisor = command } }

// Catalog is hardware and protocols that a config may name, each row by its word. Package extend has the rows.
type Catalog = catalog.Catalog

// WithCatalog adds hardware and protocols of the program's own to the built-in ones, which it wins over.
func WithCatalog(more *Catalog) Option { return func(o *options) { o.catalog = o.catalog.With(more) } }

// plan resolves cfg with the options. It does not change cfg.
func (o *options) plan(cfg *Config) (*plan.Plan, error) {
	if o.body != "" {
		var err error
		if cfg, err = cfg.WithBody(o.body); err != nil {
			return nil, err
		}
	}
	p, err := plan.Resolve(cfg, o.catalog)
	if err != nil {
		return nil, err
	}
	p.Clock = o.clock
	return p, nil
}
