"""What was acknowledged is never lost, whatever dies, fills up or is damaged; and nothing that was not is made up."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from pathlib import Path

import pytest
from tests.serve.disks import Killed, MemoryFolder

from ingenuo.errors import JournalError
from ingenuo.serve.journal import JOURNAL, NEW, SNAPSHOT, Disk, Journal

# Records and snapshots, in the order in which they are made: a record is its number, a snapshot all up to there.
STEPS: list[bytes | list[bytes]] = [[b"1"], [b"2", b"3"], b"to 4", [b"5"], b"to 6", [b"7"]]


def play(folder: MemoryFolder, done: list[int]) -> None:
    """Make the steps; the numbers of those that were acknowledged are added to a list."""
    journal = Journal(folder)
    for number, given in enumerate(STEPS):
        if isinstance(given, list):
            journal.append(given)
        else:
            journal.replace(given)
            journal.settle()
        done.append(number)


def last_number(journal: Journal) -> int:
    """The last change that is found again; raises where one before it is missing."""
    last = int((journal.snapshot or b"to 0").removeprefix(b"to "))
    for number in map(int, journal.records):
        if number > last:
            assert number == last + 1, f"after {last} comes {number}"
            last = number
    return last


# The last change of each step.
REACHED = [0, 1, 3, 4, 5, 6, 7]


def points() -> int:
    folder = MemoryFolder()
    play(folder, [])
    return folder.spent


@pytest.mark.parametrize("cut", ["kill", "power cut", "power cut after the names"])
def test_whoever_dies_at_any_byte_finds_all_that_was_acknowledged(cut: str) -> None:
    for left in range(points() + 1):
        folder, done = MemoryFolder(), list[int]()
        folder.left = left
        with suppress(Killed):
            play(folder, done)
        found = folder.after_kill() if cut == "kill" else folder.after_power_cut(with_names=cut.endswith("names"))
        last = last_number(Journal(found))
        assert last in (REACHED[len(done)], REACHED[min(len(done) + 1, len(STEPS))], *partly(len(done))), left
        assert NEW not in found.names


def partly(step: int) -> list[int]:
    """Two records that are written at once may be there in part: neither was acknowledged."""
    return [2] if step == 1 else []


def test_a_damaged_byte_stops_the_start_unless_it_is_in_the_last_record() -> None:
    folder = MemoryFolder()
    journal = Journal(folder)
    for body in (b"one", b"two", b"three"):
        journal.append([body])
    data = folder.names[JOURNAL].seen
    last = data.rindex(b"ingR")
    for at in range(len(data)):
        damaged = MemoryFolder({JOURNAL: data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]})
        if at < last:
            with pytest.raises(JournalError, match=r"the journal is damaged at byte \d+ of \d+, and whole records"):
                Journal(damaged)
            assert not damaged.is_locked
            continue
        again = Journal(damaged)
        assert again.records == [b"one", b"two"]
        assert again.cut == len(data) - last
        assert damaged.names[JOURNAL].seen == data[:last]


def test_what_is_cut_off_does_not_come_back() -> None:
    folder = MemoryFolder()
    journal = Journal(folder)
    journal.append([b"one"])
    torn = MemoryFolder({JOURNAL: folder.names[JOURNAL].seen + b"ingR\x05\0\0\0half"})
    Journal(torn).append([b"two"])
    assert Journal(torn.after_kill()).records == [b"one", b"two"]


@pytest.mark.parametrize("failing", ["write", "sync", "truncate"])
def test_a_record_that_could_not_be_written_is_not_there_and_the_next_is(failing: str) -> None:
    folder = MemoryFolder()
    journal = Journal(folder)
    journal.append([b"one"])
    folder.failing = {failing, "sync"}
    with pytest.raises(JournalError, match=r"could not be made safe on the disk .*damaged.*send it again"):
        journal.append([b"two"])
    with pytest.raises(JournalError):
        journal.append([b"two"])
    folder.failing = set()
    journal.append([b"three"])
    assert Journal(folder.after_kill()).records == [b"one", b"three"]


def test_at_every_byte_that_a_disk_is_full_nothing_is_half_written() -> None:
    whole = MemoryFolder()
    journal = Journal(whole)
    journal.append([b"one"])
    used = whole.used()
    journal.append([b"two"])
    for room in range(used, whole.used()):
        folder = MemoryFolder()
        journal = Journal(folder)
        journal.append([b"one"])
        folder.room = room
        with pytest.raises(JournalError, match="No space left"):
            journal.append([b"two"])
        assert Journal(folder.after_kill()).records == [b"one"]
        with pytest.raises(JournalError, match="No space left"):
            journal.replace(b"a snapshot that is long")
        assert SNAPSHOT not in folder.names
        assert NEW not in folder.names
        folder.room = None
        journal.append([b"three"])
        assert Journal(folder.after_kill()).records == [b"one", b"three"]


def test_a_snapshot_whose_name_is_not_safe_yet_is_made_so_before_the_next_change() -> None:
    folder = MemoryFolder()
    journal = Journal(folder)
    journal.append([b"1"])
    journal.replace(b"to 2")
    folder.failing = {"sync names"}
    with pytest.raises(JournalError):
        journal.settle()
    with pytest.raises(JournalError):
        journal.append([b"3"])
    folder.failing = set()
    journal.append([b"3"])
    for found in (folder.after_kill(), folder.after_power_cut(with_names=False)):
        again = Journal(found)
        assert (again.snapshot, again.records) == (b"to 2", [b"3"])


def _try(path: Path, answers: multiprocessing.Queue[str]) -> None:
    try:
        Journal(Disk(path)).close()
        answers.put("opened")
    except JournalError as error:
        answers.put(str(error))


def test_one_process_at_a_time_has_a_journal(tmp_path: Path) -> None:
    first = Journal(Disk(tmp_path / "journal"))
    with pytest.raises(JournalError, match=r"another process \(\d+\) has this journal .*end it, or give each server"):
        Journal(Disk(tmp_path / "journal"))
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    child = context.Process(target=_try, args=(tmp_path / "journal", answers))
    child.start()
    assert "another process" in answers.get(timeout=60)
    child.join()
    first.append([b"mine"])
    first.close()
    again = Journal(Disk(tmp_path / "journal"))
    assert again.records == [b"mine"]
    again.close()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(JournalError, match=r"there can be no journal here .*give another folder"):
        Disk(tmp_path / "file")


def test_only_the_owner_may_read_the_journal(tmp_path: Path) -> None:
    journal = Journal(Disk(tmp_path / "own"))
    journal.replace(b"x")
    journal.settle()
    journal.close()
    modes = {path.name: path.stat().st_mode & 0o077 for path in [tmp_path / "own", *(tmp_path / "own").iterdir()]}
    assert modes == dict.fromkeys(modes, 0)
