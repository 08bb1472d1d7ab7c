"""The first room: sees pages, elements and locators, and what changed.

It knows no steps, no runs, no database and no model.
"""
