// SPDX-License-Identifier: GPL-2.0-or-later
// gate.go: the door to vCenter as the network sees it: connections are refused
// for a while, or cut at once. The control port is another door, which is
// never closed; the requests of /-/ are never disturbed on either.

package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

type gate struct {
	net.Listener
	mu    sync.Mutex
	until time.Time // connections are refused
	conns map[*gatedConn]bool
}

type gatedConn struct {
	net.Conn
	g      *gate
	spared bool // it carries requests of /-/
}

type connKey struct{}

// remember lets a request find its connection.
func remember(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		return context.WithValue(ctx, connKey{}, t.NetConn())
	}
	return ctx
}

func spare(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*gatedConn); ok {
		c.g.mu.Lock()
		c.spared = true
		c.g.mu.Unlock()
	}
}

func newGate(l net.Listener) *gate { return &gate{Listener: l, conns: map[*gatedConn]bool{}} }

// Accept hands on connections that may come in.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		if time.Now().Before(g.until) {
			g.mu.Unlock()
			reset(c)
			continue
		}
		x := &gatedConn{Conn: c, g: g}
		g.conns[x] = true
		g.mu.Unlock()
		return x, nil
	}
}

// Close forgets the connection.
func (c *gatedConn) Close() error {
	c.g.mu.Lock()
	delete(c.g.conns, c)
	c.g.mu.Unlock()
	return c.Conn.Close()
}

// reset closes a connection without farewell.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// cut breaks every connection there is, in the middle of whatever it does.
func (g *gate) cut() {
	g.mu.Lock()
	var all []*gatedConn
	for c := range g.conns {
		if !c.spared {
			all = append(all, c)
			delete(g.conns, c)
		}
	}
	g.mu.Unlock()
	for _, c := range all {
		reset(c.Conn)
	}
}

func (g *gate) refuse(d time.Duration) {
	g.mu.Lock()
	g.until = time.Now().Add(d)
	g.mu.Unlock()
}

// outage is what requests meet while vCenter is away behind its proxy.
type outage struct {
	until time.Time
	how   string // an HTTP status, or drop
}

// disturbed answers for a vCenter that is away; false when it isn't.
func (w *world) disturbed(rw http.ResponseWriter, r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/-/") {
		spare(r)
		return false
	}
	w.mu.Lock()
	o := w.away
	w.mu.Unlock()
	if time.Now().After(o.until) {
		return false
	}
	switch o.how {
	case "502":
		http.Error(rw, "<html><body>502 Bad Gateway</body></html>", http.StatusBadGateway)
	case "503":
		http.Error(rw, "<html><body>503 Service Unavailable (Failed to connect to endpoint)</body></html>", http.StatusServiceUnavailable)
	default:
		panic(http.ErrAbortHandler)
	}
	return true
}
