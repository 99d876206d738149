"""Models behind one method, one module each; see `agents.llm.backend.BACKENDS`."""
