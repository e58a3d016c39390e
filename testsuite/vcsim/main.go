// SPDX-License-Identifier: GPL-2.0-or-later
// vcsim: a simulated vCenter for slurm-vsphere's tests, over VI JSON and SOAP.
// See README.md.

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

type server struct {
	w   *world
	ca  *authority
	ln  *gate
	ctl net.Listener // the control port
	srv *http.Server
}

// newServer builds the world and its listener; serve() runs it.
func newServer(inv *inventory, listen, dir string) (*server, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	w := newWorld(inv, dir)
	if err := w.build(); err != nil {
		return nil, err
	}
	s := &server{w: w, ca: &authority{dir: dir}}
	if err := s.ca.renew(""); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	s.ln = newGate(ln)
	host, _, _ := net.SplitHostPort(ln.Addr().String())
	if s.ctl, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/sdk/vim25/", w.serveVI)
	mux.HandleFunc("/api/vcenter/system", w.serveHello)
	mux.HandleFunc("/sdk/vimServiceVersions.xml", w.serveVersions)
	mux.HandleFunc("/sdk", w.serveSOAP)
	s.admin(mux)
	front := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !w.disturbed(rw, r) {
			mux.ServeHTTP(rw, r)
		}
	})
	s.srv = &http.Server{Handler: front, ConnContext: remember, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{GetCertificate: s.ca.get, NextProtos: []string{"http/1.1"}}}
	return s, nil
}

func (s *server) url() string { return "https://" + s.ln.Addr().String() }

func (s *server) control() string { return "https://" + s.ctl.Addr().String() }

// serveHello negotiates the release: first match in the client's order.
func (w *world) serveHello(rw http.ResponseWriter, r *http.Request) {
	if w.inv.About.Hello != nil && !*w.inv.About.Hello || r.URL.Query().Get("action") != "hello" || r.Method != http.MethodPost {
		http.NotFound(rw, r)
		return
	}
	w.delayCall(r.Context())
	hello := &call{wire: viJSON{w.inv}, w: w, method: "hello"}
	if rule := w.ruleFor("request", hello); rule != nil && rule.answer(rw, r, hello) {
		return
	}
	var req struct {
		Releases []string `json:"api_releases"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil || len(req.Releases) > 128 || len(req.Releases) == 0 {
		http.Error(rw, `{"error_type":"INVALID_ARGUMENT","messages":[]}`, http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.count.calls["hello"]++
	w.mu.Unlock()
	found := ""
	for _, rel := range req.Releases {
		if w.supported(rel) && !versionLess(rel, "8.0.1.0") {
			found = rel
			break
		}
	}
	out, _ := json.Marshal(map[string]any{"api_release": found})
	w.replyTo(hello, rw, r, out, "application/json")
}

// replyTo ends a call that is no method of vim25.
func (w *world) replyTo(c *call, rw http.ResponseWriter, r *http.Request, out []byte, kind string) {
	if rule := w.ruleFor("reply", c); rule != nil {
		rule.spoil(rw, r, c, out, http.StatusOK)
		return
	}
	rw.Header().Set("Content-Type", kind)
	_, _ = rw.Write(out)
}

// serveVersions is /sdk/vimServiceVersions.xml: the newest release and all
// older ones.
func (w *world) serveVersions(rw http.ResponseWriter, r *http.Request) {
	list := &call{wire: viJSON{w.inv}, w: w, method: "vimServiceVersions.xml"}
	if rule := w.ruleFor("request", list); rule != nil && rule.answer(rw, r, list) {
		return
	}
	w.mu.Lock()
	w.count.calls[list.method]++
	w.mu.Unlock()
	var out bytes.Buffer
	fmt.Fprintf(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<namespaces version=\"1.0\">\n <namespace>\n  <name>urn:vim25</name>\n"+
		"  <version>%s</version>\n  <priorVersions>\n", w.inv.About.ApiVersion)
	for _, rel := range append(append([]string{}, releases...), "6.7.3", "6.7", "6.5") {
		if versionLess(rel, w.inv.About.ApiVersion) {
			fmt.Fprintf(&out, "   <version>%s</version>\n", rel)
		}
	}
	fmt.Fprint(&out, "  </priorVersions>\n </namespace>\n</namespaces>\n")
	w.replyTo(list, rw, r, out.Bytes(), "text/xml")
}

// ready tells where the server is.
func (s *server) ready() error {
	return writeJSONFile(filepath.Join(s.w.dir, "ready.json"), map[string]any{"url": s.url(), "control": s.control(), "pid": os.Getpid(),
		"ca": filepath.Join(s.w.dir, "ca.pem")})
}

// serve runs until the listener is closed.
func (s *server) serve() {
	go func() {
		for range time.Tick(time.Second) {
			s.w.mu.Lock()
			s.w.expire()
			s.w.tasks.forget()
			s.w.mu.Unlock()
		}
	}()
	go func() { _ = s.srv.ServeTLS(s.ctl, "", "") }()
	_ = s.srv.ServeTLS(s.ln, "", "")
}

// stop ends the server and all guests within two seconds.
func (s *server) stop() {
	_ = s.srv.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	s.w.endAll(ctx)
}

func main() {
	invFile := flag.String("inventory", "", "inventory `file`")
	load := flag.String("load", "", "`directory` of a recording (govc object.save), instead of the inventory's objects")
	faults := flag.String("faults", "", "faults `file`")
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	dir := flag.String("dir", ".", "directory for ready.json, ca.pem and the guests")
	requests := flag.String("requests", "", "`file` to which calls that change a VM or a host are written")
	flag.Parse()
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	inv, err := loadInventory(*invFile)
	if err != nil {
		log.Fatal(err)
	}
	inv.load = *load
	if !strings.HasPrefix(*listen, "127.") && !strings.HasPrefix(*listen, "localhost:") && !strings.HasPrefix(*listen, "[::1]") {
		log.Fatalf("listen: %s is no loopback address", *listen)
	}
	s, err := newServer(inv, *listen, *dir)
	if err != nil {
		log.Fatal(err)
	}
	if err := s.w.openRequestLog(*requests); err != nil {
		log.Fatal(err)
	}
	if *faults != "" {
		if err := s.w.faults.load(*faults); err != nil {
			log.Fatal(err)
		}
	}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, syscall.SIGTERM, syscall.SIGINT)
	go s.serve()
	if err := s.ready(); err != nil {
		log.Fatal(err)
	}
	log.Printf("ready at %s, hosts=%d vms=%d", s.url(), len(s.w.hosts), len(s.w.vms))
	<-sig
	s.stop()
}
