"""Studies of learning: many training runs under one command, and the tables made of them.

A study is a file, `NAME.yaml`. `study` makes commands of it, `runs` runs them and goes on where it
was, `results` reads what they left, `table` and `pictures` show it.
"""
