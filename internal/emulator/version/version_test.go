package version

import "testing"

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		bus, firmware string
		quirks        []string
		key, want     string
	}{
		{"odrive", "0.5.2", []string{NoLineEnd}, "", ""},
		{"odrive", "0.3.1", nil, "firmware", "0.4.0 to 0.6.255 for type odrive"},
		{"odrive", "1.0", nil, "firmware", "0.4.0 to 0.6.255 for type odrive"},
		{"odrive", "new", nil, "firmware", "0.4.0 to 0.6.255 for type odrive"},
		{"odrive", "0.5.2.1", nil, "firmware", "0.4.0 to 0.6.255 for type odrive"},
		{"vesc", "3.40", nil, "", ""},
		{"vesc", "8.0", nil, "firmware", "3.0 to 7.255 for type vesc"},
		{"dynamixel2", "0", nil, "firmware", "1 to 255 for type dynamixel2"},
		{"dynamixel2", "", []string{NoBroadcastPing}, "", ""},
		{"dynamixel1", "", []string{NoBroadcastPing}, "quirks", "none for type dynamixel1"},
		{"serial", "1.15", []string{Dense, SpinsUp}, "", ""},
		{"serial", "", []string{"cold"}, "quirks", "one of dense, hq, spins_up"},
		{"kondo", "1", nil, "firmware", "none for type kondo"},
		{"gpio", "", []string{Dense}, "quirks", "none for type gpio"},
	} {
		key, _, want, ok := Check(c.bus, c.firmware, c.quirks)
		if key != c.key || want != c.want || ok != (c.key == "") {
			t.Errorf("%s %q %v: got %s, want %q; want %s, %q", c.bus, c.firmware, c.quirks, key, want, c.key, c.want)
		}
	}
}
