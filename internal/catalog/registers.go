package catalog

import (
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// RegistersOf is the table of a model of any vendor; nobody writes to it.
func RegistersOf(m ServoModel) []servo.Register {
	switch m := m.(type) {
	case *dynamixel.Model:
		return m.Registers
	case *feetech.Model:
		return m.Registers
	case *hiwonder.Model:
		return m.Registers
	case *kondo.Model:
		return m.Registers
	case *RegisterModel:
		return m.Table
	}
	return nil
}

// RegisterNames are what they are called.
func RegisterNames(m ServoModel) (names []string) {
	for _, r := range RegistersOf(m) {
		names = append(names, r.Name)
	}
	return names
}

// RegisterModel is a motor controller as tools know it: by its parameters, which are more than a config may set.
type RegisterModel struct {
	Name  string
	Table []servo.Register
}

func (t *RegisterModel) Register(name string) *servo.Register { return servo.Named(t.Table, name) }

func (t *RegisterModel) Units() servo.Units { return servo.Units{Name: t.Name} }

func (t *RegisterModel) BaudCode(int) (byte, bool) { return 0, false }
