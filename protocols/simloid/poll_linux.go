package simloid

import "syscall"

const canPoll = true

// look reads once without waiting, and reports whether there was nothing yet.
func look(fd uintptr, to []byte) (n int, again bool) {
	n, err := syscall.Read(int(fd), to)
	return max(n, 0), err == syscall.EAGAIN || err == syscall.EINTR
}

// yield lets other threads run on this core.
func yield() { syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
