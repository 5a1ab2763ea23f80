package dynamixel

import (
	"errors"
	"fmt"
	"strings"
)

// Refusal is the error status of a servo: it received the packet and did not execute it.
type Refusal struct {
	Protocol int
	Code     byte // the error byte
}

// names of the bits of a 1.0 error byte and of the numbers of a 2.0 one.
var (
	errorBits1 = [...]string{"input voltage", "angle limit", "overheating", "range", "checksum", "overload",
		"instruction", "bit 7"}
	errorNumbers2 = [...]string{"", "result fail", "instruction", "crc", "data range", "data length", "data limit",
		"access"}
)

// alertBit of a 2.0 error byte reports that hardware_error is not zero.
const alertBit = 0x80

// Error names every bit or the number.
func (r Refusal) Error() string {
	// Bits in 1.0, a number in 2.0: a table of one would misname the other.
	if r.Protocol == 1 {
		var names []string
		for i, n := range errorBits1 {
			if r.Code>>i&1 != 0 {
				names = append(names, n)
			}
		}
		return fmt.Sprintf("refused: error %02X (%s)", r.Code, strings.Join(names, ", "))
	}
	n := int(r.Code &^ alertBit)
	if n > 0 && n < len(errorNumbers2) {
		return fmt.Sprintf("refused: error %d (%s)", n, errorNumbers2[n])
	}
	return fmt.Sprintf("refused: error %d", n)
}

// refusal is the no in an error byte, or nil. In 1.0 the bits of voltage, heat and overload are states, not answers;
// in 2.0 the alert bit is.
func refusal(protocol int, code byte) error {
	if protocol == 1 {
		code &^= bitVoltage | bitHeat | bitOverload
	} else {
		code &^= alertBit
	}
	if code == 0 {
		return nil
	}
	return Refusal{Protocol: protocol, Code: code}
}

// Why an exchange failed, where the port itself is sound.
var (
	errTwice = errors.New("answered more than once")

	errPingOnly = errors.New("answers pings but no reads: is status_return 0?")
)
