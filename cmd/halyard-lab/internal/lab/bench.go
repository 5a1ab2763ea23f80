package lab

import (
	"context"

	"github.com/halyard-robotics/halyard/internal/bench"
)

// BenchOptions narrow benchmarks down.
type BenchOptions struct {
	Physics []PhysicsCase // of physics; nil = its table
	Config  string        // of configs: the only one; "" = every embedded one with devices
	All     bool          // of drivers: the whole table
}

// Benchmarks are all benchmarks in the order in which "halyard-lab bench" runs them: first those that "halyard bench"
// has too.
func Benchmarks(o BenchOptions) []bench.Benchmark {
	type emit = func(bench.Result)
	return append(bench.Benchmarks(), []bench.Benchmark{
		{Name: "cycle", About: "one cycle of the rig", Run: benchCycle},
		{Name: "osp", About: "steps per second over OSP", Run: benchOSP},
		{Name: "physics", About: "the multibody engine on the models of published comparisons",
			Run: func(ctx context.Context, size bench.Size, e emit) error {
				return benchPhysics(ctx, o.Physics, size, e)
			}},
		{Name: "batch", About: "many copies of a rig, in one process and over a socket", Run: benchBatch},
		{Name: "simloid", About: "cycles per second over Simloid's protocol", Run: benchSimloid},
		{Name: "okon", About: "an underwater robot, its protocol and pictures", Run: benchOkon},
		{Name: "drivers", About: "each bus against its wire time, each packet codec against a copy in memory",
			Run: func(ctx context.Context, size bench.Size, e emit) error {
				return BenchDrivers(ctx, o.All, size, e)
			}},
		{Name: "configs", About: "emulated robots with devices, at their cycle rate in real time",
			Run: func(ctx context.Context, size bench.Size, e emit) error {
				return benchConfigs(ctx, o.Config, size, e)
			}},
		{Name: "gamebots", About: "rescue robots in an arena, their rays and their protocol", Run: benchGamebots},
	}...)
}
