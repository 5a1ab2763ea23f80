package gpiochip

// Requests of the character device: direction and size are part of the number (_IOR and _IOWR of 0xB4).
const (
	GetChipInfo = 0x8044B401 // chip node: chipInfoSize
	GetLineInfo = 0xC100B405 // chip node: lineInfoSize; its offset is read, the rest written
	GetLine     = 0xC250B407 // chip node: requestSize; the descriptor of the line node is written
	GetValues   = 0xC010B40E // line node: valuesSize; its mask is read, its bits written
	SetValues   = 0xC010B40F // line node: valuesSize
)

// Sizes of the structures, and where their fields are. All are of the machine's own byte order, and the same on all
// machines.
const (
	chipInfoSize = 68 // name[32] label[32] lines u32
	atLabel      = 32
	AtLines      = 64

	lineInfoSize = 256 // name[32] consumer[32] offset u32, num_attrs u32, flags u64, attrs[10], padding
	atConsumer   = 32
	atOffset     = 64
	atInfoAttrs  = 68
	atInfoFlags  = 72

	// offsets u32[64] consumer[32] config{flags u64, num_attrs u32, padding, attrs[10]} num_lines u32,
	// event_buffer_size u32, padding, fd s32
	requestSize   = 592
	atReqConsumer = 256
	atReqFlags    = 288
	atReqAttrs    = 296 // how many
	atReqAttr     = 320 // the first: attrSize each
	atReqLines    = 560
	atReqBuffer   = 564
	atReqFD       = 588
	attrSize      = 24 // id u32, padding, value u64, mask u64 of the lines by their place in offsets
	atAttrValue   = 8
	atAttrMask    = 16
	maxAttributes = 10

	ValuesSize = 16 // bits u64, mask u64
	atMask     = 8

	EventSize   = 48 // timestamp_ns u64, id u32, offset u32, seqno u32, line_seqno u32, padding[6]
	atEventID   = 8
	atEventLine = 12
	atEventSeq  = 16
	atLineSeq   = 20

	nameSize = 32 // of names and labels, the final zero included

	// MaxLines is how many lines one request may have, and MaxEvents how many edges the kernel keeps for it at most.
	MaxLines  = 64
	MaxEvents = 16 * MaxLines
)

// Flags are what a line is or must be (enum gpio_v2_line_flag).
type Flags uint64

// The flags.
const (
	Used         Flags = 1 << iota // in use
	ActiveLow                      // its active level is the low one; values and edges are by activity
	Input                          // as which it was asked for
	Output                         //
	EdgeRising                     // edges to activity are reported
	EdgeFalling                    // and to inactivity
	OpenDrain                      // an output that pulls down or floats
	OpenSource                     // or pulls up or floats
	PullUp                         // a resistor inside the chip, where it has one
	PullDown                       //
	BiasDisabled                   //
	ClockWall                      // edges are stamped by the wall's clock, not the monotonic one
)

// The attributes of a request, which hold for some of its lines.
const (
	attrFlags    = 1 // value: Flags
	attrValues   = 2 // value: bits, of outputs
	attrDebounce = 3 // value: µs in its low half
)

// The edges of an event.
const (
	edgeRising  = 1
	edgeFalling = 2
)
