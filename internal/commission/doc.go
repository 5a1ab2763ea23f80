// Package commission finds servos and chips on a bus, reads and writes their registers, and assigns ids and baud rates.
package commission
