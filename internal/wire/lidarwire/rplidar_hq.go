package lidarwire

import (
	"encoding/binary"
	"hash/crc32"
)

// RPHQNode is one sample of an HQ packet.
type RPHQNode struct {
	Angle   uint16 // 1/16384 of 90 °, turning to the right
	Range   uint32 // 1/4 mm; 0 = no echo
	Quality byte
	Start   bool // the first of a turn
}

// RpTypeHQ is the encoding of HQ packets, the type of their reply.
const RpTypeHQ = 0x83

// An HQ packet: A5, a time of 8 bytes, its samples, and a CRC-32 of all before it, padded with zeros to whole words.
const (
	RpHQSamples = 16
	rpHQHead    = 9
	rpHQNode    = 8
	RpHQ        = rpHQHead + RpHQSamples*rpHQNode + 4
)

// AppendRPHQ appends a packet of RpHQSamples samples.
func AppendRPHQ(dst []byte, nodes *[RpHQSamples]RPHQNode) []byte {
	at := len(dst)
	dst = append(dst, RpStart, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, n := range nodes {
		dst = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(dst, n.Angle), n.Range)
		flag := byte(0)
		if n.Start {
			flag = 1
		}
		dst = append(dst, n.Quality, flag)
	}
	return binary.LittleEndian.AppendUint32(dst, hqSum(dst[at:]))
}

// SoundRPHQ reports whether the CRC of a packet is right.
func SoundRPHQ(p []byte) bool {
	return len(p) == RpHQ && binary.LittleEndian.Uint32(p[RpHQ-4:]) == hqSum(p[:RpHQ-4])
}

func hqSum(p []byte) uint32 {
	var zeros [4]byte
	return crc32.Update(crc32.ChecksumIEEE(p), crc32.IEEETable, zeros[:(4-len(p)%4)%4])
}

// RPHQSample is sample k of a packet.
func RPHQSample(p []byte, k int) RPHQNode {
	p = p[rpHQHead+k*rpHQNode:]
	return RPHQNode{binary.LittleEndian.Uint16(p), binary.LittleEndian.Uint32(p[2:]), p[6], p[7]&1 != 0}
}
