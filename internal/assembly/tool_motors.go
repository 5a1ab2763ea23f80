package assembly

import (
	"github.com/halyard-robotics/halyard/servo"
)

// RegisterModel is a motor controller as tools know it: by its parameters, which are more than a config may set.
type RegisterModel struct {
	Name  string
	Table []servo.Register
}

func (t *RegisterModel) Register(name string) *servo.Register { return servo.Named(t.Table, name) }

func (t *RegisterModel) Units() servo.Units { return servo.Units{Name: t.Name} }

func (t *RegisterModel) BaudCode(int) (byte, bool) { return 0, false }
