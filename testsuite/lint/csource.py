# SPDX-License-Identifier: GPL-2.0-or-later
"""What structure.py needs to know of C sources: functions, structs, calls, writes.

The sources are read as text, without a compiler: names are looked up by their
spelling. No preprocessor runs, so all branches of an #if count.
"""

import re

STRIP = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)
# A function that other files can call.
DEFINED = re.compile(
    r"^(?!static\b|typedef\b|extern\b|struct\b[^()]*\{|enum\b|#)"
    r"[A-Za-z_][\w \t\*]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
STATIC = re.compile(r"^static[^;{}]*?\b(\w+)\s*\([^;{}]*\)\s*\{", re.M)
NO_FUNCTION = {"if", "for", "while", "switch", "main", "init", "fini"}
STRUCT = re.compile(r"\bstruct\s+(\w+)\s*\{")
UNNAMED = re.compile(r"^\s*(?:static\s+)?(?:const\s+)?struct\s*\{", re.M)
FUNCTION_TYPE = re.compile(r"^typedef\b[^;(]*?\b(\w+)\s*\((?!\s*\*)", re.M)
INDEX = r"\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]"
CHAIN = r"(\w+)((?:\s*(?:->|\.)\s*\w+|" + INDEX + r")+)"
ASSIGNED = re.compile(r"(?<![\w.>])" + CHAIN +
                      r"\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)")
STEPPED = re.compile(r"(?:\+\+|--)\s*" + CHAIN)
# Functions that write to their first argument, and macros that write to any.
COPIES = re.compile(r"\b(?:memset|memcpy|memmove|vs_strlcpy|snprintf)"
                    r"\s*\(((?:[^()]|\([^()]*\))*)")
WRITERS = re.compile(
    r"\b(?:VS_GROW|atomic_\w+|"
    r"(?:LIST|TAILQ|STAILQ|HASH|LL|DL)_(?:INIT|INSERT\w*|REMOVE|ADD\w*|DEL\w*|"
    r"PREPEND|APPEND|CLEAR|SORT))\s*\(((?:[^()]|\([^()]*\))*)")
VARIABLE = re.compile(
    r"\bstruct\s+(\w+)\s+((?:\*\s*)*(?:const\s+)?\w+[^;(){}=]*?)(?=[;=)(]|,\s*(?:const\s+)?"
    r"(?:struct|enum|int|bool|char|size_t|int64_t|u?int\d+_t|void|unsigned|double)\b)")


def without_comments(text):
    """The source without comments and strings; lines are collapsed with them."""
    return STRIP.sub(" ", text)


def body_end(text, start):
    """The index after the brace that closes the one before start."""
    depth = 1
    for m in re.finditer(r"[{}]", text[start:]):
        depth += 1 if m.group(0) == "{" else -1
        if not depth:
            return start + m.end()
    return len(text)


def split_outside(text, separator):
    """text in pieces at a separator that is inside no bracket."""
    depth, piece, pieces = 0, "", []
    for ch in text:
        depth += (ch in "({[") - (ch in ")}]")
        if ch == separator and not depth:
            pieces.append(piece)
            piece = ""
        else:
            piece += ch
    return pieces + [piece]


class Member:
    """A member of a struct: its name, the struct that it is or points to."""

    def __init__(self, name, struct="", inline="", pointer=False, function=False):
        self.name, self.struct, self.inline = name, struct, inline
        self.pointer, self.function = pointer, function


def members(body, function_types=frozenset()):
    """The members between a struct's braces."""
    found = []
    for declaration in split_outside(body, ";"):
        declaration = declaration.strip()
        if not declaration or declaration.startswith("#"):
            continue
        inline = re.match(r"(?:struct|union|enum)\b\s*\w*\s*\{", declaration)
        inner = ""
        if inline:
            end = body_end(declaration, inline.end())
            if not declaration.startswith("enum"):
                inner = declaration[inline.end():end - 1]
            declaration = "inline " + declaration[end:]
        struct = re.match(r"(?:const\s+)?struct\s+(\w+)", declaration)
        kind = re.match(r"(?:const\s+)?(\w+)\s*\*", declaration)
        for one in split_outside(declaration, ","):
            function = re.search(r"\(\s*\*\s*(?:const\s+)?(\w*)\s*(?:\[[^\]]*\])?\s*\)\s*\(", one)
            name = function.group(1) if function else (
                re.findall(r"\w+", re.sub(r"\[[^\]]*\]|:\s*\w+\s*$|\([^()]*\)", " ", one)) or [""])[-1]
            found.append(Member(
                name, struct.group(1) if struct and not function else "",
                inner, "*" in one, bool(function) or
                bool(kind and kind.group(1) in function_types)))
    return found


class Struct:
    """A definition: its file, its members."""

    def __init__(self, name, file, body, function_types):
        self.name, self.file = name, file
        self.members = members(body, function_types)
        self.functions = [m.name for m in self.members if m.function] + [
            f"{m.name}.{i.name}" for m in self.members if m.inline
            for i in members(m.inline, function_types) if i.function]


def structs(texts):
    """Definitions by name; by FILE:NAME those of .c files, which no other file sees,
    and those whose name another header has; by FILE:VARIABLE those without a name."""
    types = {m.group(1) for t in texts.values() for m in FUNCTION_TYPE.finditer(t)}
    found = {}
    for f, t in texts.items():
        for m in STRUCT.finditer(t):
            name = m.group(1)
            if f.endswith(".c") or (name in found and found[name].file != f):
                name = f"{f}:{name}"
            body = t[m.end():body_end(t, m.end()) - 1]
            found.setdefault(name, Struct(name, f, body, types))
        for m in UNNAMED.finditer(t):
            end = body_end(t, m.end())
            variable = re.match(r"[\s*]*(\w+)", t[end:])
            if variable and "static" in m.group(0):
                name = f"{f}:{variable.group(1)}"
                found.setdefault(name, Struct(name, f, t[m.end():end - 1], types))
    return found


def function_arrays(texts):
    """(FILE:NAME, functions) of each array of pointers to functions."""
    types = {m.group(1) for t in texts.values() for m in FUNCTION_TYPE.finditer(t)}
    named = "|".join(sorted(types)) or "-"
    pattern = re.compile(
        r"\(\s*\*\s*(?:const\s+)?(\w+)\s*\[[^\]]*\]\s*\)\s*\([^;{}]*?\)\s*=\s*\{|"
        rf"\b(?:{named})\s*\*\s*(?:const\s+)?(\w+)\s*\[[^\]]*\]\s*=\s*\{{")
    for f, t in texts.items():
        for m in pattern.finditer(t):
            body = t[m.end():body_end(t, m.end()) - 1]
            yield f"{f}:{m.group(1) or m.group(2)}", len(
                [p for p in split_outside(body, ",") if p.strip()])


def calls(texts):
    """By .c file: the .c files that define a function which it names."""
    own = {}
    for f, t in texts.items():
        if f.endswith(".c"):
            for m in DEFINED.finditer(t):
                if m.group(1) not in NO_FUNCTION:
                    own.setdefault(m.group(1), f)
    graph = {}
    for f, t in texts.items():
        if not f.endswith(".c"):
            continue
        words = set(re.findall(r"(?<!struct )(?<!enum )\b\w+\b", t))
        words -= {m.group(1) for m in STATIC.finditer(t)}
        graph[f] = {own[w] for w in words if w in own} - {f}
    return graph


def variables(text):
    """By name: the struct that a variable or parameter is or points to; whether
    it is a pointer."""
    found = {}
    for m in VARIABLE.finditer(text):
        for one in split_outside(m.group(2), ","):
            name = re.match(r"\s*((?:\*\s*)*)(?:const\s+)?(\w+)", one)
            if name:
                found[name.group(2)] = m.group(1), bool(name.group(1))
    return found


def written(text):
    """(variable, chain) of each expression that text writes to."""
    for pattern in (ASSIGNED, STEPPED):
        for m in pattern.finditer(text):
            yield m.group(1), m.group(2)
    arguments = [a for call in WRITERS.finditer(text) for a in split_outside(call.group(1), ",")]
    arguments += [split_outside(call.group(1), ",")[0] for call in COPIES.finditer(text)]
    for one in arguments:
        m = re.match(r"\s*&?\s*" + CHAIN + r"\s*$", one)
        if m:
            yield m.group(1), m.group(2)


def member_of(known, struct, file, chain):
    """(struct, member) that the end of a chain like `->a[1].b` names, or None.
    A member of an inline struct counts as the member that holds it."""
    end = None
    for name in re.findall(r"(?:->|\.)\s*(\w+)", re.sub(INDEX, " ", chain)):
        definition = known.get(struct) or known.get(f"{file}:{struct}")
        if not definition:
            return end
        member = next((m for m in definition.members if m.name == name), None)
        if not member:
            return end
        end = definition.name, name
        struct = member.struct
    return end


def writes(texts, known, shared):
    """By (struct, member): the .c files that write it through a pointer, or in one
    of the variables `shared` (name: struct)."""
    found = {}
    for f, t in texts.items():
        if not f.endswith(".c"):
            continue
        for function in re.split(r"^\}", t, flags=re.M):
            here = variables(function)
            for variable, chain in written(function):
                struct, pointer = here.get(variable, (shared.get(variable), True))
                if not struct or not (pointer or "->" in chain):
                    continue
                end = member_of(known, struct, f, chain)
                if end:
                    found.setdefault(end, set()).add(f)
    return found


def cycles(nodes, edges):
    """The sets of nodes that reach each other (Tarjan), the largest first."""
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            found = []
            while not found or found[-1] != v:
                found.append(stack.pop())
                on.discard(found[-1])
            if len(found) > 1:
                out.append(sorted(found))

    for v in sorted(nodes):
        if v not in index:
            visit(v)
    return sorted(out, key=len, reverse=True)
