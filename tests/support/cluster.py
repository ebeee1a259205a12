"""A real SLURM on this machine: munge, MariaDB, slurmdbd, slurmctld and two slurmd, in a temporary folder of their own.

Needs root and Debian's packages slurmctld, slurmd, slurmdbd, slurm-client, munge and mariadb-server; no systemd, and
nothing outside the folder is written. Two partitions as profiles/slurm names them: `cpu`, and `gpu` with two GPUs
that are fakes (SLURM counts them and hands them out; they are the files /dev/zero and /dev/full).
"""

import contextlib
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.support.waiting import wait_for

JANITOR = Path(__file__).with_name("janitor.py")
PROGRAMS = ("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacctmgr")
CONFIG = """\
ClusterName=ragrelay
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={slurmctld}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={slurmdbd}
AccountingStoragePass={folder}/munge.socket
AccountingStorageEnforce=associations,limits
AccountingStorageTRES=gres/gpu
AccountingStoreFlags=job_comment
GresTypes=gpu
JobRequeue=0
KillWait=120
OverTimeLimit=0
SlurmdTimeout=20
ReturnToService=1
NodeName=DEFAULT CPUs=8 RealMemory=128000 State=UNKNOWN
NodeName=cpu1 NodeHostname={host} NodeAddr=127.0.0.1 Port={cpu1}
NodeName=gpu1 NodeHostname={host} NodeAddr=127.0.0.1 Port={gpu1} Gres=gpu:2
PartitionName=cpu Nodes=cpu1 Default=YES MaxTime=1-0 State=UP
PartitionName=gpu Nodes=gpu1 MaxTime=1-0 State=UP
"""
GRES = "NodeName=gpu1 Name=gpu File=/dev/zero\nNodeName=gpu1 Name=gpu File=/dev/full\n"
DATABASE = """\
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={slurmdbd}
SlurmUser=root
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={mariadb}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct_db
"""
CLIENTS = ("sacct", "sacctmgr", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
CLIENT = """\
#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec {client} "$@"
"""


class Cluster:
    """Start with ``start()``, end with ``stop()``; ``environment`` makes SLURM's commands speak to this cluster."""

    def __init__(self, account: str) -> None:
        self.account = account
        # Short, because a socket's path has at most 107 characters.
        self.folder = Path(tempfile.mkdtemp(prefix="ragrelay-slurm-"))
        self.environment = {
            **os.environ,
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": f"{self.folder}/bin:{_path()}",
        }
        self.complaint = ""
        # It has the folder in no variable of its own, else it would end itself.
        self.janitor = subprocess.Popen(
            [sys.executable, JANITOR, self.folder], stdin=subprocess.PIPE, start_new_session=True
        )
        self.daemons: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        names = ("mariadb", "slurmdbd", "slurmctld", "cpu1", "gpu1")
        values = {
            **dict(zip(names, _free_ports(len(names)), strict=True)),
            "folder": self.folder,
            "host": socket.gethostname().split(".")[0],
            "password": secrets.token_hex(8),
        }
        self._write("slurm.conf", CONFIG.format(**values))
        self._write("gres.conf", GRES)
        (self.folder / "bin").mkdir()
        # The executor drops SLURM_CONF in jobs, because a cluster's own nodes need none.
        for client in CLIENTS:
            path = shutil.which(client, path=_path())
            self._write(f"bin/{client}", CLIENT.format(folder=self.folder, client=path), mode=0o755)
        self._write("slurmdbd.conf", DATABASE.format(**values), mode=0o600)
        self._start_munge()
        self._start_database(values["mariadb"], values["password"])
        self._daemon("slurmdbd", "-D")
        self._wait("slurmdbd to answer", lambda: self.ask("sacctmgr", "-n", "list", "cluster").returncode == 0)
        self.run("sacctmgr", "-i", "add", "cluster", "ragrelay")
        self.run("sacctmgr", "-i", "add", "account", self.account, "Cluster=ragrelay")
        self.run("sacctmgr", "-i", "add", "user", "root", f"Account={self.account}")
        self._daemon("slurmctld", "-D", "-c")
        for node in ("cpu1", "gpu1"):
            (self.folder / f"spool.{node}").mkdir()
            self._daemon("slurmd", "-D", "-N", node)
        self._wait("both nodes to be idle", lambda: self.node_states() == {"cpu1": "idle", "gpu1": "idle"})

    def stop(self) -> None:
        """End every daemon and job, and remove the folder."""
        if any(daemon.args[0] == "slurmctld" for daemon in self.daemons):
            self.ask("scancel", "--user=root")
            with contextlib.suppress(AssertionError):  # one that never answered has no queue to empty
                wait_for("an empty queue", lambda: not self.ask("squeue", "--noheader").stdout.strip(), 30)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(timeout=15)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.janitor.communicate()

    def restart(self, node: str) -> None:
        """End the node's daemon and start it anew, and wait until SLURM has heard of it."""
        [daemon] = [one for one in self.daemons if one.args == ("slurmd", "-D", "-N", node)]
        before = self._started(node)
        daemon.terminate()
        daemon.wait(timeout=60)
        self.daemons.remove(daemon)
        self._daemon("slurmd", "-D", "-N", node)
        self._wait(f"{node}'s new daemon", lambda: self._started(node) != before)

    def _started(self, node: str) -> str:
        [found] = re.findall(r"SlurmdStartTime=(\S+)", self.run("scontrol", "show", "node", node))
        return found

    def node_states(self) -> dict[str, str]:
        lines = self.ask("sinfo", "--noheader", "--Node", "--format=%N %t").stdout.splitlines()
        return dict(line.split() for line in lines)

    def ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True)
        self.complaint = done.stderr
        return done

    def run(self, *command: str) -> str:
        done = self.ask(*command)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}{done.stderr}"
        return done.stdout

    def told(self, job: str) -> dict[str, str]:
        """What scontrol says of a job: its values by name."""
        words = self.run("scontrol", "--oneliner", "show", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def next_job(self) -> int:
        """The id that the next job gets."""
        [found] = re.findall(r"NEXT_JOB_ID\s*= (\d+)", self.run("scontrol", "show", "config"))
        return int(found)

    def jobs(self, *states: str) -> list[dict[str, str]]:
        """sacct's records of all jobs so far, or of those in ``states``: a dict of columns each."""
        columns = (
            "JobIDRaw",
            "Partition",
            "State",
            "ReqTRES",
            "AllocTRES",
            "Comment",
            "Account",
            "NodeList",
            "Elapsed",
            "Timelimit",
        )
        self._wait("slurmdbd to have every record", self._all_recorded)
        command = ["sacct", "-X", "--noheader", "--parsable2", "--allusers", "--starttime=now-1days"]
        lines = self.run(*command, f"--format={','.join(columns)}").splitlines()
        records = [dict(zip(columns, line.split("|"), strict=True)) for line in lines]
        return [record for record in records if not states or record["State"].split()[0] in states]

    def _all_recorded(self) -> bool:
        """Whether no job is between its end and its record, and no record waits to be sent to slurmdbd."""
        ending = self.run("squeue", "--noheader", "--states=COMPLETING", "--format=%i")
        return not ending.strip() and re.findall(r"DBD Agent queue size:\s*(\d+)", self.run("sdiag")) == ["0"]

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        options = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        files = [f"--{option}={self.folder}/munge.{ending}" for option, ending in options.items()]
        self._daemon("munged", "--foreground", "--force", *files)
        self._wait("munge's socket", (self.folder / "munge.socket").exists)

    def _start_database(self, port: int, password: str) -> None:
        data, sock = self.folder / "mariadb", self.folder / "mariadb.socket"
        temporary = self.folder / "mariadb-tmp"  # in /tmp a server that starts removes the tables of another
        temporary.mkdir()
        options = ["--no-defaults", f"--datadir={data}", f"--tmpdir={temporary}", "--user=root"]
        self.run("mariadb-install-db", *options, "--skip-test-db", "--auth-root-authentication-method=socket")
        network = [f"--port={port}", "--bind-address=127.0.0.1", f"--socket={sock}", f"--pid-file={data}/pid"]
        memory = ["--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0"]
        self._daemon("mariadbd", *options, *network, *memory)
        client = ["mariadb", "--no-defaults", f"--socket={sock}", "--user=root", "--execute"]
        self._wait("MariaDB to answer", lambda: self.ask(*client, "select 1").returncode == 0)
        user = f"create user slurm@'127.0.0.1' identified by '{password}'"
        grant = "grant all on slurm_acct_db.* to slurm@'127.0.0.1'"
        self.run(*client, f"create database slurm_acct_db; {user}; {grant}")

    def _daemon(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{command[0]}.{len(self.daemons)}.out").open("wb") as out:
            daemon = subprocess.Popen(
                command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.daemons.append(daemon)
        return daemon

    def _write(self, name: str, text: str, mode: int = 0o644) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")
        (self.folder / name).chmod(mode)
        (self.folder / "state").mkdir(exist_ok=True)

    def _wait(self, what: str, ready: Callable[[], bool], seconds: float = 60) -> None:
        wait_for(what, ready, seconds, self._tails)

    def _tails(self) -> str:
        logs = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return self.complaint + "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in logs)


def missing_programs(programs: Sequence[str] = PROGRAMS) -> list[str]:
    """Programs of the cluster that this machine lacks."""
    return [program for program in programs if shutil.which(program, path=_path()) is None]


def _path() -> str:
    return os.environ["PATH"] + ":/usr/sbin:/sbin"


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
