"""The public names: of the package, and of the modules beside its functions."""

import rapids_tc as tc
from rapids_tc import datasets, files, plot

ERRORS = {name for name in tc.__all__ if name.endswith("Error")}
PUBLIC = (
    {name: getattr(tc, name) for name in tc.__all__ if name not in tc.MODULES}
    | {
        "datasets.karate": datasets.karate,
        "datasets.rmat": datasets.rmat,
        "files.read_edges": files.read_edges,
        "files.scan": files.scan,
    }
    | {f"plot.{name}": getattr(plot, name) for name in plot.__all__}
)
