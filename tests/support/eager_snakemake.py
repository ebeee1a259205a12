"""Snakemake that asks SLURM for its jobs' states every second, and nothing else changed.

The executor waits ten seconds longer after each round in which no job ended: half of the time of a study of small jobs.
"""

import asyncio

from snakemake.cli import main
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor


async def _sleep(self: RemoteExecutor) -> None:
    await asyncio.sleep(1)


if __name__ == "__main__":
    RemoteExecutor.sleep = _sleep  # type: ignore[method-assign]
    main()
