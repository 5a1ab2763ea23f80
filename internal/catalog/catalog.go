package catalog

import (
	"maps"
	"slices"
)

// Catalog is the hardware and the protocols that a config may name, each by its word.
type Catalog struct {
	Buses     Buses // of servos and motor controllers
	Sensors   map[string]*SensorKind
	Outputs   map[string]*OutputKind
	Protocols map[string]*Protocol
}

// Hardware is the built-in hardware. Its maps are the caller's.
func Hardware() *Catalog {
	return &Catalog{Buses: BuiltinBuses(), Sensors: SensorKinds(), Outputs: OutputKinds(),
		Protocols: map[string]*Protocol{}}
}

// With is c with the rows of more, which win.
func (c *Catalog) With(more *Catalog) *Catalog {
	if more == nil {
		return c
	}
	buses := slices.DeleteFunc(slices.Clone(c.Buses), func(t BusType) bool { return more.Buses.Has(t.Type) })
	all := &Catalog{append(buses, more.Buses...), maps.Clone(c.Sensors), maps.Clone(c.Outputs), maps.Clone(c.Protocols)}
	maps.Copy(all.Sensors, more.Sensors)
	maps.Copy(all.Outputs, more.Outputs)
	maps.Copy(all.Protocols, more.Protocols)
	return all
}
