package cli

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestServeDashboard: the ready line contains the dashboard's URL; a second one uses another port; off disables it, and
// beyond loopback it requires a token.
func TestServeDashboard(t *testing.T) {
	pendulum := []string{"pendulum", "--listen", "osp=127.0.0.1:0", "--listen", "odcp=127.0.0.1:0"}
	first := startServe(t, pendulum...)
	second := startServe(t, append(pendulum, "--set", "name=second")...)
	none := startServe(t, append(pendulum, "--set", "name=none", "--dashboard", "off")...)
	if first.Dashboard == "" || second.Dashboard == first.Dashboard || none.Dashboard != "" {
		t.Errorf("got %q, %q and %q, want two addresses and none", first.Dashboard, second.Dashboard, none.Dashboard)
	}
	for _, url := range []string{first.Dashboard, second.Dashboard} {
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if !strings.Contains(string(page), ">STOP<") {
			t.Errorf("%s: got %d %.200s", url, r.StatusCode, page)
		}
	}
	code, _, errText := runApp(t, append([]string{"serve"}, append(pendulum, "--dashboard", "0.0.0.0:0")...)...)
	if code != 7 || !strings.Contains(errText, "--token") {
		t.Errorf("beyond loopback: got exit %d: %s; want 7 and --token", code, errText)
	}
	guarded := startServe(t, append(pendulum, "--set", "name=guarded", "--dashboard", "127.0.0.1:0", "--token",
		"three")...)
	r, err := http.Post(guarded.Dashboard+"stop", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: got %d, want 401", r.StatusCode)
	}
}
