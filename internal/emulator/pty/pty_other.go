//go:build !linux

package pty

import (
	"errors"
	"time"
)

// PTY is a pseudo terminal on Linux; it is not supported here.
type PTY struct{ Path string }

var errLinux = errors.New("pty: want Linux: other systems do not report a client's baud rate")

// Open always fails.
func Open(baud int) (*PTY, error) { return nil, errLinux }

// The rest is never reached.
func (p *PTY) Baud() int                                      { return 0 }
func (p *PTY) Read(b []byte, deadline time.Time) (int, error) { return 0, errLinux }
func (p *PTY) Interrupt()                                     {}
func (p *PTY) Write(b []byte) (int, error)                    { return 0, errLinux }
func (p *PTY) Release()                                       {}
func (p *PTY) Unplug() error                                  { return nil }
func (p *PTY) Close() error                                   { return nil }
