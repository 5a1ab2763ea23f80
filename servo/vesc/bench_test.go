package vesc

import (
	"encoding/binary"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The usual answers of 6 controllers: 192 bytes, 1.92 ms at 1 Mbaud.
func BenchmarkDecode(b *testing.B) {
	asked := question("vesc-6")
	v := Values{ControllerID: 1, Volts: 24, TempFET: 30, TachoAbs: 100, PosNow: 180}
	var stream []byte
	for range 6 {
		stream = AppendPacket(stream, v.Append(binary.BigEndian.AppendUint32([]byte{byte(Selective)}, asked), asked))
	}
	p := NewParser()
	servotest.Decoding(b, stream, 6, servo.WireTime(len(stream), bitsPerByte, 1_000_000), p.Feed, func() bool {
		payload := p.Next()
		if payload == nil {
			return false
		}
		got, err := v.Parse(payload)
		return err == nil && got == asked
	})
}
