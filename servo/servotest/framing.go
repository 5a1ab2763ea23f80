package servotest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// Hex is the bytes of a text of hexadecimal digits and spaces; t fails if it is invalid.
func Hex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return b
}

// Framing checks the parsers that open returns on any stream: the same packets and the same counts whether it is fed
// whole or byte by byte, and a decoded packet encodes to bytes of the stream. next returns a packet encoded again, nil
// if none is complete yet, and its decoded form.
func Framing(t testing.TB, stream []byte, open func() (f *servo.Framer, next func() (again []byte, parsed any))) {
	t.Helper()
	parse := func(size int) string {
		f, next := open()
		var all strings.Builder
		for at := 0; at < len(stream); {
			n := f.Feed(stream[at:min(at+size, len(stream))])
			if at += n; n == 0 {
				t.Fatal("took nothing")
			}
			for again, parsed := next(); again != nil; again, parsed = next() {
				if !bytes.Contains(stream, again) {
					t.Fatalf("% X is not in the stream", again)
				}
				fmt.Fprintf(&all, "%v ", parsed)
			}
		}
		return fmt.Sprintf("%s: %d bytes of garbage, %d bad checksums", all.String(), f.Garbage, f.BadChecksum)
	}
	if whole, single := parse(len(stream)), parse(1); whole != single {
		t.Fatalf("whole %q; byte by byte %q", whole, single)
	}
}
