// Package extend has the catalog rows that add a program's own servo vendors, sensors, boards and protocols to Halyard.
//
// A row goes into a halyard.Catalog, under the word that a config uses, and the catalog into halyard.Open by
// halyard.WithCatalog. testdata/extension is a program with one row of each; docs/extending.md explains them.
package extend

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// Rows of a halyard.Catalog.
type (
	Bus      = catalog.BusType    // a line of servos or motor controllers: a vendor's driver and its emulation
	Buses    = catalog.Buses      // in the order in which a scan tries them
	Sensor   = catalog.SensorKind // a device that measures
	Output   = catalog.OutputKind // a board with pulse outputs
	Protocol = catalog.Protocol   // a protocol of servers
)

// The arguments and results of a row's functions.
type (
	// a sensor of a config: its address and settings, and the robot's sensors that it provides
	SensorPlan   = catalog.SensorPlan
	BoardPlan    = catalog.BoardPlan   // a board of a config
	Connection   = catalog.Connection  // the bus or line that a device is connected to
	Emulation    = catalog.Emulation   // an emulated device, moved by the physics
	GroundTruth  = catalog.GroundTruth // true values of the simulated robot, for emulated devices
	ServerConfig = configs.Server      // a server of a config
	Server       = catalog.Server      // serves it
	Host         = catalog.Host        // the open system of a server
	ServedAgent  = catalog.ServedAgent // the agent of a server, for Protocol.Check
)

// Servos returns the row of a vendor: its driver, and the constructor of its emulated devices (package sim/emulator).
// emulate may be nil.
func Servos(d servo.Driver, emulate catalog.Emulate) Bus { return catalog.Servos(d, emulate) }
