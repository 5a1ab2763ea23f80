package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"os/user"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/halyard-robotics/halyard/drivers/serial"
)

// Machine is what names this computer and its user, and is left out of a report.
type Machine struct {
	Host, User, FullName, Home string
	Serials                    []string // of its adapters
	Secrets                    []string // of its environment
}

// ThisMachine is the computer that runs this program; root contains its /sys and /dev.
func ThisMachine(root string) (m Machine) {
	m.Host, _ = os.Hostname()
	m.Home, _ = os.UserHomeDir()
	if u, err := user.Current(); err == nil {
		m.User, m.FullName = u.Username, u.Name
	}
	if name := os.Getenv("USER"); name != "" {
		m.User = name
	}
	ports, _ := serial.List(root)
	for i := range ports {
		m.Serials = append(m.Serials, ports[i].Serial)
	}
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); secretName.MatchString(name) {
			m.Secrets = append(m.Secrets, value)
		}
	}
	return m
}

// secretName matches the names of values that a report must not have.
var secretName = regexp.MustCompile(`(?i)token|passw|secret|api_?key|credential`)

// The forms in which names and secrets stand in configs, findings and logs.
var (
	secretValue = regexp.MustCompile(
		`(?i)([\w-]*(?:token|passw(?:or)?d|secret|api_?key|credential)[\w-]*["']?\s*[:=]\s*|` +
			`--[\w-]*(?:token|password|secret)[\w-]* )("[^"\n]*"|'[^'\n]*'|[^\s,}\]]+)`)
	bearer     = regexp.MustCompile(`(?i)(bearer\s+)\S+`)
	inURL      = regexp.MustCompile(`(://)[^/\s:@]+:[^/\s@]+@`)
	homeFolder = regexp.MustCompile(`(/home/|/Users/|\\Users\\)([^/\\\s"':,]+)`)
	byID       = regexp.MustCompile(`(/by-id/usb-[^\s"']*_)([A-Za-z0-9.:-]+?)(-if[0-9a-f]+(?:-port[0-9]+)?)\b`)
	networked  = regexp.MustCompile(`(tcp://)([A-Za-z][\w.-]*)(:[0-9]+)`)
)

// masker leaves names and secrets out of texts, the same way everywhere, and counts them.
type masker struct {
	machine Machine
	plain   [][2]string // replaced as they are, first
	counts  map[string]int
}

// common are names of users and hosts that are words of configs or of every second machine.
const common = " root user robot pi admin ubuntu debian localhost halyard sim real emulated arm host home "

// hashed is how a name is written so that two reports can be compared.
func hashed(kind, name string) string {
	sum := sha256.Sum256([]byte("halyard report " + name))
	return kind + "-" + hex.EncodeToString(sum[:4])
}

// text is s without names and secrets.
func (m *masker) text(s string) string {
	for _, p := range m.plain {
		s = m.replaced(s, "paths", p[0], p[1])
	}
	if len(m.machine.Home) > 1 {
		s = m.replaced(s, "home folders", m.machine.Home, "/home/USER")
	}
	for _, v := range m.machine.Secrets {
		if len(v) >= 6 {
			s = m.replaced(s, "secrets", v, "REMOVED")
		}
	}
	s = m.matched(s, "secrets", secretValue, func(g []string) string { return g[1] + "REMOVED" })
	s = m.matched(s, "secrets", bearer, func(g []string) string { return g[1] + "REMOVED" })
	s = m.matched(s, "secrets", inURL, func(g []string) string { return g[1] + "REMOVED@" })
	s = m.matched(s, "home folders", homeFolder, func(g []string) string { return g[1] + "USER" })
	for _, v := range m.machine.Serials {
		if len(v) >= 4 {
			s = m.replaced(s, "serial numbers", v, hashed("serial", v))
		}
	}
	s = m.matched(s, "serial numbers", byID, func(g []string) string {
		if strings.HasPrefix(g[2], "serial-") {
			return g[0]
		}
		return g[1] + hashed("serial", g[2]) + g[3]
	})
	s = m.matched(s, "hosts", networked, func(g []string) string {
		if net.ParseIP(g[2]) != nil || g[2] == "localhost" {
			return g[0]
		}
		return g[1] + hashed("host", g[2]) + g[3]
	})
	s = m.word(s, "hosts", m.machine.Host, hashed("host", m.machine.Host))
	s = m.word(s, "users", m.machine.User, "USER")
	return m.word(s, "users", m.machine.FullName, "USER")
}

func (m *masker) replaced(s, kind, old, by string) string {
	if old == "" || old == by {
		return s
	}
	if n := strings.Count(s, old); n > 0 {
		m.counts[kind] += n
		s = strings.ReplaceAll(s, old, by)
	}
	return s
}

// word replaces a name where it is a word of its own.
func (m *masker) word(s, kind, name, by string) string {
	if len(name) < 3 || strings.Contains(common, " "+strings.ToLower(name)+" ") {
		return s
	}
	return m.matched(s, kind, regexp.MustCompile(`(?i)\b`+regexp.QuoteMeta(name)+`\b`),
		func([]string) string { return by })
}

func (m *masker) matched(s, kind string, form *regexp.Regexp, by func(groups []string) string) string {
	return form.ReplaceAllStringFunc(s, func(found string) string {
		text := by(form.FindStringSubmatch(found))
		if text != found {
			m.counts[kind]++
		}
		return text
	})
}

// data is text for a file; one that is no text stays as it is.
func (m *masker) data(p []byte) []byte {
	if !utf8.Valid(p) {
		return p
	}
	return []byte(m.text(string(p)))
}
