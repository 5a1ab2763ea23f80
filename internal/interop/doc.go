// Package interop holds sessions of third-party programs for other machines: the bytes that each sends, and the answers
// that it needs to continue. The tests open the config of a session, with emulated devices on pseudo-terminals or with
// its server, and play the program's side byte for byte. docs/clients.md lists them.
//
// A session is a file of testdata/sessions:
//
//	client: Okon's Python client, okon_client.py             what it is
//	source: github.com/knr-auv/autonomy a1f7ab7              its source
//	facts: recorded                                          recorded of the program, or read in its source
//	open: emulate arm.yaml line                              a config of testdata/configs and its bus, or
//	open: serve okon.yaml okon                               its server
//
//	# a comment
//	> c5 00 07 00 00 00 "1668.12"             the program sends these bytes, or this text
//	< c5 .. 07 *3                             it reads these; .. is any byte, *3 any three
//	<~ 5a 5a                                  it reads until these bytes
//	<line /STA .*Battery/                     it reads lines until one matches
//	<numbers 118                              it reads so many numbers of six decimals, each followed by a blank
//	(4 ... )                                  the lines between the brackets, four times
//	baud 19200                                it sets the line's rate
//	hand move gripper 0.5                   a person moves a joint (halyard hand) until it is there
//	hang up                                   it closes the connection; the following lines use a new one
package interop
