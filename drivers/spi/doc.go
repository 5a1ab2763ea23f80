// Package spi accesses a register chip on a kernel SPI bus through the interface of drivers/i2c, so that one driver
// works on both buses:
//
//	read   register|0x80, 0, 0 ..     received at the same time   ?, data, data ..
//	write  register&0x7F, data, data ..
//
// Bit 7 of a register's number is the direction, so a number above 0x7F (BMP280, BME280) is sent without it (Bosch
// BST-BMP280 5.3, ST LSM6DSOX 5.1.2, InvenSense MPU-9250 6.5). The clock idles high, mode 3, which all of them support.
//
// SPI has no acknowledge: a missing or unpowered chip gives bytes of all 0xFF or all 0. A driver on SPI must detect
// that in each measurement. Those of drivers/imu and drivers/pressure do: each checks its settings, none of which is
// all 0xFF or 0.
package spi
