"""A file opened in its format: looked at, or by what another look at it has told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingenuo.errors import InputError
from ingenuo.sources.files.contents import Content, Options
from ingenuo.sources.files.streams import File


def open_content(file: File, format: str, options: Options, told: Mapping[str, Any] | None = None) -> Content:
    """The content of a file in its format; where `told` says what was found out about it, it is not looked at."""
    content = _content(file, format, options, told)
    content.format = format
    return content


def _content(file: File, format: str, options: Options, told: Mapping[str, Any] | None) -> Content:
    if format == "delimited":
        from ingenuo.sources.files.delimited import Delimited

        return Delimited(file, options, told)
    if format == "parquet":
        from ingenuo.sources.files.columnar import Parquet

        return Parquet(file, told)
    if format == "arrow":
        from ingenuo.sources.files.columnar import ArrowFile

        return ArrowFile(file, told)
    if format == "json":
        from ingenuo.sources.files.json_lines import JsonLines

        return JsonLines(file, options, told)
    if format == "arff":
        from ingenuo.sources.files.arff import Arff

        return Arff(file, options, told)
    if format == "texts":
        raise InputError(f"{file.name} is a file; the format 'texts' is a folder with a sub-folder of texts per class")
    from ingenuo.sources.files.lines import LabelledLines

    return LabelledLines(file, options, format, told)
