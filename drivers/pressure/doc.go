// Package pressure drives pressure sensors on I2C: TE's MS5837 for depth under water, Bosch's BMP280 and BME280 for
// air. Each implements drivers.Sensor: value 0 is Pa above Config.Air (0: absolute), value 1 °C, value 2 relative
// humidity 0..1 where the chip measures it.
//
// A session, ownership and errors are as in drivers/i2c. Open blocks for some 20 ms, a Read of an MS5837 for two
// conversions (18 ms at 4096 samples); a BMP280 or BME280 measures by itself and is asked for its newest.
//
//	MS5837-30BA      0..30 bar, 290 m of water           MS5837-02BA   0..2 bar
//	BMP280, BME280   30..110 kPa, -40..85 °C, of air
//
// The depth is value 0 over the weight of a cubic metre of water: 1025 · 9.80665 N/m³ in the sea.
//
// For each chip X_table.go has its commands and its mathematics as the datasheet has them, X.go the device.
package pressure

// SeaLevel is the pressure of the standard atmosphere at sea level, Pa (ISO 2533).
const SeaLevel = 101325.0

// put sets values from v on, as far as there is room.
func put(values []float64, v ...float64) { copy(values, v) }
