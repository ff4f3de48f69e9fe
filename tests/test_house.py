"""The rooms import one way only, and the heavy packages are loaded only where they are needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "invman"
ROOMS = ["errors", "architecture", "symmetry", "manifold", "lattice", "orbit", "flow", "training", "studies"]
KNOW_JAX = {"architecture/evaluate.py", "architecture/jaxpr.py"}
KNOW_JAX_ROOMS = {"orbit", "flow", "training", "studies"}
MODULES = sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> list[tuple[str, bool]]:
    """Return the modules that a file imports, and whether it does so while it is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    lazy = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f) if n is not f}
    checking = {id(n) for i in ast.walk(tree) if isinstance(i, ast.If) and "TYPE_CHECKING" in ast.dump(i.test)
                for n in ast.walk(i)}  # fmt: skip
    for node in ast.walk(tree):
        at_load = id(node) not in lazy and id(node) not in checking
        if isinstance(node, ast.Import):
            found += [(alias.name, at_load) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found += [(node.module, at_load), *((f"{node.module}.{alias.name}", at_load) for alias in node.names)]
        elif isinstance(node, ast.ImportFrom):
            pytest.fail(f"{path}: relative import")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_rooms_import_from_rooms_above(path: Path):
    parts = path.relative_to(ROOT).parts
    if len(parts) == 1 and parts[0] in ("__init__.py", "__main__.py"):
        return
    own = parts[0].removesuffix(".py")
    for name, _ in imports(path):
        if not name.startswith("invman."):
            continue
        room = name.split(".")[1]
        assert room != "cli" or own == "cli", f"{path} imports {name}"
        if own in ("cli", "report") or room not in ROOMS:
            continue
        assert ROOMS.index(room) <= ROOMS.index(own), f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_some_rooms_know_jax(path: Path):
    place = path.relative_to(ROOT).as_posix()
    heavy = {name.split(".")[0] for name, _ in imports(path)} & {"jax", "diffrax", "equinox", "optax"}
    allowed = place in KNOW_JAX or place.split("/")[0] in KNOW_JAX_ROOMS or place.startswith("architecture/importers/")
    assert allowed or not heavy, f"{place} imports {heavy}"


@pytest.mark.parametrize(
    "arguments", [["-c", "import invman"], ["-m", "invman", "--help"], ["-m", "invman", "--version"]]
)
def test_light_start(arguments: list[str]):
    if arguments[0] == "-m":
        code = (
            "import sys, runpy\n"
            f"sys.argv = {['invman', *arguments[2:]]!r}\n"
            "try: runpy.run_module('invman', run_name='__main__')\n"
            "except SystemExit: pass\n"
        )
    else:
        code = "import sys\nimport invman\n"
    code += "assert not {'jax', 'sympy', 'numpy', 'networkx'} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_files_are_small():
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert not [path for path, size in sizes.items() if size > 800]
