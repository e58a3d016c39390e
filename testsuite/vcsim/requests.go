// SPDX-License-Identifier: GPL-2.0-or-later
// requests.go: the log of what was asked for. One line of JSON for each call that
// changes a VM or a host, in the order of their coming, whether it was then done
// or refused: method, the object's name, and the call's arguments, in which
// references to objects are their names. See testsuite/golden/requests.py.

package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
)

// openRequestLog appends to a file; "" is no log. The world's file is its own.
func (w *world) openRequestLog(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	w.requestLog = f
	return err
}

// logRequest writes a call's line. Called with w.mu held.
func (w *world) logRequest(c *call, body []byte) {
	if w.requestLog == nil || !methods[c.method].mutating {
		return
	}
	body = c.wire.arguments(c, body)
	var args any
	if len(bytes.TrimSpace(body)) > 0 {
		if err := json.Unmarshal(body, &args); err != nil {
			log.Printf("requests: %s: %v", c.method, err)
			return
		}
	}
	line, err := json.Marshal(map[string]any{"method": c.method, "of": w.nameOf(c.this), "args": w.withNames(args)})
	if err == nil {
		_, err = w.requestLog.Write(append(line, '\n'))
	}
	if err != nil {
		log.Printf("requests: %v", err)
	}
}

// nameOf is an object's type and name; of one without a name, or that is gone,
// the type alone.
func (w *world) nameOf(r ref) string {
	if o := w.objs[r]; o != nil && o.name() != "" {
		return r.Type + " " + o.name()
	}
	return r.Type
}

// withNames replaces each reference by nameOf, in a document that it owns.
func (w *world) withNames(doc any) any {
	switch d := doc.(type) {
	case []any:
		for i := range d {
			d[i] = w.withNames(d[i])
		}
	case map[string]any:
		if d["_typeName"] == "ManagedObjectReference" {
			t, _ := d["type"].(string)
			v, _ := d["value"].(string)
			return w.nameOf(ref{Type: t, Value: v})
		}
		for k := range d {
			d[k] = w.withNames(d[k])
		}
	}
	return doc
}
