package player

import (
	"encoding/binary"
	"fmt"
	"math"
)

const (
	bannerSize = 32
	headerSize = 40
	banner     = "Player v.3.1.1-dev"
	localhost  = 0x0100007f // the host that servers answer
	// maxPayload bounds a client's payload, bytes; the largest commands and requests of these interfaces are far
	// smaller.
	maxPayload = 64 << 10
	// maxAnswer is Player's own bound of a message.
	maxAnswer = 8 << 20
)

// Type is the type of a message.
type Type uint8

// The types of message.
const (
	Data Type = iota + 1
	Cmd
	Req
	Ack
	Synch
	Nack
)

// Interface is the type of a device.
type Interface uint16

// The interfaces.
const (
	Player     Interface = 1
	Power      Interface = 2
	Gripping   Interface = 3
	Position2D Interface = 4
	Sonar      Interface = 5
	Laser      Interface = 6
	PanTilt    Interface = 8
	Fiducial   Interface = 10
	Bumper     Interface = 14
	DIO        Interface = 20
	Position3D Interface = 30
	Simulation Interface = 31
	Camera     Interface = 40
	Opaque     Interface = 51
	ActArray   Interface = 53
	Limb       Interface = 54
	RFID       Interface = 56
	IMU        Interface = 60
	Ranger     Interface = 62
)

var interfaceNames = map[Interface]string{Player: "player", Power: "power", Gripping: "gripper",
	Position2D: "position2d", Sonar: "sonar", Laser: "laser", PanTilt: "ptz", Fiducial: "fiducial",
	Bumper: "bumper", DIO: "dio", Position3D: "position3d", Simulation: "simulation", Camera: "camera",
	Opaque: "opaque", ActArray: "actarray", Limb: "limb", RFID: "rfid", IMU: "imu", Ranger: "ranger"}

func (i Interface) String() string {
	if name, ok := interfaceNames[i]; ok {
		return name
	}
	return fmt.Sprintf("interface(%d)", uint16(i))
}

// Device names a device of a server: its interface and index.
type Device struct {
	Interface Interface
	Index     uint16
}

func (d Device) String() string { return fmt.Sprintf("%v:%d", d.Interface, d.Index) }

// Header is the header of a message.
type Header struct {
	Host, Robot uint32
	Device      Device
	Type        Type
	Subtype     uint8
	Time        float64 // s
	Seq         uint32
	Size        uint32 // of the payload, bytes
}

// Append appends the 40 bytes of h.
func (h *Header) Append(dst []byte) []byte {
	for _, w := range []uint32{h.Host, h.Robot, uint32(h.Device.Interface), uint32(h.Device.Index), uint32(h.Type),
		uint32(h.Subtype)} {
		dst = binary.BigEndian.AppendUint32(dst, w)
	}
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(h.Time))
	dst = binary.BigEndian.AppendUint32(dst, h.Seq)
	return binary.BigEndian.AppendUint32(dst, h.Size)
}

// Decode reads a header. It fails if a value does not fit its field.
func (h *Header) Decode(b []byte) error {
	if len(b) < headerSize {
		return fmt.Errorf("header: got %d bytes, want %d: %w", len(b), headerSize, ErrFormat)
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	if word(2)|word(3) > math.MaxUint16 || word(4)|word(5) > math.MaxUint8 {
		return fmt.Errorf("header: interface %d:%d, type %d, subtype %d: %w", word(2), word(3), word(4), word(5),
			ErrFormat)
	}
	*h = Header{Host: word(0), Robot: word(1), Device: Device{Interface(word(2)), uint16(word(3))}, Type: Type(word(4)),
		Subtype: uint8(word(5)), Time: math.Float64frombits(binary.BigEndian.Uint64(b[24:])), Seq: word(8),
		Size: word(9)}
	return nil
}

// Requests of player:0, their modes, and the rules of its queue.
const (
	reqDeviceList  = 1
	reqDriverInfo  = 2
	reqDevice      = 3
	reqData        = 4
	reqDataMode    = 5
	reqAuth        = 7
	reqReplaceRule = 10

	accessOpen  = 1
	accessClose = 2
	accessError = 3

	modePush = 1
	modePull = 2

	ruleAccept  = 0
	ruleReplace = 1
	ruleIgnore  = 2

	synchOK       = 1
	synchOverflow = 2
)
