package servo

import (
	"slices"
	"strconv"
	"time"
)

// Benchmark is a usual line of a driver with the bound that its data sheet sets.
type Benchmark struct {
	Model    string
	Name     string        // how it is read, in the tables; "" = as a chain reads by itself
	Config   ChainConfig   // differences from the default
	Settings []Setting     // of each device
	Bauds    []int         // bit/s
	Counts   []int         // devices on the line; nil = the usual ones
	First    byte          // id of the first device
	FTDI     time.Duration // latency timer of the adapter; 0 = none
	// Bound is the shortest time of a cycle: a goal and a state of each of n devices with a reply delay.
	Bound  func(n, baud int, delay time.Duration) time.Duration
	Delays []time.Duration // reply delays; nil = 0
	Long   bool            // one of the long list
}

// CycleBytes are the bytes of a cycle of n devices by the data sheets, the shortest way that the protocol has.
type CycleBytes struct {
	Bits   int             // of a byte on the wire
	Bytes  func(n int) int // of requests and replies
	Delays func(n int) int // reply delays that follow one another
}

// Bound is the time of a cycle.
func (c CycleBytes) Bound(n, baud int, delay time.Duration) time.Duration {
	d := WireTime(c.Bytes(n), c.Bits, baud)
	if c.Delays != nil {
		d += time.Duration(c.Delays(n)) * delay
	}
	return d
}

// EachDelay and OneDelay are replies that wait one after the other, and together.
func EachDelay(n int) int { return n }
func OneDelay(int) int    { return 1 }

// RateText is a rate as Model.Meaning writes it, "" for 0.
func RateText(baud int) string {
	if baud == 0 {
		return ""
	}
	return strconv.Itoa(baud) + " Bd"
}

// SameBut reports whether got and want are equal but for the bytes at except. They are of one length.
func SameBut(got, want []byte, except ...int) bool {
	for i := range want {
		if got[i] != want[i] && !slices.Contains(except, i) {
			return false
		}
	}
	return true
}

// ModelsOf is a vendor's list of models as Driver.Models returns it.
func ModelsOf[M Model](list []M) []Model {
	all := make([]Model, len(list))
	for i, m := range list {
		all[i] = m
	}
	return all
}

// Published is a table of measured cycle rates of a line of one model, return delays 0: a goal and a state of each
// device.
type Published struct {
	Model      string
	Servos     int // on all buses
	Cells      []PublishedCell
	Sync, Fast CycleBytes // of a cycle by SyncReads, which the table was measured with, and by FastReads
}

// PublishedCell is one measured rate. Buses run concurrently, and the fullest sets the rate.
type PublishedCell struct {
	Mbaud, Buses int
	Adapter      string
	Hz           float64
}
