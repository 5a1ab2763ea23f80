package assembly

import (
	"github.com/halyard-robotics/halyard/sim/model"
)

// RobotsOf lists the built-in robots with n joints.
func RobotsOf(n int) (names []string) {
	for _, name := range model.Names() {
		if r, err := model.Load(name); err == nil && len(r.Joints) == n {
			names = append(names, name)
		}
	}
	return names
}
