// Package version is what the emulated devices do otherwise than usual, by the firmware and the quirks that a config
// names for their bus: one table for the emulators, the configs and the tests.
package version

import (
	"slices"
	"strconv"
	"strings"
)

// The quirks. What a firmware alone decides is no quirk.
const (
	NoBroadcastPing = "no_broadcast_ping"
	NoLineEnd       = "no_line_end"
	Dense           = "dense"
	HQ              = "hq"
	SpinsUp         = "spins_up"
)

// Scanners are what a serial bus may name, for its laser scanner.
func Scanners() (firmwares [2][]int, quirks []string) {
	return [2][]int{{1, 0}, {1, 255}}, []string{Dense, HQ, SpinsUp}
}

// Check returns what is wrong with a firmware, "" = the usual one, and quirks, by those that a type of bus may name:
// the key of the config, what it has, and what it may have. ok is true where nothing is.
func Check(may [2][]int, known []string, firmware string, quirks []string) (key, got, want string, ok bool) {
	if firmware != "" {
		n, sound := Numbers(firmware)
		least, most := may[0], may[1]
		switch {
		case least == nil:
			return "firmware", firmware, "none for this type", false
		case !sound || slices.Compare(n[:len(least)], least) < 0 || slices.Compare(n[:len(most)], most) > 0:
			return "firmware", firmware, joined(least) + " to " + joined(most), false
		}
	}
	for _, q := range quirks {
		if !slices.Contains(known, q) {
			want = "none for this type"
			if len(known) > 0 {
				want = "one of " + strings.Join(known, ", ")
			}
			return "quirks", q, want, false
		}
	}
	return "", "", "", true
}

func joined(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ".")
}

// Numbers are those of a firmware such as 0.5.2, missing ones 0.
func Numbers(firmware string) (n [3]int, ok bool) {
	words := strings.Split(firmware, ".")
	if firmware == "" || len(words) > len(n) {
		return n, false
	}
	for i, w := range words {
		v, err := strconv.ParseUint(w, 10, 8)
		if err != nil {
			return n, false
		}
		n[i] = int(v)
	}
	return n, true
}
