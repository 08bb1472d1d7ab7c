"""`python -m gardener` is `gardener`."""

from gardener.cli import main

main()
