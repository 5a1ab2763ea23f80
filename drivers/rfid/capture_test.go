package rfid

import (
	"bytes"

	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/rfidwire"
)

// frames are the data of all frames in p, acknowledgements left out.
func frames(t *testing.T, p []byte) (list [][]byte) {
	t.Helper()
	for len(p) > 0 {
		data, used, ok := rfidwire.ParsePN532(p)
		if used == 0 {
			break
		}
		if p = p[used:]; ok && len(data) > 0 {
			list = append(list, data)
		}
	}
	return list
}

// What real chips answered about real cards.
func TestCapturedPN532(t *testing.T) {
	for _, line := range haltest.Capture(t, "pn532_frames.txt") {
		f := strings.Split(line, " | ")
		p := haltest.Bytes(t, f[2])
		if strings.HasPrefix(line, "C ISO") { // its owner put zeros for the number, and left out the sum and the end
			sum := byte(0)
			for _, b := range p[6:] {
				sum -= b
			}
			p = append(p, sum, 0)
		}
		list := frames(t, p)
		if len(list) != 1 || len(list[0]) < 3 || list[0][0] != rfidwire.PN532Chip {
			t.Errorf("%s: got frames % X", line, list)
			continue
		}
		var got string
		switch data := list[0]; data[1] {
		case rfidwire.PN532Firmware + 1:
			got = fmt.Sprintf("fw % x", data[2:])
		case rfidwire.PN532List + 1:
			got = "none"
			if !rfidwire.ParseTargets(data[2:], func(uid []byte) { got = fmt.Sprintf("%x", uid) }) && data[2] != 0 {
				got = "refused"
			}
		}
		if got != f[1] {
			t.Errorf("%s: got %s", line, got)
		}
	}
}

// A session of libnfc's with a real chip: every frame of either side is sound, and the card's number comes out of the
// answer to a polling command, whose target looks as one of a list.
func TestCapturedLibNFC(t *testing.T) {
	want, seen := "", 0
	check := func() {
		if want != "" && seen != 1 {
			t.Errorf("%s: got it %d times", want, seen)
		}
	}
	for _, line := range haltest.Capture(t, "pn532_libnfc_sigrok.txt") {
		if uid, ok := strings.CutPrefix(line, "== "); ok {
			check()
			want, seen = strings.Fields(uid)[0], 0
			continue
		}
		f := strings.Fields(line)
		p := haltest.Bytes(t, strings.Join(f[2:], " "))
		list := frames(t, p)
		if f[1] == "<" && len(list) == 0 && !bytes.Equal(p, rfidwire.PN532Ack()) {
			t.Errorf("%s: %s: nothing in it", want, line)
		}
		for _, data := range list {
			// n, then n times: kind, length, a target
			if len(data) > 4 && data[0] == rfidwire.PN532Chip && data[1] == 0x61 {
				rfidwire.ParseTargets(append([]byte{data[2]}, data[5:]...), func(uid []byte) {
					if fmt.Sprintf("%x", uid) == want {
						seen++
					}
				})
			}
		}
	}
	check()
}
