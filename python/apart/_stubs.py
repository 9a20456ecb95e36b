"""Writes type stubs of the classes that are made from the catalog: python -m apart._stubs FOLDER."""

import pathlib
import sys

from . import _parts

HEAD = """# Generated from the catalog of the scene format.
from typing import Any, Callable, Literal, Mapping, Sequence, Union

import numpy

from apart._parts import Part
"""


def annotation(value_type):
    kind = value_type["kind"]
    simple = {"boolean": "bool", "integer": "int", "number": "float", "length": "Union[float, str]", "text": "str",
              "formula": "str", "object": "Union[Part, Mapping[str, Any]]"}
    if kind in simple:
        if kind == "object" and value_type["name"] == "motion":
            return "Union[Part, Mapping[str, Any], Callable[[float], Any]]"
        if kind == "object" and value_type["name"] == "selection":
            return "Union[Part, Mapping[str, Any], Sequence[int], numpy.ndarray]"
        return simple[kind]
    if kind == "choice":
        return f"Literal[{', '.join(repr(name) for name in _parts.catalog['choices'][value_type['name']])}]"
    if kind == "list":
        item = value_type["of"][0]
        call = ", Callable[[float], Any]" if _parts.is_formula(item) else ""
        return f"Union[Sequence[{annotation(item)}], numpy.ndarray{call}]"
    union = ", ".join(annotation(of) for of in value_type["of"])
    return f"Union[{union}{', Callable[[float], float]' if _parts.is_formula(value_type) else ''}]"


def class_stub(made):
    lines = [f"class {made.__name__}({made.__mro__[1].__name__}):",
             f'    """{made.__doc__}"""'.replace("\\", "\\\\")]
    parameters = []
    for name, key in made._keys.items():
        text = annotation(key["type"])
        lines.append(f"    {name}: {text}")
        parameters.append(f"{name}: {text}" + ("" if key["required"] else " = ..."))
    # Required ones first, as the type checker wants it of no others than keywords.
    star = ["*"] if parameters else []
    lines.append(f"    def __init__({', '.join(['self', *star, *parameters])}) -> None: ...")
    return "\n".join(lines)


def stubs():
    """Name of each module → its stub."""
    result = {}
    for name, module in _parts.modules.items():
        made = [getattr(module, entry) for entry in module.__all__]
        head = HEAD + ("from apart._scene import SceneBase\n" if name == "records" else "")
        result[name] = head + "\n\n" + "\n\n\n".join(class_stub(entry) for entry in made) + "\n"
    return result


def main(folder):
    for name, text in stubs().items():
        pathlib.Path(folder, f"{name}.pyi").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
