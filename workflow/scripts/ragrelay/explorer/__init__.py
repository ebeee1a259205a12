"""The query explorer's data: all that was prompted, answered and scored for a query, a file per query."""
