// Package version is what the emulated devices do otherwise than usual, by the firmware and the quirks that a config
// names for their bus: one table for the emulators, the configs and the tests.
package version

import (
	"fmt"
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

// Kind is what a type of bus may name. Firmware bounds its numbers; nil: its devices have only one.
type Kind struct {
	Quirks []string
	least  []int
	most   []int
}

// kinds are the types of bus with devices of several versions. Bounds are those whose answers were met.
func kinds() map[string]Kind {
	return map[string]Kind{
		"dynamixel1": {least: []int{1}, most: []int{255}},
		"dynamixel2": {Quirks: []string{NoBroadcastPing}, least: []int{1}, most: []int{255}},
		"feetech":    {Quirks: []string{NoBroadcastPing}, least: []int{1, 0}, most: []int{3, 59}},
		"odrive":     {Quirks: []string{NoLineEnd}, least: []int{0, 4, 0}, most: []int{0, 6, 255}},
		"vesc":       {least: []int{3, 0}, most: []int{7, 255}},
		"serial":     {Quirks: []string{Dense, HQ, SpinsUp}, least: []int{1, 0}, most: []int{1, 255}}, // RPLIDAR
	}
}

// Check returns what is wrong with a firmware, "" = the usual one, and quirks for a type of bus: the key of the config,
// what it has, and what it may have. ok is true where nothing is.
func Check(bus, firmware string, quirks []string) (key, got, want string, ok bool) {
	k := kinds()[bus]
	if firmware != "" {
		n, sound := Numbers(firmware)
		switch {
		case k.least == nil:
			return "firmware", firmware, "none for type " + bus, false
		case !sound || slices.Compare(n[:len(k.least)], k.least) < 0 || slices.Compare(n[:len(k.most)], k.most) > 0:
			return "firmware", firmware, fmt.Sprintf("%s to %s for type %s", joined(k.least), joined(k.most), bus),
				false
		}
	}
	for _, q := range quirks {
		if !slices.Contains(k.Quirks, q) {
			want = "none for type " + bus
			if len(k.Quirks) > 0 {
				want = "one of " + strings.Join(k.Quirks, ", ")
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
