package main

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
)

// pick reports which of those that answer belong to which joints: the one that is new to joint i, or several that all have
// their places already to theirs. Else it reports why not, and what to do. stranger reports that no device of the line is known.
func (w *walk) pick(found []commission.FoundServo, i int, stranger bool) (fresh map[int]*commission.FoundServo, why string) {
	j, all := &w.joints[i], make([]string, len(found))
	fresh = map[int]*commission.FoundServo{}
	var strange []*commission.FoundServo // those that are not in place
	for k := range found {
		f := &found[k]
		if all[k] = fmt.Sprintf("id %d (%s, %d Bd)", f.ID, f.Named(), f.Baud); f.Finding == commission.CollisionText {
			return nil, w.collision(f)
		}
		switch at := w.placeOf(f); {
		case at < 0:
			strange = append(strange, f)
		case stranger || !w.joints[at].Done():
			fresh[at] = f
		}
	}
	switch n := len(fresh) + len(strange); {
	case len(found) == 0:
		return nil, "no reply: check the servo's power and cable"
	case n == 0:
		return nil, fmt.Sprintf("only %s answers, which is done: connect the servo of %s; if it is connected, it has the id of one that is done: connect only that servo and type %s",
			strings.Join(all, " and "), j.Name, commission.ItIsNew)
	case len(strange) == 0 && n > 1 && !stranger:
		// Ids that differ are nobody's as they come, but for the one that all have.
		if last := len(w.joints) - 1; n < len(w.joints) && w.joints[last].Novice() {
			delete(fresh, last)
		}
		return fresh, ""
	case n > 1:
		return nil, fmt.Sprintf("%s reply: connect only the servo of %s", strings.Join(all, " and "), j.Name)
	case len(strange) == 0: // it may be new, with the id of another joint
		for _, f := range fresh {
			strange = append(strange, f)
		}
	}
	if one := strange[0]; !w.fits(one, i) {
		return nil, fmt.Sprintf("it is %s, want %s of %s: connect another, or correct %s", one.Article(), commission.Article(j.Model.Units().Name), j.Name, w.config)
	}
	return map[int]*commission.FoundServo{i: strange[0]}, ""
}

// collision is what to do about several servos with the id of f.
func (w *walk) collision(f *commission.FoundServo) string {
	for i := range w.joints {
		if j := &w.joints[i]; j.ID == f.ID && f.Baud == w.baud && j.Done() {
			return fmt.Sprintf("several servos answer at id %d, the one of %s: take that off the line until this one has its own", f.ID, j.Name)
		}
	}
	return fmt.Sprintf("several servos reply at id %d: connect only one", f.ID)
}

// placeOf is the joint in whose place f is, by its id, rate and model; -1 where it is in nobody's.
func (w *walk) placeOf(f *commission.FoundServo) int {
	for i := range w.joints {
		if w.joints[i].ID == f.ID && f.Baud == w.baud && w.fits(f, i) {
			return i
		}
	}
	return -1
}

// fits reports whether f can be the servo of joint i: some models report the same of themselves, and some report none.
func (w *walk) fits(f *commission.FoundServo, i int) bool {
	want := w.joints[i].Model
	if f.Type != w.kind || f.Model == want.Units().Name {
		return f.Type == w.kind
	}
	t := catalog.BuiltinBuses().Of(w.kind)
	return t.Same != nil && t.Same(want, t.Lookup(f.Model))
}
