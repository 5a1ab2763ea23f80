package record

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/foxglove/mcap/go/mcap"
)

// attachments passes a file on to the lexer, except for its attachments, which it reads itself: the lexer (mcap v1.7.3)
// allocates what a length in them claims, up to 4 GB.
//
//	09 SIZE[8] log time[8] create time[8] N[4] name M[4] media type K[8] data CRC[4]
type attachments struct {
	in    *bufio.Reader
	pass  uint64 // bytes of the record that is passed on
	size  uint64 // of the attachments read
	names map[string]bool
	files []File
}

// attachedType is the media type of every attachment.
const attachedType = "application/octet-stream"

// readable parts the files that a reader takes from the names of the others.
func readable(files []File) (list []File, absent []string) {
	const lengths = 8 + 8 + 4 + 4 + 8 + 4
	total := 0
	for _, f := range files {
		size := lengths + len(f.Name) + len(attachedType) + len(f.Data)
		if size > maxAttachment || total+size > maxAttached || len(list) == maxAttachments {
			absent = append(absent, f.Name)
			continue
		}
		total += size
		list = append(list, f)
	}
	return list, absent
}

// newAttachments begins after the magic of r, which is passed on.
func newAttachments(r io.Reader) *attachments {
	return &attachments{in: bufio.NewReader(r), pass: uint64(len(mcap.Magic)), names: map[string]bool{}}
}

// recordHead is the length of a record's opcode and size.
const recordHead = 1 + 8

func (a *attachments) Read(p []byte) (int, error) {
	for a.pass == 0 {
		head, err := a.in.Peek(recordHead)
		if len(head) == 0 {
			return 0, err
		}
		if len(head) < recordHead { // the magic at the end, or a cut
			a.pass = uint64(len(head))
			break
		}
		size := binary.LittleEndian.Uint64(head[1:])
		if mcap.OpCode(head[0]) != mcap.OpAttachment {
			a.pass = recordHead + min(size, math.MaxInt64)
			break
		}
		if err := a.attach(size); err != nil {
			return 0, err
		}
	}
	n, err := a.in.Read(p[:min(uint64(len(p)), a.pass)])
	a.pass -= uint64(n)
	return n, err
}

// attach reads an attachment of size bytes. Its name is a path below the folder of the config.
func (a *attachments) attach(size uint64) error {
	number := len(a.files) + 1
	if size > maxAttachment || a.size+size > maxAttached || number > maxAttachments {
		return fmt.Errorf("attachment %d: got %d bytes after %d, want at most %d each, %d in all, in %d attachments",
			number, size, a.size, maxAttachment, maxAttached, maxAttachments)
	}
	a.size += size
	all, err := io.ReadAll(io.LimitReader(a.in, int64(recordHead+size)))
	if err == nil && uint64(len(all)) < recordHead+size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("attachment %d: %w", number, err)
	}
	rest := all[recordHead:]
	next := func(n uint64) (field []byte) {
		if n > uint64(len(rest)) {
			n, err = uint64(len(rest)), io.ErrUnexpectedEOF
		}
		field, rest = rest[:n], rest[n:]
		return field
	}
	length := func(size uint64) uint64 {
		var b [8]byte
		copy(b[:], next(size))
		return binary.LittleEndian.Uint64(b[:])
	}
	next(8 + 8) // the times
	name := string(next(length(4)))
	next(length(4)) // the media type
	data := next(length(8))
	switch next(4); {
	case err != nil:
		return fmt.Errorf("attachment %d: %w", number, err)
	case path.IsAbs(name) || path.Clean(name) != name || strings.HasPrefix(name, "..") ||
		strings.ContainsAny(name, "\\\x00"):
		return fmt.Errorf("attachment: got name %.80q, want a path within the config's folder", name)
	case a.names[name]:
		return fmt.Errorf("attachment %q: got two of that name", name)
	}
	a.names[name] = true
	a.files = append(a.files, File{name, data})
	return nil
}
