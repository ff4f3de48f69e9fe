"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from invman.errors import OutputError

writing: list[object] = []
"""The writes under way: while it is not empty an interrupt must be an exception, so that they can be taken back."""


def write_files(files: Mapping[Path, str]) -> None:
    """Write several texts (UTF-8) so that either all of them stand in their places or none.

    Each text goes to a temporary file beside its place and is flushed to the disk; only when all are complete are they
    renamed. On any exception, an interrupt included, the temporary files and the directories made on the way are
    removed, files already renamed are taken back, and what stood there before stands there again.

    Parameters
    ----------
    files : Mapping of Path to str
        Where each text goes. Missing directories are made, a symbolic link is followed, an existing file keeps its
        mode, a new one gets the mode that the umask gives.

    Raises
    ------
    OutputError
        If the operating system refuses: a full disk, no permission, a file where a directory should be.
    """
    work = _Transaction()
    current = Path()
    writing.append(work)
    try:
        staged = []
        for path, text in files.items():
            current = path
            staged.append((path, *work.stage(path, text)))
        for path, temporary, place in staged:
            current = path
            work.publish(temporary, place)
        work.commit()
    except OSError as problem:
        work.undo()
        reason = problem.strerror or str(problem)
        raise OutputError(
            f"cannot write: got {str(current)!r} ({reason}), expected a writable path. "
            "Nothing was written; free the disk or name another file with -o."
        ) from problem
    except BaseException:
        work.undo()
        raise
    finally:
        writing.remove(work)


class _Transaction:
    """What was done so far, in a form that can be taken back."""

    def __init__(self) -> None:
        self.directories: list[Path] = []
        self.leftovers: list[Path] = []
        self.published: list[tuple[Path, Path | None]] = []

    def stage(self, path: Path, text: str) -> tuple[Path, Path]:
        """Write a text beside its place; give the temporary file and the place, links followed."""
        place = Path(os.path.realpath(path))
        self._make_directory(place.parent)
        mode = place.stat().st_mode if place.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            raise OSError(None, "it exists and is no regular file")
        temporary = self._name_beside(place)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with open(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        return temporary, place

    def publish(self, temporary: Path, place: Path) -> None:
        """Rename a complete file into its place; what stood there is kept until the commit."""
        backup = None
        if place.exists():
            backup = self._name_beside(place)
            try:
                os.link(place, backup)
            except OSError:  # a file system without hard links
                shutil.copy2(place, backup)
        self.published.append((place, backup))
        os.replace(temporary, place)

    def commit(self) -> None:
        """Forget what stood there before."""
        self.published.clear()
        self._sweep()

    def undo(self) -> None:
        """Take everything back, the last deed first."""
        for place, backup in reversed(self.published):
            try:
                if backup is None:
                    place.unlink(missing_ok=True)
                else:
                    os.rename(backup, place)
            except OSError:
                if backup is not None:  # what stood there is kept under its other name rather than lost
                    self.leftovers.remove(backup)
        self._sweep()
        for directory in reversed(self.directories):
            with suppress(OSError):
                directory.rmdir()

    def _sweep(self) -> None:
        for leftover in self.leftovers:
            with suppress(OSError):
                leftover.unlink(missing_ok=True)

    def _name_beside(self, place: Path) -> Path:
        """Choose a new name in the same directory, known for the clean-up before the file is made."""
        name = place.with_name(f".invman-{secrets.token_hex(6)}.tmp")
        self.leftovers.append(name)
        return name

    def _make_directory(self, directory: Path) -> None:
        missing = []
        while not directory.exists():
            missing.append(directory)
            directory = directory.parent
        for path in reversed(missing):
            self.directories.append(path)
            path.mkdir(exist_ok=True)
