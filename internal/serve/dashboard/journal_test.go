package dashboard

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestJournal counts what comes again, keeps the newest, and hands on what it is tapped for.
func TestJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j, all Journal
		j.Add("event", "/arm/Armed")
		j.tap(&all)
		log := slog.New(j.Handler(slog.DiscardHandler)).With("agent", "arm")
		log.Debug("too small")
		log.Warn("device fault", "joint", "elbow")
		j.Add("event", "/arm/Armed")
		list, seen := all.since(0)
		if len(list) != 2 || list[0].Text != "/arm/Armed" || list[0].Count != 2 || list[1].Level != "warn" ||
			list[1].Text != "device fault agent=arm joint=elbow" {
			t.Errorf("got %+v", list)
		}
		if list, _ := all.since(seen); list != nil {
			t.Errorf("since then: got %+v, want nothing", list)
		}
		time.Sleep(2 * mergeTime)
		j.Add("event", "/arm/Armed")
		if list, _ := all.since(seen); len(list) != 1 || list[0].Count != 1 {
			t.Errorf("later: got %+v, want an entry of its own", list)
		}
		for i := range 2 * journalSize {
			j.Add("event", fmt.Sprint(i))
		}
		if list, _ := j.since(0); len(list) != journalSize || list[journalSize-1].Text != fmt.Sprint(2*journalSize-1) {
			t.Errorf("after %d: got %d entries", 2*journalSize, len(list))
		}
	})
}

// TestLogin: only a client with the token gets the cookie.
func TestLogin(t *testing.T) {
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	s, err := New(ln, nil, Options{Token: "a b;c"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := netip.MustParseAddrPort(ln.Addr().String())
	ask := func(method, path, body, cookie string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = at.String()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Cookie", cookie)
		s.ServeHTTP(w, r)
		return w
	}
	if w := ask("GET", "/", "", ""); w.Code != 401 || !strings.Contains(w.Body.String(), `action="/login"`) {
		t.Errorf("without a token: got %d %s, want 401 and the form", w.Code, w.Body)
	}
	for _, path := range []string{"/scene", "/ws", "/metrics", "/camera", "/main.js"} {
		if w := ask("GET", path, "", ""); w.Code != 401 {
			t.Errorf("%s without a token: got %d, want 401", path, w.Code)
		}
	}
	if w := ask("POST", "/login", "token=a", ""); w.Code != 403 || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: got %d, %v", w.Code, w.Header())
	}
	w := ask("POST", "/login", url.Values{"token": {"a b;c"}}.Encode(), "")
	cookie, rest, _ := strings.Cut(w.Header().Get("Set-Cookie"), "; ")
	if w.Code != 303 || !strings.Contains(rest, "HttpOnly") || !strings.Contains(rest, "SameSite=Strict") {
		t.Fatalf("the token: got %d, %q", w.Code, w.Header().Get("Set-Cookie"))
	}
	if w := ask("GET", "/", "", cookie); w.Code != 200 || !strings.Contains(w.Body.String(), ">STOP<") {
		t.Errorf("with the cookie: got %d", w.Code)
	}
	if w := ask("GET", "/healthz", "", ""); w.Code != 200 {
		t.Errorf("/healthz: got %d, want 200 without a token", w.Code)
	}
}
