"""A file opened in its format."""

from __future__ import annotations

from ingenuo.errors import InputError
from ingenuo.sources.files.contents import Content, Options
from ingenuo.sources.files.streams import File


def open_content(file: File, format: str, options: Options) -> Content:
    """The content of a file in its format."""
    content = _content(file, format, options)
    content.format = format
    return content


def _content(file: File, format: str, options: Options) -> Content:
    if format == "delimited":
        from ingenuo.sources.files.delimited import Delimited

        return Delimited(file, options)
    if format == "parquet":
        from ingenuo.sources.files.columnar import Parquet

        return Parquet(file)
    if format == "arrow":
        from ingenuo.sources.files.columnar import ArrowFile

        return ArrowFile(file)
    if format == "json":
        from ingenuo.sources.files.json_lines import JsonLines

        return JsonLines(file, options)
    if format == "arff":
        from ingenuo.sources.files.arff import Arff

        return Arff(file, options)
    if format == "texts":
        raise InputError(f"{file.name} is a file; the format 'texts' is a folder with a sub-folder of texts per class")
    from ingenuo.sources.files.lines import LabelledLines

    return LabelledLines(file, options, format)
