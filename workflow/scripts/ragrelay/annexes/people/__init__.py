"""Compare human scores with other scorers' scores of the same answers, and estimate mean human scores from both."""
