package p2oswire

// Op is a command of the client. The comment gives its argument.
type Op byte

// The commands (Pioneer 3 manual, table "Client commands").
const (
	OpPulse        Op = 0   // none; SYNC0 before the session
	OpOpen         Op = 1   // none; SYNC1
	OpClose        Op = 2   // none; SYNC2
	OpPolling      Op = 3   // text: the order in which the sonar fires
	OpEnable       Op = 4   // 1 = motors on, 0 = off
	OpSetA         Op = 5   // mm/s², greatest acceleration; negative: deceleration
	OpSetV         Op = 6   // mm/s, greatest speed
	OpSetO         Op = 7   // none: the present position becomes the origin
	OpMove         Op = 8   // mm
	OpRotate       Op = 9   // °/s
	OpSetRV        Op = 10  // °/s, greatest turning speed
	OpVel          Op = 11  // mm/s
	OpHead         Op = 12  // °, absolute
	OpDHead        Op = 13  // °, relative
	OpSay          Op = 15  // text of tones
	OpConfig       Op = 18  // 1 -> a ConfigReport
	OpEncoder      Op = 19  // 1 = once, 2 = with every report, 0 = stop -> EncoderReport
	OpRVel         Op = 21  // °/s
	OpDChange      Op = 22  // ° to turn the heading set point by
	OpSetRA        Op = 23  // °/s²
	OpSonar        Op = 28  // 1 = on, 0 = off
	OpStop         Op = 29  // none
	OpDigOut       Op = 30  // mask in the high byte, bits in the low one
	OpVel2         Op = 32  // left in the high byte, right in the low one, signed, 20 mm/s each
	OpGripper      Op = 33  // 1 open 2 close 3 stop 4 up 5 down 6 lift stop 7 store 8 deploy
	OpADSel        Op = 35  // which analog input the reports carry
	OpGripperState Op = 37  // 1 = once, 2 = stream, 0 = stop -> GripperReport
	OpIORequest    Op = 40  // as GripperState -> IOReport
	OpBumpStall    Op = 44  // 0 = never stall, 1 = front, 2 = rear, 3 = both
	OpJoyDrive     Op = 47  // 1 = the joystick drives
	OpHostBaud     Op = 50  // 0 = 9600, 1 = 19200, 2 = 38400, 3 = 57600, 4 = 115200
	OpEStop        Op = 55  // none: strongest braking
	OpGyro         Op = 58  // 1 = stream -> GyroReport
	OpLatVel       Op = 110 // mm/s to the left, of bases that can
	OpReset        Op = 253 // none
)

// Arguments' kinds.
const (
	argPositive = 0x3B
	argNegative = 0x1B
	argText     = 0x2B
)

// Types of the base's packets, apart from the echoes of the three SYNCs (0, 1, 2).
const (
	TypeStopped = 0x32 // Report
	TypeMoving  = 0x33 // Report
	TypeConfig  = 0x20
	TypeEncoder = 0x90
	TypeGyro    = 0x98
	TypeGripper = 0xE0
	TypeIO      = 0xF0
)
