package kondowire

// The numbers of the parameters (sc).
const (
	Stretch = 1 // stiffness
	Speed   = 2
	Current = 3 // written: limit; read: present
	Heat    = 4 // written: limit; read: present. The lower, the hotter
)
