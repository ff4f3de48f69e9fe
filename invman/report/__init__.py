"""A lattice document made visible: SVG, HTML, Graphviz, GraphML, Markdown and LaTeX, and files written whole.

Every writer takes the document (a plain mapping, as `invman lattice` writes it) and gives the text of one file; the
same document gives the same text. `write_files` puts texts on the disk, all of them or none.
"""

from invman.report.files import write_files as write_files
from invman.report.graphs import dot as dot
from invman.report.graphs import graph as graph
from invman.report.graphs import graphml as graphml
from invman.report.html import html as html
from invman.report.latex import latex as latex
from invman.report.layout import Box as Box
from invman.report.layout import Layout as Layout
from invman.report.layout import Level as Level
from invman.report.layout import arrange as arrange
from invman.report.markdown import markdown as markdown
from invman.report.svg import svg as svg

__all__ = [
    "Box",
    "Layout",
    "Level",
    "arrange",
    "dot",
    "graph",
    "graphml",
    "html",
    "latex",
    "markdown",
    "svg",
    "write_files",
]
