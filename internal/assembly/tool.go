package assembly

import (
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// RegistersOf is the table of a model of any brand; nobody writes to it.
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
