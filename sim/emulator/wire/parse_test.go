package wire

import (
	"cmp"
	"strings"
	"testing"
	"time"
)

// faultTexts are the texts that tests and the fuzz target start from, with what they mean.
var faultTexts = []struct {
	text  string
	want  Fault
	canon string // how it comes back; "" = the same
}{
	{"power_loss servo 3", Fault{Kind: PowerLoss, Target: 3, P: 1}, ""},
	{"off servo 3", Fault{Kind: PowerLoss, Target: 3, P: 1}, "power_loss servo 3"},
	{"stuck bus", Fault{Kind: Stuck, Target: All, P: 1}, ""},
	{"garbage servo 0 for=1s", Fault{Kind: Garbage, Target: 0, P: 1, For: time.Second}, ""},
	{"wrong servo 3 by=-20", Fault{Kind: Wrong, Target: 3, P: 1, Offset: -20}, ""},
	{"slow servo 3", Fault{Kind: Delayed, Target: 3, P: 1, Delay: 5 * time.Millisecond}, "delayed servo 3"},
	{"stale servo 3 by=20ms", Fault{Kind: Stale, Target: 3, P: 1, Delay: 20 * time.Millisecond}, ""},
	{"slipped servo 3", Fault{Kind: Slipped, Target: 3, P: 1, Offset: 100}, ""},
	{"loose_horn servo 3 by=-200 from=2s", Fault{Kind: Slipped, Target: 3, P: 1, Offset: -200, From: 2 * time.Second},
		"slipped servo 3 by=-200 from=2s"},
	{"intermittent servo 3", Fault{Kind: Dropped, Target: 3, P: 0.5}, "dropped servo 3"},
	{"crc servo 3 p=0.1 from=1s for=2s", Fault{Kind: CRC, Target: 3, P: 0.1, From: time.Second, For: 2 * time.Second},
		""},
	{"truncate bus p=0.01", Fault{Kind: Truncated, Target: All, P: 0.01}, "truncated bus p=0.01"},
	{"duplicate_id servo 253", Fault{Kind: DuplicateID, Target: 253, P: 1}, ""},
	{"unplug bus from=500ms for=1m0s", Fault{Kind: Unplugged, Target: All, P: 1, From: 500 * time.Millisecond,
		For: time.Minute}, "unplugged bus from=500ms for=1m0s"},
	{"brownout bus", Fault{Kind: PowerLoss, Target: All, P: 1, For: 100 * time.Millisecond},
		"power_loss bus for=100ms"},
}

func TestParse(t *testing.T) {
	for _, x := range faultTexts {
		got, err := Parse(x.text)
		if err != nil || got != x.want {
			t.Errorf("%q: got %+v, %v, want %+v", x.text, got, err, x.want)
		}
		if want := cmp.Or(x.canon, x.text); got.String() != want {
			t.Errorf("%q: comes back as %q, want %q", x.text, got, want)
		}
	}
	for _, bad := range []string{
		"", "off", "of servo 3", "off servo", "off servo x", "off servo 254", "off servo -1", "off sevro 3",
		"off servo 3 4",
		"crc bus p=0", "crc bus p=1.1", "crc bus p=NaN", "crc bus p=0.1 p=0.2", "crc bus by=1ms", "slow bus by=100",
		"wrong bus by=5ms", "slipped bus by=5ms",
		"wrong bus by=inf", "off bus from=-1s", "off bus for=2000h", "off bus for=2", "off bus x=1",
		strings.Repeat("off ", 60),
	} {
		if f, err := Parse(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, x := range faultTexts {
		f.Add(x.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(x.String())
		if err != nil || again != x {
			t.Fatalf("%q: %+v comes back as %q: %+v, %v", text, x, x, again, err)
		}
	})
}
