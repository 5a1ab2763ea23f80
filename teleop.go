package halyard

import "github.com/halyard-robotics/halyard/internal/teleop"

// Teleop is the leaders and followers of the config, nil if it has none: Engage lets the followers follow, Disengage
// lets them hold, Mark marks an episode of the recording, Status compares leaders and followers (docs/teleop.md).
func (s *System) Teleop() *teleop.Teleop { return s.teleop }
