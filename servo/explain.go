package servo

import (
	"fmt"
	"strings"
)

// maxExplained bounds the packets of one frame that are explained.
const maxExplained = 64

// Packets returns an iterator over the packets of data: feed passes bytes to a parser and returns how many it has
// taken, next reports whether the parser has found another packet.
func Packets(data []byte, feed func([]byte) int, next func() bool) func(yield func() bool) {
	return func(yield func() bool) {
		for len(data) > 0 {
			n := feed(data)
			if data = data[n:]; n == 0 {
				return
			}
			for next() {
				if !yield() {
					return
				}
			}
		}
	}
}

// ExplainPackets collects the texts of Packets, at most maxExplained. text explains the packet that next has found.
func ExplainPackets(data []byte, feed func([]byte) int, next func() bool, text func() string) (list []string) {
	for range Packets(data, feed, next) {
		if list = append(list, text()); len(list) == maxExplained {
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

// Fields is data from address addr of m in words: "present_position 2048, moving 0". Of bytes that are no whole
// register of m's table, and of all bytes where m is nil, it is the address and the bytes.
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
