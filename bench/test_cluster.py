"""What a task costs beside its work, on a dask cluster of one worker process."""

import fastes
from bench.measure import Target
from fastes.studies.dask_workers import connected
from fastes.studies.execution import TASK_SECONDS
from fastes.studies.tasks import Task, build_id, do_task, packed_study

SHARE = 0.05  # of the time of a task of the default size, at most


def test_task_on_dask(compare, quick):
    from distributed import LocalCluster

    study = fastes.Study(agent="es", M=10, K=100, d=10, T=10, runs=1)
    n = 10 if quick else 200
    packed, words = packed_study(study), (Task(0, 0, 0, 1, 0.0), build_id())
    # No address of a dashboard would be a fixed port, and a warning where that is taken.
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster, connected(cluster.scheduler_address, packed) as submit:

        def there():
            for future in [submit(do_task, *words) for _ in range(n)]:
                future.result()

        compare(
            there,
            lambda: [do_task(packed, *words) for _ in range(n)],
            work=n,
            baseline_work=n,
            rounds=5,
            target=Target(most_extra_seconds=SHARE * TASK_SECONDS),
        )
