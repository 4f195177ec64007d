"""The model file: what is saved comes back, damage is refused, an interruption leaves no trace."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import re
import resource
import stat
import subprocess
import sys
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ingenuo.errors import InputError, KindError, ModelFileError
from ingenuo.tally import container
from ingenuo.tally.container import from_bytes, read_file, to_bytes, write_file

DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]
SHAPES = [(), (0,), (1,), (5,), (0, 3), (3, 0, 2), (2, 3), (2, 1, 3, 2)]

MANIFEST = {"classes": ["no", "yes"], "alpha": 0.5, "prior": None, "nested": {"é": [1, -2.5e-300, True, {}]}}
TENSORS: dict[str, NDArray[Any]] = {
    "counts": np.arange(6, dtype=np.int64).reshape(2, 3),
    "means": np.linspace(-1, 1, 4),
    "seen": np.array([True, False, True]),
    "empty": np.zeros((0, 4), dtype=np.float32),
    "n": np.array(14, dtype=np.uint16),
    "größe": np.array([7, 8, 9], dtype=np.int8),
}
DATA = to_bytes(MANIFEST, TENSORS)


def same(left: dict[str, NDArray[Any]], right: dict[str, NDArray[Any]]) -> bool:
    """Equal to the bit, NaN payloads and signs of zero included."""
    return left.keys() == right.keys() and all(
        (tensor.dtype, tensor.shape, tensor.tobytes()) == (right[name].dtype, right[name].shape, right[name].tobytes())
        for name, tensor in left.items()
    )


def signed(header: bytes, body: bytes) -> bytes:
    """A file with a right length and digest, written independently of the package."""
    data = len(header).to_bytes(8, "little") + header + body
    place = re.search(rb'"sha256":"(.{64})"', data, re.DOTALL)
    if place is None:
        return data
    before, after = data[: place.start(1)], data[place.end(1) :]
    return before + sha256(before + b"0" * 64 + after).hexdigest().encode() + after


def split(data: bytes) -> tuple[bytes, bytes]:
    start = 8 + int.from_bytes(data[:8], "little")
    return data[8:start], data[start:]


HEADER, BODY = split(DATA)


def resigned(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The reference file with its header changed and a right digest."""
    header = json.loads(HEADER)
    change(header)
    return signed(json.dumps(header, separators=(",", ":")).encode(), BODY)


@contextlib.contextmanager
def memory_below(size: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()


# What is saved comes back


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_type_and_shape_comes_back(dtype: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    tensor = np.random.default_rng(7).integers(0, 100, shape).astype(dtype)
    write_file(tmp_path / "model", {}, {"x": tensor})
    assert same(read_file(tmp_path / "model")[1], {"x": tensor})


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
tensor = arrays.arrays(st.sampled_from(DTYPES), arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))


tensor_name = st.text().filter(lambda name: name != "__metadata__")  # which safetensors keeps for itself


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(), plain, max_size=5), st.dictionaries(tensor_name, tensor, max_size=5))
def test_any_manifest_and_tensors_come_back(manifest: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> None:
    data = to_bytes(manifest, tensors)
    read_manifest, read_tensors = from_bytes(data)
    assert read_manifest == manifest
    assert same(read_tensors, tensors)
    assert to_bytes(read_manifest, read_tensors) == data


def test_half_characters_in_the_manifest_come_back() -> None:
    manifest = {"word": "\ud800 and \udcff"}
    assert from_bytes(to_bytes(manifest, {}))[0] == manifest


def test_the_order_of_keys_and_tensors_does_not_matter() -> None:
    backwards = to_bytes(dict(reversed(MANIFEST.items())), dict(reversed(TENSORS.items())))
    assert backwards == DATA


def test_byte_order_and_memory_layout_do_not_matter() -> None:
    table = np.arange(12, dtype="<f8").reshape(3, 4)
    wanted = to_bytes({}, {"x": table})
    for other in (table.astype(">f8"), np.asfortranarray(table), np.repeat(table, 2, axis=1)[:, ::2]):
        assert to_bytes({}, {"x": other}) == wanted


def test_a_file_holds_what_to_bytes_gives(tmp_path: Path) -> None:
    write_file(tmp_path / "model", MANIFEST, TENSORS)
    assert (tmp_path / "model").read_bytes() == DATA


def test_tensors_are_aligned_and_cannot_be_changed() -> None:
    for tensor in from_bytes(DATA)[1].values():
        assert tensor.flags.aligned
        assert not tensor.flags.writeable


def test_the_safetensors_library_opens_it(tmp_path: Path) -> None:
    numpy_reader = pytest.importorskip("safetensors.numpy")
    every = {f"{dtype} {shape}": np.ones(shape, dtype=dtype) for dtype in DTYPES for shape in SHAPES}
    for tensors in ({}, TENSORS, every):
        write_file(tmp_path / "model.safetensors", MANIFEST, tensors)
        assert same(numpy_reader.load_file(tmp_path / "model.safetensors"), tensors)
    with pytest.importorskip("safetensors").safe_open(tmp_path / "model.safetensors", "np") as file:
        assert json.loads(file.metadata()["manifest"]) == MANIFEST


def test_every_tensor_starts_on_a_multiple_of_its_item_size() -> None:
    for name, tensor in TENSORS.items():
        assert json.loads(HEADER)[name]["data_offsets"][0] % tensor.itemsize == 0


def test_the_data_start_on_a_multiple_of_eight() -> None:
    assert {len(split(to_bytes({"k": "x" * n}, {}))[0]) % 8 for n in range(9)} == {0}


# What cannot be saved is said so


@pytest.mark.parametrize(
    "manifest",
    [
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": {1, 2}},
        {"x": b"bytes"},
        {"x": np.int64(3)},
        {"x": (1, 2)},
        {"x": {1: "a"}},
        {1: "a"},
        {1: "a", "1": "b"},
        {"x": 10**5000},
    ],
    ids=["nan", "inf", "set", "bytes", "numpy", "tuple", "inner key", "key", "keys alike", "digits"],
)
def test_a_manifest_that_would_not_come_back_is_refused(manifest: Any) -> None:
    with pytest.raises(InputError, match=r"manifest .* use only dicts with text keys"):
        to_bytes(manifest, {})


def test_a_manifest_without_bottom_is_refused() -> None:
    circle: dict[str, Any] = {}
    circle["self"] = circle
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for manifest in (circle, {"deep": deep}):
        with pytest.raises(InputError, match="manifest cannot be stored"):
            to_bytes(manifest, {})


@pytest.mark.parametrize("dtype", ["O", "U3", "c16", "M8[s]", "f2", "V4", [("a", "i4")]], ids=str)
def test_a_tensor_of_another_type_is_refused(dtype: Any) -> None:
    with pytest.raises(InputError, match=r"tensor 'x' is of type .* holds only float64"):
        to_bytes({}, {"x": np.empty(2, dtype=dtype)})


def test_a_list_is_no_tensor() -> None:
    with pytest.raises(KindError, match="tensor 'x' is a list; make it a numpy array"):
        to_bytes({}, {"x": [1, 2]})  # type: ignore[dict-item]


@pytest.mark.parametrize("name", ["__metadata__", "\ud800", 3], ids=repr)
def test_a_tensor_name_that_cannot_be_stored_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match="a tensor cannot be named"):
        to_bytes({}, {name: np.zeros(1)})


def test_a_header_over_the_limit_is_neither_written_nor_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MAX_HEADER", len(HEADER) - 1)
    with pytest.raises(InputError, match="store its bulk as tensors"):
        to_bytes(MANIFEST, TENSORS)
    with pytest.raises(ModelFileError, match="its header would end at byte"):
        from_bytes(DATA)


# What is of another kind is refused


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with zipfile.ZipFile(tmp_path / "archive", "w") as archive:
        archive.writestr("counts.npy", b"0" * 100)
    others = [
        pickle.dumps(MANIFEST),
        (tmp_path / "archive").read_bytes(),
        b"outlook,play\nsunny,no\n",
        b"\x00" * 100,
        b"{" * 100,
        DATA[:7],
        (2).to_bytes(8, "little") + b"{}",
        resigned(lambda header: header["__metadata__"].update(format="pt")),
    ]
    for content in others:
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=r"model: this is not an ingenuo model .* begins with"):
            read_file(path)
    path.write_bytes(b"")
    with pytest.raises(ModelFileError, match="it is empty"):
        read_file(path)


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    (tmp_path / "model").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        read_file(tmp_path / "model")
    assert not (tmp_path / "sprung").exists()


def test_folders_and_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ModelFileError, match="this is a folder or a device"):
            read_file(path)
        with pytest.raises(InputError, match="this is a folder or a device"):
            write_file(path, {}, {})


def test_a_missing_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "none")


def test_a_newer_file_asks_for_an_upgrade() -> None:
    newer = DATA.replace(b'"version":"1"', b'"version":"2"') + b"whatever comes then"
    with pytest.raises(ModelFileError, match=r"m: written by a newer version .*format 2.*; upgrade ingenuo"):
        from_bytes(newer, "m")


def test_only_bytes_are_data() -> None:
    with pytest.raises(KindError, match="expected bytes, got bytearray"):
        from_bytes(bytearray(DATA))  # type: ignore[arg-type]


# What is damaged is refused


def test_a_file_cut_short_anywhere_is_refused() -> None:
    for size in range(len(DATA)):
        with pytest.raises(ModelFileError):
            from_bytes(DATA[:size])


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "type unknown": (lambda h: h["means"].update(dtype="F16"), "unknown type"),
    "type no text": (lambda h: h["means"].update(dtype=["F64"]), "unknown type"),
    "shape too small": (lambda h: h["means"].update(shape=[3]), "does not match its offsets"),
    "shape a truth value": (lambda h: h["n"].update(shape=[True]), "not whole numbers"),
    "shape a fraction": (lambda h: h["means"].update(shape=[4.0]), "not whole numbers"),
    "shape negative": (lambda h: h["means"].update(shape=[-2, -2]), "not whole numbers"),
    "shape a number": (lambda h: h["means"].update(shape=4), "not whole numbers"),
    "shape endless": (lambda h: h["n"].update(shape=[1] * 65), "impossible shape"),
    "shape vast": (lambda h: h["means"].update(shape=[2**60]), "impossible shape"),
    "shape vast and empty": (lambda h: h["empty"].update(shape=[0, 2**62]), "impossible shape"),
    "offsets three": (lambda h: h["means"]["data_offsets"].append(9), "does not match its offsets"),
    "offsets backwards": (lambda h: h["means"]["data_offsets"].reverse(), "does not match its offsets"),
    "offsets shifted": (lambda h: h["means"].update(data_offsets=[8, 40]), "overlap or leave gaps"),
    "a missing value": (lambda h: h.pop("counts"), "overlap or leave gaps"),
    "a tail": (lambda h: h.pop("seen"), "its tensors take"),
    "twice the same": (lambda h: h.update(again=h["counts"]), "overlap or leave gaps"),
    "half a character": (lambda h: h.update({"\ud800": h.pop("means")}), "surrogates not allowed"),
    "a field more": (lambda h: h["means"].update(more=1), "is not described by"),
    "a field less": (lambda h: h["means"].pop("shape"), "is not described by"),
    "no description": (lambda h: h.update(means=None), "is not described by"),
    "metadata more": (lambda h: h["__metadata__"].update(more="1"), "unknown keys"),
    "manifest no object": (lambda h: h["__metadata__"].update(manifest="[]"), "not a JSON object"),
    "manifest no JSON": (lambda h: h["__metadata__"].update(manifest="{"), "Expecting"),
    "manifest no text": (lambda h: h["__metadata__"].update(manifest={}), "no checksum"),
    "manifest a key twice": (lambda h: h["__metadata__"].update(manifest='{"a":1,"a":1}'), "key twice"),
    "manifest NaN": (lambda h: h["__metadata__"].update(manifest='{"a":NaN}'), "not finite"),
    "manifest infinite": (lambda h: h["__metadata__"].update(manifest='{"a":1e999}'), "not finite"),
    "manifest deep": (lambda h: h["__metadata__"].update(manifest='{"a":' * 10**5), "recursion"),
    "manifest huge number": (lambda h: h["__metadata__"].update(manifest='{"a":' + "9" * 5000), "digits"),
    "digest in capitals": (lambda h: h["__metadata__"].update(sha256="A" * 63), "no checksum"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_header_with_a_right_digest_is_refused(forgery: str) -> None:
    change, reason = FORGERIES[forgery]
    with pytest.raises(ModelFileError, match=rf"(?s)^m: the model file is damaged \(.*{reason}.*\); restore"):
        from_bytes(resigned(change), "m")


def test_bytes_that_are_no_text_are_refused_in_a_signed_header() -> None:
    for header in (HEADER.replace(b"means", b"m\xffans"), HEADER.rstrip() + b"\0", HEADER.rstrip() + b"{}"):
        with pytest.raises(ModelFileError, match="damaged"):
            from_bytes(signed(header, BODY))


def test_a_truth_value_that_is_neither_is_refused() -> None:
    begin = json.loads(HEADER)["seen"]["data_offsets"][0]
    body = BODY[:begin] + b"\x02" + BODY[begin + 1 :]
    with pytest.raises(ModelFileError, match="neither 0 nor 1"):
        from_bytes(signed(HEADER, body))


def test_tensors_another_writer_left_unaligned_are_read_aligned() -> None:
    header = json.loads(to_bytes({}, {})[8:])
    header["a"] = {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}
    header["b"] = {"dtype": "F64", "shape": [2], "data_offsets": [1, 17]}
    data = signed(json.dumps(header, separators=(",", ":")).encode(), b"\x05" + np.array([1.5, 2.5]).tobytes())
    tensors = from_bytes(data)[1]
    assert tensors["b"].tolist() == [1.5, 2.5]
    assert tensors["b"].flags.aligned
    assert not tensors["b"].flags.writeable


def test_a_claim_of_vast_size_takes_no_memory(tmp_path: Path) -> None:
    vast = [n.to_bytes(8, "little") + DATA[8:] for n in (2**60, 2**63 - 1, 2**63, 2**64 - 1)]
    vast += [resigned(lambda h: h["means"].update(shape=[2**40], data_offsets=[0, 2**43]))]
    (tmp_path / "wrong").touch()
    os.truncate(tmp_path / "wrong", 2**34)  # 16 GiB of nothing, refused by its first bytes
    with memory_below(2**20):
        for data in vast:
            with pytest.raises(ModelFileError):
                from_bytes(data)
        with pytest.raises(ModelFileError):
            read_file(tmp_path / "wrong")


def test_reading_takes_the_memory_of_the_file_once(tmp_path: Path) -> None:
    write_file(tmp_path / "model", {}, {"x": np.zeros(2**20), "y": np.zeros(2**20, dtype=np.float32)})
    with memory_below(13 * 2**20):
        read_file(tmp_path / "model")


# Twenty thousand accidents

LENGTHS = [0, 1, 7, len(HEADER) - 1, len(HEADER) + 1, len(DATA) - 8, len(DATA), 2**31, 2**63, 2**64 - 1]
OPENING = HEADER.index(b'"manifest":"') + len(b'"manifest":"')
ODD = json.loads("""[null, true, -1, 0, 1, 2.0, 9223372036854775808, "", "F64", "BOOL", "O", [], [0], [0, 0],
    [0, 4611686018427387904], [4294967296, 4294967296], [0, 8], [8, 0], [48, 80], [[[]]], [null], {},
    {"dtype": "F64"}]""")
ODD += [10**400, [1] * 70]


def accident(rng: random.Random, data: bytes) -> bytes:
    """Damage as it happens: a bit, a byte, a block, an end, a length."""
    size = len(data)
    at, to = sorted((rng.randrange(size), rng.randrange(size)))
    match rng.randrange(8):
        case 0:
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case 1:
            return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        case 2:
            return data[:at]
        case 3:
            return data[:at] + rng.randbytes(rng.randrange(1, 20)) + data[at:]
        case 4:
            return data[:at] + data[at + rng.randrange(1, 20) :]
        case 5:
            return data[:at] + data[to:] + data[at:to]
        case 6:
            return data[:to] + data[at:]
        case _:
            length = rng.choice([*LENGTHS, rng.randrange(size), rng.getrandbits(64)])
            return length.to_bytes(8, "little") + data[8:]


def forgery(rng: random.Random) -> bytes:
    """A changed header under a right length and digest: only the checks behind the digest can refuse it."""
    body = BODY if rng.random() < 0.8 else accident(rng, BODY)
    if rng.random() < 0.3:  # damage in the text, after the opening that a digest needs
        opening, rest = HEADER[:OPENING], HEADER[OPENING:]
        return signed(opening + accident(rng, bytes(8) + rest)[8:], body)
    header = json.loads(HEADER)
    metadata = header.pop("__metadata__")
    for name in rng.sample(list(header), rng.randrange(1, 3)):
        entry = header[name]
        field = rng.choice(list(entry))
        match rng.randrange(8):
            case 0:
                entry[field] = rng.choice(ODD)
            case 1:
                entry.pop(field)
            case 2:
                entry["data_offsets"][rng.randrange(2)] = rng.choice([*ODD, rng.randrange(100)])
            case 3:
                entry["shape"].insert(0, rng.choice([*ODD, 1, 1, 1]))
            case 4:
                header["new"] = rng.choice([rng.choice(ODD), entry])
            case 5:
                header[rng.choice(["new", "", "\x00", "\ud800"])] = header.pop(name)
            case 6:
                metadata["manifest"] = accident(rng, json.dumps(MANIFEST).encode()).decode("latin-1")
            case _:
                metadata[rng.choice(["manifest", "more"])] = rng.choice(ODD)
    return signed(json.dumps({"__metadata__": metadata, **header}, separators=(",", ":")).encode(), body)


def outcome(load: Callable[[], container.Contents]) -> container.Contents | str:
    try:
        return load()
    except ModelFileError as error:
        return str(error)


def test_no_accident_goes_unnoticed(tmp_path: Path) -> None:
    rng = random.Random(20_000)
    path = tmp_path / "model"
    with memory_below(2**22):
        for turn in range(14_000):
            data = accident(rng, DATA)
            for _ in range(rng.randrange(3)):
                data = accident(rng, data or DATA)
            if turn % 50:
                found = outcome(lambda data=data: from_bytes(data))
            else:
                path.write_bytes(data)
                found = outcome(lambda: read_file(path))
            assert isinstance(found, str) == (data != DATA)


def test_a_forgery_is_refused_or_is_a_valid_file() -> None:
    rng = random.Random(6_000)
    reasons: set[str] = set()
    loaded = 0
    for _ in range(6_000):
        data = forgery(rng)
        found = outcome(lambda data=data: from_bytes(data))
        if isinstance(found, str):
            assert "does not match its checksum" not in found
            reasons.add(re.sub(r"'.*'|0x\w+|\d+", "", found))
            continue
        loaded += 1
        manifest, tensors = found
        assert isinstance(manifest, dict)
        assert {tensor.dtype.str[1:] for tensor in tensors.values()} <= {np.dtype(t).str[1:] for t in DTYPES}
        assert sum(tensor.nbytes for tensor in tensors.values()) == len(split(data)[1])
        assert not any(tensor.flags.writeable for tensor in tensors.values())
        again = from_bytes(to_bytes(manifest, tensors))
        assert again[0] == manifest
        assert same(again[1], tensors)
    assert loaded > 100
    assert len(reasons) > 15


# What is interrupted leaves no trace

FORMER = {"saved": "before"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    write_file(tmp_path / "model", FORMER, {})
    return tmp_path / "model"


def assert_untouched(path: Path) -> None:
    assert os.listdir(path.parent) == [path.name]
    assert read_file(path) == (FORMER, {})


@contextlib.contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_former_file(saved: Path) -> None:
    failure = pytest.raises(OSError, match=r"nothing was saved and any former file is as it was: '.*model'")
    with files_limited_to(100_000), failure:
        write_file(saved, {}, {"x": np.zeros(1_000_000)})
    assert_untouched(saved)


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("failure", [OSError(5, "Input/output error"), KeyboardInterrupt(), MemoryError()], ids=repr)
def test_a_failure_at_any_step_leaves_the_former_file(
    saved: Path, step: str, failure: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(failure)):
        write_file(saved, {}, TENSORS)
    assert_untouched(saved)


def test_what_cannot_be_packed_leaves_the_former_file(saved: Path) -> None:
    with pytest.raises(InputError):
        write_file(saved, {"x": float("nan")}, {})
    assert_untouched(saved)


@contextlib.contextmanager
def ordinary_user() -> Iterator[None]:
    """Without the rights of root, which no folder refuses."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_folder_that_may_not_be_written_is_named() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o555)
        with ordinary_user(), pytest.raises(PermissionError, match=f"nothing was saved.*'{folder}/model'"):
            write_file(f"{folder}/model", {}, {})
        os.chmod(folder, 0o755)
        with pytest.raises(FileNotFoundError, match=f"nothing was saved.*'{folder}/none/model'"):
            write_file(f"{folder}/none/model", {}, {})


def test_a_new_file_follows_the_umask_and_a_replaced_one_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "model"
    former = os.umask(0o027)
    try:
        write_file(path, {}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        for mode in (0o600, 0o664, 0o444):
            path.chmod(mode)
            write_file(path, {}, {})
            assert stat.S_IMODE(path.stat().st_mode) == mode
    finally:
        os.umask(former)


def test_a_private_file_is_private_while_it_is_written(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []
    monkeypatch.setattr(os, "chmod", lambda path, mode: modes.append(stat.S_IMODE(os.stat(path).st_mode)))
    write_file(saved, {}, {})
    assert modes == [0o600]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to("real/model")
    for version in (1, 2):
        write_file(link, {"v": version}, {})
        assert link.is_symlink()
        assert read_file(tmp_path / "real" / "model")[0] == {"v": version}
    assert os.listdir(tmp_path / "real") == ["model"]


def test_the_longest_name_can_be_saved(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127):
        write_file(tmp_path / name, {}, {})
        assert read_file(tmp_path / name) == ({}, {})


def test_a_path_relative_to_here_can_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_file("model", FORMER, {})
    assert_untouched(tmp_path / "model")


def test_only_what_a_dead_writer_left_is_removed(saved: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    folder = saved.parent
    kept = {".model.tmp", ".model.notes.tmp", ".other.0123456789abcdef.tmp", "model.0123456789abcdef.tmp"}
    kept |= {".model.0123456789abcdef.tmp"}  # which no save made
    for name in kept:
        (folder / name).touch()
    debris, mine = (f".model.{container._token('.model.', drawn)}.tmp" for drawn in ("01234567", "aaaaaaaa"))
    (folder / debris).touch()
    with (folder / mine).open("wb") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        write_file(saved, FORMER, {})
        assert set(os.listdir(folder)) == kept | {"model", mine}
    write_file(saved, FORMER, {})
    assert set(os.listdir(folder)) == kept | {"model"}


# The child of a small process that has loaded nothing but this: forking the tests themselves would be unsafe.
KILLED = """
import os, random, signal, sys, time
import numpy as np
from ingenuo.tally.container import read_file as read, write_file as write

path, folder = sys.argv[1], os.path.dirname(sys.argv[1])
contents = {name: {"x": np.full(250_000, float(ord(name)))} for name in "AB"}
rng = random.Random(15)

def save_for_ever():
    while True:
        for name in "AB":
            write(path, {"name": name}, contents[name])

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def save_and_die_at(step):
    setattr(os, step, die)
    save_for_ever()

def killed(work, *arguments, after=None):
    child = os.fork()
    if child == 0:
        work(*arguments)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    manifest, tensors = read(path)
    assert (tensors["x"] == contents[manifest["name"]]["x"]).all()

write(path, {"name": "A"}, contents["A"])
for _ in range(15):
    killed(save_for_ever, after=rng.uniform(0, 0.05))
for step in ("fsync", "replace", "unlink"):  # the last while it clears up after the one before
    killed(save_and_die_at, step)
    assert len(os.listdir(folder)) == 2, os.listdir(folder)
write(path, {"name": "B"}, contents["B"])
assert read(path)[0] == {"name": "B"}
assert os.listdir(folder) == [os.path.basename(path)], os.listdir(folder)
"""

TOGETHER = """
import os, sys
import numpy as np
from ingenuo.tally.container import read_file as read, write_file as write

path = sys.argv[1]
children = []
for name in "ABC":
    child = os.fork()
    if child == 0:
        for _ in range(40):
            write(path, {"name": name}, {"x": np.full(1000, ord(name))})
            manifest, tensors = read(path)
            assert (tensors["x"] == ord(manifest["name"])).all()
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
"""


def assert_runs(script: str, *arguments: object) -> None:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    assert_runs(KILLED, tmp_path / "model")


def test_writers_of_the_same_file_do_not_disturb_one_another(tmp_path: Path) -> None:
    assert_runs(TOGETHER, tmp_path / "model")
