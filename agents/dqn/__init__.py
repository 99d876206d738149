"""DQN policies: networks, the files of a training run, and a frozen checkpoint as an agent.

`networks` and `masked_dqn` need torch; `runs` needs it only to read and write checkpoints.
"""
