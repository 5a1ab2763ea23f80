// Package nml implements the Neutral Message Language of NIST's RCS library over TCP: messages, buffers, the server of
// buffers, a client, and the configuration files that name them. Sources: the public rcslib and bytes captured from it.
//
// A buffer keeps one message (the latest) or a queue of them. Programs read and write buffers; each buffer has a number
// on a TCP port, and several buffers may share a port.
//
// # Framing
//
// There is no banner. Header words are 32-bit, big endian.
//
//	request = serial type buffer a b [more]        reply = serial+1 words [data]
//
//	type                  a, b, more                     reply after the serial
//	 1 read               access, last id read           status, size, write id, was_read, data
//	 2 write              access, size, data             none; with confirm_write: status, was_read
//	 3 check if read      -                              status, was_read
//	 5 clear              subdivision                    status
//	 6 close              -                              none
//	 7 keys               -, name[16]                    two keys of 8 bytes
//	 8 login              -, name[16] password[16]       success
//	 9 subscribe          kind, ms                       success
//	11 blocking read      as 1, then timeout ms          as 1, when there is a new message
//	12 buffer name        -                              status, name[32]
//	13 unsubscribe        -                              success
//	16 count              -                              status, messages written
//	17 queue length       -                              status, length
//	18 space              -                              status, bytes
//
// The write id counts from 1. A read of an id already seen is answered with status ReadOld and no data.
//
// # Messages
//
// A message is its type, its size in the C++ program, and its fields in the order of declaration. A message's Update
// names each field once; a Codec runs it to encode, to decode and to compute the C++ size.
//
//	             packed                xdr                   disp
//	start        L or B: byte order    -                     -
//	bool char    1 byte                4                     the character; \001 for control characters
//	short        2                     4                     %+d,
//	int enum     4                     4                     %+6d,
//	long         4                     4                     %+d,
//	float double 4, 8                  4, 8                  %f,
//	char[n]      n bytes               n, bytes, padding     up to NUL, then a comma
//	number[n]    n elements            n elements            n elements
//
// An array of variable length is its length, an int, and that many elements.
package nml
