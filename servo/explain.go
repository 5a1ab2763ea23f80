package servo

import (
	"fmt"
	"strings"
)

// maxExplained bounds the packets of one frame that are explained.
const maxExplained = 64

// ExplainPackets collects the texts of next, packet by packet, at most maxExplained.
func ExplainPackets(next func() (string, bool)) []string { return appendPackets(nil, next) }

func appendPackets(list []string, next func() (string, bool)) []string {
	for len(list) < maxExplained {
		text, ok := next()
		if !ok {
			break
		}
		list = append(list, text)
	}
	return list
}

// ExplainStream is ExplainPackets of data that a parser takes piece by piece: feed takes bytes and returns how many.
func ExplainStream(data []byte, feed func([]byte) int, next func() (string, bool)) (list []string) {
	for len(data) > 0 && len(list) < maxExplained {
		n, before := feed(data), len(list)
		data = data[n:]
		if list = appendPackets(list, next); n == 0 && len(list) == before {
			break
		}
	}
	return list
}

// ExplainCAN collects the texts of the frames in data, whole frames of CANSize bytes. An empty text is left out.
func ExplainCAN(data []byte, text func(*CANFrame) string) (list []string) {
	for ; len(data) >= CANSize && len(list) < maxExplained; data = data[CANSize:] {
		var f CANFrame
		if ParseCAN(data[:CANSize], &f) != nil {
			continue
		}
		if t := text(&f); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// Fields is data from address addr of m in words: "present_position 2048, moving 0". Of bytes that are no whole register of
// m's table, and of all bytes where m is nil, it is the address and the bytes.
func Fields(m Model, addr int, data []byte) string {
	var words []string
	for len(data) > 0 {
		r := registerAt(m, addr)
		if r == nil || int(r.Size) > len(data) {
			n := 1
			for n < len(data) && registerAt(m, addr+n) == nil {
				n++
			}
			if r != nil {
				n = len(data)
			}
			words = append(words, fmt.Sprintf("%d: % x", addr, data[:n]))
			addr, data = addr+n, data[n:]
			continue
		}
		words = append(words, fmt.Sprintf("%s %d", r.Name, r.Decode(data)))
		addr, data = addr+int(r.Size), data[r.Size:]
	}
	return strings.Join(words, ", ")
}

// FieldNames are the registers in size bytes from addr: "present_position .. present_temperature".
func FieldNames(m Model, addr, size int) string {
	first, last := registerAt(m, addr), ""
	if first == nil {
		return fmt.Sprintf("%d bytes at %d", size, addr)
	}
	for at := addr; at < addr+size; at++ {
		if r := registerAt(m, at); r != nil {
			last = r.Name
		}
	}
	if last == first.Name {
		return last
	}
	return first.Name + " .. " + last
}

func registerAt(m Model, addr int) *Register {
	if m == nil {
		return nil
	}
	table := m.Table()
	for i := range table {
		if int(table[i].Addr) == addr {
			return &table[i]
		}
	}
	return nil
}

// JoinIDs is a list of ids: "1 2 3".
func JoinIDs(ids []byte) string { return strings.Trim(fmt.Sprint(ids), "[]") }
