// Package console shows on a terminal what is not a line of output: a page that is refreshed in place.
package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/internal/control"
)

// TopInterval is how often a person wants to see what Top asks.
const TopInterval = 250 * time.Millisecond

// The sequences of ECMA-48 and xterm that Top uses.
const (
	enter   = "\x1b[?1049h\x1b[?25l" // the other screen, no cursor
	leave   = "\x1b[?25h\x1b[?1049l"
	home    = "\x1b[H"
	endPage = "\x1b[J"
)

// Top shows what ask answers, in place, at once and at every tick until ctx ends. size is that of the terminal that out
// is.
func Top(ctx context.Context, out io.Writer, tick <-chan time.Time, size func() (columns, rows int),
	ask func() (*control.Answer, error)) error {
	fmt.Fprint(out, enter)
	defer fmt.Fprint(out, leave)
	var before *control.Answer
	was := time.Now()
	for {
		now := time.Now()
		a, err := ask()
		columns, rows := size()
		var page []string
		if err != nil { // it may come back
			page = []string{err.Error()}
		} else {
			page = Page(a, before, now.Sub(was))
			before, was = a, now
		}
		io.WriteString(out, home+fit(page, columns, rows)+endPage)
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
	}
}

// Page is what Top shows of a, the lines from above; rates are since before, which may be nil, in dt.
func Page(a, before *control.Answer, dt time.Duration) []string {
	r := &a.Rig
	rate := func(now, was uint64) string {
		if before == nil || dt <= 0 || now < was {
			return "-"
		}
		return fmt.Sprintf("%.1f", float64(now-was)/dt.Seconds())
	}
	last := &control.Answer{}
	if before != nil {
		last = before
	}
	state := "Space stops all, Ctrl-C ends this"
	if r.Stopped {
		state = "EMERGENCY STOP, latched: halyard reset, then halyard arm"
	}
	page := []string{
		fmt.Sprintf("%s  %s  %s cycles/s  %d missed (%.2f s)  late p99 %s us  %d faults", r.Name, r.Clock,
			rate(r.Cycles, last.Rig.Cycles), r.Missed, float64(r.Behind), r.P99us.String(), r.Faults), state}
	if r.Message != "" {
		page = append(page, "last fault: "+r.Message)
	}
	if len(a.Buses) > 0 {
		page = append(page, "")
		page = append(page, table(func(w io.Writer) {
			fmt.Fprintln(w, "BUS\tBODY\tSERVOS\tCYCLES/S\tCYCLE MS\tWIRE MS\tTIMEOUTS\tCHECKSUMS\tREOPENED")
			for i, b := range a.Buses {
				was := uint64(0)
				if i < len(last.Buses) {
					was = last.Buses[i].Cycles
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%.2f\t%.2f\t%d\t%d\t%d\n", b.Name, b.Body, b.Servos,
					rate(b.Cycles, was), 1000*float64(b.Spent), 1000*float64(b.Wire),
					b.Timeouts, b.BadChecksums, b.Reopened)
			}
		})...)
	}
	page = append(page, "")
	return append(page, table(func(w io.Writer) {
		fmt.Fprintln(w, "AGENT\tJOINT\tSTATE\tHELD BY\tPOSITION\tPER S\tFAULT")
		for i, j := range a.Joints {
			speed := "-"
			if i < len(last.Joints) && last.Joints[i].Joint == j.Joint && last.Joints[i].Agent == j.Agent && dt > 0 {
				speed = fmt.Sprintf("%+.2f", (j.Position()-last.Joints[i].Position())/dt.Seconds())
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%+.3f\t%s\t%s\n", j.Agent, j.Joint, j.Word(), cmp.Or(j.Holder, "-"),
				j.Position(), speed, cmp.Or(j.Fault, "-"))
		}
	})...)
}

// table is the lines of what fill writes, in columns.
func table(fill func(io.Writer)) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fill(w)
	w.Flush()
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// fit is page cut to the terminal. What it shows comes from names and errors: no control character reaches the
// terminal.
func fit(page []string, columns, rows int) string {
	var b strings.Builder
	for i, line := range page {
		if i == rows-1 && len(page) > rows {
			fmt.Fprintf(&b, "... %d more lines", len(page)-i)
			break
		}
		line = strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
				return '?'
			}
			return c
		}, line)
		if utf8.RuneCountInString(line) > columns {
			line = string([]rune(line)[:columns])
		}
		b.WriteString(line)
		if b.WriteString("\x1b[K"); i < len(page)-1 {
			b.WriteString("\r\n")
		}
	}
	return b.String()
}
