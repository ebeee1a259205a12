"""Format numbers, draw charts, choose colours and fill in templates for all pages and figures."""
