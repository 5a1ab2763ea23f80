package protocolstest

import (
	"errors"
	"io"
	"net"
	"testing"
)

func TestPipes(t *testing.T) {
	p := NewPipes("here")
	if p.Addr().String() != "here" {
		t.Errorf("address: got %q, want here", p.Addr())
	}
	go func() {
		far, _ := p.Accept()
		far.Write([]byte("hi"))
		far.Close()
	}()
	if got, err := io.ReadAll(p.Dial()); string(got) != "hi" || err != nil {
		t.Errorf("dialled: got %q, %v", got, err)
	}
	p.Close()
	p.Close()
	if _, err := p.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: got %v", err)
	}
	if _, err := p.Dial().Read(make([]byte, 1)); err == nil {
		t.Error("dial after close: got a connection that is open")
	}
}
