"""Wrappers of the environments."""

from normgym_envs.wrappers.recording import RecordVideo

__all__ = ["RecordVideo"]
