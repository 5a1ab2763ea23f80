// Package spi accesses a register chip on a kernel SPI bus through the interface of drivers/i2c, so that one driver works on
// both buses:
//
//	read   register|0x80, 0, 0 ..     while the answer comes   ?, data, data ..
//	write  register&0x7F, data, data ..
//
// Bit 7 of a register's number reports which way the bytes go, so that a number above 0x7F (BMP280, BME280) goes without it
// (Bosch BST-BMP280 5.3, ST LSM6DSOX 5.1.2, InvenSense MPU-9250 6.5). The clock rests high, mode 3, which all of them take.
//
// SPI acknowledges nothing: of a chip that is not there, or has no power, come bytes that are all 0xFF or all 0. A driver that
// must run here must see that in each measurement; those of drivers/imu and drivers/pressure do, since each looks for its
// settings, none of which is 0xFF or 0 throughout.
package spi
