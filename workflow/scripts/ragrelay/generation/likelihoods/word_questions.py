"""Request the probabilities of fixed words from a generator, and divide each by the words' total probability."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from ragrelay.generation.generator import GENERATOR_KINDS, check_begins, check_unthinking
from ragrelay.generation.likelihoods.asker import Asker, Receipt
from ragrelay.generation.likelihoods.endpoint_words import spellings, with_spellings
from ragrelay.generation.likelihoods.job import look_up
from ragrelay.generation.likelihoods.store import LikelihoodStore
from ragrelay.generation.likelihoods.words import first_tokens, spelled, text_ids, token_table, word_shares
from ragrelay.generation.tokens import load_tokenizer
from ragrelay.prompting.layout import prompt_id


def with_prompts(rows: pl.DataFrame, prompts: Sequence[str]) -> pl.DataFrame:
    """Add a prompt without a system message to each row.

    Args:
        rows: Any table.
        prompts: One prompt per row.

    Returns:
        ``rows`` with the added columns prompt_id, prompt and system (empty).
    """
    ids = pl.Series([prompt_id(prompt, "") for prompt in prompts], dtype=pl.String)
    return rows.with_columns(prompt_id=ids, prompt=pl.Series(prompts, dtype=pl.String), system=pl.lit("", pl.String))


def with_words(
    questions: pl.DataFrame, tokens: Mapping[str, Sequence[int]], begins: Sequence[int] = ()
) -> pl.DataFrame:
    """Repeat each question for every token that represents a word, and add columns word and token_ids.

    ``tokens``: each word's token ids, as returned by words.first_tokens. ``begins``: the ids of the tokens that precede
    the word in the reply.
    """
    return questions.join(token_table(tokens, begins), how="cross", maintain_order="left_right")


def ask_words(
    questions: pl.DataFrame, words: Sequence[str], begins: str, asker: Asker, certain: bool = True
) -> dict[str, object]:
    """Request the probability of each word at the beginning of the reply.

    Args:
        questions: One row per question; columns prompt_id, prompt, system.
        words: The words to request probabilities for.
        begins: Text that precedes the word in the reply; may be empty.
        asker: The object that sends or counts the requests.
        certain: False if the plan can only estimate the number of requests.

    Returns:
        The receipt, plus keys that ``asked_shares`` reads: the words, their tokens or spellings, and ``begins``.

    Raises:
        InputError: Words can't be told apart, a question exceeds the window, or replies would begin with a thought.
    """
    place = f"generator of model {asker.generator['model']!r}"
    check_unthinking(place, asker.generator)
    if not GENERATOR_KINDS[asker.generator["engine"]].in_job:
        check_begins(place, asker.generator, begins)
        texts = spellings(asker.generator, words)
        receipt = asker.likelihoods(with_spellings(questions, texts, begins), certain=certain)
        return {**receipt, "words": list(words), "spellings": texts, "begins": begins}
    tokenizer = load_tokenizer(asker.generator)
    tokens = first_tokens(tokenizer, words, f"tokenizer of model {asker.generator['model']!r}")
    first = text_ids(tokenizer, begins)
    receipt = asker.likelihoods(with_words(questions, tokens, first), certain=certain)
    return {**receipt, "words": list(words), "tokens": tokens, "spelled": spelled(tokenizer, tokens), "begins": first}


def asked_shares(
    questions: pl.DataFrame, receipt: Receipt, cache_dir: str | Path, by: Sequence[str] = ("prompt_id",)
) -> pl.DataFrame:
    """Read each question's word probabilities from the store, and normalise them so that they sum to 1.

    If the reply had to begin with a given text, an engine in the job scores this text together with the word. The mass
    is then null, because the text's own probability is unknown.

    Args:
        questions: One row per question: prompt_id and the columns ``by``.
        receipt: The receipt that ``ask_words`` returned, possibly for other questions to the same generator.
        cache_dir: The cache folder.
        by: Columns that identify a question.

    Returns:
        Columns ``by``, shares (a list in the order of the words, with sum 1) and mass (the words' total probability).
    """
    begins = receipt.get("begins", ())
    if by_endpoint := "spellings" in receipt:
        wanted = with_spellings(questions, receipt["spellings"], begins)  # type: ignore[arg-type]
    else:
        wanted = with_words(questions, receipt["tokens"], begins)  # type: ignore[arg-type]
    logprobs = look_up(wanted, LikelihoodStore(cache_dir, receipt["fingerprint"]))
    shares = word_shares(logprobs, receipt["words"], by)
    return shares if by_endpoint or not begins else shares.with_columns(mass=pl.lit(None, pl.Float64))
