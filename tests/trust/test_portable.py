"""What only some systems have is asked for first: the code is read, not run, for the others."""

import ast
from pathlib import Path

import pytest

import topicvec

SOURCE = Path(topicvec.__file__).parent
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "msvcrt"}
OS = """
    O_DIRECTORY O_NOFOLLOW chown fchmod fchown fork forkpty getegid geteuid getgid
    getloadavg getpgid
    getpriority getuid kill killpg lchown mkfifo mknod nice openpty posix_fadvise posix_fallocate
    posix_spawn pread pwrite register_at_fork sched_getaffinity sched_setaffinity sendfile setgid
    setpgid setsid setuid statvfs sync sysconf uname wait wait3 wait4 waitid
"""
SIGNALS = "SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGQUIT SIGUSR1 alarm setitimer pause"
NAMES = {
    "os": OS.split(),
    "signal": SIGNALS.split(),
    "socket": ["AF_UNIX", "SO_REUSEPORT", "fromfd"],
    "select": ["poll", "epoll", "kqueue"],
    "time": ["tzset", "clock_gettime"],
}
PLACES = ("/dev/", "/proc/", "/tmp", "/etc/", "/usr/", "/var/")
COMPARED = {"files.py": ["/dev/fd", "/proc/self/fd"]}  # names that are told apart, not opened
ASKED = ("hasattr", "os.name", "sys.platform", "platform.system")


def _asks(node):
    """Whether what stands inside is only reached where the system has it."""
    if isinstance(node, (ast.If, ast.IfExp)):
        return any(name in ast.unparse(node.test) for name in ASKED)
    caught = [ast.unparse(each.type) for each in getattr(node, "handlers", []) if each.type]
    return any("ImportError" in name or "AttributeError" in name for name in caught)


def _unasked(node):
    yield node
    for child in ast.iter_child_nodes(node):
        if not _asks(child):
            yield from _unasked(child)


def _wrong(node):
    """Say what is wrong with a place in the code, if anything."""
    if isinstance(node, ast.Import) and MODULES & {each.name for each in node.names}:
        return ast.unparse(node)
    if isinstance(node, ast.ImportFrom) and node.module in MODULES:
        return ast.unparse(node)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ast.unparse(node) if node.attr in NAMES.get(node.value.id, ()) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if node.value.startswith(PLACES) else None
    return _without_encoding(node) if isinstance(node, ast.Call) else None


def _without_encoding(call):
    """Find texts that are read or written in the encoding of the system."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {each.arg for each in call.keywords}
    if name in ("read_text", "write_text"):
        n_before = 0 if name == "read_text" else 1
        return None if "encoding" in given or len(call.args) > n_before else ast.unparse(call)
    if name not in ("open", "fdopen", "NamedTemporaryFile", "TextIOWrapper"):
        return None
    modes = [a.value for a in [*call.args, *(k.value for k in call.keywords)] if _is_mode(a)]
    binary = any("b" in mode for mode in modes)
    text = not binary and (modes or isinstance(call.func, ast.Name) or not call.args)
    return ast.unparse(call) if text and "encoding" not in given else None


def _is_mode(node):
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_text and node.value != "" and set(node.value) <= set("rwaxbt+")


def _found(source):
    return [wrong for node in _unasked(ast.parse(source)) if (wrong := _wrong(node))]


def test_the_code_asks_before_it_uses_what_only_some_systems_have():
    found = {
        path.relative_to(SOURCE).as_posix(): wrong
        for path in sorted(SOURCE.rglob("*.py"))
        if (wrong := _found(path.read_text(encoding="utf-8")))
    }
    assert found == COMPARED


@pytest.mark.parametrize(
    ("source", "n"),
    [
        ("import fcntl", 1), ("os.fork()", 1), ("os.kill(p, signal.SIGKILL)", 2),
        ("open('x')", 1), ("path.read_text()", 1), ("path.open()", 1), ("p = '/dev/null'", 1),
        ("path.open('w')", 1), ("path.open('rb')", 0), ("path.read_text('utf-8')", 0),
        ("if hasattr(os, 'fork'):\n    os.fork()", 0), ("open(p, 'wb')", 0),
        ("try:\n    import fcntl\nexcept ImportError:\n    pass", 0),
        ("path.write_text(t, encoding='utf-8')", 0), ("path.write_text(t)", 1),
    ],
)  # fmt: skip
def test_the_reading_sees_what_it_should(source, n):
    assert len(_found(source)) == n
