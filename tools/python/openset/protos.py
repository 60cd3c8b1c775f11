"""The program's Protobuf messages as classes: openset.protos.TrialRecord, openset.protos.ExperimentSpec.

They are made from the schema in the package, so they work with every version of the Protobuf library from 3.20 (`pip
install protobuf`), and together with classes that you generated yourself. Enumerations have Name() and Value().
"""
from __future__ import annotations

import os

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from google.protobuf.internal import enum_type_wrapper
except ImportError:
    raise ImportError("openset.protos needs the Protobuf library: pip install protobuf") from None

from openset import _program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, Set, Union

SCHEMA = os.path.join(os.path.dirname(_program.PROGRAM), "schemas.binpb")
_PACKAGE = "openset."
_RECORD_HEAD = b"openset record 1\n"
_MOST_BYTES = 64 << 20  # of a record, as in the program
_LAST_LINE = b"openset bundle sha256:"  # of a bundle, before the SHA-256 of everything up to here, in 64 digits


def _load(path: str) -> Any:
    """A separate pool with the schema's files, each after those that it imports."""
    with open(path, "rb") as file:
        files = {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file}
    pool = descriptor_pool.DescriptorPool()
    added: Set[str] = set()

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        for imported in files[name].dependency:
            add(imported)
        pool.AddSerializedFile(files[name].SerializeToString())

    for name in files:
        add(name)
    return pool


POOL = _load(SCHEMA)
_classes: Dict[str, Any] = {}


def _class_of(message: Any) -> Any:
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(message)
    return message_factory.MessageFactory(POOL).GetPrototype(message)  # before Protobuf 4.22


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if name not in _classes:
        for find, make in ((POOL.FindMessageTypeByName, _class_of),
                           (POOL.FindEnumTypeByName, enum_type_wrapper.EnumTypeWrapper)):
            try:
                _classes[name] = make(find(_PACKAGE + name))
                break
            except KeyError:
                pass
        else:
            raise AttributeError(f"openset has no Protobuf message or enumeration {name!r}; its .proto files name them")
    return _classes[name]


def _check_bundle(path: Union[str, "os.PathLike[str]"]) -> None:
    """Raises ValueError for a file that doesn't end with the digest of its bytes, as the program's commands refuse it."""
    import hashlib
    with open(path, "rb") as file:
        left = file.seek(0, os.SEEK_END) - 64
        file.seek(max(0, left - len(_LAST_LINE)))
        is_bundle, digest = file.read(len(_LAST_LINE)) == _LAST_LINE, file.read()
        file.seek(0)
        sum_of_bytes = hashlib.sha256()
        while is_bundle and left > 0:
            part = file.read(min(1 << 20, left))
            if not part:
                break
            sum_of_bytes.update(part)
            left -= len(part)
    if not is_bundle or sum_of_bytes.hexdigest().encode() != digest:
        raise ValueError(f"{os.fspath(path)}: is not a bundle of records, or not as it was exported (cut, changed, or "
                         "zipped again): get it again, or write one with 'openset records export --bundle=FILE.zip'")


def read_bundle(path: Union[str, "os.PathLike[str]"]) -> Iterator[Any]:
    """The records (TrialRecord) of a bundle, one by one, each after its checksum and the bundle's were checked.

    Raises ValueError for a file that is not a bundle of version 2, as it was exported, or has a corrupt record. `openset records merge` also
    reads bundles of version 1, and checks the ids.
    """
    import hashlib
    import lzma
    import tarfile
    import zipfile
    _check_bundle(path)
    try:
        with zipfile.ZipFile(path) as bundle, bundle.open("records.tar.xz") as packed, lzma.open(packed) as stream, \
                tarfile.open(fileobj=stream, mode="r|") as records:
            for member in records:
                file = records.extractfile(member)
                data = file.read(_MOST_BYTES) if file is not None else b""
                begin = len(_RECORD_HEAD) + 8  # the length in 8 bytes, SHA-256, message
                length, digest, message = data[begin - 8:begin], data[begin:begin + 32], data[begin + 32:]
                if not data.startswith(_RECORD_HEAD) or hashlib.sha256(length + message).digest() != digest:
                    raise ValueError(f"{os.fspath(path)}: {member.name}: the record is corrupt: the bundle changed "
                                     "since it was exported; get it again")
                yield __getattr__("TrialRecord").FromString(message)
            while stream.read(1 << 20):  # to the end, which tells whether the file is whole
                pass
    except (KeyError, EOFError, lzma.LZMAError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise ValueError(f"{os.fspath(path)}: is not a bundle of records ({error}); write one with "
                         "'openset records export --bundle=FILE.zip'") from None
