"""The stacked learner: many norms of one condition as one batch; needs torch.

codes           observations as bytes, exact
replay          the memory of a stack
networks        what a backend does; `compiled` (MLP, CPU) and `torch_backend` (all)
kernels         the compiled loops
worlds          the worlds of a stack: an engine row each
stack           the algorithm: norms of equal population in lockstep, with logs and resume
sweep           stacks over processes
speed           measured against Stable-Baselines3
"""
