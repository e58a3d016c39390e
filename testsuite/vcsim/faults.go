// SPDX-License-Identifier: GPL-2.0-or-later
// faults.go: declared faults: on a request (answered instead of executed), on
// a reply (executed, then spoilt), on a task (it runs and ends in the fault,
// without effect).

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

type faultRule struct {
	On          string         `json:"on"`
	Method      string         `json:"method"`
	Object      string         `json:"object"`
	Skip        int            `json:"skip"`
	Count       *int           `json:"count"`
	Probability *float64       `json:"probability"`
	Fault       map[string]any `json:"fault"`
	Message     string         `json:"message"`
	Http        int            `json:"http"`
	Body        *string        `json:"body"`
	Location    string         `json:"location"`
	Drop        string         `json:"drop"`
	Truncate    *int           `json:"truncate"`
	Cut         *int           `json:"cut"`
	Pad         int            `json:"pad"`
	Garble      int            `json:"garble"`
	Delay       Dur            `json:"delay"`
	Hang        bool           `json:"hang"`
	Label       string         `json:"label"`

	decoded types.BaseMethodFault
	form    faultForm
	seen    int
	hits    int
}

type faultFile struct {
	Rules []*faultRule `json:"rules"`
}

type faultEngine struct {
	form  faultForm
	mu    sync.Mutex
	rules []*faultRule
	rand  *rand.Rand // under mu
}

// seed makes what is left to chance repeatable.
func (e *faultEngine) seed(n int64) {
	e.mu.Lock()
	e.rand = rand.New(rand.NewSource(n))
	e.mu.Unlock()
}

func (e *faultEngine) load(file string) error {
	data, err := os.ReadFile(file)
	if err == nil {
		err = e.addAll(data)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// addAll takes {"rules":[...]} and adds what it declares, all or nothing.
func (e *faultEngine) addAll(data []byte) error {
	f := faultFile{}
	if err := readStrict(data, &f); err != nil {
		return err
	}
	for i, r := range f.Rules {
		if err := r.check(); err != nil {
			return fmt.Errorf("rules[%d].%w", i, err)
		}
		r.form = e.form
	}
	e.mu.Lock()
	e.rules = append(e.rules, f.Rules...)
	e.mu.Unlock()
	return nil
}

// list tells of each rule how often it hit.
func (e *faultEngine) list() []any {
	e.mu.Lock()
	defer e.mu.Unlock()
	res := []any{}
	for _, r := range e.rules {
		res = append(res, map[string]any{"on": r.On, "method": r.Method, "object": r.Object, "label": r.Label, "seen": r.seen, "hits": r.hits})
	}
	return res
}

func (e *faultEngine) clear() {
	e.mu.Lock()
	e.rules = nil
	e.mu.Unlock()
}

func (r *faultRule) check() error {
	switch r.On {
	case "request", "reply", "task":
	default:
		return fmt.Errorf("on: %q is not one of request, reply, task", r.On)
	}
	if r.Drop != "" && r.Drop != "before" && r.Drop != "after" {
		return fmt.Errorf("drop: %q is not before or after", r.Drop)
	}
	if r.Fault == nil {
		return nil
	}
	b, _ := json.Marshal(map[string]any{"_typeName": "LocalizedMethodFault", "fault": r.Fault, "localizedMessage": r.Message})
	l := types.LocalizedMethodFault{}
	if err := types.NewJSONDecoder(bytes.NewReader(b)).Decode(&l); err != nil {
		return fmt.Errorf("fault: %v", err)
	}
	if l.Fault == nil {
		return fmt.Errorf("fault: no method fault")
	}
	r.decoded = l.Fault
	return nil
}

// match finds the first rule for an event and counts it.
func (e *faultEngine) match(on, method, object string) *faultRule {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.rules {
		if r.On != on || !globbed(r.Method, method) || !globbed(r.Object, object) {
			continue
		}
		if r.seen++; r.seen <= r.Skip || r.Count != nil && r.hits >= *r.Count {
			continue
		}
		if r.Probability != nil && e.rand.Float64() >= *r.Probability {
			continue
		}
		r.hits++
		return r
	}
	return nil
}

func globbed(glob, s string) bool {
	if glob == "" || glob == "*" || glob == s {
		return true
	}
	ok, err := path.Match(glob, s)
	return err == nil && ok
}

// ruleFor matches a request; the object's name, or its id when it has none.
func (w *world) ruleFor(on string, c *call) *faultRule {
	w.faults.mu.Lock()
	none := len(w.faults.rules) == 0
	w.faults.mu.Unlock()
	if none {
		return nil
	}
	w.mu.Lock()
	name := c.this.Value
	if o := w.objs[c.this]; o != nil && o.name() != "" {
		name = o.name()
	}
	w.mu.Unlock()
	r := w.faults.match(on, c.method, name)
	if r != nil {
		w.mu.Lock()
		w.count.fault(r)
		w.mu.Unlock()
	}
	return r
}

func (r *faultRule) err() error {
	text := r.Message
	if text == "" {
		text = "A fault that was declared for the test."
	}
	return &wireFault{fault: r.decoded, text: text}
}

func (r *faultRule) pause(req *http.Request) {
	if r.Hang {
		<-req.Context().Done()
		panic(http.ErrAbortHandler)
	}
	if r.Delay > 0 {
		select {
		case <-time.After(time.Duration(r.Delay)):
		case <-req.Context().Done():
		}
	}
}

// answer replies instead of the server; false when the rule only delays.
func (r *faultRule) answer(rw http.ResponseWriter, req *http.Request, c *call) bool {
	r.pause(req)
	switch {
	case r.Drop != "":
		panic(http.ErrAbortHandler)
	case r.decoded != nil:
		r.fault(rw, c)
	case r.Http != 0 || r.Body != nil:
		r.plain(rw, nil, 0)
	default:
		return false
	}
	return true
}

// fault replies with the declared fault, as the call is encoded.
func (r *faultRule) fault(rw http.ResponseWriter, c *call) {
	out, status := c.wire.reply(c, nil, r.err())
	c.write(rw, out, status)
}

// plain writes what the rule says, with the real reply as the default.
func (r *faultRule) plain(rw http.ResponseWriter, out []byte, status int) {
	if r.Http != 0 {
		status = r.Http
	}
	if status == 0 {
		status = http.StatusOK
	}
	if r.Body != nil {
		out = []byte(*r.Body)
	}
	kind := "application/json"
	if strings.HasPrefix(string(out), "<") {
		kind = "text/xml"
	} else if r.Body != nil && !json.Valid(out) {
		kind = "text/plain"
	}
	rw.Header().Set("Content-Type", kind)
	if r.Location != "" {
		rw.Header().Set("Location", r.Location)
	}
	rw.WriteHeader(status)
	_, _ = rw.Write(out)
}

// spoil changes or drops the reply of an executed request.
func (r *faultRule) spoil(rw http.ResponseWriter, req *http.Request, c *call, out []byte, status int) {
	r.pause(req)
	if r.Drop != "" {
		panic(http.ErrAbortHandler)
	}
	if r.decoded != nil {
		r.fault(rw, c)
		return
	}
	if r.Truncate != nil && *r.Truncate < len(out) {
		// The length is announced in full: the connection breaks in the middle.
		rw.Header().Set("Content-Type", c.wire.contentType())
		rw.Header().Set("Content-Length", itoa(int64(len(out))))
		rw.WriteHeader(status)
		_, _ = rw.Write(out[:*r.Truncate])
		if f, ok := rw.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	r.plain(rw, r.mangle(out), status)
}

// mangle cuts, pads or garbles a body whose length is announced as it is sent.
func (r *faultRule) mangle(out []byte) []byte {
	if r.Cut != nil && *r.Cut < len(out) {
		out = out[:*r.Cut]
	}
	if r.Garble > 0 && len(out) > 0 {
		out = append([]byte(nil), out...)
		for i := 0; i < r.Garble; i++ {
			at := (len(out)*(2*i+1)/(2*r.Garble) + r.hits) % len(out)
			out[at] ^= byte(1 + (r.hits+i)%127)
		}
	}
	if r.Pad > 0 && len(out) > 0 {
		out = append(append([]byte(nil), out[0]), append(bytes.Repeat([]byte{' '}, r.Pad), out[1:]...)...)
	}
	return out
}

// forTask gives a task the fault that is declared for it.
func (e *faultEngine) forTask(t *task, kind, object string) {
	r := e.match("task", kind, object)
	if r == nil {
		return
	}
	t.o.w().count.fault(r)
	t.extra, t.hang = time.Duration(r.Delay), r.Hang
	if r.decoded != nil {
		t.over = func(*task) error { return r.err() }
	}
}
