package doctor

// Identity is what a servo that answers reports of itself, for what binds itself to it.
type Identity struct {
	Bus, Joint string
	ID         int
	Firmware   string
	Homing     int     // ticks, what its homing register holds; 0 where it has none
	Position   float64 // ticks; NaN = not read
}

// Identities are the servos that answered and are the value in the config, after Run.
func (d *Examination) Identities() (list []Identity) {
	for _, s := range d.met {
		list = append(list, Identity{s.Name, s.joint, int(s.id), s.firmware, int(s.homing), s.position})
	}
	return list
}
