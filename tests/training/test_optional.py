"""What works without torch, Stable-Baselines3 and ray, and what is said of the rest."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = """
import sys
from importlib.abc import MetaPathFinder

BLOCKED = ("torch", "stable_baselines3", "ray", "tensorboard")

class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Blocker())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process where the optional packages cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", BLOCK + code], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_packages_commands_and_run_files_need_no_learning_library() -> None:
    done = run(
        "import agents, training, training.cli, training.sweep, training.worlds\n"
        "import agents.dqn.runs, agents.dqn.agent, benchmarks.cli, benchmarks.dqn\n"
        "from training import DQNConfig\n"
        "from training.worlds import TrainingWorlds\n"
        "config = DQNConfig('bend-right-1')\n"
        "worlds = TrainingWorlds(config, 'cafe', config.episode_seeds.train)\n"
        "print(worlds.reset().shape, [m for m in BLOCKED if m in sys.modules])\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(4, 585) []"


def test_the_rest_names_the_extra(tmp_path: Path) -> None:
    (tmp_path / "1.pt").write_bytes(b"")
    done = run(
        "from importlib import import_module\n"
        "from agents import find_agent\n"
        "from normgym_envs.errors import MissingExtraError\n"
        "names = ['training.dqn', 'training.sb3_env', 'agents.dqn.masked_dqn',"
        " 'agents.dqn.networks']\n"
        f"tries = [lambda: find_agent('dqn:{tmp_path / '1.pt'}')]\n"
        "tries += [lambda name=name: import_module(name) for name in names]\n"
        "for attempt in tries:\n"
        "    try:\n"
        "        attempt()\n"
        "    except MissingExtraError as error:\n"
        "        print(error)\n"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert all("pip install 'normgym[rl]'" in line for line in lines)


def test_the_command_says_so_in_one_line(tmp_path: Path) -> None:
    done = run(
        "from normgym_envs.cli import main\n"
        f"sys.argv = ['normgym', 'train', 'dqn', '--norm', 'all', '--out', {str(tmp_path)!r}]\n"
        "main()\n"
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "install the extra: pip install 'normgym[rl]'" in done.stderr
