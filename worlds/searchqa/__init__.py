"""The fictional world behind the embedded SearchQA: its facts, its prose and its questions."""
