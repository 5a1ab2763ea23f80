package osp

import "time"

// outbox keeps the datagrams of one answer until its client has acknowledged them, so that they can be sent again.
// Its memory is used again for the next answer.
type outbox struct {
	data    []byte
	ends    []int // of each datagram in data
	waiting bool  // for the acknowledgement
	sent    time.Time
	tries   int // how often it was sent again
}

// begin clears the outbox.
func (o *outbox) begin() {
	o.data, o.ends, o.waiting = o.data[:0], o.ends[:0], false
}

// add appends a datagram. It reports whether it fits the protocol's bound; if not, it is left out.
func (o *outbox) add(d *Datagram) bool {
	start := len(o.data)
	data := Append(o.data, d)
	if len(data)-start > MaxDatagram {
		return false
	}
	o.data, o.ends = data, append(o.ends, len(data))
	return true
}

// wait starts to wait for the acknowledgement at time now.
func (o *outbox) wait(now time.Time) { o.waiting, o.sent, o.tries = true, now, 0 }

// each calls f for every datagram, in order.
func (o *outbox) each(f func([]byte)) {
	start := 0
	for _, end := range o.ends {
		f(o.data[start:end])
		start = end
	}
}
