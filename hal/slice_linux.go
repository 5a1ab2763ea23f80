package hal

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// slice is how long the loop's thread wants to run at a time, the shortest that the kernel gives. From Linux 6.12 on a
// thread that wakes goes before one that runs when its slice is the shorter one (EEVDF; sched_setattr(2)): what renders
// beside the loop need not come to the end of its own 3 ms first. No privilege is needed for that. Older kernels do as
// they always did.
const slice = 100 * time.Microsecond

// schedAttr is the kernel's struct sched_attr in its first size.
type schedAttr struct {
	size, policy              uint32
	flags                     uint64
	nice                      int32
	priority                  uint32
	runtime, deadline, period uint64
}

// setSlice gives the calling thread slices of d, 0 = the usual ones. A thread under another policy than the usual one, as
// chrt(1) makes it, is left as it is; so is one of a machine that knows nothing of this.
func setSlice(d time.Duration) {
	a, ok := schedOf()
	if !ok || a.policy != 0 {
		return
	}
	a.size, a.flags, a.runtime = uint32(unsafe.Sizeof(a)), 0, uint64(d)
	syscall.RawSyscall(schedSetAttr(), 0, uintptr(unsafe.Pointer(&a)), 0)
}

// schedOf is how the calling thread is scheduled.
func schedOf() (a schedAttr, ok bool) {
	n := schedSetAttr()
	if n == 0 {
		return a, false
	}
	_, _, e := syscall.RawSyscall6(n+1, 0, uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0, 0, 0)
	return a, e == 0
}

// schedSetAttr is the number of the system call, or 0; that of sched_getattr is the next one everywhere. Package syscall's
// tables are older than both.
func schedSetAttr() uintptr {
	switch runtime.GOARCH {
	case "amd64":
		return 314
	case "arm64", "riscv64", "loong64":
		return 274
	case "arm":
		return 380
	case "386":
		return 351
	}
	return 0
}
