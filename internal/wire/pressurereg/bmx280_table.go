package pressurereg

import "time"

// Registers (Bosch BST-BMP280-DS001 rev. 1.26 and BST-BME280-DS001 rev. 1.23, "Memory map").
const (
	BMX280Calibration = 0x88 // T1..T3, P1..P9: 24 bytes, little-endian; A1: H1
	BMX280H1          = 0xA1
	BMX280ID          = 0xD0
	BMX280Reset       = 0xE0
	BMX280Humidity2   = 0xE1 // H2..H6: 7 bytes
	BMX280Status      = 0xF3 // bit 0, im_update: the trim is being copied
	BMX280CtrlHum     = 0xF2 // takes effect with the next write of CtrlMeas
	BMX280CtrlMeas    = 0xF4 // temperature 7..5, pressure 4..2, mode 1..0
	BMX280Filter      = 0xF5 // standby 7..5, filter 4..2
	BMX280Data        = 0xF7 // pressure 20 bits, temperature 20 bits, humidity 16 bits, big-endian
)

// Values of the registers.
const (
	BMP280WhoAmI    = 0x58
	BME280WhoAmI    = 0x60
	BMX280Loading   = 0x01 // of BMX280Status
	BMX280ResetWord = 0xB6
	BMX280Normal    = 0x2F // temperature once, pressure 4 times, normal mode
	BMX280Standby   = 0x00 // 0.5 ms between two measurements, no filter
	BMX280HumOnce   = 0x01
	BMX280Skipped   = 0x80000 // value of 20 bits that were not measured; 0x8000 for 16
)

// BMX280Boot is the wait after a reset, BMX280Load how much longer the trim may take; BMX280Measure the longest that
// BMX280Normal takes (BME280, appendix B).
const (
	BMX280Boot    = 2 * time.Millisecond
	BMX280Load    = 10 * time.Millisecond
	BMX280Measure = 16 * time.Millisecond
)

// BMX280Trim is a chip's own calibration, by the datasheet's names.
type BMX280Trim struct {
	T1                             uint16
	T2, T3                         int16
	P1                             uint16
	P2, P3, P4, P5, P6, P7, P8, P9 int16
	H1                             uint8
	H2                             int16
	H3                             uint8
	H4, H5                         int16
	H6                             int8
}

// DecodeBMX280 reads the trim out of the three blocks of registers as they lie; h1 and hum are empty for a BMP280.
func DecodeBMX280(block []byte, h1 byte, hum []byte) (t BMX280Trim) {
	u := func(i int) uint16 { return uint16(block[2*i]) | uint16(block[2*i+1])<<8 }
	s := func(i int) int16 { return int16(u(i)) }
	t = BMX280Trim{T1: u(0), T2: s(1), T3: s(2), P1: u(3), P2: s(4), P3: s(5), P4: s(6), P5: s(7), P6: s(8), P7: s(9),
		P8: s(10), P9: s(11)}
	if len(hum) >= 7 {
		t.H1, t.H2, t.H3 = h1, int16(uint16(hum[0])|uint16(hum[1])<<8), hum[2]
		t.H4 = int16(int8(hum[3]))<<4 | int16(hum[4]&0x0F)
		t.H5 = int16(int8(hum[5]))<<4 | int16(hum[4]>>4)
		t.H6 = int8(hum[6])
	}
	return t
}

// Fine is the datasheet's t_fine for a raw temperature, in 1/5120 °C.
func (t *BMX280Trim) Fine(raw int32) int32 {
	d := raw>>3 - int32(t.T1)<<1
	v1 := d * int32(t.T2) >> 11
	e := raw>>4 - int32(t.T1)
	v2 := (e * e >> 12) * int32(t.T3) >> 14
	return v1 + v2
}

// Celsius is the temperature of t_fine, to 0.01 °C.
func Celsius(fine int32) float64 { return float64((fine*5+128)>>8) / 100 }

// Pascals is the pressure of a raw value at t_fine, in 64 bit arithmetic (section 3.11.3). 0 for a trim that no chip
// has.
func (t *BMX280Trim) Pascals(raw, fine int32) float64 {
	v1 := int64(fine) - 128000
	v2 := v1*v1*int64(t.P6) + v1*int64(t.P5)<<17 + int64(t.P4)<<35
	v1 = v1*v1*int64(t.P3)>>8 + v1*int64(t.P2)<<12
	v1 = (int64(1)<<47 + v1) * int64(t.P1) >> 33
	if v1 == 0 {
		return 0
	}
	p := ((1048576-int64(raw))<<31 - v2) * 3125 / v1
	v1 = int64(t.P9) * (p >> 13) * (p >> 13) >> 25
	v2 = int64(t.P8) * p >> 19
	return float64((p+v1+v2)>>8+int64(t.P7)<<4) / 256
}

// Humidity is the relative humidity of a raw value at t_fine, 0..1 (BME280, section 4.2.3).
func (t *BMX280Trim) Humidity(raw, fine int32) float64 {
	v := fine - 76800
	a := (raw<<14 - int32(t.H4)<<20 - int32(t.H5)*v + 16384) >> 15
	b := ((v*int32(t.H6)>>10)*(v*int32(t.H3)>>11+32768)>>10 + 2097152) * int32(t.H2)
	v = a * ((b + 8192) >> 14)
	v -= ((v >> 15) * (v >> 15) >> 7) * int32(t.H1) >> 4
	return float64(min(max(v, 0), 419430400)>>12) / 1024 / 100
}

// Commands (TE Connectivity, MS5837-30BA datasheet rev. C2, "Commands"). All are single bytes.
const (
	MS5837Reset     = 0x1E // loads the PROM; wait 10 ms
	MS5837Read      = 0x00 // 3 bytes: the last conversion; 0 if absent
	MS5837ConvertD1 = 0x40 // pressure; plus twice the index of the oversampling
	MS5837ConvertD2 = 0x50 // temperature
	MS5837PROM      = 0xA0 // plus twice the index of a word of 0..6, 2 bytes
	MS5837Words     = 7    // CRC, C1..C6
)

// MS5837CRC is the check of a PROM, 0..15, which word 0 should have in its upper bits (AN520). It does not look at
// them.
func MS5837CRC(prom [MS5837Words]uint16) uint16 {
	words := [8]uint16{}
	copy(words[:], prom[:])
	words[0] &= 0x0FFF
	return Crc4(words)
}

// crc4 is AN520's, over eight words, the high byte of each first.
func Crc4(words [8]uint16) uint16 {
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
