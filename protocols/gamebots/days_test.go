package gamebots

import (
	"fmt"
	"testing"
	"time"
)

// TestDays: a time is written as it is, however long the clock has run: past 2^31 and 2^32 ms, and after ten years.
func TestDays(t *testing.T) {
	for _, days := range []int{0, 30, 60, 3650} {
		for k := range 1000 {
			at := time.Duration(days)*24*time.Hour + time.Duration(k)*time.Millisecond
			for decimals, unit := range map[int]time.Duration{coarse: 10 * time.Millisecond,
				fine: 100 * time.Microsecond} {
				want := fmt.Sprintf("%d.%0*d", at/time.Second, decimals, at%time.Second/unit)
				if got := string(appendNumber(nil, at.Seconds(), decimals)); got != want {
					t.Fatalf("%v after %d days: got %s, want %s", at, days, got, want)
				}
			}
		}
	}
}
