// SPDX-License-Identifier: GPL-2.0-or-later
// transcoder.go: POST /sdk/vim25/{release}/transcoder: a data object in XML, as
// SOAP clients serialise it, comes back as JSON. From 8.0 U2 on. VMware: "Wire
// Format Transcoder APIs" of the Virtual Infrastructure JSON API, and the sample
// vcenter/transcoder of its Python SDK. JSON to XML is not simulated.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

const firstTranscoder = "8.0.2.0"

func (w *world) transcodes(release string) bool {
	if t := w.inv.About.Transcoder; t != nil && !*t {
		return false
	}
	return w.supported(release) && !versionLess(release, firstTranscoder)
}

func (w *world) serveTranscoder(rw http.ResponseWriter, r *http.Request, release string) {
	c := &call{wire: viJSON{w.inv}, w: w, ctx: r.Context(), release: release, method: "transcoder"}
	w.delayCall(r.Context())
	if rule := w.ruleFor("request", c); rule != nil && rule.answer(rw, r, c) {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return
	}
	w.mu.Lock()
	w.count.calls["transcoder"]++
	s := w.session(r.Header.Get(sessionHeader))
	w.mu.Unlock()
	switch {
	case !w.transcodes(release):
		http.NotFound(rw, r)
	case r.Method != http.MethodPost:
		http.Error(rw, "", http.StatusMethodNotAllowed)
	case s == nil:
		refuseTranscoding(rw, http.StatusUnauthorized, "Unauthenticated", "The session is not authenticated.")
	case r.Header.Get("Content-Type") != "application/xml" || r.Header.Get("Accept") != "application/json":
		refuseTranscoding(rw, http.StatusBadRequest, "InvalidArgument", "Content-Type and Accept: application/xml and application/json are served.")
	default:
		out, err := transcode(body)
		if err != nil {
			refuseTranscoding(rw, http.StatusBadRequest, "InvalidRequest", err.Error())
			return
		}
		w.replyTo(c, rw, r, out, "application/json")
	}
}

func refuseTranscoding(rw http.ResponseWriter, status int, kind, text string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]any{"error_type": kind, "messages": []any{map[string]any{"default_message": text}}})
}

// transcode reads <object xsi:type="TYPE"> and writes it as VI JSON.
func transcode(body []byte) ([]byte, error) {
	dec := xml.NewDecoder(strings.NewReader(string(body)))
	dec.TypeFunc = types.TypeFunc()
	for {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("no object: %w", err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		name := ""
		for _, a := range start.Attr {
			if a.Name.Local == "type" {
				name = a.Value[strings.Index(a.Value, ":")+1:]
			}
		}
		t, ok := types.TypeFunc()(name)
		if !ok {
			return nil, fmt.Errorf("the type %q is not known", name)
		}
		v := reflect.New(t)
		if err := dec.DecodeElement(v.Interface(), &start); err != nil {
			return nil, err
		}
		return encodeAny(v.Elem().Interface()), nil
	}
}
