"""Offer a table of results as a file, from inside the page."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass

import pandas as pd

__all__ = ["Download", "offer_csv"]


@dataclass(frozen=True)
class Download:
    """A link that holds its file; made by `offer_csv`.

    Parameters
    ----------
    name : str
        File name.
    text : str
        Content of the file.
    """

    name: str
    text: str

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.text.encode()).decode()
        rows, name = self.text.count("\n") - 1, html.escape(self.name)
        return f'<a download="{name}" href="data:text/csv;base64,{data}">Download {name}</a> ({rows} rows)'

    def __repr__(self) -> str:
        return f"[download: {self.name}]"


def offer_csv(frame: pd.DataFrame, name: str) -> Download:
    r"""Offer a table as a CSV file; the link works without a server and without a kernel.

    Parameters
    ----------
    frame : pandas.DataFrame
        The results; the index is left out when it only counts the rows.
    name : str
        File name, ending in ``.csv``.

    Returns
    -------
    Download
        To be the last expression of a cell.

    Raises
    ------
    ValueError
        If the name does not end in ``.csv``.

    Examples
    --------
    >>> offer_csv(pd.DataFrame({"scale": ["original"], "contrast": [6]}), "contrast.csv").text
    'scale,contrast\noriginal,6\n'
    """
    if not name.endswith(".csv"):
        raise ValueError(f"the file name must end in .csv, found {name!r}")
    return Download(name, frame.to_csv(index=not isinstance(frame.index, pd.RangeIndex), lineterminator="\n"))
