package protocols

import "bytes"

// LineReader splits the bytes of Read into lines. It uses no memory beyond Buf: a line that does not fit is dropped up
// to its end, with one error Long for each full buffer.
type LineReader struct {
	Read func([]byte) (int, error)
	Buf  []byte
	Ends string // the bytes that end a line
	Long error

	start, end int  // of the bytes that were read and not returned
	dropping   bool // up to the next line end
}

// Next returns the next line without its end; it is valid until the next call.
func (r *LineReader) Next() ([]byte, error) {
	scanned := r.start
	for {
		if i := bytes.IndexAny(r.Buf[scanned:r.end], r.Ends); i >= 0 {
			line := r.Buf[r.start : scanned+i]
			r.start = scanned + i + 1
			if r.dropping {
				r.dropping, scanned = false, r.start
				continue
			}
			return line, nil
		}
		if r.start > 0 {
			r.end = copy(r.Buf, r.Buf[r.start:r.end])
			r.start = 0
		}
		if r.end == len(r.Buf) {
			r.end, r.dropping = 0, true
			return nil, r.Long
		}
		scanned = r.end
		n, err := r.Read(r.Buf[r.end:])
		r.end += n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

// Ahead reads once with read, for Next, where there is room. It ends the use of the line that Next returned last.
func (r *LineReader) Ahead(read func([]byte) (int, error)) error {
	if r.start > 0 {
		r.end = copy(r.Buf, r.Buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.Buf) {
		return nil
	}
	n, err := read(r.Buf[r.end:])
	r.end += n
	return err
}
