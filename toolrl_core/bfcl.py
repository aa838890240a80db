"""Real questions and accepted answers: the Berkeley Function Calling Leaderboard (BFCL), version 4.

The data come from the PyPI package ``bfcl-eval`` (Apache-2.0).  Only its JSON files are used: the package itself is
neither installed into the environment nor imported, and none of its dependencies is fetched.

::

    python -m toolrl_core.bfcl                  # into _build/bfcl/ of the project
    python -m toolrl_core.bfcl --folder DIR     # or anywhere else
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolrl_core.bfcl_files import DIGESTS, HOW_TO_GET, BfclDataError, check_file, default_folder, fetch, is_complete
from toolrl_core.calls import Alternatives, ToolCall, nested_alternatives
from toolrl_core.ground_truth import GroundTruth, parse_ground_truth

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "CATEGORIES",
    "BfclDataError",
    "BfclRow",
    "default_folder",
    "fetch",
    "is_complete",
    "load",
    "main",
    "normalise_schema",
    "realise",
    "schemas",
]

CATEGORIES: tuple[str, ...] = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
)

_JSON_SCHEMA_NAMES = {"dict": "object", "float": "number", "tuple": "array"}


@dataclass(frozen=True)
class BfclRow:
    """Hold one question of the leaderboard with everything needed to score an answer to it.

    Parameters
    ----------
    id : str
        The row's name in the data set, for example ``"parallel_12"``.
    category : str
        One of :data:`CATEGORIES`.
    question : tuple of mapping
        The chat messages shown to the model, each a mapping with ``role`` and ``content``.
    functions : tuple of mapping
        The tools on offer as the data set writes them; :func:`schemas` gives their parameters as JSON schemas.
    accepted : tuple of mapping
        The accepted answers, unchanged: one ``{function: {parameter: [accepted, …]}}`` for each expected call, an empty
        string among the accepted values marking a parameter that may be omitted.  Empty where no call is expected.
    """

    id: str
    category: str
    question: tuple[Mapping[str, Any], ...] = field(hash=False)
    functions: tuple[Mapping[str, Any], ...] = field(hash=False)
    accepted: tuple[Mapping[str, Mapping[str, Sequence[Any]]], ...] = field(hash=False)

    @cached_property
    def ground_truth(self) -> GroundTruth:
        """Parse the accepted answers, on first use.

        Notes
        -----
        Seven array parameters of two rows (``live_simple_106-63-0``, ``live_simple_112-68-0``) have an empty list of
        accepted values where the empty array is meant: as written, no answer could be right.  They are read as
        ``[[]]``; ``accepted`` keeps the original.
        """
        return parse_ground_truth(_readable(self), schemas=schemas(self))


def load(
    categories: str | Iterable[str] = CATEGORIES, *, folder: Path | str | None = None, verify: bool = True
) -> list[BfclRow]:
    """Read the rows of some categories, in the order of the data set.

    Parameters
    ----------
    categories : str or iterable of str
        Names out of :data:`CATEGORIES`, or a single one.
    folder : path, optional
        The data folder, by default :func:`default_folder`.
    verify : bool
        Compare each file with its recorded digest; switch off to read files of the same form from elsewhere.

    Returns
    -------
    list of BfclRow
        The rows, category by category.

    Raises
    ------
    BfclDataError
        If a category is unknown, a file is missing, damaged or not of the expected form.

    Notes
    -----
    Rows of the two ``irrelevance`` categories expect no call at all.  ``live_relevance`` is left out: the data set only
    says that *some* call is wanted there, which no ground truth can express.
    """
    names = (categories,) if isinstance(categories, str) else tuple(categories)
    for name in names:
        if name not in CATEGORIES:
            raise BfclDataError(f"unknown BFCL category {name!r}; valid are {', '.join(CATEGORIES)}")
    place = Path(folder) if folder is not None else default_folder()
    return [row for name in names for row in _read_category(name, place, verify=verify)]


def schemas(row: BfclRow) -> dict[str, dict[str, dict[str, Any]]]:
    """Give the JSON schema of every parameter of every tool on offer in a row.

    Parameters
    ----------
    row : BfclRow
        The row.

    Returns
    -------
    dict
        Function name → parameter name → JSON schema, with ``default`` where the data set declares one.
    """
    return {
        function["name"]: {
            parameter: normalise_schema(schema)
            for parameter, schema in function["parameters"].get("properties", {}).items()
        }
        for function in row.functions
    }


def normalise_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite a parameter schema of the data set as a JSON schema.

    Parameters
    ----------
    schema : mapping
        The schema, nested to any depth through ``properties`` and ``items``.

    Returns
    -------
    dict
        A new schema: the types ``dict``, ``float`` and ``tuple`` become ``object``, ``number`` and ``array``, ``any``
        (no restriction) is dropped, and a default written as text is decoded where the declared type is boolean,
        integer or number and the text says one.

    Examples
    --------
    A property may itself be called ``type``; only the keyword is translated.

    >>> normalise_schema({"type": "dict", "properties": {"type": {"type": "float", "default": "1.2"}}})
    {'type': 'object', 'properties': {'type': {'type': 'number', 'default': 1.2}}}
    """
    result: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "type":
            if value != "any":
                result["type"] = _JSON_SCHEMA_NAMES.get(value, value)
        elif keyword == "properties":
            result["properties"] = {name: normalise_schema(inner) for name, inner in value.items()}
        elif keyword == "items":
            result["items"] = normalise_schema(value)
        elif keyword == "default":
            result["default"] = _decoded_default(value, schema.get("type"))
        else:
            result[keyword] = copy.deepcopy(value)
    return result


def realise(row: BfclRow, rng: np.random.Generator | None = None) -> list[ToolCall]:
    """Write one correct answer to a row.

    Parameters
    ----------
    row : BfclRow
        The row.
    rng : numpy.random.Generator, optional
        Without a generator the answer takes the first accepted value of each parameter and omits what may be omitted.
        With one it draws uniformly among the accepted values and, with probability 1/2 each, includes an optional
        parameter that has an accepted value.

    Returns
    -------
    list of ToolCall
        One call for each expected one, in the data set's order; empty where no call is expected.  The values are new
        objects, safe to change.

    Notes
    -----
    A dict whose values are all lists is a set of alternatives in its turn, also inside a list; any other dict is taken
    literally.  Fourteen parameters may be omitted by their accepted answers but are required by their tool's schema;
    they are always given, so that the answer is right under either reading.
    """
    required = {function["name"]: function["parameters"].get("required", ()) for function in row.functions}
    return [
        ToolCall(name, _chosen(parameters, rng, always=required.get(name, ())))
        for call in _readable(row)
        for name, parameters in call.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line: fetch the data and say what is there.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line words, by default those of the process.

    Returns
    -------
    int
        Exit status: 0 when the data are in place, 1 when they cannot be had.
    """
    parser = argparse.ArgumentParser(prog="python -m toolrl_core.bfcl", description="Fetch the BFCL v4 data.")
    parser.add_argument("--folder", type=Path, default=None, help="where to put the files (default: _build/bfcl)")
    options = parser.parse_args(arguments)

    def report(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    try:
        rows = load(folder=fetch(options.folder, report=report))
    except BfclDataError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    report("    " + ", ".join(f"{name} {sum(row.category == name for row in rows)}" for name in CATEGORIES))
    return 0


def _read_category(category: str, folder: Path, *, verify: bool) -> list[BfclRow]:
    name = f"BFCL_v4_{category}.json"
    answers: dict[str, Any] = {}
    expects_calls = f"possible_answer/{name}" in DIGESTS
    if expects_calls:
        answers = {
            row["id"]: row["ground_truth"] for row in _read_lines(folder, f"possible_answer/{name}", verify=verify)
        }
    rows = []
    for row in _read_lines(folder, name, verify=verify):
        if expects_calls and row["id"] not in answers:
            raise BfclDataError(f"{folder / name}: row {row['id']!r} has no accepted answers in possible_answer/{name}")
        if len(row["question"]) != 1:
            raise BfclDataError(f"{folder / name}: row {row['id']!r} has {len(row['question'])} turns, expected one")
        accepted = tuple(answers.get(row["id"], ()))
        rows.append(BfclRow(row["id"], category, tuple(row["question"][0]), tuple(row["function"]), accepted))
    return rows


def _read_lines(folder: Path, name: str, *, verify: bool) -> list[dict[str, Any]]:
    path = folder / name
    if verify:
        check_file(path, DIGESTS[name], HOW_TO_GET)
    elif not path.is_file():
        raise BfclDataError(f"{path} is missing")
    wanted = ("id", "ground_truth") if name.startswith("possible_answer/") else ("id", "question", "function")
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise BfclDataError(f"{path}, line {number}: not JSON ({error})") from error
        missing = [key for key in wanted if not isinstance(row, dict) or key not in row]
        if missing:
            raise BfclDataError(f"{path}, line {number}: no {missing[0]!r}; a row needs {', '.join(wanted)}")
        rows.append(row)
    return rows


def _readable(row: BfclRow) -> list[dict[str, dict[str, Any]]]:
    """Return the accepted answers with an empty list for an array parameter read as the empty array."""
    types = {name: {key: schema.get("type") for key, schema in keys.items()} for name, keys in schemas(row).items()}
    return [
        {
            name: {
                key: [[]] if not values and types.get(name, {}).get(key) == "array" else values
                for key, values in parameters.items()
            }
            for name, parameters in call.items()
        }
        for call in row.accepted
    ]


def _decoded_default(value: Any, declared: Any) -> Any:
    if not isinstance(value, str) or declared not in ("boolean", "integer", "float"):
        return copy.deepcopy(value)
    try:
        decoded = json.loads(value.lower())
    except json.JSONDecodeError:
        return value
    is_number = isinstance(decoded, (int, float)) and not isinstance(decoded, bool)
    fits = {"boolean": isinstance(decoded, bool), "integer": isinstance(decoded, int) and is_number, "float": is_number}
    return decoded if fits[declared] else value


def _chosen(
    parameters: Mapping[str, Sequence[Any]], rng: np.random.Generator | None, *, always: Collection[str] = ()
) -> dict[str, Any]:
    chosen = {}
    for name, accepted in parameters.items():
        values = [value for value in accepted if not (isinstance(value, str) and value == "")]
        if len(values) < len(accepted):
            if name in always:
                values = values or [""]
            elif not values or rng is None or rng.random() < 0.5:
                continue
        chosen[name] = _resolved(nested_alternatives(values[0 if rng is None else int(rng.integers(len(values)))]), rng)
    return chosen


def _resolved(value: Any, rng: np.random.Generator | None) -> Any:
    if isinstance(value, Alternatives):
        return _chosen(value.fields, rng)
    if isinstance(value, list):
        return [_resolved(item, rng) for item in value]
    return copy.deepcopy(value)


if __name__ == "__main__":
    sys.exit(main())
