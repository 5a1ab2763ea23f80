// Package adc drives converters of voltages and currents on I2C: TI's ADS1115 (four inputs of 16 bits) and INA219 (voltage,
// current and power of a supply). Each is a drivers.Sensor by its shape.
//
// For each chip X_table.go has its registers and units, as the datasheet has them, X.go the device.
package adc
