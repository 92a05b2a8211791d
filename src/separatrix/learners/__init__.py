"""Everything that learns: thin estimators over structures, losses and solvers."""
