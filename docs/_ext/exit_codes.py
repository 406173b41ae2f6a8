# SPDX-License-Identifier: BSD-3-Clause
"""`exit-codes MODULE`: exit code, meaning and next step of each error class, read from the source."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from generated import ROOT, Generated, escaped
from sphinx.application import Sphinx

_KIND = "exit-codes"


class ExitCodes(Generated):
    """A table of the module's errors that have an exit code, sorted by code."""

    def markdown(self, argument: str) -> str:
        self.note(_KIND, argument)
        path = ROOT / "python" / (argument.replace(".", "/") + ".py")
        classes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
        rows = [_error(node) for node in classes]
        lines = ["| code | error | what happened | next step |", "|--:|---|---|---|"]
        for row in sorted((row for row in rows if row.code > 1), key=lambda row: row.code):
            error = f"{{py:class}}`~{argument}.{row.name}`"
            lines.append(f"| {row.code} | {error} | {_cell(row.meaning)} | {_cell(row.next_step)} |")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Error:
    code: int
    name: str
    meaning: str
    next_step: str


def _error(node: ast.ClassDef) -> _Error:
    assigned = {
        target.id: each.value
        for each in node.body
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    code = assigned.get("exit_code")
    step = assigned.get("default_next_step") or _passed_step(node)
    number = code.value if isinstance(code, ast.Constant) and isinstance(code.value, int) else 0
    return _Error(number, node.name, ast.get_docstring(node) or "", _words(step))


def _passed_step(node: ast.ClassDef) -> ast.expr | None:
    """Returns the next step that the class passes to its base: a text, or a variable that starts as one."""
    variables = {
        target.id: each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Assign)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(node):
        for keyword in call.keywords if isinstance(call, ast.Call) else []:
            value = keyword.value
            if keyword.arg == "next_step":
                return variables.get(value.id) if isinstance(value, ast.Name) else value
    return None


def _words(step: ast.expr | None) -> str:
    """A text, in which `<name>` stands for what it is formatted with."""
    if isinstance(step, ast.JoinedStr):
        return "".join(_words(part) for part in step.values)
    if isinstance(step, ast.FormattedValue):
        names = [each for each in ast.walk(step.value) if isinstance(each, ast.Name | ast.Attribute)]
        return f"<{ast.unparse(names[0])}>" if names else "<...>"
    if isinstance(step, ast.IfExp):
        return _words(step.body)
    return str(step.value) if isinstance(step, ast.Constant) and step.value else ""


def _cell(text: str) -> str:
    """The first paragraph of a text, for a table."""
    return escaped(re.sub(r"\s+", " ", text.split("\n\n")[0]))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive(_KIND, ExitCodes)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
