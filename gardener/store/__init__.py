"""The door to the database: no type and no error of SQLAlchemy leaves this folder.

`open_store` gives a Store; `async with store.transaction() as tx` a transaction, which every function of the modules
here takes first: `await proposals.get(tx, 7)`. They take and return the plain values of `gardener/*.py`. None of them
reads the clock: `now` is an argument.
"""

from gardener.store.opening import open_store
from gardener.store.transaction import Store, Transaction

__all__ = ["Store", "Transaction", "open_store"]
