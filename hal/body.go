package hal

import "time"

// Body is a robot. One goroutine at a time calls it, the rig's; every call is bounded in time and, after the first
// cycle, allocates nothing. Write and Read return the faults of the whole body; the fault of one device is in
// Frame.Status, so that one silent servo costs one joint.
//
//   - An actuator with Enable false has no torque. When Enable turns true its goal is its present position until an
//     input is set otherwise, so that nothing moves at torque-on.
//   - Of an actuator's goals at most one is not NaN; that one sets its mode. All NaN keeps mode and goal.
//   - A torque limit that is NaN keeps its value; at first it is the actuator's MaxTorque. At 0 the torque is off.
//   - Read fills all measurements and every Status; a value that a device did not send keeps its old value and time.
type Body interface {
	Layout() *Layout
	Write(f *Frame) error
	Read(f *Frame) error
	// Halt makes the body inert: no torque, safe at any time and twice. Its error joins one *Error with Joint set for
	// each joint that did not acknowledge; an Error without a joint means that none did.
	Halt() error
}

// World is the environment of a body that advances with time: a physics scene, or the physical world.
type World interface {
	// Advance lets dt pass. In the physical world it returns at once: the rig follows the wall clock.
	Advance(dt time.Duration) error
}

// Bus is a line that several bodies may share. Bodies stage goals in Write and take states in Read; between them the
// rig sends once and receives once for all that is on the line, all buses side by side.
type Bus interface {
	Send() error    // hands on every staged goal
	Receive() error // asks for every state; blocks for the line's time at most
}

// pacer is a Bus whose exchange may span several cycles, each with its Send and Receive; values of it come in the last
// one. The rig follows the pace that the bus reports, and journals it: a replay has the same cycles.
type pacer interface {
	Bus
	BusName() string
	Pace(period time.Duration) (cycles int) // that an exchange takes, by the last ones
	SetPace(cycles int, period time.Duration)
}

// MaxPace is how many cycles of period an exchange may span: joints with older readings would be taken for lost.
func MaxPace(period time.Duration) int {
	return max(1, int((max(blindAfter, 4*period)/period+1)/2))
}

// PhysicalWorld is the World of real bodies: only the rig's clock advances it.
type PhysicalWorld struct{}

// Advance does nothing.
func (PhysicalWorld) Advance(time.Duration) error { return nil }
