"""The machine below: processes, threads, hosts, packages and secrets."""
