// SPDX-License-Identifier: GPL-2.0-or-later
// freeze.go: a guest that stands still: all its processes are stopped, also
// those that have left its group for a session of their own. Only what was
// stopped here continues: what the guest itself had stopped (a suspended job)
// stays so.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// process is one of /proc, known again by its start.
type process struct {
	pid, parent, group int
	state, start       string
	still              bool // it stood still before
}

// readProcess reads a process's stat; false: there is none any more.
func readProcess(pid int) (process, bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	at := bytes.LastIndexByte(b, ')')
	if err != nil || at < 0 {
		return process{}, false
	}
	f := strings.Fields(string(b[at+1:]))
	if len(f) < 20 {
		return process{}, false
	}
	p := process{pid: pid, state: f[0], start: f[19]}
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	return p, strings.IndexAny(p.state, "ZXx") < 0
}

func processes() []process {
	var res []process
	list, _ := os.ReadDir("/proc")
	for _, e := range list {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			if p, ok := readProcess(pid); ok {
				res = append(res, p)
			}
		}
	}
	return res
}

// marked tells whether a process was started with VM_DIR of that guest.
func (p *process) marked(mark []byte) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, b...), mark)
}

// members are the guest's processes: its group, what carries its mark, and the
// children of these. Who is none is remembered: to read what a process was
// started with takes the longest.
func (g *guest) members(others map[int]string) []process {
	mark := append([]byte("\x00VM_DIR="+g.cmd.Dir), 0)
	all := processes()
	in := map[int]bool{}
	for i := range all {
		p := &all[i]
		if p.group == g.cmd.Process.Pid || others[p.pid] != p.start && p.marked(mark) {
			in[p.pid] = true
		} else {
			others[p.pid] = p.start
		}
	}
	for more := true; more; {
		more = false
		for _, p := range all {
			if in[p.parent] && !in[p.pid] {
				in[p.pid], more = true, true
			}
		}
	}
	var res []process
	for _, p := range all {
		if in[p.pid] {
			res = append(res, p)
		}
	}
	return res
}

// freeze stops the guest's processes, until none is left that a fork made
// meanwhile.
func (g *guest) freeze() {
	known, others := map[int]string{}, map[int]string{}
	for _, p := range g.stopped {
		known[p.pid] = p.start
	}
	for quiet := 0; quiet < 2; quiet++ {
		for _, p := range g.members(others) {
			if known[p.pid] == p.start {
				continue
			}
			known[p.pid], quiet = p.start, 0
			if p.still = p.state == "T"; !p.still {
				_ = syscall.Kill(p.pid, syscall.SIGSTOP)
			}
			g.stopped = append(g.stopped, p)
		}
	}
}

// thaw continues the processes that were stopped here, children first.
func (g *guest) thaw() {
	for i := len(g.stopped) - 1; i >= 0; i-- {
		if p := g.stopped[i]; !p.still {
			p.signal(syscall.SIGCONT)
		}
	}
	g.stopped = nil
}

// signal reaches the very process, not another one of its number.
func (p *process) signal(sig syscall.Signal) {
	if now, ok := readProcess(p.pid); ok && now.start == p.start {
		_ = syscall.Kill(p.pid, sig)
	}
}

func (g *guest) frozen() bool { return len(g.stopped) > 0 }

// destroy ends what stands still: it hears SIGKILL alone.
func (g *guest) destroy() {
	g.ended = true
	g.kill(syscall.SIGKILL)
	for i := range g.stopped {
		g.stopped[i].signal(syscall.SIGKILL)
	}
}

// stopped counts the processes of a VM's guest that were stopped with it.
func (v *vmachine) stopped() int {
	if v.guest == nil {
		return 0
	}
	return len(v.guest.stopped)
}
