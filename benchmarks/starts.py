"""How long a fresh process takes to its first step, with and without compiled code on disk."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_CODE = """
import time
from normgym_envs import NormGymEnv
env = NormGymEnv()
env.reset(seed=0)
env.step(4)
print(time.process_time())
"""
_ROOT = Path(__file__).resolve().parents[1]


def measure_starts() -> dict[str, dict[str, float]]:
    """Return seconds from the start of a process to its first step, importing included.

    Returns:
        `cold` (nothing compiled yet) and `warm`, each with `wall` and `cpu` seconds; on a shared
        machine the wall time holds what others used.
    """
    with tempfile.TemporaryDirectory() as folder:
        return {name: _start(folder) for name in ("cold", "warm")}


def _start(folder: str) -> dict[str, float]:
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "PYTHONPATH": path}
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _CODE], env=environment, capture_output=True, text=True, check=True
    )
    wall = time.perf_counter() - start
    return {"wall": round(wall, 2), "cpu": round(float(done.stdout.split()[-1]), 2)}
