package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// onlookerRobot is the made-up robot with a camera: an ROV whose board ends its pulses by itself.
const onlookerRobot = "onlooker"

// writeOnlooker writes its config into dir and returns its path.
func writeOnlooker(dir string) (string, error) {
	var b strings.Builder
	b.WriteString("name: onlooker\nworld: {scene: pool}\nbuses:\n  thrusters: {type: serial, port: " +
		"/dev/no-board}\nagents:\n" +
		"  - name: onlooker\n    model: okon\n    hardware:\n      joints:\n")
	for i, name := range []string{"flh", "frh", "blh", "brh", "flv", "frv", "blv", "brv"} {
		fmt.Fprintf(&b, "        %s: {bus: thrusters, device: maestro, channel: %d}\n", name, i)
	}
	b.WriteString("      cameras:\n        front: {device: v4l2, port: /dev/no-camera, width: 64, height: " +
		"36}\nservers: []\n")
	path := filepath.Join(dir, onlookerRobot+".yaml")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}

// cameraFault plants a fault of a camera.
func cameraFault(kind wire.Kind) func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.blur = func(c *video.Camera) { c.Fault(wire.Fault{Kind: kind}) }
		return nil
	}
}

func cameraFaultCases() []FaultCase {
	return []FaultCase{
		{"camera not plugged in", onlookerRobot, "", nil, cameraFault(wire.Unplugged), "camera", StateFail, noID,
			hal.Absent, "no such device", "hardware.cameras.front.port"},
		{"camera that this user may not open", onlookerRobot, "", nil, cameraFault(wire.Denied), "camera", StateFail,
			noID, hal.Busy, "permission denied", "usermod -aG video"},
		{"camera of another program", onlookerRobot, "", nil, cameraFault(wire.Busy), "camera", StateFail, noID,
			hal.Busy, "another program has it", "fuser"},
		{"camera that makes another size of it", onlookerRobot, "", nil, cameraFault(wire.Wrong), "camera", StateFail,
			noID, hal.Invalid, "got 32x18 MJPG from it", "hardware.cameras.front"},
	}
}
