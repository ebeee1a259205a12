"""A stand-in for a cluster: it takes jobs, and each ends after its resource ``seconds``."""

import asyncio
import time
from collections.abc import AsyncGenerator
from pathlib import Path

from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor
from snakemake_interface_executor_plugins.jobs import JobExecutorInterface
from snakemake_interface_executor_plugins.settings import CommonSettings

common_settings = CommonSettings(
    job_deploy_sources=False,
    non_local_exec=True,
    implies_no_shared_fs=False,
    pass_default_storage_provider_args=False,
    pass_default_resources_args=False,
    pass_envvar_declarations_to_cmd=False,
    auto_deploy_default_storage_provider=False,
    init_seconds_before_status_checks=0,
)


class Executor(RemoteExecutor):
    """Asks every second which jobs have ended."""

    def run_job(self, job: JobExecutorInterface) -> None:
        """Submit a job."""
        end = time.monotonic() + job.resources["seconds"]
        self.report_job_submission(SubmittedJobInfo(job=job, aux={"end": end}))

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncGenerator[SubmittedJobInfo, None]:
        """End jobs whose time has come, with their files; yield the others."""
        for info in active_jobs:
            if time.monotonic() < info.aux["end"]:
                yield info
            else:
                for path in info.job.output:
                    Path(path).touch()
                self.report_job_success(info)

    async def sleep(self) -> None:
        """Wait until jobs are asked for again."""
        await asyncio.sleep(1)

    def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
        """Nothing runs anywhere."""
