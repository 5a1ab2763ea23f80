package chip_test

import (
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// A program that holds a depth is tried without water: the emulated sensor feels what it is told, in virtual time, and
// loses its power when told to.
func Example() {
	sensor := chip.NewMS5837(pressure.MS5837_30BA())
	bus := chip.NewBus("i2c", 400_000, 1, sensor)
	host := bus.Host() // for the program both its i2c.Open("/dev/i2c-1") and its clock
	depth, err := pressure.NewMS5837(host, pressure.MS5837Config{Air: pressure.SeaLevel, Clock: host})
	if err != nil {
		log.Fatal(err)
	}
	if err := depth.Open(); err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 2)
	for metres := 1; metres <= 3; metres++ {
		sensor.Water.Pascals = pressure.SeaLevel + float64(metres)*1025*9.80665
		if err := bus.Advance(50 * time.Millisecond); err != nil {
			log.Fatal(err)
		}
		if err := depth.Read(values); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f m\n", values[0]/(1025*9.80665))
	}
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: int(sensor.Address())})
	fmt.Println(depth.Read(values))
	// Output:
	// 1.00 m
	// 2.00 m
	// 3.00 m
	// bus "i2c": id 118: ms5837-30ba at 0x76: write 0x48: address 0x76: no acknowledge (try: halyard doctor)
}
