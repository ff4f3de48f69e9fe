"""``python -m invman`` is the command line."""

from invman.cli.main import main

main()
