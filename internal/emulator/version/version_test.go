package version

import "testing"

func TestCheck(t *testing.T) {
	may := [2][]int{{0, 4, 0}, {0, 6, 255}}
	scanners, odd := Scanners()
	for _, c := range []struct {
		may       [2][]int
		known     []string
		firmware  string
		quirks    []string
		key, want string
	}{
		{may, nil, "0.5.2", nil, "", ""}, {may, []string{NoLineEnd}, "", []string{NoLineEnd}, "", ""},
		{may, nil, "0.3.1", nil, "firmware", "0.4.0 to 0.6.255"},
		{may, nil, "1.0", nil, "firmware", "0.4.0 to 0.6.255"},
		{may, nil, "new", nil, "firmware", "0.4.0 to 0.6.255"},
		{may, nil, "0.5.2.1", nil, "firmware", "0.4.0 to 0.6.255"},
		{[2][]int{{1}, {255}}, nil, "0", nil, "firmware", "1 to 255"},
		{may, nil, "", []string{NoBroadcastPing}, "quirks", "none for this type"},
		{scanners, odd, "1.15", []string{Dense, SpinsUp}, "", ""},
		{scanners, odd, "", []string{"cold"}, "quirks", "one of dense, hq, spins_up"},
		{[2][]int{}, nil, "1", nil, "firmware", "none for this type"},
	} {
		key, _, want, ok := Check(c.may, c.known, c.firmware, c.quirks)
		if key != c.key || want != c.want || ok != (c.key == "") {
			t.Errorf("%v %q %v: got %s, want %q; want %s, %q", c.may, c.firmware, c.quirks, key, want, c.key, c.want)
		}
	}
}
