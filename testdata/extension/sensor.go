package main

import (
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/extend"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// The gauge is a chip on I2C that measures a voltage: register 0 holds its identity, register 1 and 2 millivolts.
const (
	gaugeAddress  = 0x2A
	gaugeIdentity = 0xAC
)

// gauge is its driver.
type gauge struct{ chip *i2c.Chip }

func (g *gauge) Open() error {
	_, err := g.chip.Expect(0, gaugeIdentity)
	return err
}

func (g *gauge) Read(values []float64) error {
	p, err := g.chip.Read(1, 2)
	if err == nil {
		values[0] = float64(int(p[0])<<8|int(p[1])) / 1000
	}
	return err
}

func (g *gauge) Close() error { return nil }

// emulatedGauge is the chip on an emulated bus.
type emulatedGauge struct {
	registers [3]byte
	at        int
}

func (g *emulatedGauge) Address() uint16 { return gaugeAddress }

func (g *emulatedGauge) Transfer(w, r []byte, _ time.Duration) error {
	if len(w) > 0 {
		g.at = int(w[0])
	}
	for i := range r {
		if k := g.at + i; k < len(g.registers) {
			r[i] = g.registers[k]
		}
	}
	return nil
}

func (g *emulatedGauge) Power(bool, time.Duration) { g.registers[0] = gaugeIdentity }

func (g *emulatedGauge) feel(t *extend.GroundTruth) {
	mv := uint16(1000 * t.Volts(7.4))
	g.registers = [3]byte{gaugeIdentity, byte(mv >> 8), byte(mv)}
}

// gaugeRow is the sensor's row of the catalog.
func gaugeRow() *extend.Sensor {
	return &extend.Sensor{
		Buses: []string{"i2c"}, Addresses: []int{gaugeAddress}, Values: 1,
		First: map[string]int{"voltage": 0}, Jump: []float64{20},
		Open: func(c extend.Connection, p *extend.SensorPlan) (drivers.Sensor, error) {
			return &gauge{i2c.NewChip(c.Bus, uint16(p.Address), "gauge")}, nil
		},
		Emulate: func(*extend.SensorPlan) extend.Emulation {
			g := &emulatedGauge{}
			return extend.Emulation{Device: chip.Device(g), Feel: g.feel}
		},
	}
}
