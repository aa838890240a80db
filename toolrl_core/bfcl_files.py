"""The files of the Berkeley Function Calling Leaderboard (BFCL): which ones, how to get them, whether they are intact.

The data come from the PyPI package ``bfcl-eval`` (Apache-2.0).  Only its JSON files are used: the package itself is
neither installed into the environment nor imported, and none of its dependencies is fetched.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

__all__ = [
    "DIGESTS",
    "HOW_TO_GET",
    "PACKAGE",
    "VERSION",
    "WHEEL_SHA256",
    "BfclDataError",
    "check_file",
    "default_folder",
    "fetch",
    "is_complete",
]

PACKAGE = "bfcl-eval"
VERSION = "2026.3.23"
WHEEL_SHA256 = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"

# SHA-256 digest of every file used, by its place below ``bfcl_eval/data``.
# A category without a file of accepted answers expects no call.
DIGESTS: Mapping[str, str] = {
    "BFCL_v4_simple_python.json": "82dd63ba502eb2520c6b5d1d9a5c4b590e03ff261565175561f6228a367d1991",
    "BFCL_v4_multiple.json": "aef168155ebd74b7ac2401198b201343bc7d16d7a3d7e0d4e6d8ee82c6969b2a",
    "BFCL_v4_parallel.json": "19f51a82eff42e5d62541aa500115a056eb78f437c2ba1f10415fd7c8e5dda84",
    "BFCL_v4_parallel_multiple.json": "8863ea8433239f55c5f016154cf0830853c89f693c6ea270396a2fa121960579",
    "BFCL_v4_irrelevance.json": "2b6ed4c2e992cdcf5f1678a701851f944bef7550ee026ed1ddb89efed5be01a6",
    "BFCL_v4_live_simple.json": "1af2ac87dca47556db7b7e37e51e28b459a38b594e3c7b3c792b4903598ca0c4",
    "BFCL_v4_live_multiple.json": "fd8ccfad4d911420d0e3341dbe2fff77d1d341da934248b9bb2bda24ab3a10c8",
    "BFCL_v4_live_parallel.json": "6c26e9fdc3350cf596e6d1ea9c179cbff834761bccf562f4141ed29a839ca421",
    "BFCL_v4_live_parallel_multiple.json": "21d4b9319c1faac431e22757b367ea28917fe467364c3a4b17f16ec06d4f6e79",
    "BFCL_v4_live_irrelevance.json": "6559fda2beaceb609a2cd2e504c65b4a56cb448e1ef88fddfd199e163d163349",
    "possible_answer/BFCL_v4_simple_python.json": "90cd5bc653690ee8e459b5b3f3fc9458606f7f3fcbf795bb51b7dc581f8c86dc",
    "possible_answer/BFCL_v4_multiple.json": "244e00ce9395df948bcafc7bee64e8f9c87ef70887587d83cae45b13699f3047",
    "possible_answer/BFCL_v4_parallel.json": "8a6aa19c1adddc6a5a2f7e40f9dbf30cc7e95815e7b830c90589ab318229e0f0",
    "possible_answer/BFCL_v4_parallel_multiple.json": (
        "5ebf24f458c1f16300c05505d83d6f0a1b68b79be273a033febd0d4f840507e3"
    ),
    "possible_answer/BFCL_v4_live_simple.json": "fec9cfa9744a936f9126981e85a2023da1e63e273eafebc81923a1162fad70ce",
    "possible_answer/BFCL_v4_live_multiple.json": "97e90d59c5bd76c55a2920ce93e5566e9046307d3f558578f085f9d3a56c3084",
    "possible_answer/BFCL_v4_live_parallel.json": "8a9f189ff0e832ebbbbdade1fd95a7dbcc67406e9177df3f0aad76f59ab00350",
    "possible_answer/BFCL_v4_live_parallel_multiple.json": (
        "f5b5f360556c5feb51db46fb9f56ee4b304f4b45b161599bbb14161c98a2873f"
    ),
}

HOW_TO_GET = "run `python -m toolrl_core.bfcl` (it needs a package index; 1.9 MB)"


class BfclDataError(ValueError):
    """Report that the BFCL data cannot be had, are damaged, or do not contain what was asked for."""


def default_folder(start: Path | str | None = None) -> Path:
    """Name the folder that holds the data: ``_build/bfcl`` of the project around ``start``.

    Parameters
    ----------
    start : path, optional
        Where to look from, by default the working directory.  The project is the nearest folder at or above it that
        has a ``pyproject.toml``; without one it is ``start`` itself.

    Returns
    -------
    Path
        The folder, which need not exist.
    """
    here = Path(start or Path.cwd()).resolve()
    root = next((folder for folder in (here, *here.parents) if (folder / "pyproject.toml").is_file()), here)
    return root / "_build" / "bfcl"


def is_complete(folder: Path | str | None = None) -> bool:
    """Tell whether every data file is in place with the recorded digest.

    Parameters
    ----------
    folder : path, optional
        The data folder, by default :func:`default_folder`.

    Returns
    -------
    bool
        False if any file is missing or was changed.

    Examples
    --------
    >>> is_complete("a/folder/that/is/not/there")
    False
    """
    place = Path(folder) if folder is not None else default_folder()
    return all((place / name).is_file() and _digest(place / name) == digest for name, digest in DIGESTS.items())


def fetch(
    folder: Path | str | None = None, *, report: Callable[[str], None] | None = None, timeout: float = 600.0
) -> Path:
    """Fetch the data files unless they are already there.

    Parameters
    ----------
    folder : path, optional
        Where to put them, by default :func:`default_folder`.
    report : callable, optional
        Called with one line of progress at a time.
    timeout : float
        Longest time to wait for the package index, in seconds.

    Returns
    -------
    Path
        The folder with the files.

    Raises
    ------
    BfclDataError
        If neither pip nor uv is there, the wheel cannot be had (no network, wrong digest) or a file in it differs from
        what this module expects.

    Notes
    -----
    The wheel is unpacked by pip, or by uv where the environment has no pip, into a temporary folder with its SHA-256
    digest required and without dependencies.  A second call compares digests and fetches nothing.
    """
    place = Path(folder) if folder is not None else default_folder()
    say = report or _quiet
    if is_complete(place):
        say(f"nothing to do: {len(DIGESTS)} files in {place} have the right digests")
        return place
    name, installer = _installer()
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, prefix=".unpacked-") as scratch:
        say(f"1/3 getting {PACKAGE} {VERSION} with {name} (1.9 MB)")
        _unpack_wheel(installer, Path(scratch), timeout)
        say(f"2/3 checking {len(DIGESTS)} files")
        source = Path(scratch) / "unpacked" / "bfcl_eval" / "data"
        for file, digest in DIGESTS.items():
            check_file(source / file, digest, f"the wheel of {PACKAGE} {VERSION} is not the expected one")
        for file in DIGESTS:
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (source / file).replace(place / file)
    say(f"3/3 done: {len(DIGESTS)} files in {place}")
    return place


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_file(path: Path, digest: str, advice: str) -> None:
    """Raise unless a file is there and has the expected digest.

    Parameters
    ----------
    path : Path
        The file.
    digest : str
        Its expected SHA-256 digest in hexadecimal.
    advice : str
        What to do about it; ends the message.

    Raises
    ------
    BfclDataError
        If the file is missing or differs.
    """
    if not path.is_file():
        raise BfclDataError(f"{path} is missing; {advice}")
    found = _digest(path)
    if found != digest:
        raise BfclDataError(f"{path} has the SHA-256 digest {found}, expected {digest}; {advice}")


def _quiet(_line: str) -> None:
    """Drop a line of progress."""


def _installer() -> tuple[str, list[str]]:
    if importlib.util.find_spec("pip") is not None:
        return "pip", [sys.executable, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if uv is not None:
        return "uv", [uv, "pip", "install", "--python", sys.executable]
    raise BfclDataError(
        "the BFCL data come as a wheel, and this environment has neither pip nor uv to get it; install one of them, or "
        f"unpack the wheel of {PACKAGE} {VERSION} elsewhere and pass its folder bfcl_eval/data as folder="
    )


def _unpack_wheel(installer: Sequence[str], scratch: Path, timeout: float) -> None:
    requirement = scratch / "requirement.txt"
    requirement.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command = [*installer, *options, "--target", str(scratch / "unpacked"), "-r", str(requirement)]
    advice = f"check the network or the package index, then {HOW_TO_GET}"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise BfclDataError(f"no {PACKAGE} {VERSION} within {timeout:g} seconds; {advice}") from error
    except OSError as error:
        raise BfclDataError(f"cannot start {command[0]}: {error}; {advice}") from error
    if done.returncode != 0:
        said = " | ".join(line.strip() for line in done.stderr.splitlines() if line.strip())[-800:]
        raise BfclDataError(f"{PACKAGE} {VERSION} cannot be had; {advice}.  The installer said: {said}")
