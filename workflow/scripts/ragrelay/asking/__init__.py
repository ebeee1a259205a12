"""Questions to a model: what is asked, by one engine per job, and the tables that the replies give."""
