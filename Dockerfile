# The environment of `make setup` and the workflow: docs/install.md#container has the commands.
FROM debian:bookworm-slim
ARG ACCELERATOR=cpu
ARG TORCH_INDEX=
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates g++ git libnuma1 make python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/ragrelay
# What the environment is made from alone, so that an edit elsewhere does not make it again.
COPY Makefile ./
COPY requirements requirements/
RUN PIP_NO_CACHE_DIR=1 TORCH_INDEX="$TORCH_INDEX" make setup ACCELERATOR="$ACCELERATOR"
ENV PATH=/opt/ragrelay/.venv/bin:$PATH
COPY . ./
CMD ["snakemake", "--cores", "2"]
