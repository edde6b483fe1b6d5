"""The makers' instruments, not installed: studies, speeds, GPUs, and the making of `tiny`."""
