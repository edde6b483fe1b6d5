"""Success with intervals: results of evaluations, and evaluations during training."""
