"""A made-up fleet: clusters, workloads and federated jobs whose records say what really happened.

Every workload and job comes with its truth, so a run over the whole fleet can be held against it.
Same seed, same records, on every machine.
"""
