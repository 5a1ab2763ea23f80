package lidarwire

import (
	"encoding/hex"
	"slices"
	"testing"
)

// hqPacket is a packet with sample k at 5.625 ° times k, 1 m and k mm away, made by another program.
const hqPacket = "a50000000000000000"

func TestHQ(t *testing.T) {
	var nodes [RpHQSamples]RPHQNode
	for k := range nodes {
		nodes[k] = RPHQNode{Angle: uint16(k * 1024), Range: uint32(4000 + 4*k), Quality: 47, Start: k == 0}
	}
	p := AppendRPHQ([]byte{1}, &nodes)[1:]
	if len(p) != 141 || !SoundRPHQ(p) || hex.EncodeToString(p[:9]) != hqPacket {
		t.Fatalf("got %d bytes, % x", len(p), p)
	}
	for k, want := range nodes {
		if got := RPHQSample(p, k); got != want {
			t.Errorf("sample %d: got %+v, want %+v", k, got, want)
		}
	}
	if got := hex.EncodeToString(p[137:]); got != "e4799d6b" {
		t.Errorf("checksum: got %s", got)
	}
	for i := range p {
		bad := slices.Clone(p)
		if bad[i] ^= 4; SoundRPHQ(bad) {
			t.Errorf("byte %d may change", i)
		}
	}
	if SoundRPHQ(p[:140]) {
		t.Error("a cut packet is sound")
	}
}

func FuzzHQ(f *testing.F) {
	var nodes [RpHQSamples]RPHQNode
	f.Add(AppendRPHQ(nil, &nodes))
	f.Fuzz(func(t *testing.T, p []byte) {
		if !SoundRPHQ(p) {
			return
		}
		var nodes [RpHQSamples]RPHQNode
		for k := range nodes {
			nodes[k] = RPHQSample(p, k)
		}
		if !SoundRPHQ(AppendRPHQ(nil, &nodes)) {
			t.Error("what was read cannot be sent")
		}
	})
}
