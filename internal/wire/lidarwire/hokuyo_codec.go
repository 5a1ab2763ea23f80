package lidarwire

import "encoding/binary"

// SCIPSum is the character that a line ends with.
func SCIPSum(line []byte) byte {
	// Eight at a time, in four sums of their own, of which the low bytes count.
	const low = 0x00FF00FF00FF00FF
	var sums uint64
	for ; len(line) >= 8; line = line[8:] {
		x := binary.LittleEndian.Uint64(line)
		sums = (sums + x&low + x>>8&low) & low
	}
	sum := byte(sums + sums>>16 + sums>>32 + sums>>48)
	for _, c := range line {
		sum += c
	}
	return sum&0x3F + 0x30
}

// AppendSCIPValue appends v in n characters of six bits, the high ones first.
func AppendSCIPValue(dst []byte, v, n int) []byte {
	for shift := 6 * (n - 1); shift >= 0; shift -= 6 {
		dst = append(dst, byte(v>>shift&0x3F+0x30))
	}
	return dst
}

// DecodeSCIPValue is the value of p's characters, false if one is not a SCIP digit.
func DecodeSCIPValue(p []byte) (v int, ok bool) {
	for _, c := range p {
		c -= 0x30
		if c > 0x3F {
			return 0, false
		}
		v = v<<6 | int(c)
	}
	return v, true
}

// AppendSCIP appends an answer: the command, a status, lines without their sums, and the end.
func AppendSCIP(dst []byte, echo, status string, lines ...string) []byte {
	dst = append(append(dst, echo...), '\n')
	dst = append(append(dst, status...), SCIPSum([]byte(status)), '\n')
	for _, l := range lines {
		dst = append(append(dst, l...), SCIPSum([]byte(l)), '\n')
	}
	return append(dst, '\n')
}

// AppendSCIPFields appends an answer of lines KEY:value.
func AppendSCIPFields(dst []byte, echo string, fields ...string) []byte {
	dst = AppendSCIP(dst, echo, SCIPOK)
	dst = dst[:len(dst)-1]
	for _, f := range fields {
		dst = append(append(dst, f...), ';', SCIPSum([]byte(f)), '\n')
	}
	return append(dst, '\n')
}

// AppendSCIPScan appends a scan of values in mm, size characters each, taken at ms.
func AppendSCIPScan(dst []byte, echo, status string, ms int, values []int, size int) []byte {
	dst = AppendSCIP(dst, echo, status, string(AppendSCIPValue(nil, ms, 4)))
	dst = dst[:len(dst)-1]
	line := make([]byte, 0, ScipLine+size)
	flush := func(n int) {
		dst = append(append(dst, line[:n]...), SCIPSum(line[:n]), '\n')
		line = line[:copy(line, line[n:])]
	}
	for _, v := range values {
		if line = AppendSCIPValue(line, v, size); len(line) >= ScipLine {
			flush(ScipLine)
		}
	}
	if len(line) > 0 {
		flush(len(line))
	}
	return append(dst, '\n')
}

// Commands of SCIP 2.0 (C-42-03320-1). Each is a line; the reply is the same line, a status, and data.
const (
	SCIPVersion    = "VV" // lines of KEY:value
	SCIPParameters = "PP" // likewise: MODL DMIN DMAX ARES AMIN AMAX AFRT SCAN
	SCIPInternals  = "II" // likewise: MODL LASR SCSP MESM SBPS TIME STAT
	SCIPLaserOn    = "BM" // status 00, or 02 where it was on
	SCIPLaserOff   = "QT" // ends measuring
	SCIPReset      = "RS" // to the state after power-on
	SCIPRate       = "SS" // six digits: baud; status 03: it is
	SCIPTime       = "TM" // 0 = begin, 1 = ask (four characters, ms), 2 = end
	SCIPOnce       = "GD" // first4 last4 cluster2: the newest scan, three characters a value
	SCIPOnceShort  = "GS" // two characters
	SCIPStream     = "MD" // first4 last4 cluster2 skipped1 count2: scans as they come; count 00 = until QT
	SCIPStreamTwo  = "MS"
	SCIPSwitch     = "SCIP2.0" // leaves SCIP 1.1, in which an old URG-04LX starts; the reply is only 0
)

// Statuses. All others differ between models.
const (
	SCIPOK      = "00"
	SCIPData    = "99" // of a scan in a stream
	SCIPAlready = "02" // of BM
	SCIPSame    = "03" // of SS
	SCIPUnknown = "0E" // not a command now
	SCIPResumed = "98" // in place of a scan: measurement continues after a pause
	// Statuses of a scanner of SCIP 1.1: a single character, without a checksum.
	SCIPOldOK      = "0"
	SCIPOldUnknown = "E"
)

// scipLine is how long a line of data is at most, without its sum.
const ScipLine = 64
