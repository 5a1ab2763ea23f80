package chip_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// A reading costs no memory, of whichever chip, over whichever wire.
func TestReadsAllocateNothing(t *testing.T) {
	mpu := chip.NewMPU("mpu-9250", imu.MPUAddress)
	bus := chip.NewBus("i2c", 400_000, 1, chip.NewMS5837(pressure.MS5837_30BA()),
		chip.NewBMX280(pressure.BMX280AddressAlt, true),
		chip.NewBNO055(imu.BNO055Address), mpu, mpu.Compass([3]byte{128, 128, 128}), chip.NewLSM6(imu.LSM6Address),
		chip.NewADS1115(adc.ADS1115Address), chip.NewINA219(adc.INA219Address, 0.1))
	must(t, bus.Advance(time.Second))
	line := chip.NewSerial("uart", imu.BNO055Baud, 1, chip.NewBNO055(imu.BNO055Address))
	must(t, line.Advance(time.Second))
	host := bus.Host()
	ms, err := pressure.NewMS5837(host, pressure.MS5837Config{Clock: host})
	must(t, err)
	nine, err := imu.NewMPU(host, imu.MPUConfig{Clock: host})
	must(t, err)
	lsm, err := imu.NewLSM6(host, imu.LSM6Config{Clock: host})
	must(t, err)
	ads, err := adc.NewADS1115(host, adc.ADS1115Config{Clock: host, Inputs: []adc.ADS1115In{{}, {Input: 3}}})
	must(t, err)
	ina, err := adc.NewINA219(host, adc.INA219Config{Clock: host})
	must(t, err)
	for name, s := range map[string]sensor{
		"ms5837": ms, "mpu-9250": nine, "lsm6dsox": lsm, "ads1115": ads, "ina219": ina,
		"bme280": pressure.NewBMX280(host, pressure.BMX280Config{Address: pressure.BMX280AddressAlt,
			Humidity: true, Clock: host}),
		"bno055":             imu.NewBNO055(host, imu.BNO055Config{Clock: host}),
		"bno055 on its uart": imu.NewBNO055Serial("uart", line.Open, imu.BNO055Config{Clock: line}),
	} {
		must(t, s.Open())
		v := make([]float64, 10)
		must(t, s.Read(v))
		if n := testing.AllocsPerRun(50, func() { err = s.Read(v) }); n != 0 || err != nil {
			t.Errorf("%s: got %g allocations a reading, %v, want none", name, n, err)
		}
	}
}
