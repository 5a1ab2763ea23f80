// Command halyard-lab is the developers' laboratory: benchmarks, the fault matrix, random schedules, and single errors
// that tests must notice.
package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/command"
)

func main() {
	runtime.GOMAXPROCS(max(8, 4*runtime.NumCPU())) // as halyard's own
	command.Main(newRoot)
}

func newRoot(p *command.Program) *cobra.Command {
	root := &cobra.Command{Use: "halyard-lab", Short: "measure and test Halyard itself"}
	root.AddCommand(newBench(p), newFaults(p), newChaos(p), newMatrix(p), newMutants(p), newSlowest(p), newZoo(p),
		newBodies(p))
	return root
}
