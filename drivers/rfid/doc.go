// Package rfid drives tag readers: the RDM6300 for 125 kHz (EM4100) and the PN532 for 13.56 MHz (ISO 14443A).
//
//	RDM6300  serial, 9600 8N1; it sends without a request, about every 65 to 100 ms while a tag is in its field:
//	         02, ten ASCII hex digits (five bytes: version, 32 bits of number), two of their XOR, 03
//	PN532    serial (HSU), 115200 8N1, or I2C at 0x24 with a ready byte before each reply; it replies to commands:
//	         00 00 FF LEN -LEN, D4 command ..., -sum 00     from the host; D5 command+1 ... from the chip
//	         00 00 FF 00 FF 00                              an acknowledgement, before each answer
//
// Both are sensors of one value, the number of tags in reach. A reader passes the number of a tag to its listeners each
// time it is read. An RDM6300 requires two equal telegrams in a row, since only eight bits check each. A reader does
// not measure the distance of a tag.
//
// # A session
//
//	reader := rfid.NewPN532(name, opener)        no I/O; NewPN532I2C for one on a bus, NewRDM6300
//	reader.Listen(func(tag int) { .. })          called by Read, in its goroutine
//	reader.Open()                                a PN532 is found and set up; of an RDM6300 the line is opened
//	reader.Read(count)                           a PN532 is polled, 10 to 30 ms; of an RDM6300 received bytes are read, no waiting
//	reader.Close()
//
// One goroutine at a time calls a reader, and only the reader uses its line. Read an RDM6300 several times a second: a
// tag counts as gone when it has not been received for a while. Errors are a *hal.Error: hal.Absent if the line or the
// chip is lost (Open it again), hal.BusFault after an invalid reply.
//
// Sources: RDM6300 specifications (ITead); PN532 User Manual, UM0701-02 (NXP). An RDM6300 without power and one without
// a tag both send nothing: only a tag read shows that it is connected. A PN532 is polled all the time, so its loss is
// detected.
package rfid
