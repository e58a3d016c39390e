# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the places of a C source where one thing can be changed, by libclang,
and writes a source that holds all these changes, each behind its number.

Rules: text that a macro expands to is left as it is; constants (case labels,
sizes of arrays, initial values of static objects) are left as they are; the
source that is written compiles to the same behaviour while no change is in
force. A static table is changed entry by entry, where it is read (lookup()).
"""
import re
import sys

import clang.cindex as ci

K = ci.CursorKind
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
         "+": "-", "-": "+", "*": "+", "/": "*", "%": "+", "&": "|", "|": "&",
         "<<": ">>", ">>": "<<"}
COMPARES = ("<", "<=", ">", ">=", "==", "!=")
LOGIC = {"&&": 0, "||": 1}
POINTERS = (ci.TypeKind.POINTER, ci.TypeKind.CONSTANTARRAY, ci.TypeKind.INCOMPLETEARRAY)
STATEMENTS = (K.CALL_EXPR, K.BINARY_OPERATOR, K.UNARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR)


class Change:
    """One change: its number, where it is, and what it is in words."""

    def __init__(self, number, path, function, line, words):
        self.number, self.path, self.function = number, path, function
        self.line, self.words = line, words

    def name(self):
        """The same after lines before it have moved."""
        return f"{self.path} {self.function}: {self.words}"


class Source:
    """A source file. changes is the list to which its changes are added."""

    def __init__(self, path, name, changes, arguments):
        self.path, self.name, self.changes = str(path), name, changes
        self.text = path.read_bytes()
        self.function = ""
        unit = ci.Index.create().parse(self.path, args=arguments, options=1)
        wrong = [d for d in unit.diagnostics if d.severity >= ci.Diagnostic.Error]
        if wrong:
            sys.exit(f"libclang can't read {name}: {wrong[0]}")
        self.macros = [self.span(c) for c in unit.cursor.get_children()
                       if c.kind == K.MACRO_INSTANTIATION and self.here(c)]
        self.result = b'#include "vs_mutation.h"\n' + \
            self.copy(0, len(self.text),
                      [c for c in unit.cursor.get_children() if self.here(c)
                       and c.kind == K.FUNCTION_DECL and c.is_definition()])

    def here(self, cursor):
        return cursor.location.file is not None and cursor.location.file.name == self.path

    @staticmethod
    def span(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def in_macro(self, cursor):
        start, end = self.span(cursor)
        return any(a <= start and end <= b for a, b in self.macros)

    def add(self, cursor, words):
        change = Change(len(self.changes) + 1, self.name, self.function,
                        cursor.extent.start.line, words)
        self.changes.append(change)
        return b"%d" % change.number

    def copy(self, start, end, children):
        """The text from start to end, with the changes in what children are."""
        out, at = [], start
        for c in children:
            a, b = self.span(c)
            if a < at or b > end or b <= a:
                continue
            out += [self.text[at:a], self.render(c)]
            at = b
        return b"".join(out) + self.text[at:end]

    def render(self, cursor, statement=False):
        start, end = self.span(cursor)
        if self.in_macro(cursor) or cursor.kind in (K.CXX_UNARY_EXPR, K.TYPE_REF):
            return self.text[start:end]
        children = list(cursor.get_children())
        if cursor.kind == K.FUNCTION_DECL:
            self.function = cursor.spelling
            children = [c for c in children if c.kind == K.COMPOUND_STMT]
        elif cursor.kind == K.DECL_STMT and self.text[start:start + 6] == b"static":
            return self.text[start:end]
        elif cursor.kind == K.VAR_DECL:
            children = [c for c in children[-1:] if c.kind != K.TYPE_REF and "[" not in cursor.type.spelling]
        elif cursor.kind == K.CASE_STMT:
            children = children[1:]
        if statement and cursor.kind in STATEMENTS:
            number = self.add(cursor, self.short(cursor) + " is left out")
            return b"(vs_mut(%s) ? (void)0 : (void)(%s))" % (number, self.inner(cursor, children))
        return self.inner(cursor, children)

    def inner(self, cursor, children):
        start, end = self.span(cursor)
        if cursor.kind == K.BINARY_OPERATOR and len(children) == 2:
            return self.binary(cursor, *children)
        if cursor.kind == K.INTEGER_LITERAL:
            number = self.add(cursor, self.short(cursor) + " becomes one more")
            return b"(%s + vs_mut(%s))" % (self.text[start:end], number)
        if cursor.kind in (K.IF_STMT, K.WHILE_STMT, K.CONDITIONAL_OPERATOR):
            return self.conditional(cursor, children)
        if cursor.kind == K.COMPOUND_STMT:
            return self.statements(start, end, children, children)
        if cursor.kind == K.FOR_STMT:
            return self.statements(start, end, children, children[-1:])
        return self.copy(start, end, children)

    def statements(self, start, end, children, alone):
        """Like copy(); those of alone are statements of their own."""
        out, at = [], start
        for c in children:
            a, b = self.span(c)
            if a < at or b > end or b <= a:
                continue
            out += [self.text[at:a], self.render(c, statement=c in alone)]
            at = b
        return b"".join(out) + self.text[at:end]

    def conditional(self, cursor, children):
        start, end = self.span(cursor)
        test, a, b = children[0], *self.span(children[0])
        if a < start or b <= a or self.in_macro(test) and \
           any(x <= start and y > a for x, y in self.macros):
            return self.copy(start, end, children)
        number = self.add(test, f"the condition {self.short(test)} is negated")
        alone = [] if cursor.kind == K.CONDITIONAL_OPERATOR else children[1:]
        return self.text[start:a] + \
            b"(vs_mut(%s) ^ !!(%s))" % (number, self.render(test)) + \
            self.statements(b, end, children[1:], alone)

    def binary(self, cursor, left, right):
        start, end = self.span(cursor)
        between = self.text[left.extent.end.offset:right.extent.start.offset]
        found = re.search(rb"&&|\|\||<<|>>|[<>=!]=|[-+*/%<>&|^=]", between)
        op = found.group().decode() if found else ""
        pointers = [x.type.get_canonical().kind in POINTERS for x in (left, right)]
        if op in LOGIC:
            number = self.add(cursor, f"{op} of {self.short(cursor)} becomes the other")
            return b"VS_MUT_LOGIC(%s, %d, (%s), (%s))" % (
                number, LOGIC[op], self.render(left), self.render(right))
        if op not in SWAPS or any(pointers) and op not in COMPARES:
            return self.copy(start, end, [left, right])
        number = self.add(cursor, f"{op} of {self.short(cursor)} becomes {SWAPS[op]}")
        return b"VS_MUT_%s(%s, (%s), %s, %s, (%s))" % (
            b"POINTERS" if any(pointers) else b"OP", number,
            self.render(left), op.encode(), SWAPS[op].encode(), self.render(right))

    def short(self, cursor):
        start, end = self.span(cursor)
        text = re.sub(r"\s+", " ", self.text[start:end].decode())
        return f"'{text if len(text) < 70 else text[:67] + '...'}'"

    def lookup(self, table, row, column, rows, columns, values):
        """Each entry of a static table of enums becomes the next value, where
        the table is read by table[row][column]."""
        read = f"{table}[{row}][{column}]"
        if self.result.count(read.encode()) != 1:
            sys.exit(f"{self.name}: '{read}' is not read in one place")
        self.function, first = table, len(self.changes) + 1
        for r in rows:
            for c in columns:
                self.changes.append(Change(len(self.changes) + 1, self.name, table, 0,
                                           f"[{r}][{c}] becomes the next value"))
        self.result = self.result.replace(read.encode(), (
            f"(vs_mut({first} + (int){row} * {len(columns)} + (int){column}) ?"
            f" ({read} + 1) % {values} : {read})").encode())
