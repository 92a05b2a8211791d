"""
A table with words, numbers and gaps
====================================

Which class, and which quantity.
"""

import numpy as np

from separatrix import Experiment

generator = np.random.default_rng(0)
n = 300
table = {
    "income": generator.normal(3.0, 1.0, n).round(2),
    "city": generator.choice(np.array(["Rome", "Oslo", "Lima", None], dtype=object), n),
    "age": np.where(generator.random(n) < 0.1, np.nan, generator.normal(40, 10, n).round()),
}
taste = table["income"] + (table["city"] == "Oslo") + generator.normal(0, 0.5, n)
table["bought"] = np.where(taste > 3.2, "yes", "no")

# A missed buyer costs five times as much as a letter in vain; classes in the order "no", "yes".
result = Experiment(table, "bought", cost=[[0, 1], [5, 0]], learners=["logistic_regression"]).run()
print(result)

spent = {**{name: table[name] for name in ("income", "city", "age")}, "spent": 10 * taste + 5}
print("\n", Experiment(spent, "spent").run(), sep="")
