"""SearchQA: answer questions by searching a corpus."""
