package protocols

import "slices"

// opening judges the first bytes of a connection: whether they are of a web browser, which a foreign page can send to
// any port of its visitor's computer and network. It sees the bytes in pieces of any size; of a request it has decided
// before the end of the first line, so that a server of lines executes none of it.
type opening struct {
	http    bool // requests are welcome: only TLS is not
	decided bool
	state   int
	word    []byte // the method, up to the longest standard one
	matched int    // of version
}

// The states: of the first word, behind its space, within the request's target, and behind the first byte of TLS.
const (
	inMethod = iota
	atTarget
	inTarget
	inTLS
)

const (
	version      = " HTTP/"
	handshake    = 0x16 // the first byte of a TLS record; the next is 3
	longestWord  = 7
	tokenSymbols = "!#$%&'*+-.^_`|~"
)

// methods need no version behind the target: no protocol has a first line of these.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI"}

// web reports whether the connection begins with an HTTP request or a TLS handshake; b is what has come since the last
// call.
func (o *opening) web(b []byte) bool {
	for _, c := range b {
		switch {
		case o.decided:
			return false
		case o.state == inMethod:
			o.method(c)
		case o.state == inTLS:
			o.decided = true
			return c == 3
		case o.state == atTarget && c == '/' && slices.Contains(methods, string(o.word)):
			return true
		case c == '\n' || c == '\r':
			o.decided = true
		default:
			o.state = inTarget
			if c != version[o.matched] {
				o.matched = 0
			}
			if c == version[o.matched] {
				o.matched++
			}
			if o.matched == len(version) {
				return true
			}
		}
	}
	return false
}

// method judges a byte of the first word.
func (o *opening) method(c byte) {
	letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || slices.Contains([]byte(tokenSymbols), c)
	switch {
	case letter && !o.http:
		if len(o.word) <= longestWord {
			o.word = append(o.word, c)
		}
	case c == ' ' && len(o.word) > 0:
		o.state, o.matched = atTarget, 1
	case c == handshake && len(o.word) == 0:
		o.state = inTLS
	default:
		o.decided = true
	}
}
