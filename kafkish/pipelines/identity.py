"""Whose checkpoint and whose output a directory is. A run refuses those of another pipeline, and loses nothing.

A checkpoint remembers its pipeline's name and the ids of its topics: its offsets mean nothing for a topic that was
deleted and made again. An output directory remembers the checkpoint that fills it: with another one, records would be
written a second time, or over others.
"""

import json
import secrets
from collections.abc import Mapping

from kafkish.pipelines.context import TopicFacts
from kafkish.pipelines.errors import PipelineError, Where
from kafkish.pipelines.files import Files
from kafkish.pipelines.model import Pipeline


def claim_checkpoint(files: Files, pipeline: Pipeline, facts: Mapping[str, TopicFacts]) -> str:
    """Check that the checkpoint is this pipeline's, or make it so; its id."""
    path = f"{pipeline.checkpoint}/kafkish.json"
    known = json.loads(files.read(path) or "{}")
    if known and known["pipeline"] != pipeline.name:
        raise PipelineError(
            f"{pipeline.file}: the checkpoint {pipeline.checkpoint} belongs to the pipeline {known['pipeline']!r}, "
            f"not to {pipeline.name!r}. Give this pipeline a checkpoint directory of its own."
        )
    ids: dict[str, dict[str, str]] = known.get("topics", {})
    for source, found in facts.items():
        before = ids.setdefault(source, {})
        for name, topic in found.topics.items():
            if before.setdefault(name, topic.id) != topic.id:
                raise PipelineError(
                    f"{pipeline.file}: the topic {name} was made again since the checkpoint {pipeline.checkpoint} was "
                    "written; its offsets mean nothing now. Use a new checkpoint directory, and new outputs."
                )
    owner: str = known.get("id") or secrets.token_hex(8)
    files.write(path, json.dumps({"pipeline": pipeline.name, "id": owner, "topics": ids}, indent=1))
    return owner


def claim_output(files: Files, directory: str, owner: str, checkpoint: str, where: Where) -> None:
    """Check that an output directory is filled by this checkpoint only."""
    path = f"{directory}/_kafkish"
    known = json.loads(files.read(path) or "{}")
    if not known and files.list(directory):
        raise where.error(f"{directory} holds files of somebody else; choose a directory that is empty or new")
    if known and known["owner"] != owner:
        raise where.error(
            f"{directory} was filled with the checkpoint {known['checkpoint']}; with {checkpoint} records would be in "
            "it twice. Use that checkpoint, or choose another directory."
        )
    files.write(path, json.dumps({"owner": owner, "checkpoint": checkpoint}))
