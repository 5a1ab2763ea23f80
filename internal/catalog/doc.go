// Package catalog is the one table of hardware: types of line and servo vendors, sensors, boards, scanners and readers,
// each a row that names its driver and its emulation.
package catalog
