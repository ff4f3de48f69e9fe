"""Sphinx configuration."""

import invman

project = "invman"
author = "The invman developers"
copyright = "2026, The invman developers"  # noqa: A001 - the name that Sphinx reads
version = release = invman.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "invman"
autodoc_typehints = "description"
napoleon_google_docstring = False
myst_heading_anchors = 3
