package cli

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/bench"
)

// newBench creates the sub-command.
func newBench(a *app) *cobra.Command {
	var size bench.Size
	if program, err := os.Executable(); err == nil && a.supervised {
		size.Supervisor = []string{program, "supervise"}
	}
	return bench.Command(a.host(), size, func([]string) ([]bench.Benchmark, error) { return bench.Benchmarks(), nil })
}
