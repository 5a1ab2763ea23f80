package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/halyard-robotics/halyard/hal"
)

// reference stores the ticks of a pose with known angles.
func (g *Guide) reference(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return m.Reference == nil })
	if len(list) == 0 {
		return nil
	}
	g.screen(1, "reference pose", list)
	g.printf("Move these joints to 0 degrees, as the robot's model has them. A joint that you hold at another " +
		"angle: type JOINT=DEGREES.")
	for _, j := range list {
		if j.Drawn != "" {
			g.printf("  %-16s %s", j.Name, j.Drawn)
		}
	}
	angles := map[string]float64{}
	for {
		text, err := g.ask(ctx, "Enter when they are there")
		if err != nil {
			return err
		}
		if text == "" {
			if g.well(list) {
				break
			}
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if j := g.robot.Joint(strings.TrimSpace(name)); j == nil || !slices.Contains(list, j) || err != nil ||
			!(math.Abs(v) <= 360) {
			g.printf("got %q, want Enter, or JOINT=DEGREES of one of these joints", text)
			continue
		}
		angles[strings.TrimSpace(name)] = v * degree
	}
	g.stand.count(list)
	for _, w := range g.stand.seen() {
		if slices.Contains(list, w.Joint) {
			m := g.notes.of(w.Name)
			m.Reference, m.Angle = &w.ticks, angles[w.Name]
			g.printf("  %s: tick %.0f is %.1f degrees", w.Name, w.ticks, m.Angle/degree)
		}
	}
	return g.keep()
}

// direction sees which way each joint's ticks count.
func (g *Guide) direction(ctx context.Context) error {
	list := g.missing(func(m *measured) bool { return m.Direction == 0 })
	if len(list) == 0 {
		return nil
	}
	g.screen(2, "direction", list)
	g.printf("Turn each joint a little, by some 20 degrees, in its positive direction:")
	for _, j := range list {
		g.printf("  %-16s %s", j.Name, j.Positive)
	}
	for len(list) > 0 {
		if _, err := g.choose(ctx, "Enter when all are turned", ""); err != nil {
			return err
		}
		g.well(list)
		for _, w := range g.stand.seen() {
			m := g.notes.of(w.Name)
			if !slices.Contains(list, w.Joint) {
				continue
			}
			turn := (w.near(*m.Reference, w.ticks) - *m.Reference) / w.by.TicksPerTurn * 2 * math.Pi
			if !(math.Abs(turn) >= leastTurn) {
				g.printf("  %s did not turn: at tick %.0f still", w.Name, w.ticks)
				continue
			}
			m.Direction = 1
			if turn < 0 {
				m.Direction = -1
			}
			g.printf("  %s: ticks %s", w.Name, map[int]string{1: "rise", -1: "fall"}[m.Direction])
		}
		if err := g.keep(); err != nil {
			return err
		}
		list = g.missing(func(m *measured) bool { return m.Direction == 0 })
	}
	return nil
}

// sweep stores the ends of each joint's travel.
func (g *Guide) sweep(ctx context.Context) error {
	none := func(m *measured) bool { return m.Low == nil }
	list := g.missing(none)
	if len(list) == 0 {
		return nil
	}
	g.screen(3, "range", list)
	g.printf("Move each joint through its whole travel, from end to end, as slowly as you like; or let the servos " +
		"find the stops of some: stops JOINT ...")
	g.stand.forget()
	for len(list) > 0 {
		text, err := g.watch(ctx, list, "Enter when all have been at both ends; t shows the table")
		if err != nil {
			return err
		}
		if words := strings.Fields(text); len(words) > 0 && words[0] == "stops" {
			if err := g.stops(ctx, list, words[1:]); err != nil {
				return err
			}
			list = g.missing(none)
			g.stand.forget()
			continue
		}
		g.table(list)
		if text != "" {
			continue
		}
		g.well(list)
		for _, w := range g.stand.seen() {
			switch m := g.notes.of(w.Name); {
			case !slices.Contains(list, w.Joint):
			case !((w.high-w.low)/w.by.TicksPerTurn*2*math.Pi >= leastTurn):
				g.printf("  %s did not move", w.Name)
			default:
				low, high := w.low, w.high
				if middle := (low + high) / 2; high-low <= w.by.TicksPerTurn {
					shift := w.near(*m.Reference, middle) - middle
					low, high = low+shift, high+shift
				}
				m.Low, m.High = &low, &high
			}
		}
		if err := g.keep(); err != nil {
			return err
		}
		list = g.missing(none)
	}
	return nil
}

// watch prompts and, for a real robot with Live, redraws the table until the answer.
func (g *Guide) watch(ctx context.Context, list []*Joint, prompt string) (string, error) {
	if g.Live == nil || !g.stand.real {
		return g.ask(ctx, "%s", prompt)
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	g.printf("%s", prompt)
	go func() {
		text, err := g.In.Line(ctx)
		got <- answer{text, err}
	}()
	for drawn := false; ; drawn = true {
		if drawn {
			fmt.Fprintf(g.Out, "\x1b[%dA", len(list)+1) // over the last one
		}
		g.table(list)
		select {
		case a := <-got:
			if errors.Is(a.err, io.EOF) {
				return "", g.ended()
			}
			return a.text, a.err
		case <-g.Live:
		}
	}
}

// ended is the error of an input that has no more answers.
func (g *Guide) ended() error {
	command, why := cmp.Or(g.command, "calibrate"), "the input ended"
	if g.command == "" {
		why += ": what was measured is kept"
	}
	return &hal.Error{Kind: hal.Unexpected, Op: command, Err: errors.New(why), Try: "halyard " + command + " " + g.Config}
}

// table shows where the joints are and were.
func (g *Guide) table(list []*Joint) {
	out := tabwriter.NewWriter(g.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "  JOINT\tMIN\tNOW\tMAX\tTURNED deg")
	for _, w := range g.stand.seen() {
		if slices.Contains(list, w.Joint) {
			fmt.Fprintf(out, "  %s\t%.0f\t%.0f\t%.0f\t%.1f\n", w.Name, w.low, w.ticks, w.high,
				(w.high-w.low)*360/w.by.TicksPerTurn)
		}
	}
	out.Flush()
}
