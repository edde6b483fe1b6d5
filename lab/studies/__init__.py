"""Studies of learning: many training runs under one command, and one table made of them.

`runs` plays a list of runs and continues where it was; `learning`, `horizons` and others say which;
`table` reads what they left.
"""
