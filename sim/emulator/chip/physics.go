package chip

import "time"

// Motion is the input of an inertial sensor, in its own axes. The owner of the world writes it between cycles.
type Motion struct {
	Attitude     [4]float64 // sensor in world, unit quaternion w x y z; the zero one is the identity
	Rates        [3]float64 // rad/s
	Acceleration [3]float64 // proper, m/s²: at rest an axis that points up has +9.81
	Field        [3]float64 // magnetic flux density, T
	Celsius      float64    // of the chip
	// Since is the time of the world since its reset: the noise of a chip at rest goes by it, so that each course has
	// the same. Below 0: there is no world, and it goes by the chip's own time.
	Since time.Duration
}

// AtRest is the motion of a level sensor at rest at 25 °C, heading along x, in the magnetic field of the middle
// latitudes: 20 µT to the north, 45 µT down.
func AtRest() Motion {
	return Motion{Attitude: [4]float64{1}, Acceleration: [3]float64{0, 0, 9.80665}, Field: [3]float64{20e-6, 0, -45e-6},
		Celsius: 25, Since: -1}
}

// Fluid is the input of a pressure sensor: water or air.
type Fluid struct {
	Pascals  float64 // absolute
	Celsius  float64
	Humidity float64 // relative, 0..1; air only
}

// counts is v in counts of the given size, rounded and kept within the bits that a signed register has.
func counts(v, size float64, bits uint) int64 {
	limit := float64(int64(1) << (bits - 1))
	v = v / size
	if !(v > -limit) { // also NaN
		return -int64(limit)
	}
	if v >= limit-0.5 {
		return int64(limit) - 1
	}
	if v < 0 {
		return int64(v - 0.5)
	}
	return int64(v + 0.5)
}

// registers is a chip of up to 256 byte-wide registers with a pointer that runs on, as most have.
type registers struct {
	file    [256]byte
	pointer byte
}

// transfer is a transaction by the usual rule: the first byte written sets the pointer, others go to the registers from
// there on, reading takes from the pointer on. write stores one byte as the chip's rules want.
func (f *registers) transfer(w, r []byte, write func(register, v byte)) {
	if len(w) > 0 {
		f.pointer = w[0]
		for _, v := range w[1:] {
			write(f.pointer, v)
			f.pointer++
		}
	}
	for i := range r {
		r[i] = f.file[f.pointer]
		f.pointer++
	}
}

// putLE16 and putBE16 store a 16 bit register pair at at.
func (f *registers) putLE16(at byte, v int64) { f.file[at], f.file[at+1] = byte(v), byte(v>>8) }
func (f *registers) putBE16(at byte, v int64) { f.file[at], f.file[at+1] = byte(v>>8), byte(v) }
