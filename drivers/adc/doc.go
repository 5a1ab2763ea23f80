// Package adc drives analog-to-digital converters on I2C: TI's ADS1115 (four inputs of 16 bits) and INA219 (voltage,
// current and power of a supply). Each implements drivers.Sensor.
//
// A session, ownership and errors are as in drivers/i2c. Open waits 36 ms for an INA219. A Read of an ADS1115 converts
// its inputs one after the other, 1.3 ms each at 860 samples a second; an INA219 measures by itself and is asked for
// its newest, a mean of 17 ms.
//
//	ADS1115   a value an input: V, -0.256..0.256 to -6.144..6.144 by its gain, times Scale plus Offset
//	INA219    V of the supply 0..32, A to 0.32 V over the shunt (3.2 at 0.1 Ω), W
//
// For each chip X_table.go has its registers and units, as the datasheet has them, X.go the device.
package adc
