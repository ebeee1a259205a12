"""Remove message texts and the package's version from syntax trees, so that code digests don't depend on them.

Message texts are strings and the literal pieces of f-strings. The texts are removed from the arguments of calls to the
functions in MESSAGES, and from local variables that only such calls read. Formatted values stay, as do strings that
select a value (keys, comparisons) and arguments of other functions.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

MESSAGES = {"InputError", "NoEngineError", "RefusedError", "RequestError", "say", "tell", "user_errors"}
"""Classes and functions whose calls only word an error or a terminal line. Other exceptions' texts may be data."""
VERSION = "__version__"
LOGS, LEVELS = {"log", "logging"}, {"debug", "info", "warning", "error", "exception"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def remove_words(tree: ast.Module) -> None:
    """Replace the message texts and the version in ``tree`` with empty strings, in place."""
    for node in [*_messages(tree), *_versions(tree)]:
        if isinstance(node, ast.JoinedStr):
            node.values = [value for value in node.values if isinstance(value, ast.FormattedValue)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""


def _versions(tree: ast.Module) -> list[ast.expr]:
    return [value for each in tree.body for name, value in _assignments(each) if name == VERSION]


def _messages(tree: ast.Module) -> list[ast.expr]:
    """Return the expressions whose strings are the words of a message."""
    found = [part for call in _message_calls(tree) for each in _arguments(call) for part in _parts(each)]
    functions = [node for node in ast.walk(tree) if isinstance(node, Function)] if found else []
    variables = [each for function in functions for each in _variables(function)]
    known, grew = {id(node) for node in found}, True
    while grew:
        of_messages = [values for values, loads in variables if loads and all(id(load) in known for load in loads)]
        new = [part for values in of_messages for value in values for part in _parts(value) if id(part) not in known]
        found, known, grew = [*found, *new], known | {id(part) for part in new}, bool(new)
    return found


def _message_calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_message(node.func):
            yield node
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _name(node.exc.func).islower():
            yield node.exc  # a function words the error; classes are in MESSAGES


def _is_message(called: ast.expr) -> bool:
    of_log = isinstance(called, ast.Attribute) and called.attr in LEVELS and _name(called.value) in LOGS
    return of_log or _name(called) in MESSAGES


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield ``node`` and the expressions inside it that become part of its text."""
    yield node
    inner: list[ast.expr] = []
    match node:
        case ast.JoinedStr(values=pieces):
            inner = [piece.value for piece in pieces if isinstance(piece, ast.FormattedValue)]
        case ast.BinOp(left=left, right=right):
            inner = [left, right]
        case ast.IfExp(body=first, orelse=second):
            inner = [first, second]
        case ast.BoolOp(values=several) | ast.List(elts=several) | ast.Tuple(elts=several):
            inner = several
        case ast.Call(func=ast.Attribute(value=one, attr="format" | "join")):
            inner = [one, *_arguments(node)]
        case ast.Starred(value=one) | ast.Subscript(value=one) | ast.Call(func=ast.Attribute(value=one)):
            inner = [one]
        case ast.Lambda(body=one) | ast.GeneratorExp(elt=one) | ast.ListComp(elt=one):
            inner = [one]
    for each in inner:
        yield from _parts(each)


def _variables(function: ast.AST) -> Iterator[tuple[list[ast.expr], list[ast.Name]]]:
    """Yield, for each local variable in ``function``, the values assigned to it and the places where it is read."""
    values, loads = defaultdict[str, list[ast.expr]](list), defaultdict[str, list[ast.Name]](list)
    shared = set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            loads[node.id].append(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        for name, value in _assignments(node):
            values[name].append(value)
    yield from ((each, loads[name]) for name, each in values.items() if name not in shared)


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name that a statement assigns to, with the value."""
    pairs: list[tuple[ast.expr, ast.expr | None]] = []
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            pairs = [*zip(targets, values, strict=True)]
        case ast.Assign(targets=[target], value=value):
            pairs = [(target, value)]
        case ast.AnnAssign(target=target, value=assigned) | ast.AugAssign(target=target, value=assigned):
            pairs = [(target, assigned)]
    yield from ((target.id, value) for target, value in pairs if isinstance(target, ast.Name) and value)
