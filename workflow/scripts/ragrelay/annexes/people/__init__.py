"""Compare human scores of answers with other scorers' scores, and estimate mean human scores from both."""
