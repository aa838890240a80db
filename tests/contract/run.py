"""Run the adapters in the trainers themselves, each in an environment of its own under `_build/contract/`.

    python -m tests.contract.run                  every trainer
    python -m tests.contract.run trl verl         some
    python -m tests.contract.run --lock           solve *.in anew into *.txt

The first run installs the trainers (a minute or two each); later ones only test. Nothing is fetched while tests run.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "_build" / "contract"
TRAINERS = ("trl", "verl", "verifiers_0_1", "verifiers_0_4")
NEWEST_PYTHON = {"verl": (3, 12), "verifiers_0_1": (3, 13)}
GPU_ONLY = ("nvidia-", "cuda-", "triton")
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "WANDB_MODE": "disabled",
    "TOKENIZERS_PARALLELISM": "false",
    "CUDA_VISIBLE_DEVICES": "",
    "OMP_NUM_THREADS": "1",
}


def find_uv():
    """Return the path of uv."""
    found = shutil.which("uv", path=f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        sys.exit("uv is missing: run `make install`")
    return found


def python_of(trainer):
    """Return the interpreter of a trainer's environment."""
    return BUILD / trainer / "bin" / "python"


def fingerprint(trainer):
    """Return a digest of everything that an environment is made from."""
    parts = [(HERE / f"{trainer}.txt").read_bytes(), (ROOT / "pyproject.toml").read_bytes(), sys.version.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def run(command, **options):
    """Run a command in the project's folder; stop with its exit code if it fails."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, check=False, **options)
    if done.returncode:
        sys.exit(f"failed ({done.returncode}): {' '.join(str(part) for part in command)}")


def build(trainer, uv):
    """Make a trainer's environment if there is none, or if its pins changed."""
    stamp = BUILD / trainer / "installed"
    if stamp.exists() and stamp.read_text(encoding="utf8") == fingerprint(trainer):
        return
    print(f"  {trainer}: installing, a minute or two", flush=True)
    pins = HERE / f"{trainer}.txt"
    newest = NEWEST_PYTHON.get(trainer)
    too_new = newest is not None and sys.version_info[:2] > newest
    wanted = f"{newest[0]}.{newest[1]}" if too_new else sys.executable
    shutil.rmtree(BUILD / trainer, ignore_errors=True)
    run([uv, "venv", "--quiet", "--seed", "--python", wanted, BUILD / trainer])
    torch = next((line for line in pins.read_text(encoding="utf8").splitlines() if line.startswith("torch==")), None)
    if torch is not None:  # pip takes the build for CPUs where its index offers one
        run([python_of(trainer), "-m", "pip", "install", "--quiet", "--constraint", pins, torch])
    install = [uv, "pip", "install", "--quiet", "--python", python_of(trainer)]
    run([*install, "--compile-bytecode", "-r", pins])
    run([*install, "--no-deps", "--editable", "."])
    stamp.write_text(fingerprint(trainer), encoding="utf8")


def test(trainer):
    """Run a trainer's tests without a network."""
    command = [python_of(trainer), "-m", "pytest", "-c", HERE / "pytest.ini", HERE / f"contract_{trainer}.py"]
    home = BUILD / "home"
    home.mkdir(parents=True, exist_ok=True)
    run(command, env={**os.environ, **OFFLINE, "HF_HOME": str(home), "PYTHONPATH": str(ROOT)})


def lock(trainer, uv):
    """Solve the requirements of a trainer, without packages that only a GPU needs."""
    pins = HERE / f"{trainer}.txt"
    command = [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--no-annotate"]
    run([*command, "--no-header", "--upgrade", HERE / f"{trainer}.in", "pyproject.toml", "-o", pins])
    lines = [line for line in pins.read_text(encoding="utf8").splitlines() if not line.startswith(GPU_ONLY)]
    pins.write_text("\n".join(["# python -m tests.contract.run --lock", *lines, ""]), encoding="utf8")


def main():
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trainers", nargs="*", default=TRAINERS, metavar="trainer", help=", ".join(TRAINERS))
    parser.add_argument("--lock", action="store_true", help="solve the requirements anew instead")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.trainers) - set(TRAINERS)):
        parser.error(f"unknown trainer {', '.join(unknown)}: choose from {', '.join(TRAINERS)}")
    uv = find_uv()
    for place, trainer in enumerate(arguments.trainers, 1):
        start = time.monotonic()
        label = f"[{place}/{len(arguments.trainers)}] {trainer}"
        if arguments.lock:
            print(f"{label}: solving", flush=True)
            lock(trainer, uv)
            continue
        print(label, flush=True)
        build(trainer, uv)
        print(f"{label}: testing ({time.monotonic() - start:.0f} s)", flush=True)
        test(trainer)
        print(f"{label}: done ({time.monotonic() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
