package halyard

import (
	"context"
	"fmt"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// Bus is one open line of a config, for tools: no chain drives it. It reads and writes registers by name (servo.Tool),
// and finds devices. No joint moves. Only one goroutine may use it.
type Bus struct {
	servo.Tool
	line   servo.Line
	lastID int
}

// FoundServo is a device that replied.
type FoundServo struct {
	ID int
	servo.Found
	Err error // a corrupt reply, or a model that the driver does not support
}

// OpenBus opens a line of servos of cfg: in memory where its joints are emulated, else the port. The error is
// hal.Invalid where cfg has no such line.
func OpenBus(cfg *Config, name string, with ...Option) (*Bus, error) {
	o := newOptions(with)
	p, err := o.plan(cfg)
	if err != nil {
		return nil, err
	}
	bus, row := p.Config.Buses[name], p.Catalog.Buses.Of(p.Config.Buses[name].Type)
	if row.Driver == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "open bus",
			Err: fmt.Errorf("got %q, want a line of servos of the config", name)}
	}
	open := row.PortOpener(&bus, allIDs(row.LastID))
	if len(p.On(name, configs.Emulated)) > 0 {
		world, err := assembly.EmulateWorld(p)
		if err != nil {
			return nil, err
		}
		open = world.Bus(name).Open
	}
	line, _, err := row.Connect(open)
	if err != nil {
		return nil, err
	}
	tool := row.Driver.Tool(line, servo.ToolConfig{Bus: name, Latency: catalog.LatencyOf(bus.Port, line)})
	return &Bus{tool, line, row.LastID}, nil
}

// Scan finds all devices of the line, at its rate: by one request if the protocol has one, else id by id. When ctx ends
// it returns the devices found so far.
func (b *Bus) Scan(ctx context.Context) (found []FoundServo, err error) {
	ids, ok, err := b.List()
	if err != nil {
		return nil, err
	}
	if !ok {
		ids = ids[:0]
		for id := range b.lastID + 1 {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		f, err := b.Identify(id)
		switch hal.KindOf(err) {
		case hal.Timeout:
			continue // no device
		case hal.Absent:
			return found, err // the adapter
		}
		found = append(found, FoundServo{id, f, err})
	}
	return found, nil
}

// Close closes the line.
func (b *Bus) Close() error { return b.line.Close() }

func allIDs(last int) (ids []byte) {
	for id := range last + 1 {
		ids = append(ids, byte(id))
	}
	return ids
}
