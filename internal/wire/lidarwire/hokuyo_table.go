package lidarwire

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
