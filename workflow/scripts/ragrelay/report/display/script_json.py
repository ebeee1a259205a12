"""Convert data to JSON that can be embedded in a script in an HTML page."""

import json


def script_json(value: object) -> str:
    """Return JSON without ``<``, which could end a script element, and without JavaScript's line separators.

    Raises ValueError if JSON can't represent a number, such as NaN.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
