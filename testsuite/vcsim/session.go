// SPDX-License-Identifier: GPL-2.0-or-later
// session.go: log-ins, lock-out, idle expiry. Views, filters and collectors
// belong to the session and die with it.

package main

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"
)

type session struct {
	w          *world
	token      string
	login      string // the name as it was given
	user       types.UserSession
	last       time.Time
	done       chan struct{}
	views      map[ref]*view
	filters    map[ref]*filter
	collectors map[ref]*collector
	busy       int // calls under way: a session is not idle while it waits
}

func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// scopedID makes the id of a session's object, in the real one's form.
func (s *session) scopedID() string { return "session[" + s.user.Key + "]" + randomUUID() }

func (w *world) addScoped(r ref, ptr any) *object {
	o := newObject(r, ptr)
	w.objs[r] = o
	return o
}

// lock is an account's wrong passwords of late, and until when it is locked.
type lock struct {
	wrong []time.Time
	until time.Time
}

// login checks a password and opens a session.
func (w *world) login(name, password string) (*session, error) {
	w.count.logins++
	now := time.Now()
	var user *userSpec
	for i := range w.inv.Users {
		if strings.EqualFold(w.inv.Users[i].Name, name) {
			user = &w.inv.Users[i]
		}
	}
	spec, l := w.inv.Lockout, w.lockout[name]
	if l == nil {
		l = &lock{}
		w.lockout[name] = l
	}
	locked := now.Before(l.until)
	if user == nil || user.Password != password || locked {
		w.count.failedLogins++
		if locked {
			w.count.lockedLogins++
		} else {
			l.add(now, spec)
		}
		return nil, &wireFault{fault: &types.InvalidLogin{}, text: "Cannot complete login due to an incorrect user name or password."}
	}
	delete(w.lockout, name)
	s := &session{w: w, login: user.Name, token: strings.ReplaceAll(randomUUID()+randomUUID(), "-", ""), last: now,
		done: make(chan struct{}), views: map[ref]*view{}, filters: map[ref]*filter{}, collectors: map[ref]*collector{}}
	s.user = types.UserSession{Key: "52" + randomUUID()[2:], UserName: upnName(name), FullName: strings.SplitN(name, "@", 2)[0],
		LoginTime: now.UTC(), LastActiveTime: now.UTC(), Locale: "en", MessageLocale: "en", ExtensionSession: false}
	s.newCollector(w, w.content.PropertyCollector)
	w.sessions[s.token] = s
	w.keys = append(w.keys, s.token, s.user.Key)
	return s, nil
}

func (l *lock) add(now time.Time, spec lockoutSpec) {
	kept := []time.Time{now}
	for _, t := range l.wrong {
		if now.Sub(t) < time.Duration(spec.Window) {
			kept = append(kept, t)
		}
	}
	l.wrong = kept
	if len(kept) >= spec.Failures {
		l.wrong, l.until = nil, now.Add(time.Duration(spec.Unlock))
	}
}

// upnName is how vCenter shows user@domain: DOMAIN\user.
func upnName(name string) string {
	if i := strings.LastIndex(name, "@"); i > 0 {
		return strings.ToUpper(name[i+1:]) + "\\" + name[:i]
	}
	return name
}

// session finds a live session and keeps it alive.
func (w *world) session(token string) *session {
	s := w.sessions[token]
	if s == nil {
		return nil
	}
	now := time.Now()
	if s.busy == 0 && now.Sub(s.last) > time.Duration(w.inv.SessionIdle) {
		w.endSession(s)
		return nil
	}
	s.last = now
	s.user.LastActiveTime = now.UTC()
	s.user.CallCount++
	return s
}

func (w *world) endSession(s *session) {
	delete(w.sessions, s.token)
	for _, c := range s.collectors {
		c.close(w)
	}
	for r := range s.views {
		delete(w.objs, r)
	}
	for r := range s.filters {
		delete(w.objs, r)
	}
	s.views, s.filters = map[ref]*view{}, map[ref]*filter{}
	close(s.done)
}

func (w *world) endSessions() {
	for _, s := range w.sessions {
		w.endSession(s)
	}
}

// expire ends sessions that have idled too long; called on a beat.
func (w *world) expire() {
	for _, s := range w.sessions {
		if s.busy == 0 && time.Since(s.last) > time.Duration(w.inv.SessionIdle) {
			w.endSession(s)
		}
	}
}

func login(c *call) (any, error) {
	req := c.req.(*types.Login)
	s, err := c.w.login(req.UserName, req.Password)
	if err != nil {
		return nil, err
	}
	s.user.IpAddress, s.user.UserAgent = c.remote, c.agent
	c.s, c.newToken = s, s.token
	return s.user, nil
}

func logout(c *call) (any, error) {
	c.w.endSession(c.s)
	return nil, nil
}

func sessionIsActive(c *call) (any, error) {
	req := c.req.(*types.SessionIsActive)
	for _, s := range c.w.sessions {
		if s.user.Key == req.SessionID {
			return true, nil
		}
	}
	return false, nil
}
