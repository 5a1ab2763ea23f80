package dashboard_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard"
)

// TestRecordings lists a folder, reads a whole, a truncated and an invalid recording, and compares two.
func TestRecordings(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	recorded(t, in("a.mcap"), "1", 2500)
	recorded(t, in("b.mcap"), "0.2", 300)
	whole, err := os.ReadFile(in("a.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"cut.mcap": whole[:len(whole)*2/3], "none.mcap": []byte("nothing"),
		"other.txt": whole} {
		if err := os.WriteFile(in(name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "secret.mcap")
	if os.WriteFile(outside, whole, 0o644) != nil || os.Symlink(outside, in("link.mcap")) != nil {
		t.Fatal("no link")
	}
	rig := serve(t, "so101", halyard.Set("record.file", in("now.mcap")))
	client := http.Client{Timeout: 20 * time.Second}
	get := func(path string) (int, string) {
		r, err := client.Get(rig.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, _ := io.ReadAll(r.Body)
		return r.StatusCode, string(b)
	}
	_, list := get("recordings")
	for _, name := range []string{"a.mcap", "b.mcap", "cut.mcap", "none.mcap", "now.mcap"} {
		if !strings.Contains(list, `"name":"`+name+`"`) {
			t.Errorf("list: got %s, want %s in it", list, name)
		}
	}
	if strings.Contains(list, "link") || strings.Contains(list, "txt") {
		t.Errorf("list: got %s, want no links and no other files", list)
	}
	unread, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(rig.url, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	// so many answers do not fit into a socket: the client is left with one that it does not read, while the others go
	// on
	fmt.Fprint(unread, strings.Repeat("GET /recording?name=a.mcap HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 20))
	var s struct {
		Cycles   uint64
		Cut      string
		Channels []string
		Times    []float64
		Values   string
		Marks    []struct{ Text string }
	}
	status, body := get("recording?name=a.mcap")
	if err := json.Unmarshal([]byte(body), &s); err != nil || status != 200 {
		t.Fatalf("got %d %.200s", status, body)
	}
	values, err := base64.StdEncoding.DecodeString(s.Values)
	if err != nil || s.Cycles != 2500 || s.Cut != "" || len(s.Times) != 1250 ||
		len(values) != 4*len(s.Times)*len(s.Channels) || len(s.Marks) == 0 {
		t.Errorf("got %d cycles, cut %q, %d times, %d bytes of %d channels, marks %v", s.Cycles, s.Cut, len(s.Times),
			len(values), len(s.Channels), s.Marks)
	}
	if _, body = get("recording?name=cut.mcap"); json.Unmarshal([]byte(body), &s) != nil || s.Cycles == 0 ||
		s.Cycles >= 2500 || !strings.Contains(s.Cut, "cut") {
		t.Errorf("a file that is cut: got %.300s", body)
	}
	if _, body = get("recording?name=now.mcap"); !strings.Contains(body, `"channels"`) {
		t.Errorf("the file that is being written: got %.300s", body)
	}
	for _, bad := range []string{"none.mcap", "other.txt", "absent.mcap", "link.mcap", "../" + filepath.Base(dir) +
		"/a.mcap", ".mcap", ""} {
		if status, body := get("recording?name=" + bad); status != 422 {
			t.Errorf("%q: got %d %.100s, want 422", bad, status, body)
		}
	}
	if _, body = get("compare?a=a.mcap&b=a.mcap"); !strings.Contains(body, `"cycles":2500,"different":0`) {
		t.Errorf("one with itself: got %.300s", body)
	}
	if _, body = get("compare?a=a.mcap&b=b.mcap"); !strings.Contains(body, `"cycles":300,`) ||
		!strings.Contains(body, `"what":"measured.elbow_flex.position"`) || strings.Contains(body, `"different":0`) {
		t.Errorf("two: got %.300s", body)
	}
}
