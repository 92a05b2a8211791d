"""Online learners: updates after one example at a time."""
