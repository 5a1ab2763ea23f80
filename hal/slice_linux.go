package hal

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// slice is the requested time slice of the loop's thread, the kernel's minimum. From Linux 6.12 on a waking thread
// preempts a running one with a longer slice (EEVDF; sched_setattr(2)), so the loop need not wait for the end of a
// render thread's 3 ms. This needs no privilege. On older kernels it has no effect.
const slice = 100 * time.Microsecond

// schedAttr is the kernel's struct sched_attr in its first size.
type schedAttr struct {
	size, policy              uint32
	flags                     uint64
	nice                      int32
	priority                  uint32
	runtime, deadline, period uint64
}

// setSlice sets the slice of the calling thread to d, 0 = the default. It does not change a thread with another
// scheduling policy, as set by chrt(1), nor one on a kernel without this feature.
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

// schedSetAttr is the number of the system call, or 0; that of sched_getattr is the next one everywhere. Package
// syscall's tables are older than both.
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
