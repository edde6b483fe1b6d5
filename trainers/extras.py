"""What to install where the training stack is missing. Knows names only; imports nothing heavy."""

MISSING_TRAIN_EXTRA = (
    "training and language-model policies need torch, transformers and trl; install them with: "
    'pip install "agentgym-envs[train]"'
)
