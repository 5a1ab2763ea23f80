package work

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/halyard-robotics/halyard/hal"
)

// DefaultAddress is the default address of a queue: NATS's own port.
const DefaultAddress = "127.0.0.1:4222"

const timeoutOfReady = 10 * time.Second

// ServerOptions are those of an embedded queue.
type ServerOptions struct {
	Address string // HOST:PORT; port 0 = any free one
	Dir     string // where rollouts and results are stored; "" = a temporary folder, which Close deletes
	Token   string // which clients must send; beyond loopback there must be one
}

// Server is a NATS server with JetStream in this process.
type Server struct {
	nats *server.Server
	temp string // "" = the folder is the user's
}

// Listen starts a server. Close ends it. The error is hal.Unsafe where the address is not loopback and there is no
// token, and hal.Busy where the address or the folder cannot be had.
func Listen(o ServerOptions) (*Server, error) {
	refuse := func(kind hal.Kind, try string, err error) (*Server, error) {
		return nil, &hal.Error{Kind: kind, Op: "queue " + o.Address, Err: err, Try: try}
	}
	host, service, err := net.SplitHostPort(o.Address)
	if err != nil {
		return refuse(hal.Invalid, "--listen "+DefaultAddress, err)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return refuse(hal.Invalid, "--listen "+DefaultAddress, fmt.Errorf("port: got %q, want 0..65535", service))
	}
	if ip, err := netip.ParseAddr(host); o.Token == "" && host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return refuse(hal.Unsafe, "--token TOKEN",
			errors.New("not a loopback address: any host could queue configs: the token is missing"))
	}
	// The server itself logs and exits where it cannot listen: try first.
	probe, err := net.Listen("tcp", o.Address)
	if err != nil {
		return refuse(hal.Busy, "--listen 127.0.0.1:0", err)
	}
	if err := probe.Close(); err != nil {
		return nil, err
	}
	s := &Server{}
	dir := o.Dir
	if dir == "" {
		if s.temp, err = os.MkdirTemp("", "halyard-queue-"); err != nil {
			return nil, err
		}
		dir = s.temp
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return refuse(hal.Busy, "", err)
	}
	options := &server.Options{ServerName: "halyard", Host: host, Port: int(port), Authorization: o.Token,
		JetStream: true, StoreDir: dir, MaxPayload: MaxRollout, NoSigs: true, NoLog: true}
	if port == 0 {
		options.Port = server.RANDOM_PORT
	}
	if s.nats, err = server.NewServer(options); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.nats.Start()
	if !s.nats.ReadyForConnections(timeoutOfReady) || !s.nats.JetStreamEnabled() {
		_, err := refuse(hal.Busy, "--store ANOTHER-FOLDER",
			fmt.Errorf("not ready within %v, with its folder %s", timeoutOfReady, dir))
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// URL is the server's address for clients.
func (s *Server) URL() string { return s.nats.ClientURL() }

// Close ends the server and waits for it.
func (s *Server) Close() (err error) {
	if s.nats != nil {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	}
	if s.temp != "" {
		err = os.RemoveAll(s.temp)
	}
	return err
}
