"""A PostgreSQL server of a test's own: Debian's programs, in a temporary folder, on a socket and no port.

    with postgres.server() as server:
        server.url()                       # postgresql://postgres@/postgres?host=/tmp/…
        server.run("CREATE TABLE t (x int)")

Where the programs are not there, `server` skips the test, and says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

USER = "ana"  # who has to give a password, and who may only read
PASSWORD = "s3cret/:@ %word"  # with what has a meaning in a URL

_RULES = f"local all {USER} scram-sha-256\nlocal all postgres trust\n"
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "16MB",
    "max_connections": "20",
    "max_worker_processes": "0",
    "autovacuum": "off",
}


@dataclass(frozen=True)
class Server:
    """A server that runs: the folder of its programs, and that of its socket."""

    programs: Path
    folder: Path

    def url(self, user: str = "postgres", password: str | None = None, database: str = "postgres") -> str:
        """How it is reached; the password stands there as a URL has it, or as it is where it is a $NAME."""
        if password is not None and not password.startswith("$"):
            password = quote(password, safe="")
        login = user if password is None else f"{user}:{password}"
        return f"postgresql://{login}@/{database}?host={self.folder}"

    def run(self, sql: str) -> str:
        """What the server answers to a statement, as psql prints it bare."""
        command = [self.programs / "psql", "-h", self.folder, "-U", "postgres", "-d", "postgres", "-XAtq"]
        done = subprocess.run([*command, "-v", "ON_ERROR_STOP=1", "-c", sql], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.strip()


def programs() -> Path | None:
    """The folder of the newest server's programs, if one is installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return Path(there).resolve().parent if there else None


@contextmanager
def server() -> Iterator[Server]:
    """A server, which ends with the block; a skipped test where there is none to start."""
    at = programs()
    if at is None:
        pytest.skip("PostgreSQL is not installed here (Debian's package is `postgresql`)")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a short name: that of a socket has 107 bytes at most
    data = folder / "data"
    as_user: list[str] = []
    if os.geteuid() == 0:  # as whom it refuses to run
        shutil.chown(folder, "postgres", "postgres")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    folder.chmod(0o755)

    def call(*command: object) -> None:
        words = [*as_user, *map(str, command)]
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout

    try:
        call(at / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        (data / "pg_hba.conf").write_text(_RULES)
        settings = "".join(f" -c {name}='{value}'" for name, value in _SETTINGS.items())
        # Its output goes to a file: a server that kept ours open would be waited for.
        start = ["-o", f"-k {folder}{settings}", "-l", folder / "log", "-w", "start"]
        call(at / "pg_ctl", "-D", data, *start)
        try:
            found = Server(at, folder)
            found.run(f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'")
            yield found
        finally:
            call(at / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
