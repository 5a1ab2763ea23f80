package lidar

// RPLidarDrive is how a scanner's motor is driven.
type RPLidarDrive uint8

// The ways.
const (
	RPLidarDTR  RPLidarDrive = iota // A1: by the line DTR of its adapter; down, it turns
	RPLidarPWM                      // A2, A3: by RPLidarMotor
	RPLidarFree                     // no drive: it turns whenever it has power
)

// RPLidarEncoding is the packing of samples: the type of their reply.
type RPLidarEncoding byte

// The encodings (LR001; the ultra one as SLAMTEC's SDK reads it).
const (
	RPLidarNodes     RPLidarEncoding = 0x81 // the standard scan: 5 bytes a sample, without a checksum
	RPLidarExpressed RPLidarEncoding = 0x82 // express: 32 samples in 84 bytes, ranges of 14 bits, each with its shift
	RPLidarUltra     RPLidarEncoding = 0x84 // ultra: 96 samples in 132 bytes, of A2, A3 and late A1
	RPLidarDense     RPLidarEncoding = 0x85 // dense: 40 samples in 84 bytes, of S models
	// RPLidarUltraDense is 64 samples in 170 bytes with a time and the device's status, of S2, S3 and C1
	// (sl_lidar_cmd.h).
	RPLidarUltraDense RPLidarEncoding = 0x86
)
