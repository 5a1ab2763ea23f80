package dashboard_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/halyard-robotics/halyard"
)

func get(t *testing.T, url string) (string, int) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), r.StatusCode
}

// TestMetrics: /metrics passes promtool's lint, tells each joint and bus, and has every name that the Grafana dashboard
// asks for.
func TestMetrics(t *testing.T) {
	rig := serve(t, "so101", halyard.Set("agents[0].body", "emulated"))
	rig.Stop("a test")
	text, code := get(t, rig.url+"metrics")
	if code != http.StatusOK {
		t.Fatalf("got %d: %s", code, text)
	}
	problems, err := promlint.New(bytes.NewReader([]byte(text))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	for _, want := range []string{
		`halyard_emergency_stop_latched{rig="so101"} 1`,
		`halyard_agent_info{agent="so101",body="emulated",rig="so101"} 1`,
		`halyard_joint_voltage_volts{agent="so101",joint="elbow_flex",rig="so101"} 7.4`,
		`halyard_bus_timeouts_total{body="emulated",bus="arm",rig="so101"} 0`,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("got no %s", want)
		}
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text, -1) {
		if names = append(names, m[1]); !strings.HasPrefix(m[1], "halyard_") {
			t.Errorf("%s: want halyard_...", m[1])
		}
	}
	if len(names) < 25 {
		t.Errorf("got %d metrics, want 25 or more: %v", len(names), names)
	}
	const page = "../../../docs/grafana.json"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var any map[string]any
	if err := json.Unmarshal(b, &any); err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	asked := regexp.MustCompile(`halyard_\w+`).FindAllString(string(b), -1)
	for _, name := range asked {
		if !slices.Contains(names, name) {
			t.Errorf("%s: %s: got a metric that nothing exports", page, name)
		}
	}
	if len(asked) < 10 {
		t.Errorf("%s: asks for %d metrics", page, len(asked))
	}
}

// TestTokenBeyondLoopback: a dashboard beyond loopback requires a token.
func TestTokenBeyondLoopback(t *testing.T) {
	if _, err := halyard.OpenDashboard(halyard.DashboardOptions{Address: "0.0.0.0:0"}); err == nil ||
		!strings.Contains(err.Error(), "--token") {
		t.Errorf("without a token: got %v, want --token", err)
	}
}
