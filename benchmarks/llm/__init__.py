"""Language models through a suite: one command, costs, resume within an episode.

Importing this package imports no model library.
"""
