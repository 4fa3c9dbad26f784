collect_ignore = ["fuzz.py", "mutations.py", "targets.py"]  # a program; it has no examples
