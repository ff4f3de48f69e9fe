"""Files are written whole or not at all."""

import errno
import os
import stat
from pathlib import Path

import pytest

from invman.errors import OutputError
from invman.report import write_files


def names(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


class FullDisk:
    """os.fsync on a disk that is full from the n-th file on."""

    def __init__(self, good):
        self.left = good

    def __call__(self, _):
        if not self.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left -= 1


def failing_replace(monkeypatch, error, after):
    """Let os.replace work `after` times and then raise."""
    real, calls = os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) > after:
            raise error
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)


def test_writes_every_text_and_makes_directories(tmp_path):
    files = {tmp_path / "a" / "b" / "x.svg": "é\n", tmp_path / "y.md": "plain\n"}
    write_files(files)
    assert names(tmp_path) == ["a", "a/b", "a/b/x.svg", "y.md"]
    assert (tmp_path / "a/b/x.svg").read_bytes() == "é\n".encode()


def test_nothing_to_write(tmp_path):
    write_files({})
    assert names(tmp_path) == []


def test_new_file_gets_the_mode_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_files({tmp_path / "x": "1"})
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_existing_file_keeps_its_mode_and_a_link_is_followed(tmp_path):
    target, link = tmp_path / "real", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o604)
    link.symlink_to(target)
    write_files({link: "new"})
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    assert names(tmp_path) == ["link", "real"]


@pytest.mark.parametrize("good", [0, 1])
def test_full_disk_leaves_nothing(tmp_path, monkeypatch, good):
    (tmp_path / "old").write_text("old")
    monkeypatch.setattr(os, "fsync", FullDisk(good))
    with pytest.raises(OutputError, match="No space left on device") as caught:
        write_files({tmp_path / "new" / "x": "1", tmp_path / "old": "2"})
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"
    assert str(tmp_path / ("old" if good else "new/x")) in str(caught.value)
    assert "expected a writable path" in str(caught.value)
    assert "-o" in str(caught.value)


def test_a_full_disk_in_the_middle_of_a_write(tmp_path, monkeypatch):
    real = open

    class Stream:
        def __init__(self, *arguments, **options):
            self.stream = real(*arguments, **options)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.stream.close()

        def write(self, text):
            self.stream.write(text[:3])
            self.stream.flush()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("builtins.open", Stream)
    with pytest.raises(OutputError, match="No space left"):
        write_files({tmp_path / "deep" / "x": "123456"})
    assert names(tmp_path) == []


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("error", [OSError(errno.EACCES, "Permission denied"), KeyboardInterrupt()])
def test_a_failed_rename_takes_everything_back(tmp_path, monkeypatch, after, error):
    (tmp_path / "old").write_text("old")
    failing_replace(monkeypatch, error, after)
    expected = OutputError if isinstance(error, OSError) else KeyboardInterrupt
    files = {tmp_path / "first": "1", tmp_path / "old": "2", tmp_path / "new" / "third": "3"}
    with pytest.raises(expected):
        write_files(files)
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


def test_interrupt_while_writing(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_files({tmp_path / "a" / "x": "1"})
    assert names(tmp_path) == []


def test_directories_that_were_there_or_are_in_use_stay(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()

    def fill_then_fail(_):
        (tmp_path / "made" / "by_another").write_text("kept")
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fill_then_fail)
    with pytest.raises(OutputError):
        write_files({tmp_path / "made" / "x": "1", tmp_path / "mine" / "y": "2"})
    assert names(tmp_path) == ["made", "made/by_another", "mine"]


@pytest.mark.parametrize("inside", ["x", "deeper/x"])
def test_a_file_where_a_directory_should_be(tmp_path, inside):
    (tmp_path / "file").write_text("old")
    with pytest.raises(OutputError, match=r"Not a directory|File exists"):
        write_files({tmp_path / "new" / "fine": "1", tmp_path / "file" / inside: "2"})
    assert names(tmp_path) == ["file"]


def test_a_directory_where_the_file_should_be(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(OutputError, match="no regular file"):
        write_files({tmp_path / "fine": "1", tmp_path / "there": "2"})
    assert names(tmp_path) == ["there"]


def test_a_text_that_cannot_be_encoded_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_files({tmp_path / "a": "fine", tmp_path / "b": "\ud800"})
    assert names(tmp_path) == []


def test_works_without_hard_links(tmp_path, monkeypatch):
    (tmp_path / "old").write_text("old")

    def link(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    write_files({tmp_path / "old": "new"})
    assert (tmp_path / "old").read_text() == "new"
    failing_replace(monkeypatch, OSError(errno.EIO, "Input/output error"), 1)
    with pytest.raises(OutputError):
        write_files({tmp_path / "old": "newer", tmp_path / "other": "1"})
    assert (tmp_path / "old").read_text() == "new"
    assert names(tmp_path) == ["old"]


def test_a_relative_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files({Path("x"): "1"})
    assert (tmp_path / "x").read_text() == "1"
