package i2c

import (
	"os"

	"golang.org/x/sys/unix"
)

// i2cSlave sets the address of a descriptor's reads and writes (linux/i2c-dev.h).
const i2cSlave = 0x0703

// File opens the bus once more, only for the device at addr.
func (b *Bus) File(addr uint16) (*os.File, error) {
	f, err := os.OpenFile(b.path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	raw, err := f.SyscallConn()
	if err == nil {
		if e := raw.Control(func(fd uintptr) { err = unix.IoctlSetInt(int(fd), i2cSlave, int(addr)) }); e != nil {
			err = e
		}
	}
	if err != nil {
		f.Close()
		return nil, os.NewSyscallError("I2C_SLAVE", err)
	}
	return f, nil
}
