"""The grid world for language models: its prompts and the words for its actions."""
