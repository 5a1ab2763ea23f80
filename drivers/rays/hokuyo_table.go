package rays

import "fmt"

// HokuyoModel is what a model measures, as its PP says.
type HokuyoModel struct {
	Name        string
	Least, Most int // DMIN, DMAX, mm
	Turn        int // ARES: steps of a whole turn
	First, Last int // AMIN, AMAX: the steps it measures
	Front       int // AFRT: the one straight ahead
	RPM         int // SCAN
}

// HokuyoModels are the models known, from their data sheets. The UST ones are on TCP, 192.168.0.10:10940 as shipped.
func HokuyoModels() []HokuyoModel {
	return []HokuyoModel{
		{"URG-04LX", 20, 5600, 1024, 44, 725, 384, 600},
		{"URG-04LX-UG01", 20, 5600, 1024, 44, 725, 384, 600},
		{"UBG-04LX-F01", 20, 5600, 1024, 44, 725, 384, 2142},
		{"UTM-30LX", 23, 60000, 1440, 0, 1080, 540, 2400},
		{"UST-10LX", 20, 30000, 1440, 0, 1080, 540, 2400},
		{"UST-20LX", 20, 60000, 1440, 0, 1080, 540, 2400},
	}
}

// HokuyoModelOf is the model called name.
func HokuyoModelOf(name string) (HokuyoModel, error) {
	for _, m := range HokuyoModels() {
		if m.Name == name {
			return m, nil
		}
	}
	return HokuyoModel{}, fmt.Errorf("rays: model: got %q, want one of rays.HokuyoModels", name)
}

// Commands of SCIP 2.0 (C-42-03320-1). Each is a line; its answer is the line again, a status, and what there is to say.
const (
	SCIPVersion    = "VV" // lines of KEY:value
	SCIPParameters = "PP" // likewise: MODL DMIN DMAX ARES AMIN AMAX AFRT SCAN
	SCIPInternals  = "II" // likewise: MODL LASR SCSP MESM SBPS TIME STAT
	SCIPLaserOn    = "BM" // status 00, or 02 where it was on
	SCIPLaserOff   = "QT" // ends measuring
	SCIPReset      = "RS" // to what it was at power-on
	SCIPRate       = "SS" // six digits: baud; status 03: it is
	SCIPTime       = "TM" // 0 = begin, 1 = ask (four characters, ms), 2 = end
	SCIPOnce       = "GD" // first4 last4 cluster2: the newest scan, three characters a value
	SCIPOnceShort  = "GS" // two characters
	SCIPStream     = "MD" // first4 last4 cluster2 skipped1 count2: scans as they come; count 00 = until QT
	SCIPStreamTwo  = "MS"
)

// Statuses. What else there is differs from model to model.
const (
	SCIPOK      = "00"
	SCIPData    = "99" // of a scan that comes by itself
	SCIPAlready = "02" // of BM
	SCIPSame    = "03" // of SS
	SCIPUnknown = "0E" // not a command now
)

// scipLine is how long a line of data is at most, without its sum.
const scipLine = 64

// scipLongest bounds a block: a scan of 1081 values with its lines, and what may stand in front of it.
const scipLongest = 8192

// SCIPBauds are the rates that SS takes.
func SCIPBauds() []int { return []int{19200, 38400, 57600, 115200, 250000, 500000, 750000} }
