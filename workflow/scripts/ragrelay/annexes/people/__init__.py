"""Compare scores of answers by people with other scorers' scores, and estimate people's mean scores from both."""
