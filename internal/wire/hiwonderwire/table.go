package hiwonderwire

// The commands without registers, and the one that writes an offset.
const (
	MoveStart    = 11 // begin the motion stored by 7
	MoveStop     = 12 // stay where you are
	AdjustOffset = 17 // until power-off
	SaveOffset   = 18 // for good
)
