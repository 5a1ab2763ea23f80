// Package reader emulates tag readers: an RDM6300 and a PN532. It uses the codecs of drivers/rfid. The caller sets the
// tags in their field between cycles, nearest first.
package reader
