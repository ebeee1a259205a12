"""Bad input in a study's data: queries, passages, judgements, runs, judges, nuggets and answers."""

import gzip
import shutil

from tests.support.bad_input_changes import (
    BARE_LIST,
    CUT_GZIP,
    NUGGETS,
    PASSAGES,
    QRELS,
    QUERIES,
    RUN,
    SERVED,
    Case,
    answered,
    answered_alone,
    both,
    brought,
    damaged_parquet,
    few_words,
    file,
    judge_template,
    judging,
    key,
    line,
    nuggets,
    panel,
    thinking,
    unset,
    without,
)

DATA_CASES = {
    "Queries": [
        Case("Header", file(QUERIES, "Query_ID\ttext\nq1\twhere does tea grow\n")),
        Case("Duplicate query", line(QUERIES, "q1\tagain")),
        Case("Empty query", line(QUERIES, "q3\t ")),
        Case("No tab", line(QUERIES, "q3 where does rice grow")),
        Case("Whitespace in a qid", line(QUERIES, "q 3\twhere does rice grow")),
        Case("Third column", line(QUERIES, "q3\twhere does rice grow\t1")),
        Case("Zero-width character in a qid", line(QUERIES, "q3\u200b\twhere does rice grow")),
        Case("NUL in a query", line(QUERIES, "q3\twhere does rice\0 grow")),
        Case("Terminal code in a query", line(QUERIES, "q3\twhere does \033[1mrice grow")),
        Case("Query with only invisible characters", line(QUERIES, "q3\t\u200b\u2060")),
        Case("Line breaks of old Macs", file(QUERIES, "q1\thow does the heart pump blood\rq2\twhere does tea grow\r")),
        Case("Not UTF-8", file(QUERIES, "q1\tcafé".encode("latin-1"))),
        Case("UTF-16", file(QUERIES, "q1\ttea".encode("utf-16"))),
        Case("No query", file(QUERIES, "")),
        Case("No such file", without(QUERIES)),
        Case("No such folder", lambda _: shutil.rmtree("small")),
    ],
    "Passages": [
        Case("Number with 5,000 digits", line(PASSAGES, f'{{"doc_id": "d4", "text": "rice", "n": {"9" * 5000}}}')),
        Case("100,000 levels of nesting", line(PASSAGES, '{"doc_id": "d4", "text": ' + "[" * 100_000)),
        Case("Line that isn't JSON", line(PASSAGES, '{"doc_id": "d4", "text": "rice')),
        Case("Missing key", line(PASSAGES, '{"docno": "d4", "text": "rice"}')),
        Case("doc_id that isn't text", line(PASSAGES, '{"doc_id": 4.5, "text": "rice"}')),
        Case("Duplicate doc_id", line(PASSAGES, '{"doc_id": "d1", "text": "rice"}')),
        Case("Unpaired surrogate", line(PASSAGES, '{"doc_id": "d4", "text": "cut \\ud83d"}')),
        Case("Terminal codes in a doc_id", line(PASSAGES, '{"doc_id": "\\u001b[2J 4", "text": "rice"}')),
        Case("NUL in a doc_id", line(PASSAGES, '{"doc_id": "d4\\u0000x", "text": "rice"}')),
        Case("Invisible letter in a doc_id", line(PASSAGES, '{"doc_id": "d4\u3164", "text": "rice"}')),
        Case("NUL in a text", line(PASSAGES, '{"doc_id": "d4", "text": "ri\\u0000ce"}')),
        Case("Texts with only invisible characters", file(PASSAGES, '{"doc_id": "d4", "text": "\u200b\ufeff \u3164"}')),
        Case("Duplicate key", line(PASSAGES, '{"doc_id": "d4", "text": "rice", "text": "tea"}')),
        Case("Both plain and gzipped", file(PASSAGES + ".gz", gzip.compress(b'{"doc_id": "d4", "text": "rice"}\n'))),
        Case("Damaged .gz", both(without(PASSAGES), file(PASSAGES + ".gz", b"no gzip"))),
        Case("Truncated .gz", both(without(PASSAGES), file(PASSAGES + ".gz", CUT_GZIP))),
    ],
    "Judgements": [
        Case("Wrong number of columns", line(QRELS, "q2 d2 1")),
        Case("Label that isn't an integer", line(QRELS, "q2 0 d2 1.5")),
        Case("Zero-width character in a docno", line(QRELS, "q2 0 d\u200b2 1")),
        Case("No-break space instead of a space", line(QRELS, "q2 0 d2\u00a01")),
        Case("Passage judged twice", line(QRELS, "q1 0 d1 2")),
        Case("No judgement for any query", file(QRELS, "q7 0 d1 3\n")),
        Case("Label that a measure doesn't accept", both(
            line(QRELS, "q2 0 d2 6"), key("grid.measures", ["nDCG", "ERR"])
        )),
        Case("No relevant passage at a grade", file(QRELS, "q1 0 d1 2\nq2 0 d3 2\n")),
        Case("No relevant passage with text", file(QRELS, "q1 0 d8 3\nq2 0 d9 3\n")),
    ],
    "Runs": [
        Case("Wrong number of columns", line(RUN, "q1 Q0 d3 3 0.5")),
        Case("Score that isn't a number", line(RUN, "q1 Q0 d3 3 nan mine")),
        Case("Score in Python's notation", line(RUN, "q1 Q0 d3 3 1_000 mine")),
        Case("Score in digits of another script", line(RUN, "q1 Q0 d3 3 \u0663 mine")),
        Case("Score beyond single precision", line(RUN, "q1 Q0 d3 3 1e39 mine")),
        Case("NUL in a qid", line(RUN, "q1\0 Q0 d3 3 0.5 mine")),
        Case("Duplicate docno", line(RUN, "q1 Q0 d1 3 0.5 mine")),
        Case("Scores that rise with the rank", file(RUN, "q1 Q0 d1 1 0.2 mine\nq1 Q0 d2 2 0.9 mine\n")),
        Case("Ranks that aren't numbers, with ranked_by: ranks", both(
            file(RUN, "q1 Q0 d1 first 2.5 mine\n"), key("retrievers.my-run.ranked_by", "ranks")
        )),
        Case("No known query", file(RUN, "q7 Q0 d1 1 2.5 mine\n")),
        Case("No known docno", file(RUN, "q1 Q0 D1 1 2.5 mine\n")),
        Case("No such file", without(RUN)),
        Case("No such file of passages", key("retrievers.my-run.passages", "mine.jsonl")),
        Case("Passage in a file with a docno from the collection", brought('{"doc_id": "d1", "text": "rice"}')),
        Case("Passage in a file with a qid that isn't text", brought('{"doc_id": "x1", "text": "rice", "qid": [1]}')),
        Case("Filler from a file without the file", key("retrievers.rel.filler", "file")),
    ],
    "Answers judged by a generator": [
        Case("An unknown judge of answers", judging("nobody")),
        Case("A reasoning model as a judge of answers", both(judging(), thinking())),
        Case("Context use with a reasoning model", both(key("context_use", True), thinking())),
        Case("A judge of answers behind an endpoint without an address", both(
            unset("OPENAI_BASE_URL"), key("generators.judge", SERVED), judging("judge"),
            judge_template('question: "{query} {references} {answer}"'))),
        Case("A judge of answers behind a chat endpoint, with a prefix", both(
            key("generators.judge", {**SERVED, "chat": True}), judging("judge", prefix="Answer: "))),
        Case("A question without its placeholder", both(
            judging(), judge_template('question: "{query} {answer} yes or no? "')
        )),
        Case("A question with another kind's placeholder", both(
            judging(), judge_template('question: "{query} {references} {answer} {sentence}"')
        )),
        Case("A template of judges without a question", both(judging(), judge_template("system: Be strict."))),
        Case("A panel with an unknown judge", panel(["judged", "nobody"])),
        Case("A panel with one judge", panel(["judged"])),
        Case("A panel with a duplicate judge", panel(["judged", "judged"])),
        Case("A panel of scorers that ask no judge", panel(["judged", "words"])),
        Case("A panel in a panel", panel(["judged", "minilm"])),
        Case("A panel of judges with other references", panel(["judged", "unlike"])),
        Case("A panel with another utility than its judges", panel(["judged", "more"], utility="relative")),
        Case("A panel with a reasoning model as a judge", both(panel(["judged", "more"]), thinking())),
        Case("A judge shown less than one reference", judging(best=0)),
        Case("A judge of gold answers that don't exist", judging(references="gold")),
        Case("A judge without a token for a word", both(
            judging(), judge_template('question: "{query} {references} {answer}"'), few_words
        )),
    ],
    "Nuggets": [
        Case("Nuggets without a source", nuggets(generator="lm")),
        Case("Nuggets from a file and from a generator", nuggets(path="nuggets.jsonl", written_by="lm")),
        Case("No file of nuggets", nuggets()),
        Case("A broken line of nuggets", nuggets(NUGGETS + '{"qid": "q2", "nuggets": [')),
        Case("An empty list of nuggets", nuggets(NUGGETS + '{"qid": "q2", "nuggets": []}')),
        Case("An unknown importance", nuggets(NUGGETS.replace("vital", "failed"))),
        Case("A duplicate nugget", nuggets(NUGGETS.replace("[{", '[{"text": "It pumps", "importance": "okay"}, {'))),
        Case("Two lists for a query", nuggets(NUGGETS * 2)),
        Case("A flipped bit in a Parquet file of nuggets", both(
            nuggets(path="theirs.parquet"), damaged_parquet("theirs.parquet"))),
        Case("Nuggets for other queries only", nuggets(NUGGETS.replace("q1", "q7"))),
        Case("An unknown writer of nuggets", nuggets(written_by="lmm")),
        Case("A retriever of nuggets' passages outside the grid", nuggets(
            written_by="lm", retriever="rerank", list_tokens=99
        )),
        Case("The key window with nuggets from a file", nuggets(path="nuggets.jsonl", window=5)),
        Case("Lists of nuggets without a placeholder", nuggets(
            None, file("nugget_prompts/bare.yaml", BARE_LIST), written_by="lm", list_prompt="bare"
        )),
        Case("Lists of nuggets beyond the window", nuggets(written_by="lm", list_tokens=240)),
        Case("Lists of nuggets as long as the window", nuggets(written_by="lm", list_tokens=256)),
    ],
    "Imported answers": [
        Case("No file of answers", both(answered(), without("small.jsonl"))),
        Case("A file of answers in no known format", answered(path="answers.txt")),
        Case("An unknown name in the path of answers", answered(path="{system}.jsonl")),
        Case("A broken line of answers", answered('{"qid": "q2", "answer": "in the')),
        Case("A TSV of answers that was written with quoting", both(
            answered(path="theirs.tsv"), file("theirs.tsv", 'qid\tanswer\nq1\t"it ""pumps"""\n')
        )),
        Case("A line end in an answer of a TSV", both(
            answered(path="theirs.tsv"), file("theirs.tsv", 'qid\tanswer\tk\nq1\tit\npumps\t1\n')
        )),
        Case("An answer without text", answered('{"qid": "q2", "retriever": "rel", "k": 1}')),
        Case("An answer to an unknown query", answered('{"qid": "q7", "answer": "tea", "retriever": "rel", "k": 1}')),
        Case("An answer that begins with its thought", answered(
            '{"qid": "q2", "answer": "<think>a leaf?</think>tea", "retriever": "rel", "k": 1}'
        )),
        Case("Two answers for one key", answered(
            '{"qid": "q1", "answer": "again", "retriever": "rel", "k": 1, "ordering": "descending", "seed": 1}'
        )),
        Case("An answer from an unknown passage", answered(
            '{"qid": "q2", "answer": "tea", "retriever": "rel", "k": 1, "docnos": ["d9"]}'
        )),
        Case("An answer from more passages than its k", answered(
            '{"qid": "q2", "answer": "tea", "retriever": "rel", "k": 1, "docnos": ["d1", "d3"]}'
        )),
        Case("An answer with a k that isn't a number", answered(
            '{"qid": "q2", "answer": "tea", "retriever": "rel", "k": NaN}'
        )),
        Case("A zero-shot answer with passages", answered(
            '{"qid": "q2", "answer": "tea", "retriever": "zeroshot", "k": 2}'
        )),
        Case("An answer with two texts", answered('{"qid": "q2", "answer": "tea", "qanswer": "rice", "k": 1}')),
        Case("An answer with two query ids", answered('{"topic_id": "q2", "qid": "q1", "answer": [{"text": "tea"}]}')),
        Case("An answer without a retriever", answered('{"qid": "q2", "answer": "tea", "k": 1}')),
        Case("A citation without its reference", answered(
            '{"topic_id": "q2", "references": ["d1"], "answer": [{"text": "tea", "citations": [1]}]}'
        )),
        Case("Cited sentences that don't make up the answer", answered(
            '{"qid": "q2", "answer": "tea", "retriever": "rel", "k": 1, "cited_sentences": '
            '[{"text": "rice", "citations": ["d1"]}]}'
        )),
        Case("A flipped bit in a Parquet file of answers", both(
            answered(path="theirs.parquet"), damaged_parquet("theirs.parquet"))),
        Case("No answer of the grid", both(answered(), key("grid.k", [2]), key("grid.seeds", [1]))),
        Case("No file of answers to single passages", answered(single_passages="{dataset}.passages.jsonl")),
        Case("An answer to a single passage that it doesn't name", answered_alone('{"qid": "q2", "answer": "tea"}')),
        Case("An answer to two passages instead of one", answered_alone(
            '{"qid": "q2", "docnos": ["d1", "d3"], "answer": "tea"}'
        )),
        Case("Two answers to one passage", answered_alone('{"qid": "q1", "docno": "d1", "answer": "again"}')),
    ],
}  # fmt: skip
