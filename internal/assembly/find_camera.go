package assembly

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// FindCamera finds a camera by the names of the protocol, "" being the first.
func (s *System) FindCamera(robot, name string) (w hal.CameraSource, index int, err error) {
	for _, agent := range s.Rig.Agents() {
		if robot != "" && !strings.EqualFold(agent.Name(), robot) {
			continue
		}
		sight, err := s.Sight(agent)
		if err != nil {
			continue
		}
		for i, c := range agent.Layout().Cameras {
			if sight.Sees(i) && (name == "" || strings.EqualFold(c.Name, name)) {
				return sight, i, nil
			}
		}
	}
	return nil, 0, &hal.Error{Kind: hal.Absent, Op: "camera", Err: fmt.Errorf("no camera %q of %q", name, robot)}
}
