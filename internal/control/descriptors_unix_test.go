//go:build unix

package control

import (
	"syscall"
	"testing"
)

// TestSafety14ControlSurvivesNoDescriptors: with every descriptor of the process taken a stop is still answered.
func TestSafety14ControlSurvivesNoDescriptors(t *testing.T) {
	rig, _ := openRig(t)
	order(t, OrderStatus) // until its connection is closed: what is taken below stays taken
	client, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(client)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	low := limit
	low.Cur = min(limit.Cur, 256)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Skip(err)
	}
	var taken []int
	restore := func() {
		for _, fd := range taken {
			syscall.Close(fd)
		}
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
		taken = nil
	}
	defer restore()
	for {
		fd, err := syscall.Dup(client)
		if err != nil {
			break
		}
		taken = append(taken, fd)
	}
	if err := syscall.Connect(client, &syscall.SockaddrUnix{Name: ControlSocket("arm")}); err != nil {
		t.Fatal(err)
	}
	syscall.Write(client, []byte("estop\n"))
	syscall.SetsockoptTimeval(client, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &syscall.Timeval{Sec: 3})
	var b [4096]byte
	n, err := syscall.Read(client, b[:])
	restore()
	if n <= 0 || !rig.Latched() {
		t.Errorf("estop: got %d bytes, %v, latched %v; want an answer", n, err, rig.Latched())
	}
	if ans := order(t, OrderReset); ans.Error != "" {
		t.Errorf("afterwards: got %q", ans.Error)
	}
}
