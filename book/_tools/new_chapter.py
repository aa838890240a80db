"""Write the scaffold of a chapter that passes the tests: notebook, expected numbers, line in the table of contents.

`python -m book._tools.new_chapter 13_missing_values "A missing value costs less in a long answer"`
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book._tools.execute import ROOT

CELLS: tuple[tuple[str, str, str], ...] = (
    (
        "title",
        "markdown",
        """# {title}

```{{admonition}} At a glance
:class: tip
**Question.** What does one wrong value cost?

**Answer.** With {{glue:text}}`keys:.0f` keys it leaves {{glue:text}}`correctness:.2f` of 3 points.

**Where.** Note and section; paper {{cite:p}}`toolrl2025`.

**Run time.** A few seconds.

**Before.** [Chapter 1](01_reward_anatomy.ipynb).
```

Two or three sentences: why a reader should care, before any formula.""",
    ),
    ("parameters", "parameters", "SEED = 0\nKEYS = 4  # keys of the expected call"),
    (
        "imports",
        "hidden",
        """import matplotlib.pyplot as plt
import pandas as pd
from myst_nb import glue

from toolrl_core import RewardSpec, score
from toolrl_core.explain.downloads import offer_csv
from toolrl_core.explain.explore import explore
from toolrl_core.explain.figures import line_style, show, use_style

use_style()""",
    ),
    (
        "by-hand",
        "markdown",
        """## By hand: one call, one wrong value

The smallest example that shows the claim, on one screen. One point for the name, one for the keys, one for each value;
one value is wrong.""",
    ),
    (
        "by-hand-numbers",
        "code",
        """def correctness(keys, wrong):
    truth = [{{"name": "f", "parameters": {{f"k{{i}}": i for i in range(keys)}}}}]
    changed = {{f"k{{i}}": -1 if i < wrong else i for i in range(keys)}}
    answer = [{{"name": "f", "parameters": changed}}]
    return score(answer, truth, RewardSpec.preset("paper")).correctness


glue("keys", float(KEYS), display=False)
glue("correctness", correctness(KEYS, 1), display=False)""",
    ),
    (
        "definition",
        "markdown",
        """## Definition

With $k$ keys and $w$ wrong values,

```{{math}}
:label: eq-{label}
R = 3 - \\frac{{6 w}}{{2 + k}}.
```

`toolrl_core.score` computes it.""",
    ),
    ("result", "markdown", "## Result\n\nFigure and table; each number in the text comes from a cell."),
    (
        "figure",
        "hidden",
        """results = pd.DataFrame(
    {{"keys": range(1, 9), "correctness": [correctness(k, 1) for k in range(1, 9)]}}
)
figure, axes = plt.subplots()
axes.plot(results["keys"], results["correctness"], **line_style("paper"))
axes.set(xlabel="keys of the call", ylabel="correctness (points)")
show(
    figure,
    alt="Correctness with one wrong value rises with the number of keys.",
    name="one-wrong-value",
    caption="One wrong value costs less in a longer call.",
    table=results,
)""",
    ),
    ("download", "hidden", 'offer_csv(results, "{stem}.csv")'),
    ("try-it", "markdown", "## Try it\n\nChoose how many keys there are and how many values are wrong."),
    (
        "sliders",
        "hidden",
        """def draw(keys, wrong):
    points = correctness(keys, min(wrong, keys))
    figure, axes = plt.subplots()
    axes.bar(["correctness"], [points], color=line_style("paper")["color"])
    axes.set(ylim=(-3, 3), ylabel="correctness (points)")
    return figure, pd.DataFrame({{"keys": [keys], "correctness": [round(points, 3)]}})


explore(
    draw,
    keys=range(1, 5),
    wrong=range(4),
    alt="A bar for the correctness with {{wrong}} wrong values of {{keys}}.",
    labels={{"keys": "keys", "wrong": "wrong values"}},
    start={{"keys": 4, "wrong": 1}},
)""",
    ),
    (
        "differences",
        "markdown",
        """## Where implementations differ

Paper, note, released code, trainers; cite code as owner/repo@commit, file and line.""",
    ),
    ("limits", "markdown", "## What this does not show\n\n- Nothing is trained here."),
    (
        "exercises",
        "markdown",
        """## Exercises

**1.** What does a second wrong value cost?

```{{admonition}} Solution
:class: dropdown
The same again: the price of a value does not depend on the others.
```""",
    ),
    ("references", "markdown", "## References\n\n- ToolRL: paper {{cite:p}}`toolrl2025`, arXiv 2504.13958."),
)
"""Id, kind and text of the cells."""


def notebook(stem: str, title: str) -> nbformat.NotebookNode:
    """Make the notebook."""
    cells = []
    for name, kind, template in CELLS:
        text = template.format(title=title, stem=stem, label=stem[3:].replace("_", "-"))
        tags = {"parameters": ["parameters"], "hidden": ["hide-input"]}.get(kind)
        metadata = {"tags": tags} if tags else {}
        make = new_markdown_cell if kind == "markdown" else new_code_cell
        cells.append(make(text, id=name, metadata=metadata))
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return new_notebook(cells=cells, metadata=metadata)


EXPECTED = """# One wrong value of four: five of six points, -3 + 6 * 5 / 6.
[glued]
keys = 4.0
correctness = 2.0

[other_parameters]
SEED = 1
KEYS = 6
"""


def write(stem: str, title: str, *, root: Path = ROOT) -> list[Path]:
    """Write the files of a new chapter.

    Parameters
    ----------
    stem : str
        Two digits, an underscore and words in lower case, such as ``13_missing_values``.
    title : str
        The claim in words.
    root : Path
        The project's folder.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ValueError
        If the stem has another form, or its number is taken.
    """
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9]*(_[a-z0-9]+)*", stem):
        raise ValueError(f"{stem!r} is no name of a chapter: write two digits and words, such as 13_missing_values")
    if taken := sorted((root / "notebooks").glob(f"{stem[:2]}_*.ipynb")):
        raise ValueError(f"the number {stem[:2]} is taken by {taken[0].name}")
    source = root / "notebooks" / f"{stem}.ipynb"
    numbers = root / "tests" / "chapters" / f"{stem}.toml"
    contents = root / "_toc.yml"
    nbformat.write(notebook(stem, title), source)
    numbers.write_text(EXPECTED, encoding="utf8")
    contents.write_text(with_chapter(contents.read_text(encoding="utf8"), stem), encoding="utf8")
    return [source, numbers, contents]


def with_chapter(contents: str, stem: str) -> str:
    """Add a chapter to the text of _toc.yml, after the last notebook."""
    lines = contents.splitlines(keepends=True)
    last = max(place for place, line in enumerate(lines) if "file: notebooks/" in line)
    indent = lines[last][: len(lines[last]) - len(lines[last].lstrip())]
    return "".join([*lines[: last + 1], f"{indent}- file: notebooks/{stem}\n", *lines[last + 1 :]])


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m book._tools.new_chapter", description=__doc__)
    parser.add_argument("stem", help="such as 13_missing_values")
    parser.add_argument("title", help="the claim in words")
    given = parser.parse_args(arguments)
    try:
        written = write(given.stem, given.title)
    except ValueError as error:
        parser.error(str(error))
    print("\n".join(f"wrote {path.relative_to(ROOT)}" for path in written))


if __name__ == "__main__":
    main()
