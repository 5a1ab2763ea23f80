// Package lidarwire has the telegrams of SICK, Hokuyo (SCIP 2.0) and RPLIDAR scanners.
//
// Both sides of the wire use it: the driver (drivers/lidar) and the emulated device (sim/emulator/laser).
package lidarwire
