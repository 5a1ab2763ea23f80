package pressure

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/pressurereg"
)

// MS5837Address is the only address that the chip has.
const MS5837Address = 0x76

// ms5837Boot is the datasheet's wait after a reset, with the margin that it has itself.
const ms5837Boot = 10 * time.Millisecond

// Oversampling is the number of samples of a conversion of an MS5837, and its maximum time ("ADC").
type Oversampling struct {
	Samples int
	Time    time.Duration
}

// MS5837Oversampling are the choices, in the order of the commands.
func MS5837Oversampling() []Oversampling {
	return []Oversampling{
		{256, 600 * time.Microsecond}, {512, 1170 * time.Microsecond}, {1024, 2280 * time.Microsecond},
		{2048, 4540 * time.Microsecond}, {4096, 9040 * time.Microsecond}, {8192, 18080 * time.Microsecond},
	}
}

// MS5837Model is one of the two chips: same commands, other scale.
type MS5837Model struct {
	Name string
	// The powers of two of "Calculate temperature compensated pressure".
	Offset, OffsetT, Sense, SenseT, Divide uint
	PascalsPerCount                        float64
	MinPascals, MaxPascals                 float64 // operating range
	second                                 func(dT, temp int64) (ti, offi, sensi int64)
	// bits 11..5 of PROM word 0, as distinguished by Blue Robotics' library
	versions []uint16
}

// MS5837_30BA and the others are the models: 30 bar for the deep, 2 bar for shallow water and air.
func MS5837_30BA() *MS5837Model {
	return &MS5837Model{Name: "ms5837-30ba", Offset: 16, OffsetT: 7, Sense: 15, SenseT: 8, Divide: 13,
		PascalsPerCount: 10,
		MinPascals:      0, MaxPascals: 30e5, second: second30, versions: []uint16{0x1A}}
}

// MS5837_02BA is the 2 bar chip (datasheet MS5837-02BA).
func MS5837_02BA() *MS5837Model {
	return &MS5837Model{Name: "ms5837-02ba", Offset: 17, OffsetT: 6, Sense: 16, SenseT: 7, Divide: 15,
		PascalsPerCount: 1,
		MinPascals:      30e3, MaxPascals: 2e5, second: second02, versions: []uint16{0x00, 0x15}}
}

// ms5837Between is the word C1, the sensitivity, that lies between those of both models' chips: a 30BA's is below (as
// Blue Robotics' newer library separates them).
const ms5837Between = 37000

// square is exact: a 25 bit difference of temperatures.
func square(v int64) int64 { return v * v }

// second30 is the 30BA's "Second order temperature compensation".
func second30(dT, temp int64) (ti, offi, sensi int64) {
	if temp >= 2000 {
		return 2 * square(dT) >> 37, square(temp-2000) >> 4, 0
	}
	ti, offi, sensi = 3*square(dT)>>33, 3*square(temp-2000)>>1, 5*square(temp-2000)>>3
	if temp < -1500 {
		offi += 7 * square(temp+1500)
		sensi += 4 * square(temp+1500)
	}
	return ti, offi, sensi
}

// second02 is the 02BA's.
func second02(dT, temp int64) (ti, offi, sensi int64) {
	if temp >= 2000 {
		return 0, 0, 0
	}
	return 11 * square(dT) >> 35, 31 * square(temp-2000) >> 3, 63 * square(temp-2000) >> 5
}

// First is the first order of the compensation, as in the datasheet's step-by-step example. dT is the difference from
// the reference temperature, temp 0.01 °C.
func (m *MS5837Model) First(prom *[pressurereg.MS5837Words]uint16, d2 uint32) (dT, temp, off, sens int64) {
	c := func(i int) int64 { return int64(prom[i]) }
	dT = int64(d2) - c(5)<<8
	temp = 2000 + dT*c(6)>>23 // rounded down, as the example is
	off = c(2)<<m.Offset + (c(4)*dT)>>m.OffsetT
	sens = c(1)<<m.Sense + (c(3)*dT)>>m.SenseT
	return dT, temp, off, sens
}

// Compensate makes two conversions, D1 of the pressure and D2 of the temperature, into Pa and °C.
func (m *MS5837Model) Compensate(prom *[pressurereg.MS5837Words]uint16, d1, d2 uint32) (pascals, celsius float64) {
	dT, temp, off, sens := m.First(prom, d2)
	ti, offi, sensi := m.second(dT, temp)
	p := ((int64(d1)*(sens-sensi))>>21 - (off - offi)) >> m.Divide
	return float64(p) * m.PascalsPerCount, float64(temp-ti) / 100
}
