// Package interop holds sessions of programs that other people wrote for other machines: what each sends, and what it must
// be answered for it to go on. The tests open the config that a session names, with emulated devices on pseudo terminals or
// with its server, and play the program's side byte for byte. docs/clients.md is the table of them.
//
// A session is a file of testdata/sessions:
//
//	client: Okon's Python client, okon_client.py             what it is
//	source: github.com/knr-auv/autonomy a1f7ab7              where that can be read
//	facts: recorded                                          recorded of the program, or read in its source
//	open: emulate arm.yaml line                              a config of testdata/configs and its bus, or
//	open: serve okon.yaml okon                               its server
//
//	# a comment
//	> c5 00 07 00 00 00 "1668.12"             the program sends these bytes, or this text
//	< c5 .. 07 *3                             it reads these; .. is any byte, *3 any three
//	<~ 5a 5a                                  it reads until these have come
//	<line /STA .*Battery/                     it reads lines until one matches
//	<numbers 118                              it reads so many numbers of six decimals, a blank behind each
//	(4 ... )                                  what is between the brackets, four times
//	baud 19200                                it sets the line's rate
//	hand move gripper 0.5                   a person moves a joint (halyard hand), and it is there
//	hang up                                   it closes the connection; what follows is on a new one
package interop
