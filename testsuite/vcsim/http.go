// SPDX-License-Identifier: GPL-2.0-or-later
// http.go: a call from its request to its reply, in either encoding; and VI JSON:
// URLs, strict bodies, replies. POST is a method, GET is a property. SOAP is in
// soap.go; hello and the version list are in main.go.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

const sessionHeader = "vmware-api-session-id"

// releases are the schemas there are, newest first.
var releases = []string{"9.1.1.0", "9.1.0.0", "9.0.0.0", "8.0.3.1", "8.0.3.0", "8.0.2.0", "8.0.1.0", "8.0.0.2",
	"8.0.0.1", "8.0.0.0", "7.0.3.2", "7.0.3.1", "7.0.3.0", "7.0.2.1", "7.0.2.0", "7.0.1.1", "7.0.1.0", "7.0.0.2", "7.0.0.0"}

// wire is an encoding of calls and replies: VI JSON or SOAP.
type wire interface {
	contentType() string
	decode(c *call, body []byte) error     // sets c.req
	arguments(c *call, body []byte) []byte // as JSON
	reply(c *call, res any, err error) (out []byte, status int)
	setSession(rw http.ResponseWriter, token string)
}

// call is one request.
type call struct {
	wire     wire
	w        *world
	ctx      context.Context
	s        *session
	this     ref
	o        *object
	method   string
	release  string
	req      any
	remote   string
	agent    string
	newToken string
	foreign  bool // made by the admin's foreign hand: not counted, not checked
}

func versionLess(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < len(x) && i < len(y); i++ {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return len(x) < len(y)
}

// supported tells whether this server speaks a release.
func (w *world) supported(r string) bool {
	for _, k := range releases {
		if k == r {
			return !versionLess(w.inv.About.ApiVersion, r)
		}
	}
	return false
}

func (w *world) serveVI(rw http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/sdk/vim25/")
	parts := strings.Split(path, "/")
	for i := range parts {
		p, err := url.PathUnescape(parts[i])
		if err != nil {
			http.Error(rw, "bad path", http.StatusBadRequest)
			return
		}
		parts[i] = p
	}
	if len(parts) == 2 && parts[1] == "transcoder" {
		w.serveTranscoder(rw, r, parts[0])
		return
	}
	if len(parts) != 4 {
		http.NotFound(rw, r)
		return
	}
	c := &call{wire: viJSON{w.inv}, w: w, ctx: r.Context(), release: parts[0], this: ref{Type: parts[1], Value: parts[2]}, method: parts[3],
		remote: r.RemoteAddr, agent: r.UserAgent()}
	w.delayCall(r.Context())
	rule := w.ruleFor("request", c)
	if rule != nil && rule.Drop != "" && rule.Delay == 0 {
		panic(http.ErrAbortHandler) // the body was never read
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	c.carryOut(rw, r, rule, func() (any, error) { return c.serve(r.Method, r.Header.Get(sessionHeader), body) })
}

// carryOut runs a call, unless a declared fault answers for it, and replies.
func (c *call) carryOut(rw http.ResponseWriter, r *http.Request, rule *faultRule, run func() (any, error)) {
	if rule != nil && rule.answer(rw, r, c) {
		return
	}
	res, err := run()
	if errors.Is(err, errGone) {
		panic(http.ErrAbortHandler)
	}
	c.w.keepSilent(r.Context())
	out, status := c.wire.reply(c, res, err)
	if rule := c.w.ruleFor("reply", c); rule != nil {
		rule.spoil(rw, r, c, out, status)
		return
	}
	if c.newToken != "" {
		c.wire.setSession(rw, c.newToken)
	}
	c.write(rw, out, status)
}

func (c *call) write(rw http.ResponseWriter, out []byte, status int) {
	if status != http.StatusNoContent {
		rw.Header().Set("Content-Type", c.wire.contentType())
		rw.Header().Set("Content-Length", strconv.Itoa(len(out)))
	}
	rw.WriteHeader(status)
	_, _ = rw.Write(out)
}

// delayCall keeps a request waiting: stalls, latency, the call duration.
func (w *world) delayCall(ctx context.Context) {
	w.mu.Lock()
	d := w.latency + w.duration("call")
	w.mu.Unlock()
	sleep(ctx, d)
	w.keepSilent(ctx)
}

// keepSilent waits for the end of a stall, which may be put forward.
func (w *world) keepSilent(ctx context.Context) {
	for ctx.Err() == nil {
		w.mu.Lock()
		left := time.Until(w.stallTo)
		w.mu.Unlock()
		if left <= 0 {
			return
		}
		sleep(ctx, min(left, 50*time.Millisecond))
	}
}

func sleep(ctx context.Context, d time.Duration) {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
}

// serve finds the session, decodes and runs.
func (c *call) serve(verb, token string, body []byte) (any, error) {
	if !c.w.supported(c.release) {
		return nil, fault(&types.InvalidRequest{}, "The release %s is not supported by this server", c.release)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.s = c.w.session(token)
	if c.s != nil {
		c.s.busy++
		defer func(s *session) { s.busy--; s.last = time.Now() }(c.s)
	}
	c.w.count.calls[c.method]++
	if verb == http.MethodGet {
		return c.getProperty()
	}
	if verb != http.MethodPost {
		return nil, fault(&types.InvalidRequest{}, "%s is not allowed", verb)
	}
	m := methods[c.method]
	if m == nil {
		return nil, fault(&types.MethodNotFound{Receiver: c.this, Method: c.method}, "The method is not found: %s", c.method)
	}
	if c.s == nil && !m.anonymous {
		return nil, notAuthenticated(c.this)
	}
	if err := c.wire.decode(c, body); err != nil {
		return nil, err
	}
	c.w.logRequest(c, body)
	return c.invoke(m)
}

// invoke runs a decoded call, of a client or of the admin's foreign hand.
func (c *call) invoke(m *method) (any, error) {
	ok := false
	for _, k := range m.types {
		ok = ok || isKind(c.this.Type, k)
	}
	if !ok {
		return nil, fault(&types.MethodNotFound{Receiver: c.this, Method: c.method}, "%s has no method %s", c.this.Type, c.method)
	}
	if c.o = c.w.lookup(c.s, c.this); c.o == nil && !m.singleton {
		return nil, notFound(c.this)
	}
	if m.mutating {
		if err := c.admit(); err != nil {
			return nil, err
		}
	}
	if err := c.authorize(); err != nil {
		return nil, err
	}
	return m.run(c)
}

// viJSON is the Virtual Infrastructure JSON API.
type viJSON struct{ inv *inventory }

func (viJSON) contentType() string { return "application/json" }

func (viJSON) setSession(rw http.ResponseWriter, token string) { rw.Header().Set(sessionHeader, token) }

func (viJSON) arguments(_ *call, body []byte) []byte { return body }

// decode reads the body strictly into the method's request.
func (viJSON) decode(c *call, body []byte) error {
	t, ok := types.TypeFunc()(c.method)
	if !ok {
		return fault(&types.InvalidRequest{}, "no request type for %s", c.method)
	}
	p := reflect.New(t)
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	doc, err := parseJSON(body)
	if err == nil {
		err = checkShape(doc, t, "", wireRules)
	}
	if err == nil {
		err = checkRelease(doc, c.release, "")
	}
	if err != nil {
		return fault(&types.InvalidRequest{}, "%s: %v", c.method, err)
	}
	if err := types.NewJSONDecoder(bytes.NewReader(body)).Decode(p.Interface()); err != nil {
		return fault(&types.InvalidRequest{}, "%s: %v", c.method, err)
	}
	c.req = p.Interface()
	return nil
}

// getProperty serves GET of a managed object's own property.
func (c *call) getProperty() (any, error) {
	if c.s == nil && c.this.Type != "ServiceInstance" && !(c.this.Type == "SessionManager" && c.method == "currentSession") {
		return nil, notAuthenticated(c.this)
	}
	if c.this.Type == "SessionManager" && c.method == "currentSession" {
		if c.s == nil {
			return nil, nil
		}
		return c.s.user, nil
	}
	o := c.w.lookup(c.s, c.this)
	if o == nil {
		return nil, notFound(c.this)
	}
	p, ok := declaredPath(c.this.Type, c.method)
	if !ok || len(p.segs) != 1 {
		return nil, fault(&types.InvalidProperty{Name: c.method}, "The property %s is not in %s", c.method, c.this.Type)
	}
	if !c.w.sees(c.s, o) || !c.w.reads(c.s, o, p.top()) {
		return nil, deny([]need{{o, readPriv}})
	}
	c.w.beforeRead(c.s, o)
	v, ok := p.get(o.val)
	if !ok || o.hidden[p.top()] {
		return nil, nil
	}
	return c.w.filtered(c.s, v), nil
}

// encodeTyped writes a value as it stands in a typed slot.
func encodeTyped(v any) []byte {
	rv := reflect.ValueOf(v)
	if raw, ok := v.(rawJSON); ok {
		return raw
	}
	switch rv.Kind() {
	case reflect.Slice:
		var b bytes.Buffer
		b.WriteByte('[')
		for i := 0; i < rv.Len(); i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(encodeTyped(rv.Index(i).Interface()))
		}
		b.WriteByte(']')
		return b.Bytes()
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Int, reflect.Float64:
		b, _ := json.Marshal(v)
		return b
	}
	if r, ok := v.(ref); ok {
		return encodeRef(r)
	}
	return encodeAny(v)
}

// reply gives the body and the status; faults inside data as the inventory says.
func (j viJSON) reply(c *call, res any, err error) ([]byte, int) {
	out, status := j.encode(c, res, err)
	return j.inv.Faults.write(out), status
}

func (j viJSON) encode(c *call, res any, err error) ([]byte, int) {
	if err != nil {
		return encodeFault(err), http.StatusInternalServerError
	}
	if res != nil {
		if raw, ok := res.(rawJSON); ok {
			return raw, http.StatusOK
		}
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		return encodeTyped(res), http.StatusOK
	}
	if m := methods[c.method]; m != nil && !m.nullable {
		return nil, http.StatusNoContent
	}
	switch j.inv.EmptyReply {
	case "null":
		return []byte("null"), http.StatusOK
	case "204":
		return nil, http.StatusNoContent
	}
	return nil, http.StatusOK
}
