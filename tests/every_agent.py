"""An agent of every kind, ensembles of several sizes among them."""

import fastes

AGENTS = [
    fastes.EnsembleSampling(1),
    fastes.EnsembleSampling(40),
    fastes.EnsembleSampling(10**9),
    fastes.EnsembleSampling(5, engine="eager"),
    fastes.EnsembleSampling(700, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(0.7),
    fastes.UniformRandom(),
    fastes.InformationDirectedSampling(70),
]
