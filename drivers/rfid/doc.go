// Package rfid drives tag readers: the RDM6300 for 125 kHz (EM4100) and the PN532 for 13.56 MHz (ISO 14443A).
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
// # A session
//
//	reader := rfid.NewPN532(name, opener)        no I/O; NewPN532I2C for one on a bus, NewRDM6300
//	reader.Listen(func(tag int) { .. })          called by Read, in its goroutine
//	reader.Open()                                a PN532 is found and set up; of an RDM6300 the line is opened
//	reader.Read(count)                           a PN532 is asked, 10 to 30 ms; of an RDM6300 what has come is taken, no waiting
//	reader.Close()
//
// One goroutine at a time calls a reader, and nobody else its line. Read an RDM6300 several times a second: a tag counts as
// gone when it has not been received for a while. Errors are a *hal.Error: of kind hal.Absent where the line or the chip is gone (Open it
// again), hal.BusFault where it said what cannot be.
//
// Sources: RDM6300 specifications (ITead); PN532 User Manual, UM0701-02 (NXP). An RDM6300 without power and one without a
// tag sound the same: that it is there is known when it has read a tag. A PN532 is asked all the time, so its loss is seen.
package rfid
