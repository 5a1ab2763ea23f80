package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
)

// Devices that reply where none should: they explain why the expected ones do not. Only checked if a servo is silent.

// farthestStranger is the highest id that a stranger is looked for at: people count from one, and makers from zero.
const farthestStranger = 30

// lone reports what replies on a line whose servos are all silent, in one finding; false if nothing does.
func (b *BusCheck) lone(ctx context.Context) (reported bool, err error) {
	f := commission.Finder{Line: b.line, Port: b.port(), Latency: b.latency, Bauds: []int{b.Config.Baud},
		Buses: b.plan.Catalog.Buses,
		Types: []string{b.Config.Type}}
	other, ids, err := b.elsewhere(ctx, &f)
	if err != nil {
		return false, err
	}
	if other != "" {
		b.fail("port", hal.BusFault, fmt.Sprintf("the servos of bus %s answer here, at ids %s; none of its own does",
			other, ids),
			fmt.Sprintf("swap buses.%s.port and buses.%s.port, or the plugs", b.Name, other))
		return true, nil
	}
	known, err := b.strangers(ctx, &f)
	if err != nil {
		return false, err
	}
	if len(known) > 0 {
		b.fail("servo", hal.Absent, fmt.Sprintf("none of the %d servos answers, but %s, which no joint has",
			len(b.servos), strings.Join(known, ", ")),
			"put their ids into the config, or give them those of the config: halyard setup "+b.port()+
				" --id N --new-id M")
		return true, nil
	}
	return b.misspoken(ctx)
}

// misspoken checks whether the servos reply in another protocol than that of the bus type.
func (b *BusCheck) misspoken(ctx context.Context) (reported bool, err error) {
	if b.row.Even {
		return false, nil // with another parity every reply is damaged
	}
	f := commission.Finder{Line: b.line, Port: b.port(), Latency: b.latency, Bauds: []int{b.Config.Baud},
		Buses: b.plan.Catalog.Buses}
	for _, rate := range []int{1000000, 57600, 115200} { // those that servos come with
		if rate != b.Config.Baud {
			f.Bauds = append(f.Bauds, rate)
		}
	}
	all, err := b.plan.Catalog.Buses.Scanned("all")
	if err != nil {
		return false, err
	}
	// Of types with the same packets the first is asked for, whose servos the model tells apart.
	for _, kind := range all {
		if kind != b.Config.Type && !b.plan.Catalog.Buses.Of(kind).Alone {
			f.Types = append(f.Types, kind)
		}
	}
	ids := []int{1}
	for _, s := range b.servos {
		if id := int(s.id); id != 1 && len(ids) < 3 {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		spots, err := f.Find(ctx, id, false)
		if errors.Is(err, servo.ErrDisconnected) || ctx.Err() != nil {
			return false, errors.Join(err, ctx.Err())
		}
		if len(spots) == 0 || spots[0].Model == nil {
			continue
		}
		at := spots[0]
		b.fail("protocol", hal.Invalid, fmt.Sprintf("a %s answers at id %d in protocol %s, want %s",
			at.Model.Units().Name, id, at.Type, b.Config.Type),
			fmt.Sprintf("set buses.%s.type to %s, its baud to %d, and the joints' model to %s", b.Name, at.Type,
				at.Baud, at.Model.Units().Name))
		return true, nil
	}
	return false, nil
}

// elsewhere looks whether the servos of another bus of the config hang here: two adapters are swapped.
func (b *BusCheck) elsewhere(ctx context.Context, f *commission.Finder) (bus, ids string, err error) {
	own := map[int]bool{}
	for _, s := range b.servos {
		own[int(s.id)] = true
	}
	for _, name := range report.SortedKeys(b.plan.Config.Buses) {
		other := b.plan.Config.Buses[name]
		if name == b.Name || other.Type != b.Config.Type {
			continue
		}
		foreign := slices.DeleteFunc(b.plan.IdsOn(name), func(id int) bool { return own[id] })
		met, err := b.answering(ctx, f, foreign)
		if err != nil {
			return "", "", err
		}
		var texts []string
		for _, s := range met {
			texts = append(texts, fmt.Sprint(s.ID))
		}
		if len(met) > 0 {
			return name, strings.Join(texts, ", "), nil
		}
	}
	return "", "", nil
}

// answering returns the servos of the bus's protocol that answer at ids.
func (b *BusCheck) answering(ctx context.Context, f *commission.Finder, ids []int) (met []commission.Spot, err error) {
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, there, err := f.Probe(commission.Place{Baud: b.Config.Baud, Type: b.Config.Type, ID: id})
		if err != nil {
			return nil, err
		}
		if there && s.Model != nil {
			met = append(met, s)
		}
	}
	return met, nil
}

// strangers are the servos of the bus's protocol that answer at an id that no joint has, each as "a MODEL at id N".
func (b *BusCheck) strangers(ctx context.Context, f *commission.Finder) (known []string, err error) {
	if b.row.Alone {
		return nil, nil // another of its line is no stranger's answer, but a whole line's
	}
	var free []int
	for id, taken := 0, b.plan.IdsOn(b.Name); id <= farthestStranger; id++ {
		if !slices.Contains(taken, id) {
			free = append(free, id)
		}
	}
	met, err := b.answering(ctx, f, free)
	for _, s := range met {
		known = append(known, fmt.Sprintf("a %s at id %d", s.Model.Units().Name, s.ID))
	}
	return known, err
}
