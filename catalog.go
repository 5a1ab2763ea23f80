package halyard

import (
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// Catalog is hardware and protocols that a config may name, each row by its word. WithCatalog adds the rows of a program's
// own without a change in this module; docs/extending.md shows one row of each.
type Catalog = catalog.Catalog

// The rows of a Catalog and what they are made of.
type (
	BusRow      = catalog.BusType    // a line of servos or motor controllers: a vendor's driver and its emulation
	BusRows     = catalog.Buses      // in the order in which a line is scanned for them
	SensorRow   = catalog.SensorKind // a device that measures
	SensorPlan  = catalog.SensorPlan // such a device of a config: its address, its settings, what it serves
	OutputRow   = catalog.OutputKind // a board that makes pulses
	BoardPlan   = catalog.BoardPlan  // such a board of a config
	ProtocolRow = catalog.Protocol   // a protocol that servers speak
	Connection  = catalog.Connection // what a device is reached by
	Emulation   = catalog.Emulation  // an emulated device, moved by the physics
	GroundTruth = catalog.GroundTruth
	Host        = catalog.Host // the open system that a server serves
	ServedAgent = catalog.ServedAgent
	// ServerConfig is a server of a config, ProtocolServer what serves it.
	ServerConfig   = configs.Server
	ProtocolServer = catalog.Server
)

// Servos is the row of a vendor: its driver, and what makes its emulated devices (package sim/emulator); nil: it has none.
func Servos(d servo.Driver, emulate catalog.Emulate) BusRow { return catalog.Servos(d, emulate) }
