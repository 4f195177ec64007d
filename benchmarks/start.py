"""What a new process pays for its first call: imports, kernels read from the cache, and the call itself."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

from benchmarks.memory import ROOT

_TEMPLATE = """
import time
start = time.perf_counter()
import numpy as np
numpy = time.perf_counter()
{data}
ready = time.perf_counter()
{imports}
imported = time.perf_counter()
{call}
done = time.perf_counter()
import json
parts = dict(numpy=numpy - start, imports=imported - ready, call=done - imported, counted=done - ready)
print(json.dumps(parts))
"""


@dataclass(frozen=True)
class Script:
    """A program: it makes its data, then, on the clock, imports what it needs and calls it."""

    data: str
    imports: str
    call: str

    def run(self) -> dict[str, float]:
        """Seconds of each part in a new process; `counted` is imports and call together."""
        program = _TEMPLATE.format(data=self.data, imports=self.imports, call=self.call)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode:
            raise RuntimeError(f"a new process failed:\n{program}\n{done.stderr}")
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found


def alternate(peer: Script, ours: Script, repeat: int) -> tuple[dict[str, float], dict[str, float]]:
    """The best of several new processes of each side; one more of each, before, fills the caches."""
    peer.run()
    ours.run()
    runs = [(peer.run(), ours.run()) for _ in range(repeat)]
    best_peer, best_ours = (min(side, key=lambda parts: parts["counted"]) for side in zip(*runs))
    return best_peer, best_ours
