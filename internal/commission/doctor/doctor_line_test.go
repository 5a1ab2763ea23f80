package doctor

import (
	"bytes"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// A wrong bit or two of an answer are noise, not the answer of a second servo, which is out of step.
func TestNoiseIsNoTwin(t *testing.T) {
	q := servo.Question{Want: []byte{0xFF, 0xFF, 1, 4, 0, 9, 3, 0xEE}}
	q.Same = func(got []byte) bool { return bytes.Equal(got[:7], q.Want[:7]) }
	q.Sound = func(got []byte) bool { return bytes.Equal(got, q.Want) }
	for _, c := range []struct {
		spoil func(got []byte) []byte
		want  string
	}{
		{func(got []byte) []byte { return got }, "1 of 1 answers are sound"},
		{func(got []byte) []byte { got[5] ^= 2; return got }, "0 of 1 answers are sound, 1 with a bad checksum"},
		// the lower of both
		{func(got []byte) []byte { got[5] ^= 1; return got }, "0 of 1 answers are sound, 1 crossed"},
		{func(got []byte) []byte { got[2] ^= 0x82; return got }, "0 of 1 answers are sound, 1 with a bad checksum"},
		{func(got []byte) []byte { return append(got, got...) }, "0 of 1 answers are sound, 1 crossed"},
		{func(got []byte) []byte { copy(got[3:], got); return got }, "0 of 1 answers are sound, 1 crossed"},
	} {
		h := answerCount{asked: 1}
		if h.sort(c.spoil(slices.Clone(q.Want)), &q, false); h.String() != c.want {
			t.Errorf("got %q, want %q", h.String(), c.want)
		}
	}
}
