package dashboard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
	"github.com/halyard-robotics/halyard/protocols"
)

const (
	// DefaultPort is the first that is tried, then the next ones.
	DefaultPort = 8642
	portTries   = 32
	// maxTabs bounds the WebSockets, maxConnections all connections: a stop still finds one. maxStrangers bounds those
	// without an accepted request, from other computers and from this one each: a crowd of them leaves half of the
	// places to the others.
	maxTabs        = 32
	maxConnections = 256
	maxStrangers   = 64
	maxOrders      = 16 // under way; more wait
)

//go:embed web
var web embed.FS

// Options are the settings of a server.
type Options struct {
	Host  string       // the host in --dashboard, if it is a name and not an address
	Token string       // required in requests; "" = none, only on loopback
	Log   *slog.Logger // nil = silent
}

// Server serves the dashboard of rigs.
type Server struct {
	listener   net.Listener
	options    Options
	access     access
	sampler    sampler
	statuses   statuses
	journal    *Journal
	tabs       chan struct{}
	orders     chan struct{}
	stops      chan struct{}
	operations chan struct{}
	answers    atomic.Pointer[Answer] // the newest of a stop
	answered   atomic.Uint64          // how many stops were
	cameras    chan struct{}
	reading    chan struct{} // of recordings: one at a time
	files      map[string]file
	metrics    http.Handler
	meshes     meshCache
	once       sync.Once

	recordings string // the folder of the recordings that are shown
}

// file is one of the pages.
type file struct {
	kind, etag string
	data       []byte
}

// Listen opens the address of a dashboard: HOST:PORT; "" is DefaultPort of loopback, the next that is free, or any.
func Listen(address string) (net.Listener, error) {
	if address != "" {
		return net.Listen("tcp", address)
	}
	for port := DefaultPort; port < DefaultPort+portTries; port++ {
		if ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return ln, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// Open returns a server of the rigs that Show names before Serve. It owns listener. It fails for an address beyond
// loopback without a token.
func Open(listener net.Listener, o Options) (*Server, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Server{listener: listener, options: o, journal: &Journal{}, tabs: make(chan struct{}, maxTabs),
		orders: make(chan struct{}, maxOrders), stops: make(chan struct{}, maxOrders),
		operations: make(chan struct{}, maxOperations),
		cameras:    make(chan struct{}, maxCameras), reading: make(chan struct{}, 1), files: map[string]file{},
		recordings: "."}
	at := netip.AddrPortFrom(netip.IPv6Loopback(), 0) // of a listener in memory
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok {
		at = tcp.AddrPort()
	}
	var err error
	if s.access, err = newAccess(at, o.Host, o.Token); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.sampler.describe, s.metrics = s.describe, newMetrics(s)
	return s, nil
}

// Show sets the rigs that are shown.
func (s *Server) Show(sources []Source) {
	s.sampler.scenes, s.sampler.changes = make([]int, len(sources)), make([]int, len(sources))
	s.sampler.bodies = make([][]hal.Part, len(sources))
	for _, source := range sources {
		if source.Journal != nil {
			source.Journal.tap(s.journal)
		}
		s.sampler.rigs = append(s.sampler.rigs, newShown(source, s.journal))
		if source.System != nil && s.recordings == "." {
			if c := source.System.Plan.Config; c.Record.File != "" {
				s.recordings = filepath.Dir(c.Resolve(c.Record.File))
			}
		}
	}
}

// load reads the pages.
func (s *Server) load() error {
	return fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := web.ReadFile(name)
		sum := sha256.Sum256(b)
		kind := mime.TypeByExtension(path.Ext(name))
		switch path.Ext(name) { // independent of the machine's own table
		case ".js":
			kind = "text/javascript; charset=utf-8"
		case ".css":
			kind = "text/css; charset=utf-8"
		case ".svg":
			kind = "image/svg+xml"
		}
		s.files[strings.TrimPrefix(name, "web")] = file{kind, `"` + hex.EncodeToString(sum[:8]) + `"`, b}
		return err
	})
}

// URL is where a browser on this computer finds the dashboard.
func (s *Server) URL() string {
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return ""
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// Serve serves until ctx ends or the listener fails, then ends every tab and waits for it: no jog continues.
func (s *Server) Serve(ctx context.Context) error {
	defer s.Close()
	ctx, cancel := context.WithCancel(ctx)
	var traces sync.WaitGroup
	defer traces.Wait()
	defer cancel()
	for _, r := range s.sampler.rigs {
		traces.Go(func() {
			defer r.Rig.Contain("dashboard")
			r.tracer.run(ctx, r.Rig)
		})
	}
	return ws.Serve(ctx, s.listener, protocols.Limits{Connections: maxConnections, PerAddress: maxConnections,
		Strangers: maxStrangers}, s)
}

// Close ends a server that never served.
func (s *Server) Close() error {
	s.once.Do(func() {
		s.listener.Close()
		for _, r := range s.sampler.rigs {
			r.session.Close()
		}
	})
	return nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "+
		"data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with none, a form of ours would have Origin: null
	h.Set("Cache-Control", "no-cache")
	if err := s.access.page(r); err != nil {
		h.Set("Connection", "close") // a foreign page must not hold a connection
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	switch {
	case r.URL.Path == "/healthz" && r.Method == http.MethodGet:
		s.health(w)
		return
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		s.access.login(w, r)
		return
	}
	if err := s.access.known(r); err != nil {
		if r.URL.Path == "/" {
			h.Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, loginPage)
			return
		}
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if !ws.Recognize(r) {
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet, http.MethodHead:
		s.get(w, r)
	default:
		http.Error(w, "method: want GET or POST", http.StatusMethodNotAllowed)
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ws":
		s.webSocket(w, r)
		return
	case "/frames":
		s.frames(w, r)
		return
	case "/camera":
		s.camera(w, r)
		return
	case "/recordings":
		s.listRecordings(w)
		return
	case "/recording", "/compare":
		s.readRecordings(w, r)
		return
	case "/metrics":
		s.metrics.ServeHTTP(w, r)
		return
	case "/scene":
		b, err := s.scenes()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(b)
		return
	case "/mesh":
		s.mesh(w, r)
		return
	case "/trace":
		s.trace(w, r)
		return
	case "/":
		r.URL.Path = "/index.html"
	}
	f, ok := s.files[r.URL.Path]
	if !ok {
		if _, order := orders[r.URL.Path]; order {
			http.Error(w, "method: got GET, want POST", http.StatusMethodNotAllowed)
			return
		}
		http.Error(w, "got no such page", http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", f.etag)
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	w.Write(f.data)
}

// orders maps paths to the orders of a person.
var orders = map[string]control.Order{"/stop": control.OrderStop, "/reset": control.OrderReset,
	"/arm": control.OrderArm, "/disarm": control.OrderDisarm}

// Answer is the result of an order.
type Answer struct {
	Order  control.Order         `json:"order"`
	Millis float64               `json:"ms"`
	Error  string                `json:"error,omitempty"`
	Joints []control.JointStatus `json:"joints"`

	// Of a stop.
	ID uint64  `json:"id,omitempty"` // its number
	At float64 `json:"at,omitempty"` // Unix time of the answer, ms
}

// stopAnswer is the answer of the stop that is latched now; nil if another door stopped the rigs, or they are reset.
func (s *Server) stopAnswer() *Answer {
	a := s.answers.Load()
	for _, r := range s.sampler.rigs {
		if a != nil && (!r.Rig.Latched() || float64(r.free.Load())/1e6 > a.At) {
			return nil
		}
	}
	return a
}

// maxSeen is the greatest age of the newest frame, ?seen= its Unix time in ms, of a page that orders anything but a
// stop.
const maxSeen = time.Second

// late refuses an order that waited in a server that did not run: it must not arm when it goes on. A program sends no
// ?seen=.
func late(r *http.Request, order control.Order) error {
	seen := r.URL.Query().Get("seen")
	if seen == "" || order == control.OrderStop {
		return nil
	}
	ms, err := strconv.ParseFloat(seen, 64)
	since := float64(time.Now().UnixMilli()) - ms
	if err != nil || !(math.Abs(since) <= float64(maxSeen.Milliseconds())) {
		return fmt.Errorf("%s: got an order of a page that saw the robots %.1f s ago, want at most %v (try: press "+
			"again)", order, since/1000, maxSeen)
	}
	return nil
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/fault" {
		s.tamper(w, r)
		return
	}
	if r.URL.Path == "/operate" {
		s.operate(w, r)
		return
	}
	order, ok := orders[r.URL.Path]
	if !ok {
		http.Error(w, "got no such order, want /stop, /reset, /arm, /disarm or /operate", http.StatusNotFound)
		return
	}
	if err := late(r, order); err != nil {
		reply(w, http.StatusConflict, Answer{Order: order, Error: err.Error(), Joints: []control.JointStatus{}})
		return
	}
	answer, ok := s.execute(order)
	if !ok {
		http.Error(w, "got too many orders at a time", http.StatusServiceUnavailable)
		return
	}
	status := http.StatusOK
	if answer.Error != "" {
		status = http.StatusConflict
	}
	if strings.HasPrefix(r.Header.Get("Accept"), "text/html") { // the button of a page whose scripts do not run
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		answer.page(w)
		return
	}
	reply(w, status, answer)
}

// rig is the rig of a request, ?rig=0, or nil.
func (s *Server) rig(r *http.Request) *shown {
	i, err := strconv.Atoi(r.URL.Query().Get("rig"))
	if err != nil || i < 0 || i >= len(s.sampler.rigs) {
		return nil
	}
	return s.sampler.rigs[i]
}

// reply answers with v as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// execute executes an order on all rigs concurrently. It is false if too many are under way; a stop waits for its turn,
// which no other order delays.
func (s *Server) execute(order control.Order) (Answer, bool) {
	begin := time.Now()
	free := s.orders
	if order == control.OrderStop {
		free = s.stops
		free <- struct{}{}
	} else {
		select {
		case free <- struct{}{}:
		default:
			return Answer{}, false
		}
	}
	defer func() { <-free }()
	answers := make([]control.Answer, len(s.sampler.rigs))
	var all sync.WaitGroup
	for i, r := range s.sampler.rigs {
		all.Go(func() {
			defer r.Rig.Contain("dashboard")
			answers[i] = control.Execute(r.Rig, order, "asked on the dashboard")
		})
	}
	all.Wait()
	out := Answer{Order: order, Millis: float64(time.Since(begin).Microseconds()) / 1000,
		Joints: []control.JointStatus{}}
	for _, a := range answers {
		out.Joints = append(out.Joints, a.Joints...)
		if a.Error != "" {
			out.Error = strings.TrimPrefix(out.Error+"; "+a.Error, "; ")
		}
	}
	if order == control.OrderStop {
		out.ID, out.At = s.answered.Add(1), float64(time.Now().UnixMicro())/1000
		s.answers.Store(&out)
	}
	text := string(order) + " on the dashboard"
	if out.Error != "" {
		text += ": " + out.Error
	}
	s.journal.Add("order", text)
	return out, true
}

// health answers whether every rig runs by the clock. One in lock-step may wait for its clients as long as they like.
func (s *Server) health(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, r := range s.sampler.rigs {
		if since := time.Since(time.Unix(0, r.cycled.Load())); r.Rig.Mode() == hal.Realtime &&
			since > max(time.Second, 10*r.Rig.Period()) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintf(w, "%s: last cycle: got %v ago, want %v\n", r.Rig.Name(), since.Round(time.Millisecond),
				r.Rig.Period())
			return
		}
	}
	fmt.Fprintln(w, "ok")
}
