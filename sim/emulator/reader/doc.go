// Package reader is readers of tags from the other side of the wire: an RDM6300 and a PN532, made of the codecs of
// drivers/rfid. Which tags are in their field is written to them between cycles, the nearest first.
package reader
