package pressure

import "time"

// MS5837Address is the only address that the chip has.
const MS5837Address = 0x76

// Commands (TE Connectivity, MS5837-30BA datasheet rev. C2, "Commands"). All are single bytes.
const (
	MS5837Reset     = 0x1E // loads the PROM; wait 10 ms
	MS5837Read      = 0x00 // 3 bytes: the last conversion; 0 if absent
	MS5837ConvertD1 = 0x40 // pressure; plus twice the index of the oversampling
	MS5837ConvertD2 = 0x50 // temperature
	MS5837PROM      = 0xA0 // plus twice the index of a word of 0..6, 2 bytes
	MS5837Words     = 7    // CRC, C1..C6
)

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
func (m *MS5837Model) First(prom *[MS5837Words]uint16, d2 uint32) (dT, temp, off, sens int64) {
	c := func(i int) int64 { return int64(prom[i]) }
	dT = int64(d2) - c(5)<<8
	temp = 2000 + dT*c(6)>>23 // rounded down, as the example is
	off = c(2)<<m.Offset + (c(4)*dT)>>m.OffsetT
	sens = c(1)<<m.Sense + (c(3)*dT)>>m.SenseT
	return dT, temp, off, sens
}

// Compensate makes two conversions, D1 of the pressure and D2 of the temperature, into Pa and °C.
func (m *MS5837Model) Compensate(prom *[MS5837Words]uint16, d1, d2 uint32) (pascals, celsius float64) {
	dT, temp, off, sens := m.First(prom, d2)
	ti, offi, sensi := m.second(dT, temp)
	p := ((int64(d1)*(sens-sensi))>>21 - (off - offi)) >> m.Divide
	return float64(p) * m.PascalsPerCount, float64(temp-ti) / 100
}

// MS5837CRC is the check of a PROM, 0..15, which word 0 should have in its upper bits (AN520). It does not look at
// them.
func MS5837CRC(prom [MS5837Words]uint16) uint16 {
	words := [8]uint16{}
	copy(words[:], prom[:])
	words[0] &= 0x0FFF
	return crc4(words)
}

// crc4 is AN520's, over eight words, the high byte of each first.
func crc4(words [8]uint16) uint16 {
	r := uint16(0)
	for _, w := range words {
		for _, b := range [2]uint16{w >> 8, w & 0xFF} {
			r ^= b
			for range 8 {
				if r&0x8000 != 0 {
					r = r<<1 ^ 0x3000
				} else {
					r <<= 1
				}
			}
		}
	}
	return r >> 12
}
