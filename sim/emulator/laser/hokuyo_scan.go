package laser

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// scanOrder holds the parameters of a measuring command.
type scanOrder struct {
	stream      bool // continuous scans
	intensities bool // a value of three characters behind each range
	size        int  // characters of a range
	first, last int  // steps
	bundle      int  // steps that give one value, the nearest
	skip        int  // scans between two that are sent
	left        int  // scans to go; -1 = no end
	head, tail  string
}

// measuring is the measuring commands, each with stream, intensities and the number of characters of a range. Commands
// with intensities and several echoes are supported by models from the UTM on; here every ray has one echo.
func measuring() map[string]scanOrder {
	return map[string]scanOrder{
		lidarwire.SCIPOnce: {size: 3}, lidarwire.SCIPOnceShort: {size: 2},
		lidarwire.SCIPStream:    {size: 3, stream: true},
		lidarwire.SCIPStreamTwo: {size: 2, stream: true},
		"GE":                    {size: 3, intensities: true}, "ME": {size: 3, intensities: true, stream: true},
		"HD": {size: 3},
		"ND": {size: 3, stream: true},
	}
}

// order reads a measuring command behind its name, which has no string of the user's any more; a status where it is
// wrong.
func (h *Hokuyo) order(line string) (o scanOrder, status string) {
	name := line[:2]
	o = measuring()[name]
	digits, want := []byte(line[2:]), 10
	if o.stream {
		want = 13
	}
	if len(digits) != want || len(bytes.Trim(digits, "0123456789")) > 0 {
		return o, "0D"
	}
	number := func(i, n int) int { v, _ := strconv.Atoi(string(digits[i : i+n])); return v }
	o.first, o.last, o.bundle = number(0, 4), number(4, 4), max(1, number(8, 2))
	if o.first < h.model.First || o.last > h.model.Last || o.first > o.last {
		return o, "05"
	}
	if o.stream {
		o.skip, o.left = number(10, 1), number(11, 2)
		o.left = cmp.Or(o.left, -1)
		o.head = line[:len(line)-2]
	}
	return o, lidarwire.SCIPOK
}

// turn is how long one scan takes at the speed that CR set.
func (h *Hokuyo) turn() time.Duration {
	return time.Minute / time.Duration(h.model.RPM) * time.Duration(100) / time.Duration(100-h.slower)
}

// once is the answer to a command for one scan: the newest that is whole, and never the same one twice.
func (h *Hokuyo) once(line string, o scanOrder, at time.Duration) {
	if !h.laser {
		h.out = lidarwire.AppendSCIP(h.out, line, "10")
		return
	}
	turn := h.turn()
	end := h.lit + (at-h.lit)/turn*turn
	if end <= h.handed || end == h.lit {
		end += turn
	}
	h.handed, h.answer = end, max(at, end)
	h.out = lidarwire.AppendSCIPScan(h.out, line, lidarwire.SCIPOK, int((end-turn)/time.Millisecond)&0xFFFFFF,
		h.measure(&o), o.size)
}

// nextScan appends the next scan of a stream, which leaves at now.
func (h *Hokuyo) nextScan(dst []byte, now time.Duration) []byte {
	// The echo of a scan reports how many are left.
	o, left := h.stream, 0
	if o.left > 0 {
		o.left--
		left = o.left
	}
	turn := h.turn()
	at := len(dst)
	dst = lidarwire.AppendSCIPScan(dst, fmt.Sprintf("%s%02d%s", o.head, left, o.tail), lidarwire.SCIPData,
		int((now-turn)/time.Millisecond)&0xFFFFFF, h.measure(o), o.size)
	h.scan = now + max(turn*time.Duration(1+o.skip), h.wire(len(dst)-at))
	if o.left == 0 {
		h.stream = nil
	}
	return dst
}

// measure is the values of a scan, in the order in which they are sent; of a bundle the nearest counts.
func (h *Hokuyo) measure(o *scanOrder) []int {
	step := 2 * math.Pi / float64(h.model.Turn)
	n := o.last - o.first + 1
	h.ranges = slices.Grow(h.ranges[:0], n)[:n]
	h.scene.Scan(float64(o.first-h.model.Front)*step, step, h.ranges)
	h.values = h.values[:0]
	// Each family has its own code for no echo.
	void := 1
	if strings.HasPrefix(h.model.Name, "UST") {
		void = 65533
	}
	for i := 0; i < n; i += o.bundle {
		best := -1
		for _, m := range h.ranges[i:min(n, i+o.bundle)] {
			mm := math.Round(m * 1000)
			if mm >= float64(h.model.MinRange) && mm <= float64(h.model.MaxRange) && (best < 0 || int(mm) < best) {
				best = int(mm)
			}
		}
		light := 0
		if best >= 0 {
			light = 12_000_000 / (best + 1000) // decreases with the distance, within 18 bits
		} else {
			best = void
		}
		if o.size == 2 {
			best = min(best, 4095)
		}
		if h.values = append(h.values, best); o.intensities {
			h.values = append(h.values, light)
		}
	}
	return h.values
}
