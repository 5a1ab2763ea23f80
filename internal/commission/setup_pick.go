package commission

import (
	"fmt"
	"strings"
)

// ItIsNew is the user's answer if the servo on the line is new although its id is that of a servo set up before.
const ItIsNew = "new"

// pick assigns the servos that answer to joints: one new servo to joint i, or several that have their joints' ids
// already to those joints. Otherwise why is the reason and the fix. stranger: no device of the line is known.
func (w *Walk) pick(found []FoundServo, i int, stranger bool) (fresh map[int]*FoundServo, why string) {
	j, all := &w.Joints[i], make([]string, len(found))
	fresh = map[int]*FoundServo{}
	var strange []*FoundServo // those without a joint
	for k := range found {
		f := &found[k]
		if all[k] = fmt.Sprintf("id %d (%s, %d Bd)", f.ID, f.Named(), f.Baud); f.Finding == CollisionText {
			return nil, w.collision(f)
		}
		switch at := w.placeOf(f); {
		case at < 0:
			strange = append(strange, f)
		case stranger || !w.Joints[at].Done():
			fresh[at] = f
		}
	}
	switch n := len(fresh) + len(strange); {
	case len(found) == 0:
		return nil, "no reply: check the servo's power and cable"
	case n == 0:
		return nil, fmt.Sprintf("only %s answers, which is done: connect the servo of %s; if it is connected, it "+
			"has the id of one that is done: connect only that servo and type %s",
			strings.Join(all, " and "), j.Name, ItIsNew)
	case len(strange) == 0 && n > 1 && !stranger:
		// Different ids do not come from the factory, except the one default id.
		if last := len(w.Joints) - 1; n < len(w.Joints) && w.Joints[last].Novice() {
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
		return nil, fmt.Sprintf("it is %s, want %s of %s: connect another, or correct %s", one.Article(),
			Article(j.Model.Units().Name), j.Name, w.Config)
	}
	return map[int]*FoundServo{i: strange[0]}, ""
}

// collision is what to do about several servos with the id of f.
func (w *Walk) collision(f *FoundServo) string {
	for i := range w.Joints {
		if j := &w.Joints[i]; j.ID == f.ID && f.Baud == w.Baud && j.Done() {
			return fmt.Sprintf("several servos answer at id %d, the one of %s: take that off the line until this "+
				"one has its own", f.ID, j.Name)
		}
	}
	return fmt.Sprintf("several servos reply at id %d: connect only one", f.ID)
}

// placeOf returns the joint that f matches by id, baud rate and model; -1 if none.
func (w *Walk) placeOf(f *FoundServo) int {
	for i := range w.Joints {
		if w.Joints[i].ID == f.ID && f.Baud == w.Baud && w.fits(f, i) {
			return i
		}
	}
	return -1
}

// fits reports whether f can be the servo of joint i: some models report the same model number, and some report none.
func (w *Walk) fits(f *FoundServo, i int) bool {
	want := w.Joints[i].Model
	if f.Type != w.Kind || f.Model == want.Units().Name {
		return f.Type == w.Kind
	}
	t := w.Buses.Of(w.Kind)
	return t.Same != nil && t.Same(want, t.Lookup(f.Model))
}
