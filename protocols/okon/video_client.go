package okon

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// VideoClient is the client of one video channel, Halyard's or an original of 2020. It belongs to one goroutine.
type VideoClient struct {
	conn    net.Conn
	in      *bufio.Reader
	timeout time.Duration
}

// DialVideo connects to the video channel at address. timeout is that of connecting and of each picture; 0 = 10 s.
func DialVideo(address string, timeout time.Duration) (*VideoClient, error) {
	conn, timeout, err := dial(address, timeout)
	if err != nil {
		return nil, err
	}
	return &VideoClient{conn: conn, in: bufio.NewReader(conn), timeout: timeout}, nil
}

// Close closes the connection.
func (v *VideoClient) Close() error { return v.conn.Close() }

// Next requests a picture newer than the last one, waits for it, and returns its JPEG. A Refusal reports that there is
// no picture; after any other error only Close may be called.
func (v *VideoClient) Next() ([]byte, error) {
	v.conn.SetDeadline(time.Now().Add(v.timeout))
	if _, err := v.conn.Write([]byte{byte(legacyVideo)}); err != nil {
		return nil, fault(legacyVideo, err)
	}
	t, err := v.in.ReadByte()
	if err != nil {
		return nil, fault(legacyVideo, err)
	}
	if Type(t) == failure { // in the control channel's form: a flag is before the length
		_, err = v.in.ReadByte()
	} else if Type(t) != legacyVideo {
		err = fmt.Errorf("answer: got %v, want %v", Type(t), legacyVideo)
	}
	if err != nil {
		return nil, fault(legacyVideo, err)
	}
	var header [4]byte
	if _, err := io.ReadFull(v.in, header[:]); err != nil {
		return nil, fault(legacyVideo, err)
	}
	n := int32(binary.LittleEndian.Uint32(header[:]))
	if n < 0 || n > maxReply {
		return nil, fault(legacyVideo, fmt.Errorf("%d bytes, want 0..%d: %w", n, maxReply, errLength))
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(v.in, b); err != nil {
		return nil, fault(legacyVideo, err)
	}
	if Type(t) == failure {
		return nil, refusal(b)
	}
	return b, nil
}
