package console

import (
	"strings"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := NewProgress(&out, "cells", 100, func() time.Time { return now })
	for range 10 { // nothing in the first two seconds
		now = now.Add(190 * time.Millisecond)
		p.Add(1)
	}
	if out.Len() > 0 {
		t.Errorf("got %q at once", out.String())
	}
	now = now.Add(100 * time.Millisecond)
	p.Add(10)
	p.Add(1) // too soon after the last
	if got := out.String(); got != "\r 20% of 100 cells, about 8s left\x1b[K" {
		t.Errorf("got %q", got)
	}
	out.Reset()
	p.Clear()
	p.Clear()
	if got := out.String(); got != "\r\x1b[K" {
		t.Errorf("clear: got %q", got)
	}
	out.Reset()
	u := NewProgress(&out, "results", 0, func() time.Time { return now })
	now = now.Add(time.Minute)
	u.Add(3)
	if got := out.String(); got != "\r3 results, 1m0s\x1b[K" {
		t.Errorf("without a total: got %q", got)
	}
	var none *Progress
	none.Add(1)
	none.Clear()
}
