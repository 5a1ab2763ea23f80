package lidarwire

import "fmt"

// SICKCommand is the first byte of a telegram to the scanner. The comment gives its data; the reply's first byte is the
// command with bit 7 set, except for Mode (A0) and Scan (B0).
type SICKCommand byte

// The commands (8007954, table of telegrams).
const (
	SICKReset     SICKCommand = 0x10 // none; the scanner restarts, and sends SICKStarted at 9600 baud
	SICKMode      SICKCommand = 0x20 // mode, see below; answer: 0 = done, 1 = wrong password, 2 = fault
	SICKScan      SICKCommand = 0x30 // 01: one scan
	SICKStatus    SICKCommand = 0x31 // none; 152 bytes
	SICKType      SICKCommand = 0x3A // none; text "LMS200;30106;V02.30 "
	SICKVariant   SICKCommand = 0x3B // angle16 in °, resolution16 in 1/100 °; answer: 1 = done, then both
	SICKConfig    SICKCommand = 0x74 // none; 34 bytes
	SICKConfigure SICKCommand = 0x77 // 34 bytes, in the mode of installation; answer: 1 = done, then they
)

// First bytes of answers that are not the command's with bit 7.
const (
	SICKStarted   = 0x90 // after power-on; text of the type
	SICKModeReply = 0xA0
	SICKRanges    = 0xB0
	SICKReplyBit  = 0x80
)

// Modes of SICKMode.
const (
	SICKInstall = 0x00 // then the password: settings may be written
	SICKStream  = 0x24 // every scan is sent
	SICKRequest = 0x25 // scans are sent on request
)

// SICKPassword is the one that scanners are shipped with.
const SICKPassword = "SICK_LMS"

// Single bytes that the scanner sends outside telegrams, within 60 ms of a command.
const (
	SICKAck = 0x06
	SICKNak = 0x15
)

// Bytes of the settings.
const (
	SICKSettingsLen = 34 // bytes
	SICKAvailByte   = 4  // SICKIndices and other flags
	SICKModeByte    = 5  // of measuring, see SICKReach
	SICKUnitByte    = 6  // 0 = cm, 1 = mm
	// of SICKAvailByte: telegrams of values end with the number of the scan, that of the telegram, status
	SICKIndices     = 2
	SICKStatusLen   = 152
	SICKMaxTelegram = 812 // bytes of a telegram's body at most
	SickCentimetre  = 0
	SickMillimetre  = 1
)

// SICKReach is one mode of measuring: how many bits of a value are range. The rest are flags of fields.
type SICKReach struct {
	Metres float64 // in millimetres; in centimetres 80 m
	Mode   byte
	Bits   uint
}

// SICKReaches are the modes that measure only ranges.
func SICKReaches() []SICKReach { return []SICKReach{{8, 0, 13}, {16, 4, 14}, {32, 6, 15}} }

// Of a status byte: the severity, 0 (no error) to 4 (fatal).
const (
	SickLevel = 0x07
	SickError = 3
)

// The error codes of the greatest values, counted down from all bits set (8007954, "error codes").
const (
	SICKInvalid  = 0 // not valid
	SICKDazzled  = 1
	SICKOverflow = 2
	SICKNoise    = 4 // signal to noise too small
	SICKChannel1 = 5 // error reading channel 1
	SICKTooFar   = 8 // beyond the reach
)

// sickReach is the reach of metres; 0 = 8.
func SickReach(metres float64) (SICKReach, error) {
	for _, r := range SICKReaches() {
		if metres == r.Metres || metres == 0 {
			return r, nil
		}
	}
	return SICKReach{}, fmt.Errorf("reach: got %g m, want 8, 16 or 32", metres)
}
