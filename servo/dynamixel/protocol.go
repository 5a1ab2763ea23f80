package dynamixel

import (
	"errors"
	"fmt"
)

// Broadcast is the ID that every servo listens to.
const Broadcast = 0xFE

// Greatest values of the length field that are sent or believed. They bound every buffer of the package.
const (
	maxLength1 = 250  // DynamixelSDK TXPACKET_MAX_LEN of 1.0
	MaxLength2 = 1024 // DynamixelSDK RXPACKET_MAX_LEN of 2.0
)

const maxPacket = 7 + MaxLength2 // the longest packet of either protocol, bytes on the wire

// Op is an instruction code. The comment gives the parameters, 1.0 first where the protocols differ.
type Op byte

// The instructions.
const (
	Ping         Op = 0x01 // none
	Read         Op = 0x02 // addr len; addrL,H lenL,H
	Write        Op = 0x03 // addr data..; addrL,H data..
	RegWrite     Op = 0x04 // as Write; waits for Action
	Action       Op = 0x05 // none
	FactoryReset Op = 0x06 // none; FF all, 01 all but ID, 02 all but ID and baud rate
	Reboot       Op = 0x08 // none
	Clear        Op = 0x10 // 2.0: 01 44 58 4C 22 multi-turn count
	Backup       Op = 0x20 // 2.0: 01 43 54 52 4C store, 02 43 54 52 4C restore
	SyncRead     Op = 0x82 // 2.0: addrL,H lenL,H id..
	SyncWrite    Op = 0x83 // addr len {id data}..; addrL,H lenL,H {id data}..
	FastSyncRead Op = 0x8A // 2.0: as SyncRead, one common answer
	BulkRead     Op = 0x92 // 00 {len id addr}..; {id addrL,H lenL,H}..
	BulkWrite    Op = 0x93 // 2.0: {id addrL,H lenL,H data}..
	FastBulkRead Op = 0x9A // 2.0: as BulkRead, one common answer
)

const statusOp = 0x55 // the code of every 2.0 answer

// Factory reset options of 2.0: registers that are kept.
const (
	ResetAll       byte = 0xFF
	ResetKeepID    byte = 0x01
	ResetKeepIDBps byte = 0x02
)

// Parameters of Clear and Backup; the letters guard against accidents.
const (
	ClearMultiTurn = "\x01DXL\x22"
	ClearErrorCode = "\x02ERCL"
	BackupStore    = "\x01CTRL"
	BackupRestore  = "\x02CTRL"
)

var opNames = map[Op]string{
	Ping: "ping", Read: "read", Write: "write", RegWrite: "reg write", Action: "action", FactoryReset: "factory reset",
	Reboot: "reboot", Clear: "clear", Backup: "backup", SyncRead: "sync read", SyncWrite: "sync write",
	FastSyncRead: "fast sync read", BulkRead: "bulk read", BulkWrite: "bulk write", FastBulkRead: "fast bulk read",
}

func (o Op) String() string {
	if n, ok := opNames[o]; ok {
		return n
	}
	return fmt.Sprintf("instruction %02X", byte(o))
}

// Block is one servo's part of a sync or bulk instruction.
type Block struct {
	ID   byte
	Addr uint16 // bulk only; sync has Instruction.Addr
	Size uint16 // bytes read, bulk read only; sync read has Instruction.Size
	Data []byte // bytes written; all of one length in a sync write
}

// Instruction is a request of the host, in either protocol. Fields that Op does not use are zero.
type Instruction struct {
	ID     byte
	Op     Op
	Addr   uint16  // first register of Read, Write, RegWrite and the sync instructions
	Size   uint16  // bytes asked for by Read and the sync reads
	Data   []byte  // bytes of Write and RegWrite; option bytes of FactoryReset, Clear and Backup
	Blocks []Block // sync and bulk instructions, in the order on the wire
}

// Status is the reply of a servo. ID Broadcast marks a fast reply, whose Data holds the parts (see FastParts).
type Status struct {
	ID    byte
	Error byte // protocol 1.0: ErrorBits; 2.0: alert bit and number
	Data  []byte
}

// Packet is one frame off the wire, its checksum good. Params belongs to the parser until its next call.
type Packet struct {
	ID     byte
	Code   byte // instruction; error byte of a 1.0 status; 55 of a 2.0 status
	Params []byte
}

// Faults of the parameters of a packet with a valid frame.
var (
	errShort   = errors.New("parameters too short")
	errUnknown = errors.New("unknown instruction")
	errShape   = errors.New("parameters do not divide into blocks")
)

// isSync and its siblings sort the instructions by the shape of their parameters.
func (o Op) isSync() bool { return o == SyncRead || o == FastSyncRead || o == SyncWrite }
func (o Op) isBare() bool { return o == Ping || o == Action || o == Reboot }

// takesOption reports that o carries plain bytes: an option and its guard letters.
func (o Op) takesOption() bool { return o == FactoryReset || o == Clear || o == Backup }
