// Package rfid is readers of tags: the RDM6300 for 125 kHz (EM4100) and the PN532 for 13.56 MHz (ISO 14443A).
//
//	RDM6300  serial, 9600 8N1; it speaks by itself, about every 65 to 100 ms while a tag is in its field:
//	         02, ten ASCII hex digits (five bytes: version, 32 bits of number), two of their XOR, 03
//	PN532    serial (HSU), 115200 8N1, or I2C at 0x24 with a ready byte in front of what it says; asked, it answers:
//	         00 00 FF LEN -LEN, D4 command ..., -sum 00     from the host; D5 command+1 ... from the chip
//	         00 00 FF 00 FF 00                              an acknowledgement, before each answer
//
// Both are sensors of one value, the number of tags in reach. Which they are, a reader tells those who listen: the tag's
// number, each time that it is read; an RDM6300 when two telegrams in a row have said it, for eight bits guard each. A reader
// knows neither how far away a tag is nor who wears it.
//
// Sources: RDM6300 specifications (ITead); PN532 User Manual, UM0701-02 (NXP). An RDM6300 without power and one without a
// tag sound the same: that it is there is known when it has read a tag. A PN532 is asked all the time, so its loss is seen.
package rfid
