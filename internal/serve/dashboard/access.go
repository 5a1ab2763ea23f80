package dashboard

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// access decides which requests are answered.
type access struct {
	token  string   // "" = no token required
	names  []string // accepted host names, in addition to addresses
	cookie string
}

var (
	errOrigin = errors.New("origin: got another page, want this dashboard's own")
	errToken  = errors.New("token: got none or a wrong one, want that of --token")
)

// newAccess returns the access of a server on address; host is the name it was opened by. It fails for an address
// beyond loopback without a token.
func newAccess(address netip.AddrPort, host, token string) (access, error) {
	if !address.Addr().Unmap().IsLoopback() && token == "" {
		return access{}, fmt.Errorf("token: missing: %v is not loopback", address)
	}
	a := access{token: token, names: []string{"localhost"}, cookie: fmt.Sprintf("halyard_%d", address.Port())}
	if token != "" { // a foreign name that leads here brings no cookie
		if own, err := os.Hostname(); err == nil {
			a.names = append(a.names, own, own+".local")
		}
		if host != "" {
			a.names = append(a.names, host)
		}
	}
	return a, nil
}

// page refuses requests that a foreign page makes its visitor's browser send.
func (a *access) page(r *http.Request) error {
	if !a.own(r.Host) {
		return fmt.Errorf("host: got %.100q, want an address of this computer", r.Host)
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		// a link that leads here is no harm
		if r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			return errOrigin
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return errOrigin
		}
	}
	return nil
}

// own reports whether host is this server by a name or an address that no foreign name server decides.
func (a *access) own(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if at, err := netip.ParseAddr(host); err == nil {
		return a.token != "" || at.Unmap().IsLoopback()
	}
	return slices.ContainsFunc(a.names, func(name string) bool { return strings.EqualFold(host, name) })
}

// known refuses requests without the token.
func (a *access) known(r *http.Request) error {
	if a.token == "" {
		return nil
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && a.is(bearer) {
		return nil
	}
	if c, err := r.Cookie(a.cookie); err == nil {
		if value, err := url.QueryUnescape(c.Value); err == nil && a.is(value) {
			return nil
		}
	}
	return errToken
}

func (a *access) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(a.token)) == 1
}

// login sets the cookie of a client with the token.
func (a *access) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4096)
	if given := r.PostFormValue("token"); a.token == "" || !a.is(given) {
		http.Error(w, errToken.Error(), http.StatusForbidden)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: a.cookie, Value: url.QueryEscape(a.token), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// loginPage is the form for the token.
const loginPage = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Halyard</title>
<h1>Halyard</h1><form method="post" action="/login"><label>Token <input name="token" type="password" autofocus required></label> <button>Open the dashboard</button></form>
`
