package vesc

import (
	"encoding/binary"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The usual answers of 6 controllers: 192 bytes, 1.92 ms at 1 Mbaud.
func BenchmarkDecode(b *testing.B) {
	asked := question("vesc-6")
	v := vescwire.Values{vescwire.ControllerID: 1, vescwire.Volts: 24, vescwire.TempFET: 30, vescwire.TachoAbs: 100,
		vescwire.PosNow: 180}
	var stream []byte
	for range 6 {
		stream = vescwire.AppendPacket(stream,
			v.Append(binary.BigEndian.AppendUint32([]byte{byte(vescwire.Selective)}, asked), asked))
	}
	p := vescwire.NewParser()
	servotest.Decoding(b, stream, 6, servo.WireTime(len(stream), bitsPerByte, 1_000_000), p.Feed, func() bool {
		payload := p.Next()
		if payload == nil {
			return false
		}
		got, err := v.Parse(payload)
		return err == nil && got == asked
	})
}
