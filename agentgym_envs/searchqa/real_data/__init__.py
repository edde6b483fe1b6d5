"""The seven real data sets under AgentGym's ids, and corpora in the form of wiki-18."""
