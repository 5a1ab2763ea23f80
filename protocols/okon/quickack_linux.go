package okon

import (
	"net"
	"syscall"
)

// quickAck returns a function that acknowledges all bytes received on conn at once; nil if conn is not a TCP
// connection. A client that writes a packet in pieces waits for the acknowledgement of each (Nagle), which the kernel
// would otherwise delay by up to 40 ms. The kernel leaves that mode by itself, so it is set before each wait.
func quickAck(conn net.Conn) func() {
	c, ok := conn.(interface {
		SyscallConn() (syscall.RawConn, error)
	})
	if !ok {
		return nil
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil
	}
	set := func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) }
	return func() { raw.Control(set) }
}
