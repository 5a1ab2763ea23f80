package rfidwire

import "bytes"

// Constants of the PN532's frames (UM0701-02, section 6.2 and 7).
const (
	PN532Host = 0xD4 // the first byte of a frame's data: the sender
	PN532Chip = 0xD5

	PN532Firmware  = 0x02 // -> IC Ver Rev Support
	PN532SAM       = 0x14 // mode timeout irq ->
	PN532RFConfig  = 0x32 // item ... ->
	PN532List      = 0x4A // most kind -> n, n times: number SENS(2) SAK length UID
	PN532IC        = 0x32 // of the firmware
	PN532Retries   = 5    // item of RFConfig: for ATR, for PSL, for activation
	PN532ListTypeA = 0    // kind: 106 kbit/s, ISO 14443A
	PN532Targets   = 2    // that one List finds at most

	PN532Ready = 0x01 // over I2C, in front of each frame

	PnMaxFrame = 64 // bytes of a frame's data that are of use here
)

// PN532Ack is the acknowledgement before each reply.
func PN532Ack() []byte { return []byte{0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00} }

// PN532Wake is the wake-up of a sleeping chip on a serial line.
func PN532Wake() []byte { return append([]byte{0x55, 0x55}, make([]byte, 14)...) }

// AppendPN532 appends the frame of some data, 1 to 254 bytes: the sender, the command, and its parameters.
func AppendPN532(dst []byte, data ...byte) []byte {
	n, sum := byte(len(data)), byte(0)
	dst = append(dst, 0x00, 0x00, 0xFF, n, -n)
	for _, b := range data {
		dst = append(dst, b)
		sum += b
	}
	return append(dst, -sum, 0x00)
}

// ParsePN532 finds the first frame in p: its data (part of p; empty of an acknowledgement), and how many bytes it and
// what is in front of it take. used 0: the frame is not complete yet. ok false: the used bytes are not a frame.
func ParsePN532(p []byte) (data []byte, used int, ok bool) {
	from := bytes.Index(p, []byte{0x00, 0xFF})
	if from < 0 {
		if n := len(p); n > 0 && p[n-1] == 0 {
			return nil, n - 1, false // the last may be a start
		}
		return nil, len(p), false
	}
	rest := p[from+2:]
	if len(rest) < 2 {
		return nil, from, false
	}
	n := int(rest[0])
	switch {
	case rest[0] == 0x00 && rest[1] == 0xFF:
		return nil, from + 4, true
	case rest[0]+rest[1] != 0 || n == 0 || n > PnMaxFrame:
		return nil, from + 1, false
	case len(rest) < 2+n+2:
		return nil, from, false
	case rest[2+n+1] != 0: // the postamble is not in the sum, but shows a lost 0 before it, for which the sum is right
		return nil, from + 1, false
	}
	sum := rest[2+n]
	for _, b := range rest[2 : 2+n] {
		sum += b
	}
	if sum != 0 {
		return nil, from + 1, false
	}
	return rest[2 : 2+n], from + 2 + 2 + n + 2, true
}

// AppendPN532Target appends a target to the data of an answer to List: an ISO 14443A tag as it has a UID.
func AppendPN532Target(dst []byte, number byte, uid []byte) []byte {
	dst = append(dst, number, 0x00, 0x04, 0x08, byte(len(uid)))
	return append(dst, uid...)
}

// parseTargets takes the tags out of the data of an answer to List, behind its command.
func ParseTargets(p []byte, take func(uid []byte)) bool {
	if len(p) < 1 || p[0] > PN532Targets {
		return false
	}
	n := int(p[0])
	p = p[1:]
	for range n {
		if len(p) < 5 || len(p) < 5+int(p[4]) || p[4] < 4 || p[4] > 10 {
			return false
		}
		sak, length := p[3], int(p[4])
		uid := p[5 : 5+length]
		p = p[5+length:]
		// A tag with ISO 14443-4 sends its parameters: ATS, which begins with its own length.
		if sak&0x20 != 0 {
			if len(p) < 1 || p[0] < 1 || len(p) < int(p[0]) {
				return false
			}
			p = p[p[0]:]
		}
		take(uid)
	}
	return len(p) == 0
}
