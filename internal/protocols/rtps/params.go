package rtps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// The parameters of discovery data and inline QoS.
const (
	pidSentinel         = 0x01
	pidLease            = 0x02
	pidTopic            = 0x05
	pidType             = 0x07
	pidDomain           = 0x0f
	pidVersion          = 0x15
	pidVendor           = 0x16
	pidReliability      = 0x1a
	pidLiveliness       = 0x1b
	pidDurability       = 0x1d
	pidDeadline         = 0x23
	pidPartition        = 0x29
	pidUserData         = 0x2c
	pidEndpointLocator  = 0x2f
	pidDataLocator      = 0x31
	pidDiscoveryLocator = 0x32
	pidHistory          = 0x40
	pidParticipant      = 0x50
	pidBuiltin          = 0x58
	pidEndpoint         = 0x5a
	pidOwnership        = 0x1f
	pidStatus           = 0x71
	pidRepresentation   = 0x73
	pidRelated          = 0x83
	pidTag              = 0x4014
	pidRelatedOld       = 0x800f
)

// builtinSet is discovery of participants, publications and subscriptions, and liveliness.
const builtinSet = 0x3f | 0xc00

const (
	maxName     = 512
	maxUserData = 1024
)

var errParameters = errors.New("malformed parameter list")

// eachParameter calls f for each parameter of b, a list without its header, until f returns false. It returns what
// follows the list; ok is false if the list is malformed.
func eachParameter(b []byte, order binary.ByteOrder, f func(id uint16, v []byte) bool) (rest []byte, ok bool) {
	for len(b) >= 4 {
		id, n := order.Uint16(b), int(order.Uint16(b[2:]))
		b = b[4:]
		if id == pidSentinel {
			return b, true
		}
		if n > len(b) {
			return nil, false
		}
		if !f(id, b[:n]) {
			return nil, false
		}
		b = b[n:]
	}
	return nil, false
}

// list reads a payload of parameters.
func list(payload []byte, f func(order binary.ByteOrder, id uint16, v []byte) bool) error {
	if len(payload) < 4 || payload[0] != 0 || payload[1] != 2 && payload[1] != 3 {
		return errParameters
	}
	var order binary.ByteOrder = binary.LittleEndian
	if payload[1] == 2 {
		order = binary.BigEndian
	}
	if _, ok := eachParameter(payload[4:], order, func(id uint16, v []byte) bool { return f(order, id, v) }); !ok {
		return errParameters
	}
	return nil
}

func appendParameter(b []byte, id uint16, v ...byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, id)
	b = binary.LittleEndian.AppendUint16(b, uint16((len(v)+3)/4*4))
	b = append(b, v...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func appendWords(b []byte, id uint16, values ...uint32) []byte {
	return appendParameter(b, id, appendUint32s(nil, values...)...)
}

func appendText(b []byte, id uint16, s string) []byte {
	return appendParameter(b, id, append(append(appendUint32s(nil, uint32(len(s)+1)), s...), 0)...)
}

func appendOctets(b []byte, id uint16, s string) []byte {
	return appendParameter(b, id, append(appendUint32s(nil, uint32(len(s))), s...)...)
}

func appendLocator(b []byte, id uint16, at netip.AddrPort) []byte {
	ip := at.Addr().As4()
	v := append(appendUint32s(nil, 1, uint32(at.Port())), make([]byte, 12)...)
	return appendParameter(b, id, append(v, ip[:]...)...)
}

// textOf reads a text of at most most bytes.
func textOf(order binary.ByteOrder, v []byte, most int) (string, bool) {
	if len(v) < 4 {
		return "", false
	}
	n := order.Uint32(v)
	if n > uint32(len(v)-4) || n > uint32(most) {
		return "", false
	}
	return strings.TrimSuffix(string(v[4:4+n]), "\x00"), true
}

// locatorOf reads a locator of UDP over IPv4; others are the zero AddrPort.
func locatorOf(order binary.ByteOrder, v []byte) (a netip.AddrPort) {
	if len(v) < 24 || order.Uint32(v) != 1 {
		return a
	}
	if port := order.Uint32(v[4:]); port > 0 && port < 1<<16 {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(v[20:24])), uint16(port))
	}
	return a
}

// durationOf reads seconds and a fraction; infinite is the longest one.
func durationOf(order binary.ByteOrder, v []byte) time.Duration {
	const year = 365 * 24 * time.Hour
	s := int32(order.Uint32(v))
	if s < 0 || time.Duration(s) > year/time.Second {
		return infinite
	}
	return time.Duration(s)*time.Second + time.Duration(uint64(order.Uint32(v[4:]))*uint64(time.Second)>>32)
}

const infinite = time.Duration(1<<63 - 1)

// announcement is what a participant says of itself.
type announcement struct {
	guid            GUID
	vendor          [2]byte
	major           byte
	domain          uint32
	hasDomain       bool
	tag             string
	lease           time.Duration
	discovery, data []netip.AddrPort
}

func parseAnnouncement(payload []byte) (a announcement, err error) {
	a.lease, a.major = 100*time.Second, 2 // the standard's default
	bad := false
	err = list(payload, func(order binary.ByteOrder, id uint16, v []byte) bool {
		switch {
		case id == pidParticipant && len(v) >= 16:
			a.guid = GUIDOf(v)
		case id == pidVendor && len(v) >= 2:
			a.vendor = [2]byte(v)
		case id == pidVersion && len(v) >= 2:
			a.major = v[0]
		case id == pidDomain && len(v) >= 4:
			a.domain, a.hasDomain = order.Uint32(v), true
		case id == pidTag:
			var ok bool
			a.tag, ok = textOf(order, v, maxName)
			bad = bad || !ok
		case id == pidLease && len(v) >= 8:
			a.lease = durationOf(order, v)
		case id == pidDiscoveryLocator && len(a.discovery) < maxLocators:
			if at := locatorOf(order, v); at.IsValid() {
				a.discovery = append(a.discovery, at)
			}
		case id == pidDataLocator && len(a.data) < maxLocators:
			if at := locatorOf(order, v); at.IsValid() {
				a.data = append(a.data, at)
			}
		}
		return !bad
	})
	if err == nil && (a.guid.Entity != participantID || a.major != 2) {
		err = fmt.Errorf("participant: got entity %08x, version %d, want 000001c1, 2", a.guid.Entity, a.major)
	}
	return a, err
}

// maxLocators bounds the addresses of a participant.
const maxLocators = 16

// announcement is ours.
func (p *Participant) announcement() []byte {
	b := []byte{0, 3, 0, 0}
	b = appendParameter(b, pidVersion, 2, 1)
	b = appendParameter(b, pidVendor, vendor[:]...)
	b = appendWords(b, pidDomain, p.options.Domain)
	b = appendParameter(b, pidLease, appendDuration(nil, int64(p.options.Lease/time.Second), 0)...)
	b = appendParameter(b, pidParticipant, GUID{p.prefix, participantID}.Append(nil)...)
	b = appendWords(b, pidBuiltin, builtinSet)
	for _, at := range p.transport.Addresses() {
		b = appendLocator(b, pidDiscoveryLocator, at)
		b = appendLocator(b, pidDataLocator, at)
	}
	b = appendOctets(b, pidUserData, p.options.UserData)
	return appendParameter(b, pidSentinel)
}

// Endpoint is a writer or a reader, ours or a peer's.
type Endpoint struct {
	GUID        GUID
	Topic, Type string
	UserData    string
	Reliable    bool
	Transient   bool // transient local: late readers get what the writer keeps
	Depth       int  // samples kept; 0: 1. Of ours only
	// Of a peer's:
	Vendor     [2]byte
	unmatched  string        // a reason why it matches nothing of ours
	deadline   time.Duration // that it offers or wants
	liveliness uint32
	alive      time.Duration // the longest silence of a writer
	locators   []netip.AddrPort
}

func parseEndpoint(payload []byte, writer bool) (e *Endpoint, err error) {
	e = &Endpoint{Reliable: writer, deadline: infinite, alive: infinite}
	bad := false
	err = list(payload, func(order binary.ByteOrder, id uint16, v []byte) bool {
		ok := true
		switch id {
		case pidTopic:
			e.Topic, ok = textOf(order, v, maxName)
		case pidType:
			e.Type, ok = textOf(order, v, maxName)
		case pidUserData:
			e.UserData, _ = textOf(order, v, maxUserData) // what is too long is not ROS's
		case pidEndpoint:
			if ok = len(v) >= 16; ok {
				e.GUID = GUIDOf(v)
			}
		case pidEndpointLocator:
			if at := locatorOf(order, v); at.IsValid() && len(e.locators) < maxLocators {
				e.locators = append(e.locators, at)
			}
		default:
			ok = e.quality(order, id, v)
		}
		bad = bad || !ok
		return ok
	})
	if err == nil && (e.Topic == "" || e.Type == "" || e.GUID == GUID{}) {
		err = errors.New("endpoint: got no topic, type or id")
	}
	return e, err
}

// quality reads a parameter of the quality of service; false: it is malformed, or unknown and must not be.
func (e *Endpoint) quality(order binary.ByteOrder, id uint16, v []byte) bool {
	if len(v) < 4 {
		return true
	}
	switch first := order.Uint32(v); id {
	case pidReliability:
		e.Reliable = first == 2
	case pidDurability:
		e.Transient = first >= 1
	case pidDeadline:
		if len(v) >= 8 {
			e.deadline = durationOf(order, v)
		}
	case pidLiveliness:
		if e.liveliness = first; len(v) >= 12 {
			e.alive = durationOf(order, v[4:])
		}
	case pidOwnership:
		if first != 0 {
			e.unmatched = "exclusive ownership"
		}
	case pidPartition:
		if first > 1 || first == 1 && len(v) > 8 && order.Uint32(v[4:]) > 1 {
			e.unmatched = "partition"
		}
	case pidRepresentation:
		if first > 0 {
			e.unmatched = "representation"
		}
		for i := 0; i < int(min(first, 16)) && 6+2*i <= len(v); i++ {
			if order.Uint16(v[4+2*i:]) == 0 {
				e.unmatched = ""
			}
		}
	default:
		return id&0x8000 != 0 || id&0x4000 == 0
	}
	return true
}

// incompatible is why a writer and a reader do not match, "" if they do.
func incompatible(writer, reader *Endpoint) string {
	switch {
	case writer.unmatched != "":
		return writer.unmatched
	case reader.unmatched != "":
		return reader.unmatched
	case reader.Reliable && !writer.Reliable:
		return "reliability"
	case reader.Transient && !writer.Transient:
		return "durability"
	case writer.deadline > reader.deadline:
		return "deadline"
	case writer.liveliness < reader.liveliness || writer.alive > reader.alive:
		return "liveliness"
	}
	return ""
}

// describe is the SEDP data of an endpoint of ours.
func (e *Endpoint) describe() []byte {
	b := []byte{0, 3, 0, 0}
	b = appendParameter(b, pidEndpoint, e.GUID.Append(nil)...)
	b = appendText(b, pidTopic, e.Topic)
	b = appendText(b, pidType, e.Type)
	reliability, durability := uint32(1), uint32(0)
	if e.Reliable {
		reliability = 2
	}
	if e.Transient {
		durability = 1
	}
	b = appendWords(b, pidReliability, reliability, 0, 0x19999999) // 100 ms
	b = appendWords(b, pidDurability, durability)
	b = appendWords(b, pidHistory, 0, uint32(e.Depth))
	if e.UserData != "" {
		b = appendOctets(b, pidUserData, e.UserData)
	}
	return appendParameter(b, pidSentinel)
}
