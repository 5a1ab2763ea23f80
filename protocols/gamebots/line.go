package gamebots

// lineReader splits the bytes of read into lines. It uses no memory beyond its buffer: a line that does not fit is
// dropped up to its end, with one errLong for each full buffer.
type lineReader struct {
	read       func([]byte) (int, error)
	buf        []byte
	start, end int  // of what is read and not returned
	dropping   bool // up to the next line end
}

// line returns the next line that is not empty, without its end; it is valid until the next call.
func (r *lineReader) line() ([]byte, error) {
	scanned := r.start
	for {
		for ; scanned < r.end; scanned++ {
			if c := r.buf[scanned]; c != '\n' && c != '\r' {
				continue
			}
			line := r.buf[r.start:scanned]
			r.start = scanned + 1
			if len(line) > 0 && !r.dropping {
				return line, nil
			}
			r.dropping = false
		}
		if r.start > 0 {
			r.end = copy(r.buf, r.buf[r.start:r.end])
			r.start = 0
		}
		if r.end == len(r.buf) {
			r.end, r.dropping = 0, true
			return nil, errLong
		}
		scanned = r.end
		n, err := r.read(r.buf[r.end:])
		r.end += n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}
