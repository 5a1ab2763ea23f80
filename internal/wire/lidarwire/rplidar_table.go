package lidarwire

// RPLidarCommand is a request: A5, the command and, where its bit 7 is set, a length, so many bytes and the XOR of all
// before.
type RPLidarCommand byte

// The commands (LR001, table "Available requests"). The comment gives payload and answer.
const (
	RPLidarStop      RPLidarCommand = 0x25 // no answer; 1 ms of quiet after it
	RPLidarReset     RPLidarCommand = 0x40 // no reply; it boots, and reports that as text
	RPLidarScan      RPLidarCommand = 0x20 // nodes without end
	RPLidarForceScan RPLidarCommand = 0x21 // the same, whether or not the motor turns
	RPLidarExpress   RPLidarCommand = 0x82 // mode, 4 zeros; capsules without end
	RPLidarInfo      RPLidarCommand = 0x50 // model, firmware minor, major, hardware, 16 bytes of serial number
	RPLidarHealth    RPLidarCommand = 0x52 // status, code16
	RPLidarRate      RPLidarCommand = 0x59 // µs a sample, standard and express, 16 bits each
	RPLidarConf      RPLidarCommand = 0x84 // type32 [mode16]; type32 and a value
	RPLidarUnlisted  RPLidarCommand = 0x79 // 15 bytes of type 0x14, which no document names; an A1 answers it
	RPLidarMotor     RPLidarCommand = 0xF0 // pwm16, 0 to 1023; no answer
	RPLidarBoard     RPLidarCommand = 0xFF // 4 zeros; bit 0: the motor can be driven by RPLidarMotor
)

// Types of answers, the last byte of a descriptor.
const (
	RpTypeInfo   = 0x04
	RpTypeHealth = 0x06
	RpTypeRate   = 0x15
	RpTypeConf   = 0x20
	rpTypeBoard  = 0xFF
)

// Fixed bytes of packets.
const (
	RpStart      = 0xA5
	RpReply      = 0x5A
	RpDescriptor = 7   // bytes: A5 5A, length of 30 bits and mode of 2, type
	RpRequest    = 260 // bytes that a request has at the most
	RpNode       = 5
	RpStream     = 1 // mode: without end
)

// RPLidarUsualPWM is the PWM for ten turns a second of an A2.
const RPLidarUsualPWM = 660

// The keys of RPLidarConf. For values of a mode the request has its number.
const (
	RPConfModes       = 0x70 // how many modes, 16 bits
	RPConfSample      = 0x71 // of a mode: 1/256 µs a sample, 32 bits
	RPConfDistance    = 0x74 // of a mode: 1/256 m, the greatest, 32 bits
	RPConfEncoding    = 0x75 // of a mode: its RPLidarEncoding
	RPConfTypicalMode = 0x7C // the mode that its maker advises, 16 bits
	RPConfName        = 0x7F // of a mode: text up to a zero
)
