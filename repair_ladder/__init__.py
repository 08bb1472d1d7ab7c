"""The second room: mends steps and proves it.

It knows steps and runs, and has never heard of projects, the queue or the database.
"""
