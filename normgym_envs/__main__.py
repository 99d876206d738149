"""`python -m normgym_envs` is the `normgym` command."""

from normgym_envs.cli import main

main()
