"""Measure how fast earlier jobs scored texts."""

from ragrelay.generation.past_jobs import Pace, Speed, Timed
from ragrelay.likelihoods.store import LikelihoodStore


def scoring_speed(store: LikelihoodStore, answers: Pace) -> tuple[Speed | None, str, float]:
    """The speed of scoring texts, which makes no answers, where it is from, in words, and an engine's start in seconds.

    By the parts of ``store`` where they say their tokens; else by what prompts took where ``answers`` were made; else a
    token takes as long as an answer's by the key tokens_per_second, which is an upper bound.
    """
    timed = Timed.latest(store, store.parts())
    made = [part for part in timed.parts.values() if "prompt_tokens" in part]
    start = timed.start_seconds or answers.start_seconds
    tokens = sum(int(part["prompt_tokens"]) - int(part["cached_tokens"]) for part in made)
    if tokens:
        seconds = sum(float(part["seconds"]) for part in made)
        return Speed(prompt=seconds / tokens, answer=0.0), f"earlier jobs on {timed.device}", start
    if answers.speed is None:
        return None, answers.tokens_per_second_from, start
    if answers.speed.prompt:
        return Speed(answers.speed.prompt, 0.0), "the prompts of answers", start
    return Speed(answers.speed.answer, 0.0), "the speed of answer tokens, an upper bound", start
