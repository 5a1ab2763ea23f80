package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/report"
)

// commands are all sub-commands, in the order a newcomer meets them; each is in a file of its name.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		newNew(a),
		newServe(a),
		newMove(a),
		newPose(a),
		newTeach(a),
		newTeleop(a),
		newEpisodes(a),
		newPlay(a),
		newPolicy(a),
		newConfigs(a),
		newValidate(a),
		newList(a),
		newRobot(a),
		newPlan(a),
		newPorts(a),
		newScan(a),
		newSetup(a),
		newRegisters(a),
		newDoctor(a),
		newReport(a),
		newEmulate(a),
		newHand(a),
		newSimloid(a),
		newUSARSim(a),
		newMOAST(a),
		newShell(a),
		newNML(a),
		newCalibrate(a),
		newCalibration(a),
		newIdentify(a), newTwin(a),
		newBench(a),
		newSupervise(),
		newTop(a),
		newRecord(a),
		newReplay(a),
		newExport(a),
		newOrder(a, control.OrderStop, "switch torque off and latch the stop"),
		newOrder(a, control.OrderReset, "clear the emergency stop and alarms; joints stay disarmed"),
		newOrder(a, control.OrderArm, "enable commands on a running rig"),
		newOrder(a, control.OrderDisarm, "switch torque off and drop commands"),
		newOrder(a, control.OrderStatus, "show joints and cycle timing of a running rig"),
		newSet(a),
		newVersion(a),
	}
}

type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Date     string `json:"date"` // of the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v version) Cells() report.Cells {
	return report.Cells{{"version", v.Version}, {"revision", v.Revision}, {"date", v.Date}, {"go", v.Go},
		{"platform", v.Platform}}
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print version information",
		Args:  arguments("", "halyard version"),
		RunE:  func(*cobra.Command, []string) error { return show(a, []version{versionOf()}) },
	}
}

// versionOf is the version of this program, by its build.
func versionOf() version {
	v := version{Version: "devel", Go: runtime.Version(), Platform: fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Date = s.Value
		}
	}
	return v
}
