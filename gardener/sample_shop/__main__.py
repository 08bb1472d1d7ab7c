"""Runs the shop alone: `python -m gardener.sample_shop --release 2 --port 8080`."""

from gardener.sample_shop.server import main

if __name__ == "__main__":
    main()
