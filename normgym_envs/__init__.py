"""Grid worlds whose communities follow norms that a newcomer must infer."""

__version__ = "0.1.0"
