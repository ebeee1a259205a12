"""Measure how fast earlier jobs scored texts."""

from ragrelay.generation.past_jobs import Pace, Speed, Timed
from ragrelay.likelihoods.store import LikelihoodStore


def scoring_speed(store: LikelihoodStore, answers: Pace) -> tuple[Speed | None, str, float]:
    """The speed of scoring texts, a sentence on where it comes from, and the seconds that an engine takes to start.

    Taken from the parts of ``store`` that record their tokens. Without these, from the time of the prompts of
    ``answers``. Otherwise the key tokens_per_second, an answer's speed, gives an upper bound of the time.
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
